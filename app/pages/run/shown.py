"""What the page shows: one state, from which chip, bar, buttons, titles and tiles derive."""

from __future__ import annotations

from typing import NamedTuple

from ...background.controller import Controller

OVER = ("finished", "stopped", "failed")


class Shown(NamedTuple):
    """What is on the screen at this moment.

    A page that has lost its server says so by itself, see `app/server/connection.js`.
    """

    state: str
    """idle, recorded, waiting, compiling, running, paused, finished, stopped, failed, or refused:
    the settings cannot be run."""
    detail: str = ""
    stale: bool = False
    """Whether the settings differ from those of the run that is shown."""
    share: float = 0.0
    """How much of the budget the shown run has used."""

    @property
    def busy(self) -> bool:
        """Whether the run goes on, is paused or about to begin."""
        return self.state in ("waiting", "compiling", "running", "paused")

    @property
    def run_label(self) -> str:
        """What the button Run does next."""
        if self.stale:
            return "Run these settings"
        return "Restart" if self.busy else "Run again" if self.state in OVER else "Run"

    @property
    def can_replay(self) -> bool:
        """Whether the rows can be gone through."""
        return self.state in ("finished", "stopped", "recorded")


def shown_of(controller: Controller, stale: bool = False) -> Shown:
    """Return what a controller shows; `stale`: the settings are no longer those of its run."""
    state, job, snapshot = controller.stage, controller.job, controller.snapshot
    stale = stale and bool(job is not None or len(snapshot.rows))
    share = snapshot.tally.progress if snapshot.tally is not None else 0.0
    if controller.refused:
        return Shown("refused", "", stale, share)
    if job is None:
        return Shown("recorded" if len(snapshot.rows) else "idle", "", stale, share)
    place, detail = job.place, ""
    if place:
        state, detail = "waiting", f"number {place}"
    elif state == "compiling" and len(job.lanes) > 1:
        detail = f"{job.built + 1} of {len(job.lanes)}"
    elif state == "running" and controller.compiling:
        detail = "interpreted until compiled"
    elif state == "finished" and job.leader is not None:
        detail = job.leader.reason
    elif state in ("stopped", "failed") and share >= 1.0 and len(snapshot.rows):
        share = snapshot.used_share
    return Shown(state, detail, stale, share)
