"""The bar above the views: run, pause, step, stop, reset; pace; where the run stands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core import EijError

from ...background.controller import Controller
from ...background.warming import shared_warming
from ...text.escape import text
from ...views.panes import html_pane
from ...views.snapshot import Snapshot
from ..common.layout import box, button_row, column, set_changed, staying
from ..common.toolbar import PLAIN, STAGES, Toolbar
from .provenance import energy_card
from .settings import PACES, Settings
from .shown import Shown
from .tiles import numbers, sentence

PREVIOUS = "<p class='words'>Shown: the previous run. The settings have changed since.</p>"
WIDE_ONLY = "@media (max-width: 599px) { :host { display: none } }"
"""Of what a phone has no room for in the bar."""
INVITATIONS = {
    "waiting": "Other runs are on. Yours begins when its turn comes.",
    "compiling": "Compiling the search for this combination. This takes some seconds the first "
    "time; later the compiled code is read from disk.",
}
"""What is said before there are rows, by the stage."""


class TransportBar(Toolbar, pn.viewable.Viewer):
    """The buttons and gauges of a controller.

    Parameters
    ----------
    controller : Controller
    settings : Settings
        Its pace is chosen here.
    """

    def __init__(self, controller: Controller, settings: Settings) -> None:
        pn.viewable.Viewer.__init__(self)
        Toolbar.__init__(self)
        self.pause = pmui.Button(label="Pause", icon="pause", disabled=True, **PLAIN)
        self.step = pmui.Button(label="Step", icon="skip_next", **PLAIN)
        self.reset = pmui.Button(label="Reset", icon="restart_alt", **PLAIN)
        self.pace = pmui.Select(
            label="Play the budget in", options=_paces(settings.pace), value=settings.pace,
            size="small", width=150, margin=(4, 6), stylesheets=[WIDE_ONLY],
        )  # fmt: skip
        self.energy = pmui.Chip(
            label="simulated energy",
            size="small",
            icon="bolt",
            margin=(8, 4),
            variant="outlined",
            stylesheets=[WIDE_ONLY],
        )
        self._energy_card = html_pane((2, 10, 8, 10), visible=False)
        self._explained: Any = None
        self._numbers = html_pane((0, 0))
        self._sentence = html_pane((2, 2))
        self.restore = pmui.Button(
            label="Bring its settings back", icon="undo", size="small", variant="text", margin=0
        )
        self._previous = pmui.Row(
            html_pane((7, 8), PREVIOUS, sizing_mode=None), self.restore, visible=False, margin=0
        )
        self._words = self._warming = ""
        self.replay = pmui.FloatSlider(
            label="Replay: share of the run shown (%)", start=0.0, end=100.0, step=0.5, value=100.0,
            visible=False, sizing_mode="stretch_width", margin=(0, 20), size="small",
        )  # fmt: skip
        self._connect(controller, settings)

    def _connect(self, controller: Controller, settings: Settings) -> None:
        for button, command in (
            (self.run, controller.start),
            (self.pause, controller.pause_or_resume),
            (self.step, controller.step),
            (self.stop, controller.stop),
            (self.reset, controller.reset),
        ):
            button.on_click(_on_click(command))
        self.replay.param.watch(lambda event: controller.replay(event.new / 100.0), "value")
        card = self._energy_card
        self.energy.on_click(lambda _: card.param.update(visible=not card.visible))
        self.pace.param.watch(lambda event: settings.param.update(pace=event.new), "value")

        def on_pace(event: Any) -> None:
            self.pace.param.update(options=_paces(event.new), value=event.new)
            controller.change_pace()

        settings.param.watch(on_pace, "pace")

    def __panel__(self) -> Any:
        return staying(*self._parts())

    def plain(self) -> Any:
        """Return the bar for a notebook, where it scrolls with its cell."""
        return box(*self._parts(), p="4px 6px", borderRadius="12px")

    def _parts(self) -> tuple[Any, ...]:
        buttons = button_row(
            self.run, self.pause, self.step, self.stop, self.reset, self.pace,
            pn.layout.HSpacer(), self.energy, self.stage,
        )  # fmt: skip
        return buttons, self._previous, self.progress

    @property
    def gauges(self) -> Any:
        """The numbers of the run and where they come from, to be put below the bar."""
        return column(self._energy_card, self._numbers, self._sentence)

    def show_warming(self) -> bool:
        """Say what the server compiles in the background; return whether that is news."""
        now = shared_warming.now
        words = f"Compiling in the background: {text(now)}." if now is not None else ""
        news, self._warming = words != self._warming, words
        self._say()
        return news

    def _say(self) -> None:
        # Screen readers announce what happens to the run, not each step of the compiler.
        words = f"<p class='words' role='status'>{self._words}</p>"
        if self._warming:
            words += f"<p class='words quiet'>{self._warming}</p>"
        set_changed(self._sentence, object=f"<div class='ends'>{words}</div>")

    def refresh(self, controller: Controller, shown: Shown) -> None:
        """Show where the run stands."""
        state, snapshot = shown.state, controller.shown[0]
        if shown.stale:
            self.show_stage("stale", STAGES[state][0].lower() if shown.busy else "")
        else:
            self.show_stage(state, shown.detail)
        paused = state == "paused"
        set_changed(
            self.pause,
            label="Resume" if paused else "Pause",
            icon="play_arrow" if paused else "pause",
            disabled=state not in ("running", "paused"),
        )
        set_changed(self.stop, disabled=not shown.busy)
        set_changed(self.run, label=shown.run_label)
        set_changed(self._previous, visible=shown.stale)
        set_changed(self.restore, visible=controller.stamped is not None)
        set_changed(self.replay, visible=shown.can_replay and len(controller.snapshot.rows) > 2)
        if controller.share >= 1.0:
            set_changed(self.replay, value=100.0)
        self.show_progress(shown.share, unknown=state in ("waiting", "compiling"))
        self._show(snapshot, state)
        self._explain_energy(controller, snapshot)

    def _explain_energy(self, controller: Controller, snapshot: Snapshot) -> None:
        run = controller.ended_run
        about = (snapshot.info, snapshot.meter, run)
        if about != self._explained:
            self._explained = about
            settled = run.result().energy if run is not None else None
            self._energy_card.object = energy_card(snapshot, settled)

    def _show(self, snapshot: Snapshot, stage: str) -> None:
        set_changed(self._numbers, object=numbers(snapshot))
        invitation = INVITATIONS.get(stage, "Press Run, or take a single Step.")
        self._words = sentence(snapshot) or invitation
        self._say()
        set_changed(
            self.energy,
            label="no meter" if snapshot.provenance == "no" else f"{snapshot.provenance} energy",
            description=f"Where do these Joules come from? Meter: {snapshot.meter}.",
        )


def _on_click(command: Callable[[], None]) -> Callable[[Any], None]:
    def click(_: Any) -> None:
        with suppress(EijError):  # it is `controller.problem` now, and the page shows it
            command()

    return click


def _paces(pace: float) -> dict[str, float]:
    """Return the paces on offer; a link may ask for another one."""
    return PACES if pace in PACES.values() else {f"{pace:g} s": pace, **PACES}
