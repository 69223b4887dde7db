"""What would another rule have chosen? The present run's own stream, scheduled anew."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.escape import text
from app.player import PACED, Player
from app.settings import offered
from app.tables import table
from app.theme import PAGE_CSS
from app.work import Work
from eij_core import Run, Trial
from eij_core.counterfactual import CAVEAT, Counterfactual, reschedule

__all__ = ["Otherwise", "told"]

MOST = 50_000
"""Decisions that are scheduled anew: it is done step by step, and the page should not wait long."""


class Otherwise(pn.viewable.Viewer):
    """Asks another rule for its choices; works in the background.

    The run is made once more with every decision recorded: on a model of energy it is the same run.

    Parameters
    ----------
    player : Player
        Plays the run in question.
    owner : hashable
        Whose turns the work takes.
    """

    def __init__(self, player: Player, owner: Hashable, **params: Any) -> None:
        super().__init__(**params)
        self.player, self.owner = player, owner
        self.rule = pmui.Select(
            label="Another rule", options=offered("selector"), value="ucb1", size="small",
            width=220, margin=(6, 6),
        )  # fmt: skip
        self.ask = pmui.Button(
            label="What would it have chosen?", icon="alt_route", variant="outlined", size="small",
            margin=(6, 6),
        )  # fmt: skip
        self._told = pn.pane.HTML(
            "", sizing_mode="stretch_width", stylesheets=[PAGE_CSS], margin=(2, 10)
        )
        self._work: Work[Counterfactual | None] | None = None
        self.ask.on_click(lambda _: self.start())

    def __panel__(self) -> Any:
        asking = pmui.FlexBox(self.rule, self.ask, align_items="center")
        return pmui.Column(asking, self._told, sizing_mode="stretch_width", margin=(0, 8))

    def start(self) -> None:
        """Ask, or say why that cannot be done."""
        self.close()
        job = self.player.job
        if job is None or job.leader is None or not job.over:
            self._say("Finish a run first: its gains and Joules are what the other rule is shown.")
            return
        decisions = int(job.leader.ledger.decisions[0])
        if str(job.leader.source.info.provenance) not in PACED:
            self._say("A run on a real counter cannot be made once more: its Joules never recur.")
        elif decisions > MOST:
            self._say(f"This run took {decisions:,} decisions; at most {MOST:,} can be shown.")
        else:
            trial, rule = job.leader.trial, str(self.rule.value)
            self._rules = (trial.name_of("selector"), rule)
            self._say(f"Showing the run's {decisions:,} decisions to {rule}…")
            self._work = Work(lambda: _choices(trial, rule, decisions), self.owner).start()

    def tick(self) -> bool:
        """Show the answer, once it is there; tell whether something has changed."""
        work = self._work
        if work is None or not work.over:
            return False
        self._work = None
        found = next((item for item in work.take() if item is not None), None)
        if work.error:
            self._say(work.error)
        elif found is not None:
            self._told.object = told(found, *self._rules)
        return True

    def close(self) -> None:
        """Let go of what is being worked out."""
        if self._work is not None:
            self._work.stop()
            self._work = None

    def _say(self, words: str) -> None:
        self._told.object = f"<p class='words quiet' role='status'>{text(words)}</p>"


def _choices(trial: Trial, rule: str, decisions: int) -> Iterator[Counterfactual | None]:
    run = Run(replace(trial, every=1))
    while not run.done and run.ledger.decisions[0] < decisions:
        run.advance(min(2000, decisions - int(run.ledger.decisions[0])))
        yield None  # others have their turns in between
    yield reschedule(
        run.rows(),
        run.names,
        rule,
        budget=trial.budget.joules,
        seed=trial.seed,
        repetition=trial.repetition,
    )


def told(found: Counterfactual, recorded: str, rule: str) -> str:
    """Say in words and a table what another rule would have chosen."""
    count = found.operator.size
    lines = [
        f"<tr><td>{text(name)}</td><td>{was:.1%}</td><td>{theirs:.1%}</td></tr>"
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
        f"<p class='words' role='status'>In {count:,} decisions the two agree in "
        f"{found.agreement:.0%}. {end}</p>{table(heads, lines)}"
        f"<p class='words quiet'>{text(CAVEAT)}</p>"
    )
