"""The page: controls at the side, the bar above, the views below; one tick keeps all alive."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.core.property.descriptors import UnsetValueError
from panel.util.parameters import edit_readonly
from panel_material_ui.template.base import Page

from app import permalink
from app.bar import Bar
from app.controls import Controls
from app.escape import text
from app.fold import fill_when_opened
from app.frame import Frame
from app.heartbeat import Heartbeat
from app.player import Player, empty_frame
from app.settings import Settings
from app.share import Share
from app.theme import THEME
from app.views import CompareView, DecisionView, EijView, EnergyView, SelectionView
from app.welcome import welcome
from eij_core import EijError

__all__ = ["Dashboard", "serve_page"]

log = logging.getLogger(__name__)

PERIOD = 110
"""Milliseconds between two looks at the run."""
HALVES = "repeat(auto-fit, minmax(min(100%, 420px), 1fr))"
TWO_THIRDS = {"xs": "minmax(0, 1fr)", "lg": "minmax(0, 2fr) minmax(0, 1fr)"}


class Dashboard(pn.viewable.Viewer):
    """The whole page as a component: settings in, views out."""

    def __init__(self, settings: Settings | None = None, notice: str = "", **params: Any) -> None:
        super().__init__(**params)
        self.settings = settings or Settings()
        self.player = Player()
        self.bar = Bar(self.settings)
        self.controls = Controls(self.settings, self.player.adjust)
        self.share = Share(self.settings, self.player, self._on_recording, self._on_overlay)
        self.views = (CompareView(), EijView(), SelectionView(), DecisionView(), EnergyView())
        self.heart = Heartbeat()
        self._losses = 0
        # The first view comes with the page, the others as soon as the browser shows it.
        self._awake = 1
        self._last: Any = None
        self._notice = pmui.Alert(
            object=text(notice), severity="warning", visible=bool(notice), closeable=True,
            margin=(0, 0, 8, 0), sizing_mode="stretch_width",
        )  # fmt: skip
        self._failure = pmui.Alert(
            object="", severity="error", title="Run failed", visible=False, margin=(0, 0, 8, 0),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self._connect()
        self._open()
        self.draw()

    # --- the parts ---

    def main(self) -> Any:
        """Return what fills the middle of the page."""
        compare, estimates, selection, decision, energy = self.views
        learning = _grid(HALVES, estimates, selection)
        deciding = _grid(TWO_THIRDS, decision, energy)
        keep = pmui.Details(
            title="Share and keep: link, command, files, earlier runs", collapsed=True,
            sizing_mode="stretch_width", margin=0, fully_expanded=True,
        )  # fmt: skip
        fill_when_opened(keep, lambda: [self.share])
        return pmui.Column(
            self._notice, self._failure, self.bar, compare, learning, deciding, keep, self.heart,
            sizing_mode="stretch_width", margin=0,
            sx={"p": {"xs": "8px", "sm": "16px"}, "gap": "14px"},
        )  # fmt: skip

    def __panel__(self) -> Any:
        return pmui.Row(self.controls, self.main(), sizing_mode="stretch_width")

    def _open(self) -> None:
        """Show the recorded run if the settings are its own, else the empty views of a new one."""
        recorded = welcome()
        changed = permalink.write({**self.settings.values_now, "pace": 15.0})
        if recorded is not None and not changed:
            self.player.show(recorded, "welcome")
            return
        try:
            self.player.show(empty_frame(self.settings.trial()), "empty")
        except EijError as error:
            self.controls.complain(error)

    def _connect(self) -> None:
        self.bar.run.on_click(lambda _: self.start())
        self.bar.pause.on_click(lambda _: self.pause_or_resume())
        self.bar.step.on_click(lambda _: self.step())
        self.bar.stop.on_click(lambda _: self.player.stop())
        self.bar.reset.on_click(lambda _: self.reset())
        self.bar.replay.param.watch(self._on_replay, "value")
        self.settings.param.watch(lambda event: self.player.pace(event.new), "pace")

    # --- what a visitor does ---

    def start(self, paused: bool = False) -> None:
        """Run what is set, or say at the field what is wrong with it."""
        self._failure.visible = False
        try:
            trial = self.settings.trial()
            self.player.start(
                trial, compare=self.settings.compare, pace=self.settings.pace, paused=paused
            )
        except EijError as error:
            self.controls.complain(error)
            self._fail(f"The settings cannot be run: {error}")
            return
        self.controls.complain(None)
        self.bar.replay.value = 100.0
        self.draw()

    def pause_or_resume(self) -> None:
        """Pause a run, or let a paused one go on."""
        if self.player.stage == "paused":
            self.player.resume()
        else:
            self.player.pause()
        self.bar.refresh(self.player, self.player.frame)

    def step(self) -> None:
        """Take one decision; without a run, begin one and wait after its first."""
        if not self.player.busy:
            self.start(paused=True)
        self.player.step()

    def reset(self) -> None:
        """Clear the views."""
        self._failure.visible = False
        try:
            self.player.show(empty_frame(self.settings.trial()), "empty")
        except EijError as error:
            self.controls.complain(error)
            return
        self.draw()

    def _on_recording(self, frame: Frame, name: str) -> None:
        self.player.show(frame, name)
        self.draw()

    def _on_overlay(self) -> None:
        self.player.poll()
        self.draw()

    def _on_replay(self, event: Any) -> None:
        frame = self.player.frame
        if frame is None or self.player.busy:
            return
        with pn.io.hold():
            shown = frame.until(event.new / 100.0)
            for view in self.views:
                view.show(shown, ("replay", event.new))

    def _fail(self, message: str) -> None:
        self._failure.param.update(object=text(message), visible=True)

    # --- keeping it alive ---

    def tick(self) -> None:
        """Look at the run; draw what is new, if the browser has drawn what was before."""
        if not self.heart.may_push():
            return
        if self.heart.take_loss():
            self._losses += 1
        if self._awake < len(self.views):
            self._awake += 2
            self.draw()
            self.heart.push()
            return
        fresh = self.player.poll()
        job = self.player.job
        now = (self.player.stage, job.place if job else 0, job.built if job else 0, self._losses)
        if fresh or now != self._last:
            self._last = now
            self.draw()
            self.heart.push()

    def draw(self) -> None:
        """Bring everything up to the player's frame."""
        player = self.player
        with pn.io.hold():
            if player.frame is not None:
                for view in self.views[: self._awake]:
                    view.show(player.frame, (player.story, self._losses))
            self.bar.refresh(player, player.frame)
            self.share.refresh()
            if player.job is not None and player.job.error and player.stage == "failed":
                self._fail(player.job.error)

    def close(self) -> None:
        """Stop the run; the page is gone."""
        self.player.stop()


def _grid(columns: Any, *parts: Any) -> Any:
    return pmui.FlexBox(
        *parts,
        sizing_mode="stretch_width",
        sx={"display": "grid", "gridTemplateColumns": columns, "gap": "14px"},
    )


def _log_error(error: Exception) -> None:
    """Keep errors of callbacks out of the page and in the log."""
    log.error("a callback of the page failed", exc_info=error)


def serve_page() -> None:
    """Build the page for a visitor, and put it into the document."""
    pn.extension(reconnect=True, notifications=False, exception_handler=_log_error)
    location = pn.state.location
    values, notice = permalink.read(location.search if location is not None else "")
    dashboard = Dashboard(Settings(**values), notice)
    page = Page(
        title="EI/J: what a Joule buys",
        main=[dashboard.main()],
        sidebar=[dashboard.controls],
        sidebar_width=330,
        # On a phone the sidebar is a drawer that would hide the views.
        sidebar_open="Mobi" not in pn.state.headers.get("User-Agent", ""),
        busy_indicator=None,
        theme_config=THEME,
    )
    # The page follows the server's busy state, and each change of the page walks through all its
    # models: about a second of CPU for every tick. We show our own state, so let it go.
    with edit_readonly(page):
        page.busy = False

    def remember(*_: Any) -> None:
        if location is not None:
            location.search = permalink.write(dashboard.settings.values_now)

    def leave(_: Any) -> None:
        dashboard.close()
        # pmui.Page keeps a session's objects alive through its sidebar. A visitor who never
        # connected has no models to take apart.
        with suppress(UnsetValueError):
            page.param.update(sidebar=[], main=[])

    dashboard.settings.param.watch(remember, list(Settings.FIELDS))
    pn.state.add_periodic_callback(dashboard.tick, period=PERIOD)
    pn.state.on_session_destroyed(leave)
    page.servable()
