"""What the pages with one background job share: toolbar, alert, link, start, tick and stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable
from typing import Generic, TypeVar

import panel as pn

from ...background.jobs import GeneratorJob
from .layout import alert_box, show_alert
from .links import Choices
from .toolbar import Toolbar

Item = TypeVar("Item")


class JobPage(ABC, Generic[Item]):
    """A page that runs one job at a time.

    A subclass has `controls`, `main`, `start`, which calls `run_job`, and the three that `tick`
    calls: `take`, `finish` and `draw`.

    Parameters
    ----------
    owner : hashable
        Whose turns the job takes.
    verb : str
        The label of the button that starts the job.

    Attributes
    ----------
    job : GeneratorJob or None
        None before the first job and after the end of each.
    stage : str
        The stage of the latest job, as it is drawn; "idle" before the first.
    """

    choices: Choices

    def __init__(self, owner: Hashable, verb: str = "Run") -> None:
        self.owner = owner
        self.job: GeneratorJob[Item] | None = None
        self.stage = "idle"
        self._place = 0
        self.toolbar = Toolbar(verb)
        self.alert = alert_box(margin=(0, 0, 8, 0), sx={"overflowWrap": "anywhere"})
        self.toolbar.run.on_click(lambda _: self.start())
        self.toolbar.stop.on_click(lambda _: self.halt())

    # --- what a page adds ---

    @abstractmethod
    def start(self) -> None:
        """Start what is chosen."""

    @abstractmethod
    def take(self, item: Item) -> None:
        """Take in what the job has found."""

    def finish(self, error: str) -> None:
        """End the job, of which all is taken; `error`: why it failed, "" if it did not."""
        self.alert_visitor(error)

    @abstractmethod
    def draw(self, lost: bool = False) -> None:
        """Draw what there is; `lost`: frames may not have arrived."""

    # --- the job ---

    def run_job(self, steps: Generator[Item], alone: bool = False) -> None:
        """Start a job; `alone` if it measures and must have the processor to itself."""
        self.alert_visitor("")
        self.job, self.stage = GeneratorJob(steps, self.owner, alone=alone).start(), "waiting"
        self.draw()

    @property
    def busy(self) -> bool:
        """Whether the job is under way."""
        return self.job is not None and not self.job.over

    def halt(self) -> None:
        """End the job after its present step; what it has found stays."""
        if self.job is not None:
            self.job.stop()

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new."""
        job = self.job
        # The stage is read first: what is found later comes with the next tick.
        now = (job.stage, job.place) if job is not None else (self.stage, 0)
        items = job.take() if job is not None else []
        if not items and not lost and now == (self.stage, self._place):
            return False
        self.stage, self._place = now
        with pn.io.hold():
            for item in items:
                self.take(item)
            if job is not None and self.stage in ("finished", "stopped", "failed"):
                self.job = None
                self.finish(job.error)
            self.draw(lost)
        return True

    # --- what is shown ---

    def alert_visitor(self, message: str, severity: str = "error") -> None:
        """Show a message above the page; "" hides it."""
        show_alert(self.alert, message, severity=severity)

    def show_stage(self, stage: str, share: float, detail: str = "") -> None:
        """Show the stage, a detail of it, and the share (0 to 1) that is done."""
        if stage == "waiting" and self._place:
            detail = f"number {self._place}"
        self.toolbar.show_stage(stage, detail)
        self.toolbar.run.disabled, self.toolbar.stop.disabled = self.busy, not self.busy
        self.toolbar.show_progress(share, unknown=self.busy and not share)

    def link(self) -> str:
        """Return the query that leads back here."""
        return self.choices.link()

    def close(self) -> None:
        """End the job; the visitor has left."""
        self.halt()
