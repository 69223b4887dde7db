"""The page of a run: controls at the side, the bar above, the views below."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app import permalink
from app.bar import Bar
from app.controls import Controls
from app.escape import text
from app.fold import fill_when_opened, folded
from app.frame import Frame
from app.meters_here import LOOK_HERE
from app.otherwise import Otherwise
from app.player import Player, empty_frame
from app.settings import Settings
from app.share import Share
from app.views import CompareView, DecisionView, EijView, EnergyView, SelectionView
from app.welcome import welcome
from eij_core import EijError, MeterUnavailable

__all__ = ["Dashboard", "run_page"]

SELDOM = 3
"""While a run is on, what is read rather than watched is drawn in every so many frames."""
HALVES = "repeat(auto-fit, minmax(min(100%, 420px), 1fr))"
TWO_THIRDS = {"xs": "minmax(0, 1fr)", "lg": "minmax(0, 2fr) minmax(0, 1fr)"}


class Dashboard(pn.viewable.Viewer):
    """The whole page as a component: settings in, views out."""

    def __init__(
        self,
        settings: Settings | None = None,
        notice: str = "",
        owner: Hashable = None,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.settings = settings or Settings()
        self.player = Player(owner)
        self.bar = Bar(self.settings)
        self.controls = Controls(self.settings, self.player.adjust)
        self.share = Share(self.settings, self.player, self._on_recording, self._on_overlay)
        self.otherwise = Otherwise(self.player, self.player.owner)
        self.views = (CompareView(), EijView(), SelectionView(), DecisionView(), EnergyView())
        self._losses = 0
        # The first view comes with the page, the others as soon as the browser shows it.
        self._awake = 1
        self._last: Any = None
        self._frames = 0
        self._link: tuple[dict[str, Any], str] = ({}, "")
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
        otherwise = _fold("What would another rule have chosen?", self.otherwise)
        keep = _fold("Share and keep: link, command, files, earlier runs", self.share)
        return pmui.Column(
            self._notice, self._failure, self.bar, compare, learning, deciding, otherwise, keep,
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
            self._wait()
        except EijError as error:
            self.controls.complain(error)
            self.player.show(empty_frame(Settings().trial()), "empty")

    def _wait(self) -> None:
        """Show the axes of the run that is set; of one whose meter is not alive, too."""
        trial = self.settings.trial()
        complaint: EijError | None = None
        try:
            frame = empty_frame(trial)
        except MeterUnavailable as error:
            complaint = error
            frame = empty_frame(trial, alive=False)
        self.controls.complain(complaint)
        shown = self.player.frame if self.player.job is None else None
        if shown is None or len(shown.rows) or announced(frame) != announced(shown):
            self.player.show(frame, "empty")

    def _connect(self) -> None:
        self.bar.run.on_click(lambda _: self.start())
        self.bar.pause.on_click(lambda _: self.pause_or_resume())
        self.bar.step.on_click(lambda _: self.step())
        self.bar.stop.on_click(lambda _: self.player.stop())
        self.bar.reset.on_click(lambda _: self.reset())
        self.bar.replay.param.watch(self._on_replay, "value")
        self.settings.param.watch(lambda event: self.player.pace(event.new), "pace")
        described = [name for name in self.settings.FIELDS if name not in ("pace", "compare")]
        self.settings.param.watch(self._on_settings, described)

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
            hint = f" {LOOK_HERE}" if isinstance(error, MeterUnavailable) else ""
            self._fail(f"The settings cannot be run: {error}{hint}")
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
            self._wait()
        except EijError as error:
            self.controls.complain(error)
            return
        self.draw()

    def _on_settings(self, *_: Any) -> None:
        """Let views that wait for a run announce the one that would begin now."""
        waiting = self.player.frame
        if self.player.job is not None or waiting is None or len(waiting.rows):
            return
        with suppress(EijError):  # the field complains when Run is pressed
            self._wait()
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
            self.bar.tell(shown)

    def _fail(self, message: str) -> None:
        self._failure.param.update(object=text(message), visible=True)

    # --- keeping it alive ---

    def tick(self, lost: bool = False) -> bool:
        """Look at the run, draw what is new, and tell whether there was anything."""
        if lost:
            self._losses += 1
        if self._awake < len(self.views):
            self._awake += 2
            self.draw()
            return True
        fresh = self.player.poll() | self.otherwise.tick()
        job = self.player.job
        now = (self.player.stage, job.place if job else 0, job.built if job else 0, self._losses)
        if not fresh and now == self._last:
            return False
        self._last = now
        self.draw()
        return True

    def draw(self) -> None:
        """Bring everything up to the player's frame."""
        player = self.player
        with pn.io.hold():
            if player.frame is not None:
                self._frames += 1
                moving = player.stage == "running"
                for i, view in enumerate(self.views[: self._awake]):
                    # In turn, so that no frame takes much longer than the others.
                    if view.is_watched or not moving or (self._frames + i) % SELDOM == 0:
                        view.show(player.frame, (player.story, self._losses))
            self.bar.refresh(player, player.frame)
            self.share.refresh()
            done = player.stage in ("finished", "idle")
            self.controls.answer(player.frame if done else None, recorded=player.job is None)
            if player.job is not None and player.job.error and player.stage == "failed":
                self._fail(player.job.error)

    def link(self) -> str:
        """Return the query that holds the settings."""
        values = self.settings.values_now
        if values != self._link[0]:
            self._link = (values, permalink.write(values))
        return self._link[1]

    def close(self) -> None:
        """Stop the run; the page is gone."""
        self.player.stop()
        self.otherwise.close()


def announced(frame: Frame) -> tuple[Any, ...]:
    """Return what a frame says of its run before there is one."""
    components = (frame.problem, frame.algorithm, frame.selector, frame.meter, frame.provenance)
    return frame.names, frame.budget, *components


def _grid(columns: Any, *parts: Any) -> Any:
    return pmui.FlexBox(
        *parts,
        sizing_mode="stretch_width",
        sx={"display": "grid", "gridTemplateColumns": columns, "gap": "14px"},
    )


def _fold(title: str, part: Any) -> Any:
    fold = folded(title)
    fill_when_opened(fold, lambda: [part])
    return fold


def run_page(query: str, owner: Hashable) -> Dashboard:
    """Build the page as a link asks."""
    values, notice = permalink.read(query)
    return Dashboard(Settings(**values), notice, owner)
