"""A scheduler that is followed while somebody's own loop asks it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NoReturn

import panel as pn

from eij_core import EijError, RunError, Scheduler

from ..pages.common.layout import box, button_row, column, set_changed
from ..pages.common.toolbar import Toolbar
from ..pages.run.tiles import numbers, sentence
from ..views.panes import html_pane
from ..views.snapshot import Snapshot, snapshot_of_run, tally_of


class LoopController:
    """Takes the place of `Controller` where the loop is the user's: it looks, stops and adjusts.

    Parameters
    ----------
    scheduler : Scheduler
    """

    share, failure, at_rest, compiling, job = 1.0, "", False, False, None

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.problem: EijError | None = None
        self.on_change: Callable[[], Any] = lambda: None
        self.snapshot: Snapshot = self._look()
        self._seen: Any = None

    @property
    def stage(self) -> str:
        """idle before the first step, then running, then finished or stopped."""
        run = self.scheduler.run
        if run.done:
            return "stopped" if run.reason == "stopped" else "finished"
        return "running" if run.begun else "idle"

    @property
    def run(self) -> Scheduler | None:
        """What has the result; None before the first step, which asking for one would book."""
        return self.scheduler if self.scheduler.run.begun else None

    @property
    def busy(self) -> bool:
        """Whether steps may still come."""
        return not self.scheduler.done

    @property
    def shown(self) -> tuple[Snapshot, Hashable]:
        """The snapshot to draw, and its story."""
        return self.snapshot, ("loop", id(self.scheduler))

    def news(self) -> bool:
        """Take in the steps since the last call; return whether to draw again."""
        now = (int(self.scheduler.run.ledger.decisions[0]), self.stage, self.problem)
        if now == self._seen:
            return False
        self._seen = now
        self.snapshot = self._look()
        return True

    def preview(self) -> None:
        """Nothing: there is a snapshot already."""

    def stop(self) -> None:
        """End the loop: the scheduler gives no more steps."""
        self.scheduler.stop()
        self.on_change()

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the rule; a refusal becomes `problem`."""
        try:
            self.scheduler.adjust(**parameters)
            self.problem = None
        except EijError as error:
            self.problem = error
        self.on_change()

    def start(self, paused: bool = False) -> NoReturn:
        """Refuse: the loop is the user's."""
        raise RunError("your own loop makes the steps of this run: run its cell")

    def resume(self) -> NoReturn:
        """Refuse, as `start`."""
        self.start()

    pause = resume

    def step(self, decisions: int = 1) -> NoReturn:
        """Refuse, as `start`."""
        self.start()

    def _look(self) -> Snapshot:
        run = self.scheduler.run
        with self.scheduler.turn():  # between two steps of the loop
            return snapshot_of_run(run, run.rows(), tally_of(run) if run.begun else None)


class LoopBar(Toolbar):
    """Where a loop stands, and a button that ends it."""

    def __init__(self, controller: LoopController) -> None:
        super().__init__()
        self._numbers, self._sentence = html_pane((4, 8)), html_pane((0, 10, 4, 10))
        self.stop.on_click(lambda _: controller.stop())

    def plain(self) -> Any:
        """Return the bar: the button, the stage, the progress."""
        head = button_row(self.stop, pn.layout.HSpacer(), self.stage)
        return box(head, self.progress, p="4px 6px", borderRadius="12px")

    @property
    def gauges(self) -> Any:
        """The numbers of the loop and a sentence, to be put below the bar."""
        return column(self._numbers, self._sentence)

    def refresh(self, controller: LoopController) -> None:
        """Show where the loop stands."""
        snapshot, run = controller.snapshot, controller.scheduler.run
        self.show_stage(controller.stage, run.reason if controller.stage == "finished" else "")
        self.show_progress(controller.scheduler.progress)
        set_changed(self.stop, disabled=not controller.busy)
        set_changed(self._numbers, object=numbers(snapshot))
        words = sentence(snapshot) or "The loop has not begun: run the cell with its steps."
        set_changed(self._sentence, object=f"<p class='words' role='status'>{words}</p>")
