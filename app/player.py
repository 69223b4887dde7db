"""A player: starts, pauses, steps and stops a job, and turns what it says into frames.

It knows nothing of widgets, so a page, a notebook and a test drive it alike.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from app.frame import Frame, Lane, frame_of_run
from app.jobs import Contender, Job, rivals_of
from app.track import Track
from eij_core import Run, Trial
from eij_core.records import row_dtype

__all__ = ["Player", "empty_frame"]

PACED = ("simulated", "replayed")
"""Idle time costs real Joules, so only these may be played slowly."""
PAST = 8
"""Earlier runs that are remembered."""


class Player:
    """Plays one job at a time.

    Attributes
    ----------
    frame : Frame or None
        What there is to see.
    story : hashable
        Which telling of which run the frame belongs to, see `LiveFigure.show`.
    """

    def __init__(self, owner: Hashable = None) -> None:
        self.owner = self if owner is None else owner
        self.job: Job | None = None
        self.frame: Frame | None = None
        self.story: Hashable = None
        self.past: list[Lane] = []
        self.overlaid: tuple[str, ...] = ()
        self._number = 0
        self._tracks: list[Track] = []
        self._seen: Any = None

    # --- what a person can do ---

    def start(
        self,
        trial: Trial,
        *,
        compare: bool = False,
        pace: float = 0.0,
        paused: bool = False,
        run: Run | None = None,
    ) -> None:
        """Stop what plays, and play this trial; `run` is one of its runs, to go on with."""
        names = [operator.name for operator in trial.make("algorithm").operators]
        contenders = [Contender(trial.name_of("selector"), trial, run=run)]
        if compare:
            contenders += rivals_of(trial, names)
        if str(trial.make("meter").info.provenance) not in PACED:
            pace = 0.0
        self.stop()
        self._number += 1
        self._tracks = [Track() for _ in contenders]
        self.frame = empty_frame(trial, names, contenders[1:])
        self.story = (self._number, "empty")
        self._seen = None
        self.job = Job(contenders, self.owner, pace, paused).start()

    def pause(self) -> None:
        """Let the run wait."""
        if self.job is not None:
            self.job.control.pause()

    def resume(self) -> None:
        """Let the run go on."""
        if self.job is not None:
            self.job.control.resume()

    def step(self) -> None:
        """Take one decision."""
        if self.job is not None:
            self.job.control.step()

    def pace(self, seconds: float) -> None:
        """Play over so many seconds; a meter that reads real energy is never slowed down."""
        if self.job is not None and self.frame is not None:
            self.job.control.duration = seconds if self.frame.provenance in PACED else 0.0

    def adjust(self, name: str, value: Any) -> None:
        """Change a parameter of the scheduler while it runs."""
        if self.job is not None and self.busy:
            self.job.control.adjust(**{name: value})

    def stop(self) -> None:
        """End the run; what was drawn stays."""
        if self.job is not None:
            self.job.control.stop()

    def show(self, frame: Frame, name: str) -> None:
        """Show something that is not played: a recording, or an empty page."""
        self.stop()
        self.job = None
        self._number += 1
        self.frame, self.story = frame, (self._number, name)

    # --- what a page asks ---

    @property
    def stage(self) -> str:
        """idle, waiting, compiling, running, paused, finished, stopped or failed."""
        if self.job is None:
            return "idle"
        if self.job.stage == "running" and self.job.control.paused:
            return "paused"
        return self.job.stage

    @property
    def busy(self) -> bool:
        """Whether a run is on, paused or about to begin."""
        return self.stage in ("waiting", "compiling", "running", "paused")

    def poll(self) -> bool:
        """Take in what the job has posted; tell whether there is something new to draw."""
        job = self.job
        if job is None or job.leader is None:
            return False
        over = job.over  # before the mailboxes: what comes later is taken next time
        tally = job.tally
        fresh = False
        for track, rows in zip(self._tracks, job.take(), strict=True):
            if rows is not None:
                track.add(rows)
                fresh = True
        paused = job.control.paused and not over
        now = (over, paused, tally.decisions if tally is not None else 0, self.overlaid)
        if (not fresh and now == self._seen) or not len(self._tracks[0].rows):
            return False  # nothing new, or a counter that has not settled its first rows yet
        self._seen = now
        self._draw(job, tally, paused)
        if over:
            self._remember(job)
        return True

    def _draw(self, job: Job, tally: Any, paused: bool) -> None:
        assert job.leader is not None
        rows = self._tracks[0].rows
        telling: Hashable = "grid"
        if paused and tally is not None and tally.decisions > rows["decision"][-1]:
            # The grid may have no row for this very step, but people look at it.
            rows = np.concatenate([rows, tally.tip])
            telling = tally.decisions
        epochs = sum(track.epoch for track in self._tracks)
        frame = frame_of_run(job.leader, rows, tally)
        lanes = [
            Lane(contender.label, track.rows, contender.kind)
            for contender, track in zip(job.contenders[1:], self._tracks[1:], strict=True)
        ]
        self.frame = frame._replace(others=(*lanes, *self._overlays()))
        self.story = (self._number, epochs, telling)

    def _overlays(self) -> list[Lane]:
        return [lane for lane in self.past if lane.label in self.overlaid]

    def _remember(self, job: Job) -> None:
        trial = job.contenders[0].trial
        words = (trial.name_of(family) for family in ("problem", "algorithm", "selector"))
        label = f"run {self._number}: {' · '.join(words)}, seed {trial.seed}"
        if all(lane.label != label for lane in self.past):
            self.past = [*self.past, Lane(label, self._tracks[0].rows, "past")][-PAST:]


def empty_frame(
    trial: Trial,
    names: list[str] | None = None,
    others: list[Contender] | None = None,
    alive: bool = True,
) -> Frame:
    """Return the frame of a run that has not begun; if its meter is not alive, that cannot."""
    if names is None:
        names = [operator.name for operator in trial.make("algorithm").operators]
    info = trial.make("meter").info if alive else None
    nothing = np.zeros(0, row_dtype(len(names)))
    return Frame(
        nothing,
        tuple(names),
        trial.budget,
        trial.name_of("problem"),
        trial.name_of("algorithm"),
        trial.name_of("selector"),
        info.name if info else trial.name_of("meter"),
        str(info.provenance) if info else "no",
        others=tuple(Lane(c.label, nothing, c.kind) for c in others or ()),
        source=info,
    )
