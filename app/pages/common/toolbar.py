"""The toolbar on top of a page: its buttons, the chip that names the stage, the progress bar."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from .layout import button_row, set_changed, staying

STAGES = {
    "idle": ("Ready", "default"),
    "recorded": ("Recorded run", "default"),
    "refused": ("Cannot be run", "error"),
    "shipped": ("Result shipped with EI/J", "default"),
    "stale": ("Shown: previous run", "warning"),
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
SLIM = {
    "minWidth": 0,
    "px": {"xs": "9px", "sm": "14px"},
    "& .MuiButton-startIcon": {"display": {"xs": "none", "sm": "inherit"}},
}
"""All buttons in one line of a phone."""
BUTTON: dict[str, Any] = {"size": "medium", "margin": (4, 2), "sx": SLIM}
PLAIN: dict[str, Any] = {"variant": "outlined", "color": "default", **BUTTON}


class Toolbar:
    """Run and Stop, a chip that names the stage, and a progress bar."""

    def __init__(self, verb: str = "Run") -> None:
        # No tooltips here: they would replace the label as the accessible name.
        self.run = pmui.Button(
            label=verb, icon="play_arrow", color="primary", variant="contained", **BUTTON
        )
        self.stop = pmui.Button(label="Stop", icon="stop", disabled=True, **PLAIN)
        self.stage = pmui.Chip(
            label="Ready", size="small", margin=(8, 6), variant="outlined", tags=["stage"]
        )  # fmt: skip
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

    def bar(self) -> Any:
        """Return the toolbar, which stays in sight when the page is scrolled."""
        buttons = button_row(self.run, self.stop, pn.layout.HSpacer(), self.stage)
        return staying(buttons, self.progress)
