"""The report as one HTML page: style, figures and tables inside, nothing fetched from anywhere."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..errors import InputError, nearest
from .figures import Figure
from .tabular import Table

if TYPE_CHECKING:
    from .report import Report

__all__ = ["FADE", "STYLE", "excerpt", "lead", "page", "sections_of"]

# Okabe and Ito's colours, told apart by all; lighter where the page is dark.
LIGHT = """
  --paper: #fdfdfc; --ink: #1d2126; --soft: #5c6570; --rule: #d9dde1; --grid: #e9ecef;
  --card: #ffffff; --good: #0b6e4f; --bad: #a8320b; --warn: #8a5a00; --accent: #0a5c91;
  --c0: #0072b2; --c1: #d55e00; --c2: #008f68; --c3: #b8578f; --c4: #b07c00; --c5: #2f8fc4;
  --c6: #6b6b6b; --c7: #7a5195;
"""
DARK = """
  --paper: #15181c; --ink: #e7eaee; --soft: #9aa5b1; --rule: #333a42; --grid: #272d34;
  --card: #1b1f24; --good: #57c79b; --bad: #ff9166; --warn: #e5b454; --accent: #6cb8ee;
  --c0: #5db4ec; --c1: #ff8f4f; --c2: #3fd0a2; --c3: #e79cc6; --c4: #efbb45; --c5: #8fd0f5;
  --c6: #b4b4b4; --c7: #c3a3dd;
"""
COLOURS = (
    f":root {{ color-scheme: light dark; {LIGHT} }}"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}"
)
STYLE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main, header, nav { max-width: 1300px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 34px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -.01em; }
h2 { font-size: 20px; margin: 46px 0 4px; padding-top: 12px; border-top: 1px solid var(--rule); }
p.lead { color: var(--soft); margin: 0 0 14px; max-width: 78ch; }
p.caption { color: var(--soft); margin: 2px 0 12px; max-width: 92ch; font-size: 13.5px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; padding-top: 6px; font-size: 13.5px; }
nav a { color: var(--accent); text-decoration: none; } nav a:hover { text-decoration: underline; }
.facts { display: flex; flex-wrap: wrap; gap: 10px; margin: 16px 0 8px; padding: 0;
  list-style: none; }
.facts li { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
  padding: 8px 14px; min-width: 112px; }
.facts b { display: block; font-size: 20px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: 12.5px; }
.remark { border-left: 3px solid var(--warn); padding: 4px 12px; margin: 10px 0; max-width: 92ch; }
.panels { display: flex; flex-wrap: wrap; gap: 12px; }
.pair { display: flex; flex-wrap: wrap; gap: 2px; } .pair svg { border-radius: 4px; }
.panels svg { background: var(--card); border: 1px solid var(--rule); border-radius: 8px;
  max-width: 100%; height: auto; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 10px; font-size: 13px; }
.key { display: inline-flex; align-items: center; gap: 6px; }
.wide { overflow: auto; max-height: 560px; border: 1px solid var(--rule); border-radius: 8px;
  background: var(--card); mask: linear-gradient(to left, transparent, #000 48px) no-repeat left;
  mask-size: 200% 100%; animation: eij-more linear; animation-timeline: scroll(self inline); }
table { border-collapse: collapse; table-layout: auto; font-size: 13px; width: 100%;
  font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--soft); position: sticky; top: 0;
  background: var(--card); box-shadow: inset 0 -1px var(--rule); }
th, td { padding: 5px 10px; white-space: nowrap; text-align: left; }
.dense table { font-size: 12px; } .dense th, .dense td { padding: 4px 6px; }
.n { text-align: right; }
tr.first td { border-top: 1px solid var(--rule); } tbody tr:hover td { background: var(--grid); }
.same { opacity: .28; } .good { color: var(--good); } .bad { color: var(--bad); }
.warn { color: var(--warn); }
svg text { fill: var(--ink); font: 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
svg .title { font-weight: 600; font-size: 12.5px; } svg .label, svg .tick { fill: var(--soft); }
svg .note { font-size: 11px; paint-order: stroke; stroke: var(--card); stroke-width: 3px; }
svg .strong { font-weight: 700; }
svg .grid { stroke: var(--grid); fill: none; } svg .axis { stroke: var(--soft); fill: none; }
svg .axis.thin { stroke-width: .8; opacity: .75; }
svg .clique { stroke: var(--ink); stroke-width: 4; stroke-linecap: round; fill: none; }
svg .line { fill: none; stroke-width: 1.9; stroke-linejoin: round; }
svg .line.thin { stroke-width: 1; opacity: .85; }
svg .band { stroke: none; fill-opacity: .17; } svg .shape { fill-opacity: .45; }
""" + "".join(
    f"svg .line.s{i} {{ stroke: var(--c{i}); }} svg .band.s{i}, svg .dot.s{i} "
    f"{{ fill: var(--c{i}); }} svg .note.s{i} {{ fill: var(--c{i}); font-weight: 600; }}\n"
    for i in range(8)
)
EXCERPT = """
  color: var(--ink); background: var(--paper); padding: 2px 14px 14px; border-radius: 8px;
  section + section { margin-top: 26px; }
"""
# A table that goes on beyond the right edge fades out there, until it is scrolled to its end.
FADE = """@keyframes eij-more {
  from { mask-size: 100% 100%; } to { mask-size: calc(100% + 48px) 100%; } }
"""
# JupyterLab and VS Code say so where their pages are dark.
IN_THE_DARK = ':is([data-jp-theme-light="false"], .vscode-dark)'
PRINT = """@media print {
  .wide { max-height: none; overflow: visible; mask: none; } nav { display: none; } }
"""


def sections_of(report: Report) -> list[tuple[str, str]]:
    """Return the titles and the HTML of all parts, in their order."""
    return [
        *((table.title, _table(table)) for table in [*report.lead, *report.tables[:2]]),
        *((figure.name, _figure(figure)) for figure in report.figures),
        *((table.title, _table(table)) for table in report.tables[2:]),
    ]


def page(report: Report) -> str:
    """Return the whole page."""
    sections = sections_of(report)
    name = html.escape(report.frames.name)
    links = "".join(f'<a href="#s{i}">{html.escape(t)}</a>' for i, (t, _) in enumerate(sections))
    body = "".join(
        f'<section id="s{i}"><h2>{html.escape(title)}</h2>{text}</section>'
        for i, (title, text) in enumerate(sections)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # Nothing may be fetched or run: the page is text, and stays so whatever a name holds.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
        f'<link rel="icon" href="data:,"><title>{name} – EI/J report</title>'
        f"<style>{COLOURS}{STYLE}{FADE}{PRINT}</style></head><body><header><h1>{name}</h1>{lead(report)}</header>"
        f'<nav aria-label="Sections">{links}</nav><main>{body}'
        f'<p class="caption" style="margin:40px 0">Made by EI/J from {_folder(report)}.</p>'
        "</main></body></html>"
    )


def excerpt(report: Report, titles: tuple[str, ...]) -> str:
    """Return some sections, or all, to be shown among other things, on a card of their own."""
    sections = dict(sections_of(report))
    for title in titles:
        if title not in sections:
            raise InputError("excerpt", title, nearest(title, sections))
    body = "".join(
        f"<section><h4>{html.escape(title)}</h4>{sections[title]}</section>"
        for title in titles or sections
    )
    return (
        # Twice: JupyterLab's own rules for tables would weigh more than one class.
        f"<style>.eij-report.eij-report {{ {LIGHT} {EXCERPT} {STYLE} }}"
        f"{IN_THE_DARK} .eij-report.eij-report {{ {DARK} }} {FADE}</style>"
        f'<div class="eij-report">{body}</div>'
    )


def _folder(report: Report) -> str:
    folder = report.frames.folder
    return html.escape(folder.name if folder is not None else "memory")


def lead(report: Report) -> str:
    """Return the paragraph, the facts and the remarks that come first."""
    frames = report.frames
    trials = frames.trials
    if not len(trials):
        failed = f" {frames.failed} trials failed." if frames.failed else ""
        return f'<p class="lead">No trial is done yet.{failed}</p>'
    sources = "; ".join(dict.fromkeys(trials["source"]))
    cells, methods = len(list(frames.cells())), trials["method"].nunique()
    facts = [
        (f"{len(trials):,}", "trials"),
        (str(cells), "cell" if cells == 1 else "cells"),
        (str(methods), "method" if methods == 1 else "methods"),
        (f"{trials['joules'].sum() / 1000:,.0f} kJ", " / ".join(sorted(set(trials["provenance"])))),
        (f"{trials['evaluations'].sum() / 1e6:,.1f} M", "evaluations"),
    ]
    remarks = list(report.remarks)
    if frames.failed:
        remarks.append(f"{frames.failed} trials failed and are not in this report.")
    if frames.without_curves:
        remarks.append(
            f"{frames.without_curves} trials have lost their trace: they are in the tables, not in "
            f"the curves."
        )
    items = "".join(
        f"<li><b>{html.escape(value)}</b><span>{html.escape(what)}</span></li>"
        for value, what in facts
    )
    notes = "".join(f'<p class="remark">{html.escape(remark)}</p>' for remark in remarks)
    return (
        f'<p class="lead">Quality at equal Joules. Energy: {html.escape(sources)}. Control: '
        f'{html.escape(report.control)}.</p><ul class="facts">{items}</ul>{notes}'
    )


def _table(table: Table) -> str:
    return f'<p class="caption">{html.escape(table.caption)}</p>{table.html()}'


def _figure(figure: Figure) -> str:
    panels = "".join(figure.panels)
    return (
        f'<p class="caption">{html.escape(figure.caption)}</p>{figure.legend}'
        f'<div class="panels">{panels}</div>'
    )
