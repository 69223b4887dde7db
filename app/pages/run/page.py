"""The Run page: controls at the side, the transport bar above, the views below."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import panel as pn

from eij_core import EijError, MeterUnavailable

from ...background.controller import Controller
from ...views.decision import DecisionView
from ...views.energy import EnergyView
from ...views.estimates import EijView
from ...views.fitness import CompareView
from ...views.panes import grid
from ...views.selection import SelectionView
from ...views.solution import SolutionView
from ..common.layout import alert_box, fold, middle, show_alert
from ..common.meters_table import LOOK_HERE
from . import permalink
from .controls import Controls
from .counterfactual import CounterfactualPanel
from .lessons.welcome import welcome
from .settings import Settings
from .share import Share
from .transport import TransportBar

SELDOM = 3
"""While a run is on, views with numbers are drawn in one frame of so many."""
TWO_THIRDS = {"xs": "minmax(0, 1fr)", "lg": "minmax(0, 2fr) minmax(0, 1fr)"}


class RunPage:
    """One visitor's runs.

    Parameters
    ----------
    settings : Settings
    notice : str
        What to say about the link with which the visitor came.
    owner : hashable, optional
        Whose turns its runs take; by default its own.
    """

    def __init__(self, settings: Settings, notice: str = "", owner: Hashable = None) -> None:
        self.settings = settings
        self.controller = Controller(self.settings.trial, self.settings, owner)
        self.bar = TransportBar(self.controller, self.settings)
        self.controls = Controls(self.settings, self.controller.adjust)
        self.share = Share(self.settings, self.controller)
        self.counterfactual = CounterfactualPanel(self.controller)
        self.views = (
            CompareView(),
            EijView(),
            SelectionView(),
            DecisionView(),
            EnergyView(),
            SolutionView(),
        )
        self._losses = 0
        # The first view comes with the page, the others as soon as the browser shows it.
        self._awake = 1
        self._frames = 0
        above = (0, 0, 8, 0)
        self._notice = alert_box(severity="warning", closeable=True, margin=above)
        show_alert(self._notice, notice)
        self._failure = alert_box(title="Run failed", margin=above)
        described = [name for name in self.settings.FIELDS if name not in ("pace", "compare")]
        self.settings.param.watch(self._on_settings, described)
        self._open()
        self.controller.on_change = self.draw
        self.draw()

    def main(self) -> Any:
        """Return what fills the middle of the page."""
        compare, estimates, selection, decision, energy, solution = self.views
        return middle(
            self._notice, self._failure, self.bar, compare, solution,
            grid(estimates, selection),
            grid(decision, energy, columns=TWO_THIRDS),
            fold("What would another rule have chosen?", lambda: [self.counterfactual]),
            fold("Share and keep: link, command, files, earlier runs", lambda: [self.share]),
        )  # fmt: skip

    def _open(self) -> None:
        """Show the recorded run if the settings are its own, else empty views."""
        recorded = welcome()
        changed = permalink.write({**self.settings.values_now, "pace": 15.0})
        if recorded is not None and not changed:
            self.controller.show(recorded, "welcome")
        else:
            self.controller.reset()

    def _on_settings(self, *_: Any) -> None:
        """Let empty views show the title of the run that would start now."""
        if self.controller.job is not None or len(self.controller.snapshot.rows):
            return
        with suppress(EijError):  # a value is being typed; Run reports what is wrong with it
            self.controller.preview()
            self.draw()

    def tick(self, lost: bool = False) -> bool:
        """Look at the run, draw what is new, and return whether there was anything."""
        self._losses += lost
        told = self.bar.show_warming()
        if self._awake < len(self.views):
            self._awake += 2
        elif not (self.controller.news() | self.counterfactual.tick() | lost):
            return told
        self.draw()
        return True

    def draw(self) -> None:
        """Bring everything up to the controller's snapshot."""
        controller = self.controller
        snapshot, story = controller.shown
        with pn.io.hold():
            self._frames += 1
            moving = controller.stage == "running"
            for i, view in enumerate(self.views[: self._awake]):
                # In turn, so that no frame takes much longer than the others.
                if view.is_watched or not moving or (self._frames + i) % SELDOM == 0:
                    view.show(snapshot, (story, self._losses))
            self.bar.refresh(controller)
            self.share.refresh()
            done = controller.stage in ("finished", "idle")
            self.controls.answer(controller.snapshot if done else None, recorded=not controller.job)
            self.controls.complain(controller.problem)
            self._show_failure()

    def _show_failure(self) -> None:
        failure = self.controller.failure
        if failure and isinstance(self.controller.problem, MeterUnavailable):
            failure += f" {LOOK_HERE}"
        show_alert(self._failure, failure)

    def link(self) -> str:
        """Return the query that holds the settings."""
        return permalink.write(self.settings.values_now)

    def close(self) -> None:
        """Stop the run; the visitor has left."""
        self.controller.on_change = lambda: None
        self.controller.stop()
        self.counterfactual.close()


def run_page(query: str, owner: Hashable) -> RunPage:
    """Build the page for a link."""
    values, notice = permalink.read(query)
    return RunPage(Settings(**values), notice, owner)
