"""One run opened: its views, its numbers, how to make it again; followed while it goes on."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from eij_core import EijError, records
from eij_core.records import Following, Record, RunFolder, Summary

from ...text.escape import label, text
from ...text.failures import failure_message
from ...text.labels import PROVENANCE
from ...text.numbers import count, number
from ...views.energy import EnergyView
from ...views.estimates import EijView
from ...views.fitness import FitnessView
from ...views.panes import grid, html_pane
from ...views.selection import SelectionView
from ...views.view import View
from ..common.layout import alert_box, box, button_row, column, download, show_alert
from ..run.uploads import snapshot_of_record

KINDS = {"parquet": "Parquet", "csv": "CSV", "json": "JSON"}
WIDE = "repeat(auto-fit, minmax(min(100%, 380px), 1fr))"


class OpenedRun(pn.viewable.Viewer):
    """A run of a folder, with the views of the page Run.

    Parameters
    ----------
    folder : RunFolder
    """

    def __init__(self, folder: RunFolder) -> None:
        super().__init__()
        self.folder = folder
        self.shown = ""
        self._following: Following | None = None
        self._facts = html_pane((4, 8))
        self._trouble = alert_box(margin=0)
        self.views: tuple[View, ...] = (FitnessView(), EijView(), SelectionView(), EnergyView())
        self.downloads = {
            kind: plain_download(words, f"run.{kind}", partial(self._file, kind))
            for kind, words in KINDS.items()
        }

    def __panel__(self) -> Any:
        first, *others = self.views
        return column(
            self._trouble, box(self._facts, button_row(*self.downloads.values())), first,
            grid(*others, columns=WIDE), sx={"gap": "14px"},
        )  # fmt: skip

    @property
    def record(self) -> Record | None:
        """What is known of the run."""
        return self._following.record if self._following is not None else None

    def open(self, name: str) -> None:
        """Show another run; `InputError` if there is none of this name."""
        self._following = Following(self.folder.path_of(name))
        self.shown = name
        self._facts.object = ""
        show_alert(self._trouble)

    def look(self, run: Summary | None, lost: bool = False) -> bool:
        """Draw what is new; return whether there was anything."""
        if self._following is None:
            return False
        try:
            news = self._following.look()
        except (EijError, OSError) as error:
            show_alert(self._trouble, failure_message(error))
            return False
        if not (news or lost) or self.record is None:
            self.say(run)
            return False
        try:
            snapshot = snapshot_of_record(self.record)
        except EijError as error:
            show_alert(self._trouble, failure_message(error))
            return True
        thinned = len(self.record.rows) > len(snapshot.rows)
        story = (self.shown, lost, len(self.record.rows) if thinned else 0)
        for view in self.views:
            view.show(snapshot, story)
        self.say(run)
        return True

    def say(self, run: Summary | None) -> None:
        """Say where the run stands."""
        words = facts_of(run, self.record) if run is not None else ""
        if words != self._facts.object:
            self._facts.object = words

    def _file(self, kind: str) -> io.BytesIO:
        record = self.record
        assert record is not None, "the buttons come with the run"
        self.downloads[kind].filename = f"{self.shown}.{kind}"
        return io.BytesIO(records.write(record, f".{kind}"))


def plain_download(label: str, name: str, content: Callable[[], io.BytesIO]) -> Any:
    """Return a button for a file that looks like the other buttons."""
    button = download(label, name, content)
    button.param.update(variant="outlined", color="default")
    return button


def facts_of(run: Summary, record: Record | None) -> str:
    """Return the numbers of a run as HTML."""
    seconds = record.spent.seconds if record is not None else float("nan")
    cards: list[tuple[str, str, str]] = [
        ("best" if run.feasible else "best, not feasible", number(run.best, 6), ""),
        (f"Joules, {run.provenance}", f"{number(run.joules)} J",
         PROVENANCE.get(run.provenance, "")),
        ("decisions", count(run.decisions), ""),
        ("seconds of computing", number(seconds, 3), ""),
    ]  # fmt: skip
    body = "".join(
        f"<div class='stat' title='{text(about)}'><b>{value}</b><span>{key}</span></div>"
        for key, value, about in cards
    )
    share = f", {100 * run.progress:.0f} % of the budget" if run.state == "running" else ""
    how = f" ({text(run.reason)})" if run.reason else share
    notes = " ".join(map(text, record.notes)) if record is not None else ""
    words = (
        f"<b>{text(run.state.capitalize())}</b>{how}. {text(label(run.task, 200))} · "
        f"{text(run.algorithm)} · rule {text(run.selector)} · meter {text(run.meter)}"
        f"{f' · seed {run.seed}' if run.seed is not None else ''}. {notes}"
    )
    return (
        f"<div class='gauges'><div class='stats'>{body}</div></div>"
        f"<p class='words' style='margin-top:8px'>{words}</p>"
    )
