"""A campaign's report on the page: its facts, and one part at a time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core.atomic_files import slug
from eij_core.figures.colours import EITHER, variables
from eij_core.reports import Report
from eij_core.reports.templating import FADE, STYLE

from ...text.numbers import count
from ...views.panes import html_pane
from ..common.layout import box, button_row, download

PAGE_STYLE = Path(__file__).with_name("report.css").read_text("utf-8")
SHEET = f"{STYLE}{FADE}:host {{ {variables(EITHER)} }}\n{PAGE_STYLE}"


class ReportView(pn.viewable.Viewer):
    """Shows a report; `control` asks for another one."""

    def __init__(self) -> None:
        super().__init__()
        small: dict[str, Any] = {"size": "small", "margin": (4, 6)}
        self.part = pmui.Select(label="Part", options=[], width=330, **small)
        self.control = pmui.Select(label="Held against", options=[], width=190, **small)
        self.download = download("Whole report", "report.html", self._file)
        self._lead, self._body = (html_pane((0, 8), stylesheets=[SHEET]) for _ in range(2))
        self._bar = button_row(self.part, self.control, self.download)
        self._sections: dict[str, str] = {}
        self.report: Report | None = None
        self.part.param.watch(lambda _: self._draw_part(), "value")

    def __panel__(self) -> Any:
        return box(self._lead, self._bar, self._body, p="12px")

    @property
    def title(self) -> str:
        """The name of the campaign, and how many of its trials are done."""
        if self.report is None:
            return "nothing"
        data = self.report.dataset
        return f"{data.name}: {count(len(data.trials))} trials that are done"

    @property
    def failures(self) -> str:
        """How many trials failed, as the end of a sentence; "" if none did."""
        failed = self.report.dataset.failed if self.report is not None else 0
        return f"; {count(failed)} of them failed" if failed else ""

    def draw(self, report: Report) -> None:
        """Draw a report; the part that was looked at stays, if there is one."""
        self.report = report
        self._sections = report.sections
        chosen = self.part.value
        chosen = chosen if chosen in self._sections else next(iter(self._sections), None)
        methods = list(dict.fromkeys(map(str, report.dataset.trials["method"])))
        with pn.io.hold():
            self._lead.object = report.introduction()
            self._bar.visible = bool(self._sections)
            self.part.param.update(options=list(self._sections), value=chosen)
            # A paper's store compares with EOS in each cell; elsewhere any method will do.
            held = report.control if report.control in methods else None
            self.control.param.update(
                options=methods, value=held, disabled=held is None, visible=held is not None
            )
            self.download.filename = f"{slug(report.dataset.name)}.html"
            self._draw_part()

    def _draw_part(self) -> None:
        self._body.object = self._sections.get(self.part.value, "")

    def _file(self) -> io.BytesIO:
        return io.BytesIO(self.report.html().encode() if self.report is not None else b"")
