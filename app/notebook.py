"""A run in a notebook: controls and live plots in one cell, the notebook free for the others.

>>> from app import LiveRun  # doctest: +SKIP
>>> live = LiveRun("nk", "ils", budget="1 kJ")  # doctest: +SKIP
>>> live  # doctest: +SKIP
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.bar import Bar
from app.escape import text
from app.frame import Frame, frame_of_run, tally_of
from app.jupyter import Shown, connected, extension, prepare, replace_in_cell
from app.painter import PERIOD, painter
from app.player import Player, empty_frame
from app.settings import FAST, Settings
from app.views import (
    CompareView,
    DecisionView,
    EijView,
    EnergyView,
    FitnessView,
    SelectionView,
    View,
)
from eij_core import EijError, Result, Run, RunError, Trial
from eij_core.result import frame_of

__all__ = ["LiveRun", "extension"]

DEFAULT = Trial()
VIEWS: dict[str, type[View]] = {
    "fitness": FitnessView,
    "compare": CompareView,
    "eij": EijView,
    "selection": SelectionView,
    "decision": DecisionView,
    "energy": EnergyView,
}


class LiveRun(Shown):
    """A run with its controls and plots.

    Parameters
    ----------
    problem : str, component, Trial or Run
        Text as on the command line, an object of your own, or a whole trial or run.
    algorithm, selector, meter, budget, seed :
        As in `Trial`.
    compare : bool
        Whether uniform choice and each operator alone spend the same Joules beside it.
    pace : float
        Seconds over which the budget is played; 0: as fast as it goes.
    views : tuple of str
        Of fitness, compare, eij, selection, decision, energy.

    Examples
    --------
    >>> live = LiveRun("nk:n=20,k=3", "ils", budget="20 J", pace=0)
    >>> live.stage
    'idle'
    """

    def __init__(
        self,
        problem: Any = "knapsack",
        algorithm: Any = "ils",
        selector: Any = DEFAULT.selector,
        meter: Any = DEFAULT.meter,
        budget: Any = "1 kJ",
        seed: int = 0,
        *,
        compare: bool = False,
        pace: float = 10.0,
        views: tuple[str, ...] = ("compare", "eij", "selection"),
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._own = problem if isinstance(problem, Run) else None
        if isinstance(problem, Run):
            self.trial = problem.trial
        elif isinstance(problem, Trial):
            self.trial = problem
        else:
            self.trial = Trial(problem, algorithm, selector, meter, budget, seed)
        self._settings = Settings(pace=pace, compare=compare)
        self._player = Player()
        self._player.show(self._first_frame(), "empty")
        self._bar = Bar(self._settings)
        self._views: weakref.WeakSet[View] = weakref.WeakSet()
        self.views = tuple(VIEWS[name]() for name in views)
        self._error = pmui.Alert(object="", severity="error", visible=False)
        self._lock = threading.RLock()
        self._served = False
        self._behind = False  # whether something is not drawn yet
        self._last: Any = None  # where the run stood when it was drawn
        self._wanted = 0  # decisions that steps have asked for
        self._connect()
        for view in self.views:
            self.follow(view)
        self._layout = self._build()
        replace_in_cell(self)
        prepare()

    # --- from code ---

    def run(self) -> None:
        """Start, or go on after a pause; a run that is over starts anew."""
        if self._player.stage == "paused":
            self._player.resume()
        elif not self._player.busy:
            self._start()
        self._refresh()

    def pause(self) -> None:
        """Let the run wait."""
        self._player.pause()
        self._refresh()

    def step(self, decisions: int = 1) -> None:
        """Take so many decisions and wait; without a run, begin one."""
        if not self._player.busy:
            self._start(paused=True)
        job = self._player.job
        if job is not None:
            self._wanted = decisions + max(
                self._wanted, job.tally.decisions if job.tally is not None else 0
            )
            job.control.step(decisions)
        self._refresh()

    def stop(self) -> None:
        """End the run; what was drawn stays."""
        self._player.stop()
        self._refresh()

    close = stop

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the selector while it runs, such as alpha."""
        if self._player.job is not None:
            self._player.job.control.adjust(**parameters)

    def wait(self, seconds: float = math.inf) -> LiveRun:
        """Wait until the run is over, or paused, or so many seconds have passed."""
        end = time.monotonic() + seconds
        while self._player.busy and not self._at_rest() and time.monotonic() < end:
            time.sleep(0.02)
        self._refresh()
        return self

    def follow(self, view: View) -> None:
        """Keep a view up to date with this run."""
        with painter.lock:
            self._views.add(view)
            if self._player.frame is not None:
                view.show(self._player.frame, (self._player.story, id(self)))

    @property
    def stage(self) -> str:
        """idle, waiting, compiling, running, paused, finished, stopped or failed."""
        return self._player.stage

    @property
    def result(self) -> Result | None:
        """Where the run stands, complete once it is over; None before the start."""
        job = self._player.job
        if job is None:
            return self._own.result() if self._own is not None else None
        while job.leader is None and not job.over:  # the compiler is at work
            time.sleep(0.02)
        if job.stage == "failed":
            raise RunError(job.error)
        return job.leader.result() if job.leader is not None else None

    @property
    def frame(self) -> Any:
        """The rows recorded so far, as a DataFrame; see `eij_core.result.frame_of`."""
        with self._lock:
            self._player.poll()
            shown = self._player.frame
        assert shown is not None
        return frame_of(shown.rows, shown.names)

    # --- the widget ---

    def __panel__(self) -> Any:
        with painter.lock:
            self._draw(anew=True)
        self._observe()
        return self._layout

    def _build(self) -> Any:
        first, rest = self.views[:1], self.views[1:]
        grid = pmui.FlexBox(
            *rest,
            sizing_mode="stretch_width",
            sx={
                "display": "grid",
                "gridTemplateColumns": "repeat(auto-fit, minmax(min(100%, 440px), 1fr))",
                "gap": "10px",
            },
        )
        parts = (self._bar, self._error, *first, grid)
        return pmui.Column(*parts, sizing_mode="stretch_width", margin=0, sx={"gap": "10px"})

    def _connect(self) -> None:
        bar = self._bar
        bar.run.on_click(lambda _: self._again())
        bar.pause.on_click(lambda _: self.run() if self.stage == "paused" else self.pause())
        bar.step.on_click(lambda _: self.step())
        bar.stop.on_click(lambda _: self.stop())
        bar.reset.on_click(lambda _: self._reset())
        bar.replay.param.watch(self._on_replay, "value")
        self._settings.param.watch(self._on_pace, "pace")

    def _again(self) -> None:
        self._start()
        self._refresh()

    def _first_frame(self) -> Frame:
        own = self._own
        if own is None:
            return empty_frame(self.trial)
        return frame_of_run(own, own.rows(), tally_of(own))

    def _reset(self) -> None:
        self._own = None
        self._player.show(empty_frame(self.trial), "empty")
        self._refresh()

    def _on_pace(self, event: Any) -> None:
        job, frame = self._player.job, self._player.frame
        if job is not None and frame is not None:
            job.control.duration = event.new if frame.provenance == "simulated" else FAST

    def _on_replay(self, event: Any) -> None:
        frame = self._player.frame
        if frame is not None and not self._player.busy:
            self._show(frame.until(event.new / 100.0), ("replay", event.new))

    def _start(self, paused: bool = False) -> None:
        self._error.visible = False
        self._wanted = 0
        settings = self._settings
        own = self._own if self._own is not None and not self._own.done else None
        try:
            self._player.start(
                self.trial, compare=settings.compare, pace=settings.pace, paused=paused, run=own
            )
        except EijError as error:
            self._error.param.update(object=text(str(error)), visible=True)
            raise
        self._observe()

    # --- keeping it alive ---

    def _at_rest(self) -> bool:
        """Whether a paused run has taken all the steps that it was asked for."""
        job = self._player.job
        if job is None or job.tally is None or not job.control.paused:
            return False
        return job.tally.decisions >= self._wanted

    def _observe(self) -> None:
        """Look at the run from now on: by the server's clock, or in a notebook by the painter."""
        if self._served:
            return
        document = pn.state.curdoc
        if document is not None and document.session_context is not None:
            self._served = True
            pn.state.add_periodic_callback(self._tick, period=int(1000 * PERIOD))
            pn.state.on_session_destroyed(lambda _: self._player.stop())
        else:
            painter.watch(self._look)

    def _refresh(self) -> None:
        """Draw what is new. Outside a server the painter does it, and a cell waits for it."""
        if self._served or painter.mine:
            self._look()
        else:
            painter.do(self._look).result()

    def _tick(self) -> None:
        with pn.io.hold():
            self._look()

    def _look(self) -> bool:
        """Draw what is new; tell whether there is more to come."""
        with self._lock:
            more = self._player.busy
            self._behind |= self._player.poll()
        if not connected(self._layout):
            return True
        job = self._player.job
        now = (self._player.stage, job.place if job else 0, job.built if job else 0)
        if self._behind or now != self._last:
            self._behind, self._last = False, now
            self._draw()
        return more

    def _draw(self, anew: bool = False) -> None:
        player = self._player
        if player.frame is None:
            return
        if anew:
            for view in self.views:
                for figure in view.figures:
                    figure._shape = None
        self._show(player.frame, (player.story, id(self)))
        self._bar.refresh(player, player.frame)
        if player.job is not None and player.stage == "failed":
            self._error.param.update(object=text(player.job.error), visible=True)

    def _show(self, frame: Frame, story: Any) -> None:
        for view in tuple(self._views):
            view.show(frame, story)
