"""What would another rule have chosen? Its choices on the gains and Joules of the present run."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core import Run, Trial
from eij_core.records.counterfactual import CAVEAT, Counterfactual, reschedule

from ...background.controller import PACED, Controller
from ...background.jobs import GeneratorJob
from ...text.escape import text
from ...text.names import grouped
from ...text.numbers import count
from ...text.tables import row, table
from ...views.panes import html_pane
from ..common.layout import button_row, column
from ..common.offers import offered

MOST = 50_000
"""Decisions that the other rule takes at most, so that the visitor does not wait long."""


class CounterfactualPanel(pn.viewable.Viewer):
    """Asks another rule for its choices, in the background.

    The run is made once more with every decision recorded: on a model of energy it is the same run.

    Parameters
    ----------
    controller : Controller
        Has the run in question, and takes the turns.
    """

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self.rule = pmui.Select(
            label="Another rule", groups=grouped("selector", offered("selector")), value="ucb1",
            size="small",
            width=280, margin=(6, 6),
        )  # fmt: skip
        self.ask = pmui.Button(
            label="What would it have chosen?", icon="alt_route", variant="outlined", size="small",
            margin=(6, 6),
        )  # fmt: skip
        self.answer = html_pane((2, 10))
        self.job: GeneratorJob[Counterfactual | None] | None = None
        self.ask.on_click(lambda _: self.start())

    def __panel__(self) -> Any:
        return column(button_row(self.rule, self.ask), self.answer, margin=(0, 8))

    def start(self) -> None:
        """Begin, or say why it cannot be done."""
        self.close()
        run = self.controller.ended_run
        if run is None:
            self._say("Finish a run first: the other rule is given its gains and Joules.")
            return
        decisions = int(run.ledger.decisions[0])
        taken = count(decisions)
        if str(run.meter.info.provenance) not in PACED:
            self._say("A run on a real counter cannot be repeated: its Joules differ each time.")
        elif decisions > MOST:
            self._say(f"This run took {taken} decisions; at most {count(MOST)} can be shown.")
        else:
            rule = str(self.rule.value)
            self._rules = (run.trial.name_of("selector"), rule)
            self._say(f"Giving {rule} the gains and Joules of {taken} decisions…")
            steps = _choices(run.trial, rule, decisions)
            self.job = GeneratorJob(steps, self.controller.owner).start()

    def tick(self) -> bool:
        """Show the answer once it is there; return whether something has changed."""
        job = self.job
        if job is None or not job.over:
            return False
        self.job = None
        found = next((item for item in job.take() if item is not None), None)
        if job.error:
            self._say(job.error)
        elif found is not None:
            self.answer.object = describe(found, *self._rules)
        return True

    def close(self) -> None:
        """End the work; the visitor has left or asks anew."""
        if self.job is not None:
            self.job.stop()
            self.job = None

    def _say(self, words: str) -> None:
        self.answer.object = f"<p class='words quiet' role='status'>{text(words)}</p>"


def _choices(trial: Trial, rule: str, decisions: int) -> Generator[Counterfactual | None]:
    run = Run(replace(trial, every=1))
    while not run.done and run.ledger.decisions[0] < decisions:
        run.advance(min(2000, decisions - int(run.ledger.decisions[0])))
        yield None  # gives the turn back
    yield reschedule(
        run.rows(), run.names, rule, budget=trial.budget.joules, seed=trial.seed,
        repetition=trial.repetition,
    )  # fmt: skip


def describe(found: Counterfactual, recorded: str, rule: str) -> str:
    """Describe in words and a table what another rule would have chosen."""
    lines = [
        row(text(name), f"{was:.1%}", f"{theirs:.1%}")
        for name, (was, theirs) in found.shares().items()
    ]
    end = (
        f"It ends there because {text(rule)} asked for {text(found.exhausted)} more often than "
        "the run had applied it."
        if found.exhausted
        else "All of the record, or of the budget, was used."
    )
    heads = ("share of the choices", f"{text(recorded)}, as recorded", f"{text(rule)}, if shown")
    return (
        f"<p class='words' role='status'>In {count(found.operator.size)} decisions the two "
        f"agree in {found.agreement:.0%}. {end}</p>{table(heads, lines)}"
        f"<p class='words quiet'>{text(CAVEAT)}</p>"
    )
