"""A campaign's report on the page: its facts, and one part at a time."""

from __future__ import annotations

import io
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.escape import slug
from eij_core.reports import Report
from eij_core.reports.page import FADE, STYLE, lead, sections_of

__all__ = ["ReportView"]

# The page's own colours: what the report calls paper and ink follows the theme around it.
HERE = """
:host { --ink: currentColor; --soft: color-mix(in srgb, currentColor 66%, transparent);
  --rule: color-mix(in srgb, currentColor 18%, transparent);
  --grid: color-mix(in srgb, currentColor 9%, transparent);
  --paper: transparent; --card: var(--panel-surface-color, transparent);
  --good: #0f9d72; --bad: #e0561c; --warn: #c08400; --accent: #2f8fc4;
  --c0: #2386c4; --c1: #e0661c; --c2: #0a9f78; --c3: #c76aa0; --c4: #c08c10; --c5: #56b4e9;
  --c6: #8a8f98; --c7: #9a72b8; }
p.lead { margin-top: 0; } .panels svg { background: none; }
svg .note { stroke: none; }
"""


class ReportView(pn.viewable.Viewer):
    """Shows a report; `control` asks for another one."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        small: dict[str, Any] = {"size": "small", "margin": (4, 6)}
        self.part = pmui.Select(label="Part", options=[], width=330, **small)
        self.control = pmui.Select(label="Held against", options=[], width=190, **small)
        self.download = pmui.FileDownload(
            label="Whole report", callback=self._file, filename="report.html", embed=False, **small,
        )  # fmt: skip
        html: dict[str, Any] = {
            "sizing_mode": "stretch_width", "stylesheets": [STYLE + FADE + HERE],
        }  # fmt: skip
        self._lead = pn.pane.HTML("", margin=(0, 8), **html)
        self._body = pn.pane.HTML("", margin=(0, 8), **html)
        self._sections: dict[str, str] = {}
        self.report: Report | None = None
        self.part.param.watch(lambda _: self._draw_part(), "value")

    def __panel__(self) -> Any:
        bar = pmui.FlexBox(
            self.part, self.control, self.download, align_items="center",
            sizing_mode="stretch_width",
        )  # fmt: skip
        return pmui.Paper(
            self._lead, bar, self._body, elevation=0, variant="outlined",
            sizing_mode="stretch_width", margin=0, sx={"p": "12px"},
        )  # fmt: skip

    def draw(self, report: Report) -> None:
        """Draw a report; the part that was looked at stays, if there is one."""
        self.report = report
        self._sections = dict(sections_of(report))
        chosen = self.part.value
        chosen = chosen if chosen in self._sections else next(iter(self._sections), None)
        methods = list(dict.fromkeys(map(str, report.frames.trials["method"])))
        with pn.io.hold():
            self._lead.object = lead(report)
            self.part.param.update(options=list(self._sections), value=chosen)
            # A paper's store compares with EOS in each cell; elsewhere any method will do.
            held = report.control if report.control in methods else None
            self.control.param.update(
                options=methods, value=held, disabled=held is None, visible=held is not None
            )
            self.download.filename = f"{slug(report.frames.name)}.html"
            self._draw_part()

    def _draw_part(self) -> None:
        self._body.object = self._sections.get(self.part.value, "")

    def _file(self) -> io.BytesIO:
        return io.BytesIO(self.report.html().encode() if self.report is not None else b"")
