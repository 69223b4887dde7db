"""The Run page: controls at the side, the transport bar above, the views below."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import panel as pn

from eij_core import EijError, MeterUnavailable

from ...background.controller import Controller
from ...views.decision import DecisionView
from ...views.energy import EnergyView
from ...views.estimates import EijView
from ...views.fitness import FitnessView, compared
from ...views.panes import grid, html_pane
from ...views.selection import SelectionView
from ...views.solution import SolutionView
from ...views.view import View
from ..common.layout import (
    Fold,
    alert_box,
    box,
    column,
    download,
    middle,
    set_changed,
    show_alert,
)
from ..common.meters_table import LOOK_HERE
from . import permalink
from .controls import Controls
from .counterfactual import CounterfactualPanel
from .lessons.welcome import welcome
from .settings import OPENING, Settings
from .share import Share
from .shown import shown_of
from .transport import TransportBar

SELDOM = 3
"""While a run is on, views with numbers are drawn in one frame of so many."""
OWN_PROBLEM = Path(__file__).with_name("own_problem.html")
EXAMPLE = b"6 10\n10 5\n7 3\n8 4\n3 2\n6 6\n1 1\n"
PLACE_OF_HONOUR: tuple[type[View], ...] = (SolutionView,)
"""Views beside the main curve."""
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
        self.controller = Controller(
            settings.trial, settings, owner, stamp=lambda: settings.described
        )
        self.controller.record = getattr(owner, "runs", None)
        self.bar = TransportBar(self.controller, settings)
        self.controls = Controls(settings, self._adjust)
        self.share = Share(settings, self.controller)
        self.counterfactual = CounterfactualPanel(self.controller)
        self.views = (
            FitnessView(), *(view() for view in PLACE_OF_HONOUR),
            DecisionView(), EijView(), SelectionView(), EnergyView(),
        )  # fmt: skip
        self._runs = html_pane((2, 12))
        self._losses = 0
        # The first view comes with the page, the others as soon as the browser shows it.
        self._awake = 1
        self._frames = 0
        above = (0, 0, 4, 0)
        self._notice = alert_box(severity="warning", closeable=True, margin=above)
        show_alert(self._notice, notice)
        self._failure = alert_box(title="Run failed", margin=above)
        self._stale = False
        described = [name for name in settings.FIELDS if name not in ("pace", "compare")]
        settings.param.watch(self._on_settings, [*described, "instance_file"])
        self.bar.restore.on_click(lambda _: self._restore())
        self._shown = self._layout()
        self._open()
        self.controller.on_change = self.draw
        self.draw()

    def _layout(self) -> Any:
        """Return what is dimmed when it is no longer what the settings say."""
        fitness, *honour, decision, estimates, selection, energy = self.views
        first = grid(fitness, *honour, columns=TWO_THIRDS, gap="10px") if honour else fitness
        return column(
            self.bar.gauges, first, decision, box(self.bar.replay, self._runs),
            grid(estimates, selection, gap="10px"), energy, sx={"gap": "10px"},
        )  # fmt: skip

    def main(self) -> Any:
        """Return what fills the middle of the page."""
        return middle(
            self._notice, self._failure, self.bar, self._shown,
            Fold("Your own problem: a file, or a few lines of Python", self._own_problem),
            Fold("What would another rule have chosen?", lambda: [self.counterfactual]),
            Fold("Share and keep: link, command, files, earlier runs", lambda: [self.share]),
        )  # fmt: skip

    def _own_problem(self) -> list[Any]:
        """Return the formats of files, the Python, and a file to begin with."""
        words = html_pane((4, 12), OWN_PROBLEM.read_text("utf-8"))
        example = download("Example of a knapsack file", "example.kp", lambda: BytesIO(EXAMPLE))
        return [words, example]

    def _open(self) -> None:
        """Show the recorded run if the settings are its own, else empty views."""
        recorded = welcome()
        if recorded is not None and not self.settings.is_other_than(Settings(**OPENING).described):
            self.controller.show(recorded, "welcome", self.settings.described)
        else:
            self.controller.reset()

    def _restore(self) -> None:
        """Bring back the settings of the run that is shown."""
        self.settings.param.update(**self.controller.stamped)

    def _adjust(self, **parameters: Any) -> None:
        """Change the rule while it runs; the settings then still are those of the run."""
        if self.controller.busy and self.controller.stamped is not None:
            self.controller.stamped["selector"] = self.settings.selector
        self.controller.adjust(**parameters)
        self._on_settings()

    def _on_settings(self, *events: Any) -> None:
        """Compare the settings with those of what is shown; empty views show the new title."""
        controller = self.controller
        guess_first = any(event.name == "lesson" and event.new for event in events)
        if controller.busy or (len(controller.snapshot.rows) and not guess_first):
            stamped = controller.stamped
            stale = stamped is None or self.settings.is_other_than(stamped)
            if stale != self._stale:
                self._stale = stale
                self.draw()
            return
        with suppress(EijError):  # a value is being typed; Run reports what is wrong with it
            controller.preview()
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
        stamped = controller.stamped
        self._stale &= stamped is None or self.settings.is_other_than(stamped)
        shown = shown_of(controller, self._stale)
        with pn.io.hold():
            self._frames += 1
            moving = shown.state == "running"
            for i, view in enumerate(self.views[: self._awake]):
                # In turn, so that no frame takes much longer than the others.
                if view.is_watched or not moving or (self._frames + i) % SELDOM == 0:
                    view.show(snapshot, (story, self._losses))
            if not moving or self._frames % SELDOM == 0:
                set_changed(self._runs, object=compared(snapshot))
            self.bar.refresh(controller, shown)
            set_changed(self._shown, styles={"opacity": "0.45"} if shown.stale else {})
            self.share.refresh()
            done = shown.state == "finished" and not shown.stale
            self.controls.answer(controller.snapshot if done else None)
            self.controls.complain(controller.problem)
            self._show_failure()

    def _show_failure(self) -> None:
        failure = self.controller.failure
        if failure and isinstance(self.controller.problem, MeterUnavailable):
            failure += f" {LOOK_HERE}"
        show_alert(self._failure, failure)

    def link(self) -> str:
        """Return the query that holds the settings; "" for those that the page opens with."""
        if self.settings.values_now == Settings(**OPENING).values_now:
            return ""
        return permalink.write(self.settings.values_now)

    def close(self) -> None:
        """Stop the run; the visitor has left."""
        self.controller.on_change = lambda: None
        self.controller.stop()
        self.counterfactual.close()


def run_page(query: str, owner: Hashable) -> RunPage:
    """Build the page for a link."""
    values, notice = permalink.read(query)
    opening = {} if values or notice else OPENING
    return RunPage(Settings(**{**opening, **values}), notice, owner)
