"""Colours, dashes and sizes: one place, safe for colour-blind eyes, good on light and on dark."""

from __future__ import annotations

from typing import Any

__all__ = ["MARKERS", "PAGE_CSS", "RULE", "THEME", "UNIFORM", "colour_of", "dash_of"]

# Okabe and Ito's palette without black (lost on dark) and yellow (lost on white).
RULE = "#0072B2"
"""The rule under study, wherever runs are compared."""
OPERATORS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
UNIFORM = "#8A8F98"
HISTORY = ("#7E8794", "#A0A7B2", "#5F6875", "#B8BEC7", "#4C5460")
OPTIMUM = "#8A8F98"

# Colour never stands alone: operators differ in dash and marker too.
DASHES = ("solid", "dashed", "dotdash", "dotted", "dashdot")
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle")


def colour_of(operator: int) -> str:
    """Return the colour of an operator, by its place in the portfolio."""
    return OPERATORS[operator % len(OPERATORS)]


def dash_of(operator: int) -> str:
    """Return the dash of an operator, by its place in the portfolio."""
    return DASHES[operator % len(DASHES)]


FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# A card surrounds every plot, in a notebook too: it needs no frame of its own.
CHARTS = {"chart_style": "minimal"}

THEME: dict[str, Any] = {
    "light": {
        **CHARTS,
        "palette": {
            "primary": {"main": "#0B5C8E"},
            "secondary": {"main": "#B34700"},
            "success": {"main": "#00795A"},
            "background": {"default": "#F4F6F8", "paper": "#FFFFFF"},
        },
        "typography": {"fontFamily": FONT, "button": {"textTransform": "none"}},
        "shape": {"borderRadius": 10},
    },
    "dark": {
        **CHARTS,
        "palette": {
            "primary": {"main": "#6CB8E6"},
            "secondary": {"main": "#F0904D"},
            "success": {"main": "#3DBE96"},
            "background": {"default": "#12161B", "paper": "#191F26"},
        },
        "components": {
            "MuiAppBar": {
                "styleOverrides": {"colorPrimary": {"backgroundColor": "#0D2F45", "color": "#FFF"}}
            }
        },
        "typography": {"fontFamily": FONT, "button": {"textTransform": "none"}},
        "shape": {"borderRadius": 10},
    },
}

# Reaches the light DOM and, through `stylesheets`, the parts that live in a shadow root.
PAGE_CSS = """
:host { --quiet: color-mix(in srgb, currentColor 62%, transparent);
        --line: color-mix(in srgb, currentColor 14%, transparent); }
.words { font-size: 0.92rem; line-height: 1.5; margin: 0; max-width: 68ch; }
.words p { margin: 0 0 0.5em; }
.words math { font-size: 1.08rem; }
.formula { display: block; overflow-x: auto; padding: 0.35em 0; }
.quiet { color: var(--quiet); }
.gauges, .stat { container-type: inline-size; }
.stats { display: grid; grid-auto-columns: 1fr; grid-auto-flow: column; gap: 8px; }
@container (max-width: 880px) {
  .stats { grid-auto-flow: row; grid-template-columns: repeat(3, 1fr); }
  .stat:nth-child(3n + 1):last-child { grid-column: 1 / -1; }
}
@container (max-width: 480px) {
  .stats .stat span { white-space: normal; line-height: 1.15; }
}
.stat { border: 1px solid var(--line); border-radius: 10px; padding: 8px 10px; min-width: 0; }
.stat b { display: block; font-size: clamp(0.82rem, 15cqi, 1.22rem); font-weight: 600;
          line-height: 1.7rem; font-variant-numeric: tabular-nums; white-space: nowrap;
          overflow: hidden; text-overflow: ellipsis; }
.stat span { display: block; font-size: 0.76rem; color: var(--quiet); white-space: nowrap;
             overflow: hidden; text-overflow: ellipsis; }
table.draws { border-collapse: collapse; width: 100%; font-size: 0.86rem;
              font-variant-numeric: tabular-nums; }
table.draws th { text-align: right; font-weight: 500; color: var(--quiet); padding: 3px 5px; }
table.draws td { text-align: right; padding: 4px 5px; border-top: 1px solid var(--line);
                 white-space: nowrap; }
table.facts th { text-align: left; }
table.facts td { vertical-align: top; }
table.draws td.long { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.draws:not(.facts) td:first-child { overflow: hidden; text-overflow: ellipsis;
                                         max-width: 15rem; }
table.draws th:first-child, table.draws td:first-child { text-align: left; }
table.draws.named :is(th, td):nth-child(2) { text-align: left; }
table.draws :is(th, td):first-child { padding-left: 0; }
table.draws :is(th, td):last-child { padding-right: 0; }
table.draws tr.winner td { font-weight: 650; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 50%;
          margin-right: 6px; }
pre.code { margin: 0; padding: 10px 12px; border: 1px solid var(--line); border-radius: 8px;
           font-size: 0.8rem; line-height: 1.45; white-space: pre-wrap; word-break: break-word;
           user-select: all; }
h2.view { font-size: 1.02rem; font-weight: 600; margin: 0; }
/* A table that goes on beyond the right edge fades out there, until it is scrolled to its end. */
.scroll { overflow-x: auto; mask: linear-gradient(to left, transparent, #000 48px) no-repeat left;
          mask-size: 200% 100%; animation: more linear; animation-timeline: scroll(self inline); }
@keyframes more { from { mask-size: 100% 100%; } to { mask-size: calc(100% + 48px) 100%; } }
"""
