"""Share and keep: link, command, Python, files; and loading a recorded run."""

from __future__ import annotations

import io
import shlex
from functools import partial
from itertools import chain
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core import EijError, Trial, records
from eij_core.atomic_files import slug
from eij_core.imports import options_of
from eij_core.trial import FAMILIES

from ...background.controller import Controller
from ...server.limits import UPLOAD_BYTES
from ...text.escape import text
from ...views.panes import html_pane
from ..common.layout import (
    alert_box,
    button_row,
    column,
    download,
    file_field,
    set_changed,
    show_alert,
)
from . import permalink, uploads
from .settings import Settings

BINARY = (".parquet", ".arrows")
"""Records that can be chosen but are not read here; the refusal says what is."""


def command(trial: Trial, problem: str = "") -> str:
    """Return the command that makes this run; `problem` names one that came as a file.

    Examples
    --------
    >>> command(Trial("nk:k=4", "ils", budget="1 kJ", seed=7)).partition(" --algorithm")[0]
    'eij run --problem nk:n=100,k=4,instance=1,neighbours=random'
    """
    options = ([f"--{name}", str(value)] for name, value in _arguments(trial, problem).items())
    return shlex.join(["eij", "run", *options_of(trial.imports), *chain.from_iterable(options)])


def snippet(trial: Trial, problem: str = "") -> str:
    """Return the Python that makes this run."""
    lines = (f"    {name}={value!r},\n" for name, value in _arguments(trial, problem).items())
    imports = options_of(trial.imports)[1::2]
    first = "from eij_core.components import import_components\n\n"
    return (f"{first}import_components({imports!r})\n\n" if imports else "") + (
        f"from eij_core import Trial, solve\n\nresult = solve(Trial(\n{''.join(lines)}))\n"
        "result.frame"
    )


def _arguments(trial: Trial, problem: str) -> dict[str, Any]:
    specs = {family: str(getattr(trial, family)) for family in FAMILIES}
    specs["problem"] = problem or specs["problem"]
    target = {"target": trial.target} if trial.target else {}
    return {**specs, "budget": str(trial.budget), **target, "seed": trial.seed}


def _code(lines: str) -> str:
    """Escape code line by line; line breaks matter in Python."""
    return "\n".join(text(line) for line in lines.splitlines())


class Share(pn.viewable.Viewer):
    """The part of the page about keeping a run.

    Parameters
    ----------
    settings : Settings
    controller : Controller
        Has the run to keep; shows the runs that are loaded.
    """

    def __init__(self, settings: Settings, controller: Controller) -> None:
        super().__init__()
        self.settings, self.controller = settings, controller
        self._code = html_pane((5, 10))
        self.downloads = {
            kind: download(words, f"eij-run.{kind}", partial(self._file, kind))
            for kind, words in (("parquet", "Parquet"), ("csv", "CSV"), ("json", "JSON"))
        }
        self.upload = file_field(
            "Load a recorded run", "file-run", ",".join((*uploads.TEXTS, *BINARY)), margin=(4, 4)
        )
        self._refusal = alert_box()
        self.past = pmui.CheckBoxGroup(
            label="Earlier runs, drawn in the first view", options=[], value=[], visible=False
        )
        self.upload.param.watch(self._on_upload, "value")
        self.past.param.watch(lambda event: controller.overlay(event.new), "value")
        self.write_code()
        watched = [*Settings.FIELDS, "instance_file"]
        settings.param.watch(lambda *_: self.write_code(), watched)

    def __panel__(self) -> Any:
        words = html_pane(
            (5, 10),
            "<p class='words quiet'>The address of this page holds your settings: copy it to share "
            "them. Every figure's toolbar saves it as PNG or SVG. A file holds the finished run; "
            f"JSON can be loaded here again, up to {UPLOAD_BYTES / 1e6:g} MB; CSV is the plain "
            "table, for pandas and spreadsheets.</p>",
        )
        files = button_row(*self.downloads.values(), self.upload)
        return column(words, files, self._refusal, self.past, self._code, margin=(0, 8))

    def refresh(self) -> None:
        """Enable the files of a finished run and list earlier runs."""
        for button in self.downloads.values():
            set_changed(button, disabled=self.controller.ended_run is None)
        labels = [lane.label for lane in self.controller.past]
        if labels != self.past.options:
            kept = [label for label in self.past.value or () if label in labels]
            self.past.param.update(options=labels, value=kept, visible=bool(labels))

    def write_code(self) -> None:
        """Show the command and the snippet for the settings as they are."""
        try:
            trial = self.settings.trial()
        except EijError:
            self._code.object = ""
            return
        file = self.settings.instance_file
        problem = file.spec if file is not None and trial.name_of("problem") == "Knapsack" else ""
        if not trial.is_data and not problem:
            self._code.object = (
                "<p class='words quiet'>This lesson has operators of its own, so there is no "
                "command line for it; app/pages/run/lessons/components.py defines them.</p>"
            )
            return
        link = text(permalink.write(self.settings.values_now) or "(the defaults)")
        beside = ""
        if problem:
            name = text(slug(file.name))
            beside = f" Run it in the folder of the file, named <code>{name}</code>."
        self._code.object = (
            f"<p class='words quiet'>These settings on the command line.{beside}</p>"
            f"<pre class='code'>{_code(command(trial, problem))}</pre>"
            "<p class='words quiet'>In Python:</p>"
            f"<pre class='code'>{_code(snippet(trial, problem))}</pre>"
            f"<p class='words quiet'>In a link: <code>{link}</code></p>"
            "<p class='words quiet'>With a simulated meter both give the same numbers as the run "
            "here. Changes in mid-run (α) are in the record of the run, not in the command.</p>"
        )

    def _file(self, kind: str) -> io.BytesIO:
        """Return the run's record, or its table as CSV; the button is enabled once it is over."""
        run = self.controller.ended_run
        assert run is not None
        words = [run.trial.name_of(family) for family in ("problem", "algorithm", "selector")]
        self.downloads[kind].filename = f"eij-{slug('-'.join(words))}-seed-{run.trial.seed}.{kind}"
        result = run.result()
        if kind == "csv":
            table = result.frame.assign(provenance=str(result.meter.provenance))
            return io.BytesIO(table.to_csv(index=False).encode())
        return io.BytesIO(records.write(result, f".{kind}"))

    def _on_upload(self, event: Any) -> None:
        if event.new is None:
            return
        try:
            snapshot = uploads.read(event.new, str(self.upload.filename or ""))
        except EijError as error:
            show_alert(self._refusal, error)
            return
        show_alert(self._refusal)
        self.controller.show(snapshot, self.upload.filename or "recording")
