"""A run in a notebook: controls and live plots in one cell, the notebook free for the others.

>>> from .. import LiveRun  # doctest: +SKIP
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

from eij_core import EijError, Result, Run, RunError, Scheduler, Trial
from eij_core.result import frame_of

from ..background.controller import Controller
from ..pages.common.layout import alert_box, column, show_alert
from ..pages.run.settings import Settings
from ..pages.run.shown import shown_of
from ..pages.run.transport import TransportBar
from ..views.decision import DecisionView
from ..views.energy import EnergyView
from ..views.estimates import EijView
from ..views.fitness import CompareView, FitnessView
from ..views.panes import grid
from ..views.selection import SelectionView
from ..views.solution import SolutionView
from ..views.view import View
from .jupyter import prepare, replace_in_cell
from .own_loop import LoopBar, LoopController
from .painter import PERIOD, painter

DEFAULT = Trial()
VIEWS: dict[str, type[View]] = {
    "fitness": FitnessView,
    "compare": CompareView,
    "eij": EijView,
    "selection": SelectionView,
    "decision": DecisionView,
    "energy": EnergyView,
    "solution": SolutionView,
}


class LiveRun(pn.viewable.Viewer):
    """A run with its controls and plots.

    Parameters
    ----------
    problem : str, component, Trial, Run or Scheduler
        Text as on the command line, an object of your own, or a whole trial or run. A `Scheduler`
        is followed while your own loop, in another cell, makes its steps.
    algorithm, selector, meter, budget, seed :
        As in `Trial`.
    compare : bool
        Whether uniform choice and each operator alone spend the same Joules beside it.
    pace : float
        Seconds over which the budget is played; 0: as fast as it goes.
    views : tuple of str
        Of fitness, compare, eij, selection, decision, energy, solution.

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
        if isinstance(problem, Scheduler):
            self._follow_loop(problem)
        else:
            parts = (algorithm, selector, meter, budget, seed)
            self._play(problem, parts, Settings(pace=pace, compare=compare))
        self._views: weakref.WeakSet[View] = weakref.WeakSet()
        self.views = tuple(VIEWS[name]() for name in views)
        self._error = alert_box(margin=0)
        self._lock = threading.RLock()
        self._served = False
        self._behind = False
        """Whether the controller has news that no page shows yet."""
        for view in self.views:
            self.follow(view)
        bar = column(self._bar.plain(), self._bar.gauges)
        shown = (bar, self._error, *self.views[:1], grid(*self.views[1:], gap="10px"))
        self._layout = column(*shown, sx={"gap": "10px"})
        self._controller.on_change = self._on_change
        if not isinstance(problem, Scheduler):  # a loop is stopped by its own cell
            replace_in_cell(self)
        prepare()

    def _play(self, problem: Any, parts: tuple[Any, ...], settings: Settings) -> None:
        run = problem if isinstance(problem, Run) else None
        given = run.trial if run is not None else problem
        self.trial = given if isinstance(given, Trial) else Trial(given, *parts)
        controller = Controller(lambda: self.trial, settings, run=run)
        controller.preview()
        if controller.problem is not None:
            raise controller.problem
        self._controller: Any = controller
        self._settings = settings
        self._bar: TransportBar | LoopBar
        bar = self._bar = TransportBar(controller, settings)
        self._refresh_bar = lambda: bar.refresh(controller, shown_of(controller))

    def _follow_loop(self, scheduler: Scheduler) -> None:
        self.trial = scheduler.trial
        controller = self._controller = LoopController(scheduler)
        bar = self._bar = LoopBar(controller)
        self._refresh_bar = lambda: bar.refresh(controller)

    # --- from code ---

    def run(self) -> None:
        """Start, or go on after a pause; a run that is over starts anew."""
        if self.stage == "paused":
            self._controller.resume()
        elif not self._controller.busy:
            self._controller.start()

    def pause(self) -> None:
        """Let the run wait."""
        self._controller.pause()

    def step(self, decisions: int = 1) -> None:
        """Take so many decisions and wait; without a run, begin one."""
        self._controller.step(decisions)

    def stop(self) -> None:
        """End the run; what was drawn stays."""
        self._controller.stop()

    close = stop

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the rule while it runs, such as alpha; a refusal is shown above."""
        self._controller.adjust(**parameters)

    def wait(self, seconds: float = math.inf) -> LiveRun:
        """Wait until the run is over, or paused, or so many seconds have passed."""
        end = time.monotonic() + seconds
        while self._controller.busy and not self._controller.at_rest and time.monotonic() < end:
            time.sleep(0.02)
        self._refresh()
        return self

    def follow(self, view: View) -> None:
        """Keep a view up to date with this run."""
        with painter.lock:
            self._views.add(view)
            self._show((view,))

    @property
    def stage(self) -> str:
        """idle, waiting, compiling, running, paused, finished, stopped or failed."""
        return self._controller.stage

    @property
    def problem(self) -> EijError | None:
        """Why the latest change of a parameter was refused; None if it was accepted."""
        return self._controller.problem

    @property
    def result(self) -> Result | None:
        """Where the run stands, complete once it is over; None before the start."""
        job = self._controller.job
        if job is None:
            own = self._controller.run
            return own.result() if own is not None else None
        while job.leader is None and not job.over:  # the compiler is at work
            time.sleep(0.02)
        if job.stage == "failed":
            raise RunError(job.error)
        return job.leader.result() if job.leader is not None else None

    @property
    def frame(self) -> Any:
        """The rows recorded so far, as a DataFrame; see `eij_core.result.frame_of`."""
        with self._lock:
            self._behind |= self._controller.news()
            shown = self._controller.snapshot
        return frame_of(shown.rows, shown.names)

    # --- the widget ---

    def __panel__(self) -> Any:
        with painter.lock:
            for view in self.views:
                for figure in view.figures:
                    figure.forget()
            self._draw()
        self._observe()
        return self._layout

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return View.screen.bundle(self, include, exclude)

    # --- keeping it alive ---

    def _on_change(self) -> None:
        self._behind = True
        self._observe()
        self._refresh()

    def _observe(self) -> None:
        """Look at the run from now on: by the server's clock, or in a notebook by the painter."""
        if self._served:
            return
        document = pn.state.curdoc
        if document is not None and document.session_context is not None:
            self._served = True
            pn.state.add_periodic_callback(self._tick, period=int(1000 * PERIOD))
            pn.state.on_session_destroyed(lambda _: self._controller.stop())
        else:
            painter.watch(self._look)

    def _refresh(self) -> None:
        """Draw what is new. Outside a server the painter does it, and a cell waits for it."""
        if self._served or painter.is_current:
            self._look()
        else:
            painter.do(self._look).result()

    def _tick(self) -> None:
        with pn.io.hold():
            self._look()

    def _look(self) -> bool:
        """Draw what is new; return whether there is more to come."""
        with self._lock:
            more = self._controller.busy
            self._behind |= self._controller.news()
        if not View.screen.is_connected(self._layout):
            return True
        if self._behind:
            self._behind = False
            self._draw()
        return more

    def _draw(self) -> None:
        self._show(tuple(self._views))
        self._refresh_bar()
        show_alert(self._error, self._controller.failure or self._controller.problem)

    def _show(self, views: tuple[View, ...]) -> None:
        snapshot, story = self._controller.shown
        for view in views:
            view.show(snapshot, (story, id(self)))
