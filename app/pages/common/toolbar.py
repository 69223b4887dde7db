"""The toolbar on top of a page: its buttons, the chip that names the stage, the progress bar."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from .layout import box, button_row, set_changed

STAGES = {
    "idle": ("Ready", "default"),
    "waiting": ("Waiting for a turn", "warning"),
    "compiling": ("Compiling", "warning"),
    "running": ("Running", "primary"),
    "reporting": ("Making the report", "primary"),
    "paused": ("Paused", "secondary"),
    "finished": ("Finished", "success"),
    "opened": ("Opened", "success"),
    "stopped": ("Stopped", "default"),
    "failed": ("Failed", "error"),
}
"""Label and colour of the chip."""
BUTTON: dict[str, Any] = {"size": "medium", "margin": (4, 4)}
PLAIN: dict[str, Any] = {"variant": "outlined", "color": "default", **BUTTON}


class Toolbar:
    """Run and Stop, a chip that names the stage, and a progress bar."""

    def __init__(self, verb: str = "Run") -> None:
        # No tooltips here: they would replace the label as the accessible name.
        self.run = pmui.Button(
            label=verb, icon="play_arrow", color="primary", variant="contained", **BUTTON
        )
        self.stop = pmui.Button(label="Stop", icon="stop", disabled=True, **PLAIN)
        self.stage = pmui.Chip(label="Ready", size="small", margin=(8, 6), variant="outlined")
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", sizing_mode="stretch_width", margin=(4, 8, 6, 8),
            sx={"height": "6px", "borderRadius": "3px"},
        )  # fmt: skip

    def show_stage(self, stage: str, detail: str = "") -> None:
        """Name the stage, and a detail of it."""
        label, colour = STAGES[stage]
        variant = "outlined" if colour == "default" else "filled"
        label = f"{label}: {detail}" if detail else label
        set_changed(self.stage, label=label, color=colour, variant=variant)

    def show_progress(self, share: float, unknown: bool = False) -> None:
        """Show the share (0 to 1) that is done, or that nobody knows it."""
        variant = "indeterminate" if unknown else "determinate"
        set_changed(self.progress, value=round(100 * share), variant=variant)

    def above(self, *parts: Any) -> Any:
        """Return the toolbar with these parts below it, in one box."""
        buttons = button_row(self.run, self.stop, pn.layout.HSpacer(), self.stage)
        return box(buttons, self.progress, *parts)
