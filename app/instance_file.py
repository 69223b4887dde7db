"""A knapsack instance from the visitor's own file: read strictly, kept in memory, never run."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any, NamedTuple

import panel as pn
import panel_material_ui as pmui

from app.escape import label, slug, text
from app.limits import UPLOAD_BYTES
from app.theme import PAGE_CSS
from eij_core import EijError, InputError
from eij_core.problems.files import parse_knapsack
from eij_core.problems.knapsack import build

__all__ = ["Instance", "InstanceFile", "read_instance"]


class Instance(NamedTuple):
    """A problem that came as a file."""

    name: str
    """What the visitor calls it: a label, never a path."""
    sha256: str
    problem: Any

    @property
    def spec(self) -> str:
        """How the command line names the same instance, beside the file."""
        return f"knapsack-file:file={slug(self.name)},sha256={self.sha256}"


def read_instance(data: bytes, name: str) -> Instance:
    r"""Read an uploaded instance, or raise with the line and the column of what is wrong.

    Examples
    --------
    >>> read_instance(b"2 5\n10 4\n7 3\n", "two.kp").problem.n
    2
    """
    if len(data) > UPLOAD_BYTES:
        size = f"{len(data) / 1e6:.1f} MB"
        raise InputError("file", size, f"at most {UPLOAD_BYTES / 1e6:g} MB")
    problem = build(*parse_knapsack(data))
    return Instance(label(name, 60) or "instance", hashlib.sha256(data).hexdigest(), problem)


class InstanceFile(pn.viewable.Viewer):
    """The field for a file, shown while the knapsack is chosen."""

    def __init__(self, settings: Any, **params: Any) -> None:
        super().__init__(**params)
        self.settings = settings
        self.file = pmui.FileInput(
            label="Instance from a file", css_classes=["file-instance"],
            accept=".kp,.txt,.csv,.dat", multiple=False,
            margin=(2, 6), size="small", variant="outlined", max_file_size=UPLOAD_BYTES,
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.remove = pmui.Button(
            label="Use the numbered instance again", icon="close", size="small", variant="text",
            margin=(0, 6), visible=False,
        )  # fmt: skip
        self._about = pn.pane.HTML(
            "", sizing_mode="stretch_width", stylesheets=[PAGE_CSS], margin=(0, 10)
        )
        self._refusal = pmui.Alert(object="", severity="error", visible=False, margin=(2, 6))
        self._box = pmui.Column(
            self.file, self._refusal, self._about, self.remove, sizing_mode="stretch_width",
            margin=(0, 0, 8, 0),
        )  # fmt: skip
        self.file.param.watch(self._on_file, "value")
        self.remove.on_click(lambda _: settings.param.update(instance_file=None))
        settings.param.watch(lambda *_: self._tell(), ["instance_file", "problem"])
        self._tell()

    def __panel__(self) -> Any:
        return self._box

    async def _on_file(self, event: Any) -> None:
        if event.new is None:
            return
        try:
            # A large file takes a second or two, and the page must not wait for it.
            name = str(self.file.filename or "")
            found = await asyncio.to_thread(read_instance, event.new, name)
        except EijError as error:
            shown = text(f"{label(name or 'file', 60)}: {error}")
            self._refusal.param.update(object=shown, visible=True)
            return
        self._refusal.visible = False
        changes: dict[str, Any] = {"instance_file": found, "lesson": ""}
        if self.settings.meter.startswith("paper"):
            changes["meter"] = "model"
        self.settings.param.update(**changes)

    def _tell(self) -> None:
        found: Instance | None = self.settings.instance_file
        self._box.visible = self.settings.problem.partition(":")[0] == "knapsack"
        self.remove.visible = found is not None
        if found is None:
            self._about.object = ""
            return
        problem = found.problem
        hopeless = problem.weights.min() > problem.capacity
        fits = " No item fits: the optimum is 0." if hopeless else ""
        self._about.object = (
            f"<p class='words'><b>{text(found.name)}</b>: {problem.n} items, capacity "
            f"{problem.capacity}.{fits} <span class='quiet'>A file is not part of the link, and "
            "the paper has no prices for it: use the meter model, or a real one.</span></p>"
        )
