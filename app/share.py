"""Share and keep: the link, the command, the snippet, the files; and reading a run back."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app import permalink, uploads
from app.changes import put
from app.escape import slug, text
from app.frame import Frame
from app.limits import UPLOAD_BYTES
from app.player import Player
from app.settings import Settings
from app.theme import PAGE_CSS
from eij_core import EijError, Trial
from eij_core.trial import FAMILIES

__all__ = ["Share", "command", "snippet"]


def command(trial: Trial, problem: str = "") -> str:
    """Return the command that makes this run; `problem` names one that came as a file.

    Examples
    --------
    >>> command(Trial("nk:k=4", "ils", budget="1 kJ", seed=7)).partition(" --algorithm")[0]
    'eij run --problem nk:n=100,k=4,instance=1,neighbours=random'
    """
    words = ["eij", "run"]
    for family, spec in _specs(trial, problem).items():
        words += [f"--{family}", spec]
    words += ["--budget", str(trial.budget), "--seed", str(trial.seed)]
    return shlex.join(words)


def _specs(trial: Trial, problem: str) -> dict[str, str]:
    specs = {family: str(getattr(trial, family)) for family in FAMILIES}
    return {**specs, "problem": problem} if problem else specs


def snippet(trial: Trial, problem: str = "") -> str:
    """Return the Python that makes this run."""
    lines = [f"    {family}={spec!r}," for family, spec in _specs(trial, problem).items()]
    lines += [f"    budget={str(trial.budget)!r},", f"    seed={trial.seed},"]
    body = "\n".join(lines)
    return f"from eij_core import Trial, solve\n\nresult = solve(Trial(\n{body}\n))\nresult.frame"


def _code(lines: str) -> str:
    """Escape code and keep its lines, which mean something in Python."""
    return "\n".join(text(line) for line in lines.splitlines())


class Share(pn.viewable.Viewer):
    """The part of the page about keeping a run.

    Parameters
    ----------
    settings : Settings
    player : Player
    on_recording : callable
        Called with a frame and its name when a visitor loads a recorded run.
    on_overlay : callable
        Called when the choice of earlier runs to draw has changed.
    """

    def __init__(
        self,
        settings: Settings,
        player: Player,
        on_recording: Callable[[Frame, str], None],
        on_overlay: Callable[[], None],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.settings, self.player = settings, player
        self._on_recording, self._on_overlay = on_recording, on_overlay
        self._code = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[PAGE_CSS])
        self.downloads = {
            kind: pmui.FileDownload(
                label=words, filename=f"eij-run.{kind}", callback=partial(self._file, kind),
                auto=True, embed=False, size="small", margin=(4, 4), disabled=True,
            )
            for kind, words in (("parquet", "Parquet"), ("csv", "CSV"), ("json", "JSON"))
        }  # fmt: skip
        self.upload = pmui.FileInput(
            label="Load a recorded run", css_classes=["file-run"],
            accept=",".join(uploads.TEXTS), multiple=False,
            margin=(4, 4), size="small", variant="outlined", max_file_size=UPLOAD_BYTES,
        )  # fmt: skip
        self._refusal = pmui.Alert(object="", severity="error", visible=False, margin=(4, 4))
        self.past = pmui.CheckBoxGroup(
            label="Earlier runs, drawn in the first view", options=[], value=[], visible=False
        )
        self.upload.param.watch(self._on_upload, "value")
        self.past.param.watch(self._on_past, "value")
        self.write_code()
        watched = [*Settings.FIELDS, "instance_file"]
        settings.param.watch(lambda *_: self.write_code(), watched)

    def __panel__(self) -> Any:
        words = pn.pane.HTML(
            "<p class='words quiet'>The address of this page holds your settings: copy it to share "
            "them. Every figure has its own PNG and SVG in its toolbar. "
            "Files hold the finished run; they can be loaded here again, up to "
            f"{UPLOAD_BYTES / 1e6:g} MB, and by eij.</p>",
            stylesheets=[PAGE_CSS],
            sizing_mode="stretch_width",
        )
        return pmui.Column(
            words,
            pmui.FlexBox(*self.downloads.values(), self.upload, align_items="center"),
            self._refusal,
            self.past,
            self._code,
            sizing_mode="stretch_width",
            margin=(0, 8),
        )

    def refresh(self) -> None:
        """Offer what there is."""
        job = self.player.job
        ready = job is not None and job.over and job.leader is not None
        for download in self.downloads.values():
            put(download, disabled=not ready)
        labels = [lane.label for lane in self.player.past]
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
                "<p class='words quiet'>This lesson brings operators of its own, so there is no "
                "command line for it; they are defined in app/lesson_parts.py.</p>"
            )
            return
        link = text(permalink.write(self.settings.values_now) or "(the defaults)")
        beside = (
            f" Run it where the file lies, under the name <code>{text(slug(file.name))}</code>."
            if problem
            else ""
        )
        self._code.object = (
            f"<p class='words quiet'>These settings on the command line.{beside}</p>"
            f"<pre class='code'>{_code(command(trial, problem))}</pre>"
            "<p class='words quiet'>In Python:</p>"
            f"<pre class='code'>{_code(snippet(trial, problem))}</pre>"
            f"<p class='words quiet'>In a link: <code>{link}</code></p>"
            "<p class='words quiet'>With a simulated meter both give the same numbers as the run "
            "here, if it was left to itself: what you change while it runs (α) is in its record, "
            "not in the command.</p>"
        )

    # --- files out ---

    def _name(self, kind: str) -> str:
        frame = self.player.frame
        assert frame is not None
        words = (frame.problem, frame.algorithm, frame.selector, f"seed-{self.settings.seed}")
        return f"eij-{slug('-'.join(words))}.{kind}"

    def _file(self, kind: str) -> io.BytesIO:
        """Write the run's record; the page asks for it only when the run is over."""
        job = self.player.job
        assert job is not None and job.leader is not None
        self.downloads[kind].filename = self._name(kind)
        return io.BytesIO(uploads.write(job.leader.result(), f".{kind}"))

    # --- files in ---

    def _on_upload(self, event: Any) -> None:
        if event.new is None:
            return
        try:
            frame = uploads.read(event.new, str(self.upload.filename or ""))
        except EijError as error:
            self._refusal.param.update(object=text(error), visible=True)
            return
        self._refusal.visible = False
        self._on_recording(frame, self.upload.filename or "recording")

    def _on_past(self, event: Any) -> None:
        self.player.overlaid = tuple(event.new)
        self._on_overlay()
