"""The strip on top of a page that works: what begins and ends it, and how far it is."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

__all__ = ["STAGES", "Strip", "box", "middle"]

STAGES = {
    "idle": ("Ready", "default"),
    "waiting": ("Waiting for a turn", "warning"),
    "compiling": ("Compiling", "warning"),
    "working": ("Running", "primary"),
    "finished": ("Finished", "success"),
    "stopped": ("Stopped", "default"),
    "failed": ("Failed", "error"),
}
"""Words and colour of the chip; a page may know more stages than these."""


class Strip:
    """Two buttons, a chip that names the stage, and a bar of the progress."""

    def __init__(self, verb: str = "Run") -> None:
        button: dict[str, Any] = {"size": "medium", "margin": (4, 4)}
        self.run = pmui.Button(
            label=verb, icon="play_arrow", color="primary", variant="contained", **button
        )
        self.stop = pmui.Button(
            label="Stop", icon="stop", color="default", variant="outlined", disabled=True, **button
        )
        self.stage = pmui.Chip(label="Ready", size="small", margin=(8, 6), variant="outlined")
        self.bar = pmui.LinearProgress(
            value=0, variant="determinate", sizing_mode="stretch_width", margin=(4, 8, 6, 8),
            sx={"height": "6px", "borderRadius": "3px"},
        )  # fmt: skip

    def show(self, words: str, colour: str) -> None:
        """Name the stage."""
        variant = "outlined" if colour == "default" else "filled"
        self.stage.param.update(label=words, color=colour, variant=variant)

    def above(self, *parts: Any) -> Any:
        """Return the strip with what belongs to it below, in one box."""
        buttons = pmui.FlexBox(
            self.run, self.stop, pn.layout.HSpacer(), self.stage, align_items="center",
            sizing_mode="stretch_width",
        )  # fmt: skip
        return box(buttons, self.bar, *parts)


def box(*parts: Any) -> Any:
    """Return parts of the page in one box."""
    return pmui.Paper(
        *parts, elevation=0, variant="outlined", sizing_mode="stretch_width", margin=0,
        sx={"p": "8px"},
    )  # fmt: skip


def middle(*parts: Any) -> Any:
    """Return what fills the middle of a page, one below the other."""
    return pmui.Column(
        *parts, sizing_mode="stretch_width", margin=0,
        sx={"p": {"xs": "8px", "sm": "16px"}, "gap": "14px"},
    )  # fmt: skip
