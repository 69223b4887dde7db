"""The Zoo page: rules in cases with a known answer, and the energy that each wastes there."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core.registry import Range, selectors
from eij_core.reports.templating import p_value
from eij_core.zoo import ALGORITHMS, BUDGETS, CASES, Cell, frame_of_cells, observe_at, places

from ...text.escape import text
from ...text.names import by_name, name_of
from ...text.tables import row, table
from ...views.heat import VALUES, heat_map_of
from ...views.panes import figure_place, html_pane
from ..common.fields import number_field
from ..common.job_page import JobPage
from ..common.layout import FIELD, WIDE, box, column, download, middle
from ..common.links import Choices
from .shipped import CASES as START
from .shipped import RULES, shipped

EMPTY = (
    "<div class='words'><p>In each case one operator works at a fair price; the others are "
    "useless, overpriced or a trap, by construction. So the right answer is known, and every Joule "
    "spent on the others is wasted. Choose cases and rules at the side, and run.</p>"
    "<p class='quiet'>The first run of an algorithm compiles for some seconds. All Joules here are "
    "simulated: the prices of the paper's machine.</p></div>"
)
HINT = (
    "Each row is a rule, each column a case in which one operator works at a fair price and the "
    "others are useless, overpriced or a trap. A cell says what share of the Joules the rule gave "
    "to those. Click a cell to read about its case; choose other cases and rules at the side."
)
COSTS = {
    "known beforehand": "hinted",
    "asked for, on one candidate": "probed",
    "unknown": "unknown",
}


class ZooPage(JobPage[Cell]):
    """One visitor's zoo.

    Parameters
    ----------
    query : str
        The link.
    owner : hashable
        Whose turns the work takes.
    """

    def __init__(self, query: str, owner: Hashable) -> None:
        super().__init__(owner)
        self.cells: list[Cell] = []
        self._pairs: list[tuple[str, str]] = []
        """Cases and rules that were chosen, in the order of their turns."""
        self._build()
        self.choices = Choices("zoo", self._widgets, query)
        self.alert_visitor(self.choices.notice, "warning")
        self.value.param.watch(lambda _: self.draw(), "value")
        if self.choices.link() == "?page=zoo":  # nothing else is asked for
            self.cells, self.stage = shipped(), "shipped"
        self.draw()

    # --- the parts ---

    def _build(self) -> None:
        rules = [name for name in selectors if name != "static"]
        self._widgets: dict[str, Any] = {
            "cases": pmui.MultiChoice(
                label="Cases", options=by_name("case", CASES), value=list(START), **WIDE
            ),
            "rules": pmui.MultiChoice(
                label="Rules", options=by_name("selector", rules), value=list(RULES), **WIDE
            ),
            "problem": pmui.Select(
                label="Problem", options=by_name("problem", BUDGETS), value="nk", **FIELD
            ),
            "algorithm": pmui.Select(
                label="Algorithm", options=by_name("algorithm", ALGORITHMS), value="ils", **FIELD
            ),
            "costs": pmui.Select(label="Costs are", options=COSTS, value="hinted", **FIELD),
            "trials": number_field("Runs a cell", 5, Range(2, 40), **FIELD),
            "seed": number_field("Seed", 0, Range(0, 10**9), **FIELD),
        }
        self.value = pmui.RadioButtonGroup(
            options={title: name for name, (title, _) in VALUES.items()}, value="wasted_share",
            size="small", margin=(4, 8), sizing_mode="stretch_width", max_width=560,
        )  # fmt: skip
        self.words = html_pane((4, 10), EMPTY)
        self.table = html_pane((0, 10))
        self.picture = pn.pane.HoloViews(
            None, sizing_mode="stretch_width", min_height=120, margin=(4, 8), linked_axes=False
        )
        self.downloads = pn.Row(
            download("Download JSON", "zoo.json", self.to_json),
            download("Download CSV", "zoo.csv", self.to_csv),
        )

    @property
    def controls(self) -> Any:
        """What fills the side."""
        return column(*self._widgets.values(), margin=(4, 0))

    def main(self) -> Any:
        """Return what fills the middle."""
        picture = figure_place(self.picture)
        parts = (self.value, picture, self.words, self.downloads, self.table)
        return middle(self.alert, self.toolbar.bar(), box(*parts))

    # --- what a visitor does ---

    def start(self) -> None:
        """Run the chosen rules in the chosen cases."""
        if self.busy:
            return
        chosen = {name: widget.value for name, widget in self._widgets.items()}
        todo = places(chosen["rules"], chosen["cases"], [chosen["algorithm"]], [chosen["problem"]])
        if not todo:
            where = ", ".join(chosen["cases"]) or "no case"
            self.alert_visitor(
                f"Nothing to run: choose a rule, and a case that {chosen['algorithm']} has "
                f"(chosen: {where}).",
                "warning",
            )
            return
        self.cells, self._pairs = [], [(place.case, place.rule) for place in todo]
        settings = {name: chosen[name] for name in ("trials", "seed", "costs")}
        self.run_job(observe_at(place, **settings) for place in todo)

    def explain(self, case: str, rule: str) -> None:
        """Tell what a cell of the map means; one that is not there yet means nothing."""
        cell = next((c for c in self.cells if (c.case, c.rule) == (case, rule)), None)
        if cell is None:
            return
        about = CASES[case]
        parts = (
            f"<b>{text(name_of('case', case))}</b>: {text(about.about)}.",
            f"Waste counts after {about.since:.0%} of the budget.",
            f"{text(name_of('selector', rule))} gave {_percent(cell.wasted_share)} of its Joules "
            "to operators that are useless or overpriced here, and ended "
            f"{_percent(cell.behind, '+')} short of "
            f"{text(cell.static_operator)} alone ({cell.final.mean:.4g} against "
            f"{cell.static_best:.4g}; {cell.trials} paired runs, simulated Joules).",
        )
        self.words.object = f"<div class='words'><p>{' '.join(parts)}</p></div>"

    def to_json(self) -> io.BytesIO:
        """Return the cells as one JSON object a line."""
        lines = (json.dumps(cell.to_dict()) + "\n" for cell in self.cells)
        return io.BytesIO("".join(lines).encode())

    def to_csv(self) -> io.BytesIO:
        """Return the cells as a table."""
        return io.BytesIO(frame_of_cells(self.cells).to_csv(index=False).encode())

    # --- drawing ---

    def take(self, item: Cell) -> None:
        """Take in a cell."""
        self.cells.append(item)

    def draw(self, lost: bool = False) -> None:
        """Draw the cells that there are."""
        done, total = len(self.cells), len(self._pairs)
        detail = f"{done} of {total} cells" if self.busy else ""
        if self.busy and not done:
            detail += ", compiling"
        with pn.io.hold():
            self.show_stage(self.stage, done / max(total, 1), detail)
            for part in (self.value, self.picture, self.table, self.downloads):
                part.visible = bool(self.cells)
            if not self.cells:
                self.words.object = EMPTY
                return
            frame = frame_of_cells(self.cells)
            self.picture.object = heat_map_of(
                frame, self.value.value, self.explain, self._pairs if self.busy else ()
            )
            self.table.object = _table(self.cells)
            if self.words.object == EMPTY:
                runs = f" This result came with EI/J: {self.cells[0].trials} runs a cell."
                words = HINT + (runs if self.stage == "shipped" else "")
                self.words.object = f"<div class='words'><p>{words}</p></div>"


def _percent(estimate: Any, sign: str = "") -> str:
    if estimate.mean != estimate.mean:
        return "–"
    low, high = estimate.low, estimate.high
    if not sign:  # a share: what a few runs leave open ends at nothing and at all
        low, high = max(low, 0.0), min(high, 1.0)
    return f"{estimate.mean:{sign}.1%} ({low:{sign}.1%} to {high:{sign}.1%})".replace("-", "−")


def _table(cells: list[Cell]) -> str:
    head = ("case", "rule", "wasted (95 % interval)", "final", "best single", "short of it", "p")
    rows = (
        row(
            *(
                text(name_of("case", cell.case)),
                text(name_of("selector", cell.rule)),
                _percent(cell.wasted_share),
            ),
            *(f"{cell.final.mean:.4g}", f"{cell.static_best:.4g}", _percent(cell.behind, "+")),
            text(p_value(cell.equivalent_p)),
        )
        for cell in cells
    )
    return (
        f"{table(head, rows, 'named')}"
        "<p class='words quiet'>Wasted: the share of the Joules given to useless or overpriced "
        "operators. Short of it: how far the rule ended below the best single operator, in percent "
        "of that; below zero the rule was better. p: of a test whether the two are equal within "
        "1 % (two one-sided tests); below 0.05 they are.</p>"
    )
