"""A knapsack instance from the visitor's own file: read strictly and kept in memory only."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any, NamedTuple

import panel as pn
import panel_material_ui as pmui

from eij_core import EijError
from eij_core.atomic_files import slug
from eij_core.problems.bits.files import parse_knapsack
from eij_core.problems.bits.knapsack import build

from ...server.limits import check_upload
from ...text.escape import label, text
from ...views.panes import html_pane
from ..common.layout import WIDE, alert_box, column, file_field, show_alert


class Instance(NamedTuple):
    """A problem that came as a file."""

    name: str
    """The name of the file: a label, never a path."""
    sha256: str
    problem: Any

    @property
    def spec(self) -> str:
        """The instance on the command line, with the file in the current folder."""
        return f"knapsack-file:file={slug(self.name)},sha256={self.sha256}"


def read_instance(data: bytes, name: str) -> Instance:
    r"""Read an uploaded instance, or raise with the line and the column of what is wrong.

    Examples
    --------
    >>> read_instance(b"2 5\n10 4\n7 3\n", "two.kp").problem.n
    2
    """
    check_upload(data)
    problem = build(*parse_knapsack(data))
    return Instance(label(name, 60) or "instance", hashlib.sha256(data).hexdigest(), problem)


class InstanceFile(pn.viewable.Viewer):
    """The field for a file, shown while the knapsack is chosen."""

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self.settings = settings
        self.file = file_field(
            "Instance from a file", "file-instance", ".kp,.txt,.csv,.dat", **WIDE
        )
        self.remove = pmui.Button(
            label="Use the numbered instance again", icon="close", size="small", variant="text",
            margin=(0, 6), visible=False,
        )  # fmt: skip
        self._about = html_pane((0, 10))
        self._refusal = alert_box()
        parts = (self.file, self._refusal, self._about, self.remove)
        self._box = column(*parts, margin=(0, 0, 8, 0))
        self.file.param.watch(self._on_file, "value")
        self.remove.on_click(lambda _: settings.param.update(instance_file=None))
        settings.param.watch(lambda *_: self._show(), ["instance_file", "problem"])
        self._show()

    def __panel__(self) -> Any:
        return self._box

    async def _on_file(self, event: Any) -> None:
        if event.new is None:
            return
        try:
            # In a thread: a large file takes a second or two.
            name = str(self.file.filename or "")
            found = await asyncio.to_thread(read_instance, event.new, name)
        except EijError as error:
            show_alert(self._refusal, f"{label(name or 'file', 60)}: {error}")
            return
        show_alert(self._refusal)
        changes: dict[str, Any] = {"instance_file": found, "lesson": ""}
        if self.settings.meter.startswith("paper"):
            changes["meter"] = "model"
        self.settings.param.update(**changes)

    def _show(self) -> None:
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
            f"{problem.capacity}.{fits} <span class='quiet'>The link does not hold the file, "
            "and the paper has no prices for it: use the meter model or a real one.</span></p>"
        )
