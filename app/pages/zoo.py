"""The page of the zoo: rules in cases with a known answer, and who wastes energy there."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable, Iterator
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.escape import text
from app.pages.choices import Choices
from app.pages.strip import STAGES, Strip, middle
from app.plots.heat import VALUES, heat_map_of
from app.tables import table
from app.theme import PAGE_CSS
from app.work import Work
from eij_core.registry import selectors
from eij_core.reports.tabular import p_value
from eij_core.zoo import ALGORITHMS, BUDGETS, CASES, Cell, frame_of_cells, observe

__all__ = ["ZooPage"]

RULES = ("eij-plus", "eij", "ucb1", "uniform")
START = ("twin-10", "null", "almost", "cost-up")
EMPTY = (
    "<div class='words'><p>In each case one operator works at a fair price; the others are "
    "useless, overpriced or a trap, by construction. So the right answer is known, and every Joule "
    "spent on the others is wasted. Choose cases and rules at the side, and run.</p>"
    "<p class='quiet'>The first run of an algorithm compiles for some seconds. All Joules here are "
    "simulated: the prices of the paper's machine.</p></div>"
)
COSTS = {
    "known beforehand": "hinted",
    "asked for, on one candidate": "probed",
    "unknown": "unknown",
}


class ZooPage:
    """One visitor's zoo.

    Parameters
    ----------
    query : str
        The link.
    owner : hashable
        Whose turns the work takes.
    """

    def __init__(self, query: str, owner: Hashable) -> None:
        self.owner = owner
        self.work: Work[Cell] | None = None
        self.cells: list[Cell] = []
        self._pairs: list[tuple[str, str]] = []
        """Cases and rules that were chosen, in the order of their turns."""
        self._shown: tuple[Any, ...] = ()
        self._build()
        self.choices = Choices(self._widgets, query)
        if self.choices.notice:
            self._tell(self.choices.notice, "warning")
        self._connect()
        self._draw()

    # --- the parts ---

    def _build(self) -> None:
        wide: dict[str, Any] = {"size": "small", "sizing_mode": "stretch_width", "margin": (8, 4)}
        blocks = {**wide, "size": None}
        rules = [name for name in selectors if name != "static"]
        self._widgets: dict[str, Any] = {
            "cases": pmui.MultiChoice(
                label="Cases", options=list(CASES), value=list(START), **blocks
            ),
            "rules": pmui.MultiChoice(label="Rules", options=rules, value=list(RULES), **blocks),
            "problem": pmui.Select(label="Problem", options=list(BUDGETS), value="nk", **wide),
            "algorithm": pmui.Select(
                label="Algorithm", options=list(ALGORITHMS), value="ils", **wide
            ),
            "costs": pmui.Select(label="Costs are", options=COSTS, value="hinted", **wide),
            "trials": pmui.IntInput(label="Runs a cell", value=5, start=2, end=40, **wide),
            "seed": pmui.IntInput(label="Seed", value=0, start=0, end=10**9, **wide),
        }
        self.strip = Strip()
        self.value = pmui.RadioButtonGroup(
            options={title: name for name, (title, _) in VALUES.items()}, value="wasted_share",
            size="small", margin=(4, 8),
        )  # fmt: skip
        html: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [PAGE_CSS]}
        self.words = pn.pane.HTML(EMPTY, margin=(4, 10), **html)
        self.table = pn.pane.HTML("", margin=(0, 10), **html)
        self.picture = pn.pane.HoloViews(
            None, sizing_mode="stretch_width", min_height=120, margin=(4, 8), linked_axes=False
        )
        self.alert = pmui.Alert(
            object="", severity="error", visible=False, margin=(0, 0, 8, 0),
            sizing_mode="stretch_width",
        )  # fmt: skip
        download: dict[str, Any] = {"size": "small", "margin": (4, 4)}
        self.downloads = [
            pmui.FileDownload(
                label=f"Download {ending.upper()}", callback=callback, filename=f"zoo.{ending}",
                **download,
            )
            for ending, callback in (("json", self.to_json), ("csv", self.to_csv))
        ]  # fmt: skip
        self._results = pmui.Column(
            self.value, self.picture, self.words, pn.Row(*self.downloads), self.table,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip

    @property
    def controls(self) -> Any:
        """What fills the side."""
        return pmui.Column(*self._widgets.values(), sizing_mode="stretch_width", margin=0)

    def main(self) -> Any:
        """Return what fills the middle."""
        return middle(self.alert, self.strip.above(self._results))

    def _connect(self) -> None:
        self.strip.run.on_click(lambda _: self.start())
        self.strip.stop.on_click(lambda _: self.halt())
        self.value.param.watch(lambda _: self._draw(), "value")

    # --- what a visitor does ---

    def start(self) -> None:
        """Run the chosen rules in the chosen cases."""
        if self.work is not None and not self.work.over:
            return
        chosen = {name: widget.value for name, widget in self._widgets.items()}
        pairs = [
            (case, rule)
            for case in chosen["cases"]
            if chosen["algorithm"] in CASES[case].algorithms
            for rule in chosen["rules"]
        ]
        if not pairs:
            where = ", ".join(c for c in chosen["cases"]) or "no case"
            self._tell(f"Nothing to run: choose a rule, and a case that {chosen['algorithm']} has "
                       f"(chosen: {where}).", "warning")  # fmt: skip
            return
        self.alert.visible = False
        self.cells, self._pairs = [], pairs

        def steps() -> Iterator[Cell]:
            for case, rule in pairs:
                yield observe(
                    rule,
                    case,
                    chosen["algorithm"],
                    chosen["problem"],
                    trials=chosen["trials"],
                    seed=chosen["seed"],
                    costs=chosen["costs"],
                )

        self.work = Work(steps, self.owner).start()
        self._draw()

    def halt(self) -> None:
        """End after the present cell."""
        if self.work is not None:
            self.work.stop()

    def explain(self, case: str, rule: str) -> None:
        """Tell what a cell of the map means."""
        found = [c for c in self.cells if (c.case, c.rule) == (case, rule)]
        if case not in CASES or not found:
            return
        told, cell = CASES[case], found[0]
        parts = (
            f"<b>{text(case)}</b>: {text(told.about)}.",
            f"Waste counts after {told.since:.0%} of the budget.",
            f"{text(rule)} gave {_percent(cell.wasted_share)} of its Joules to operators that are "
            f"useless or overpriced here, and ended {_percent(cell.behind, '+')} short of "
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

    # --- what the shell asks ---

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new."""
        if self.work is not None:
            self.cells += self.work.take()
        now = (self.work, self.work.stage if self.work else "idle", len(self.cells))
        if now == self._shown and not lost:
            return False
        self._draw()
        return True

    def link(self) -> str:
        """Return the query that leads back here."""
        return self.choices.query("zoo")

    def close(self) -> None:
        """End what runs."""
        self.halt()

    # --- drawing ---

    def _draw(self) -> None:
        stage = self.work.stage if self.work else "idle"
        self._shown = (self.work, stage, len(self.cells))
        busy = stage in ("waiting", "working")
        with pn.io.hold():
            label, colour = STAGES[stage]
            if busy:
                label = f"{label}: {len(self.cells)} of {len(self._pairs)} cells"
            strip = self.strip
            strip.show(label, colour)
            strip.run.disabled, strip.stop.disabled = busy, not busy
            strip.bar.param.update(
                value=round(100 * len(self.cells) / max(len(self._pairs), 1)),
                variant="indeterminate" if busy and not self.cells else "determinate",
            )
            some = bool(self.cells)
            for part in (self.value, self.picture, self.table, *self.downloads):
                part.visible = some
            if stage == "failed" and self.work is not None:
                self._tell(self.work.error, "error")
            if some:
                frame = frame_of_cells(self.cells)
                self.picture.object = heat_map_of(
                    frame, self.value.value, self.explain, self._pairs if busy else ()
                )
                self.table.object = _table(self.cells)
                if self.words.object == EMPTY:
                    hint = "Click a cell of the map: it tells what the case is."
                    self.words.object = f"<div class='words quiet'><p>{hint}</p></div>"
            else:
                self.words.object = EMPTY

    def _tell(self, words: str, severity: str) -> None:
        self.alert.param.update(object=text(words), severity=severity, visible=True)


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
        f"<tr><td>{text(c.case)}</td><td>{text(c.rule)}</td><td>{_percent(c.wasted_share)}</td>"
        f"<td>{c.final.mean:.4g}</td><td>{c.static_best:.4g}</td><td>{_percent(c.behind, '+')}</td>"
        f"<td>{text(p_value(c.equivalent_p))}</td></tr>"
        for c in cells
    )
    return (
        f"{table(head, rows, 'named')}"
        "<p class='quiet'>p: of equivalence with the best single operator, within 1 % (two "
        "one-sided tests); small is good.</p>"
    )
