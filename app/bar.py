"""The bar above the views: run, pause, step, stop, reset; pace; where the run stands."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.changes import put
from app.frame import Frame
from app.gauges import numbers, sentence
from app.player import Player
from app.provenance import energy_card
from app.settings import PACES, Settings
from app.theme import PAGE_CSS

__all__ = ["Bar"]

STAGES = {
    "idle": ("Ready", "default"),
    "waiting": ("Waiting for a turn", "warning"),
    "compiling": ("Compiling", "warning"),
    "running": ("Running", "primary"),
    "paused": ("Paused", "secondary"),
    "finished": ("Finished", "success"),
    "stopped": ("Stopped", "default"),
    "failed": ("Failed", "error"),
}


class Bar(pn.viewable.Viewer):
    """Buttons and gauges of a player; what the buttons do is the page's business."""

    def __init__(self, settings: Settings, **params: Any) -> None:
        super().__init__(**params)
        # No tooltips here: they would take the place of the label as the accessible name.
        button = {"size": "medium", "margin": (4, 4)}
        self.run = pmui.Button(
            label="Run", icon="play_arrow", color="primary", variant="contained", **button
        )
        plain = {"variant": "outlined", "color": "default", **button}
        self.pause = pmui.Button(label="Pause", icon="pause", disabled=True, **plain)
        self.step = pmui.Button(label="Step", icon="skip_next", **plain)
        self.stop = pmui.Button(label="Stop", icon="stop", disabled=True, **plain)
        self.reset = pmui.Button(label="Reset", icon="restart_alt", **plain)
        self.pace = pmui.Select(
            label="Play the budget in", options=_paces(settings.pace), value=settings.pace,
            size="small", width=172, margin=(4, 6),
        )  # fmt: skip
        self.compare = pmui.Switch(
            label="compare with baselines",
            description="Uniform choice and each operator alone, on the same Joules",
            value=settings.compare,
            margin=(4, 8),
        )
        self.stage = pmui.Chip(label="Ready", size="small", margin=(8, 6), variant="filled")
        self.energy = pmui.Chip(
            label="simulated energy",
            size="small",
            icon="bolt",
            margin=(8, 4),
            variant="outlined",
        )
        self.energy.on_click(lambda _: self._turn_over())
        self._progress = pmui.LinearProgress(
            value=0, variant="determinate", sizing_mode="stretch_width", margin=(4, 8, 6, 8),
            sx={"height": "6px", "borderRadius": "3px"},
        )  # fmt: skip
        html: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [PAGE_CSS]}
        self._energy_card = pn.pane.HTML("", margin=(2, 10, 8, 10), visible=False, **html)
        self._explained: Any = None
        self._numbers = pn.pane.HTML("", margin=(4, 8), **html)
        self._sentence = pn.pane.HTML("", margin=(0, 10, 4, 10), **html)
        self.replay = pmui.FloatSlider(
            label="Replay: share of the run shown (%)", start=0.0, end=100.0, step=0.5, value=100.0,
            visible=False, sizing_mode="stretch_width", margin=(4, 20), size="small",
        )  # fmt: skip
        self.pace.param.watch(lambda event: settings.param.update(pace=event.new), "value")
        self.compare.param.watch(lambda event: settings.param.update(compare=event.new), "value")
        settings.param.watch(lambda event: self.compare.param.update(value=event.new), "compare")
        settings.param.watch(self._on_pace, "pace")

    def _on_pace(self, event: Any) -> None:
        self.pace.param.update(options=_paces(event.new), value=event.new)

    def __panel__(self) -> Any:
        buttons = pmui.FlexBox(
            self.run, self.pause, self.step, self.stop, self.reset, self.pace, self.compare,
            pn.layout.HSpacer(), self.energy, self.stage,
            align_items="center", sizing_mode="stretch_width",
        )  # fmt: skip
        return pmui.Paper(
            buttons,
            self._energy_card,
            self._progress,
            self._numbers,
            self._sentence,
            self.replay,
            variant="outlined",
            elevation=0,
            sizing_mode="stretch_width",
            margin=0,
            sx={"p": "6px", "borderRadius": "12px"},
        )

    def refresh(self, player: Player, frame: Frame | None) -> None:
        """Show where the player stands."""
        stage = player.stage
        words, colour = STAGES[stage]
        job = player.job
        if job is not None and stage == "compiling" and len(job.contenders) > 1:
            words = f"Compiling {job.built + 1} of {len(job.contenders)}…"
        elif stage == "compiling":
            words = "Compiling…"
        elif job is not None and job.place:
            words, colour = f"Waiting, place {job.place} in the queue", "warning"
        elif job is not None and stage == "finished" and job.leader is not None:
            words = f"Finished: {job.leader.reason}"
        variant = "outlined" if colour == "default" else "filled"
        put(self.stage, label=words, color=colour, variant=variant)
        paused = stage == "paused"
        put(
            self.pause,
            label="Resume" if paused else "Pause",
            icon="play_arrow" if paused else "pause",
            disabled=stage not in ("running", "paused"),
        )
        put(self.stop, disabled=not player.busy)
        again = stage in ("finished", "stopped", "failed")
        put(self.run, label="Run again" if again else "Run")
        over = stage in ("finished", "stopped", "idle") and frame is not None
        put(self.replay, visible=bool(over and frame is not None and len(frame.rows) > 2))
        if frame is not None:
            self._show(frame, stage)
            self._explain_energy(player, frame)

    def tell(self, frame: Frame, otherwise: str = "") -> None:
        """Show the numbers of a frame, and the same in a sentence."""
        put(self._numbers, object=numbers(frame))
        words = sentence(frame) or otherwise
        put(self._sentence, object=f"<p class='words' role='status'>{words}</p>")

    def _turn_over(self) -> None:
        self._energy_card.visible = not self._energy_card.visible

    def _explain_energy(self, player: Player, frame: Frame) -> None:
        job = player.job
        over = job is not None and job.over and job.leader is not None
        about = (frame.source, frame.meter, over and player.story)
        if about == self._explained:
            return
        self._explained = about
        settled = job.leader.result().energy if over and job and job.leader else None
        self._energy_card.object = energy_card(frame, settled)

    def _show(self, frame: Frame, stage: str) -> None:
        compiling = stage in ("waiting", "compiling")
        share = 100.0 * frame.tally.progress if frame.tally is not None else 0.0
        put(self._progress, value=share, variant="indeterminate" if compiling else "determinate")
        self.tell(frame, _invitation(stage))
        put(
            self.energy,
            label="no meter" if frame.provenance == "no" else f"{frame.provenance} energy",
            description=f"Where do these Joules come from? Meter: {frame.meter}.",
        )


def _paces(pace: float) -> dict[str, float]:
    """Return the paces on offer; a link may ask for another one."""
    return PACES if pace in PACES.values() else {f"{pace:g} s": pace, **PACES}


def _invitation(stage: str) -> str:
    if stage == "compiling":
        return (
            "Compiling the search for this combination. This takes some seconds, once; "
            "afterwards it comes from the disk."
        )
    if stage == "waiting":
        return "Other runs are on. Yours begins as soon as it is its turn."
    return "Press Run, or take a single Step."
