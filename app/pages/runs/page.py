"""The Runs page: the runs of a folder, live while they are written; one opened, many compared."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core import EijError
from eij_core.records import Following, Summary

from ...background.kept_runs import runs_of, watched
from ...server.limits import LINK_BYTES, is_public
from ...text.escape import text
from ...text.failures import failure_message
from ...views.panes import html_pane
from ..common.layout import (
    alert_box,
    box,
    button_row,
    column,
    middle,
    set_changed,
    show_alert,
)
from ..common.links import read_link, write_link
from ..common.toolbar import PLAIN
from .comparison import Comparison, ComparisonView, Course
from .empty import PUBLIC, ways
from .opened import OpenedRun, plain_download
from .table import MOST, RunsTable, row_of

PERIOD = 0.4
"""Seconds between two looks at what has changed."""
COMPARED = 60
"""Runs that are compared at once, at most."""
LOADED = 6
"""Records that are read in one look."""
BETWEEN = "|"
"""Between names in the link: no name has it."""
LONGEST = LINK_BYTES - 200


def _names(written: str) -> list[str]:
    return [name for name in written.split(BETWEEN) if name][:COMPARED]


class RunsPage:
    """The runs that a visitor may see.

    Parameters
    ----------
    query : str
        The link: `open` names a run, `compare` several.
    owner : hashable
        Has the folder of the visitor's runs as `runs`.
    """

    def __init__(self, query: str, owner: Hashable) -> None:
        path = getattr(owner, "runs", None) or runs_of()
        self.folder = path
        self.watch = watched(Path(path)) if path is not None else None
        self._seen = -1
        self._looked = 0.0
        self._followed: dict[str, Following] = {}
        self._moved: list[str] = []
        self._story = 0
        self.opened: OpenedRun | None = None
        self._build()
        values, notice = read_link(query, {"open": str, "compare": _names})
        show_alert(self.alert, notice, severity="warning")
        self.table.selected = values.get("compare", [])
        self._wanted = values.get("open", "")
        self.draw()

    # --- the parts ---

    def _build(self) -> None:
        self.alert = alert_box(margin=0)
        self.undo = pmui.Button(label="Undo", icon="undo", visible=False, **PLAIN)
        self.undo.on_click(lambda _: self._try(self.bring_back))
        self.table = RunsTable(sizing_mode="stretch_width", margin=(6, 8))
        self.table.param.watch(lambda _: self.draw(), "selected")
        self.table.param.watch(lambda event: self._ask_for(event.new[0]), "asked")
        self.rename_button = pmui.Button(label="Rename", icon="edit", **PLAIN)
        self.delete_button = pmui.Button(label="Delete", icon="delete", **PLAIN)
        self.download = plain_download("Download", "runs.zip", self._file)
        self.rename_button.on_click(lambda _: self._ask_name())
        self.delete_button.on_click(lambda _: self._try(self.delete))
        self.new_name = pmui.TextInput(
            label="New name", max_length=80, size="small", width=320, margin=(6, 6)
        )
        self.save = pmui.Button(label="Save", color="primary", variant="contained", margin=(6, 4))
        self.cancel = pmui.Button(label="Cancel", **{**PLAIN, "margin": (6, 4)})
        self.save.on_click(lambda _: self._try(self.rename))
        self.new_name.param.watch(lambda _: self._try(self.rename), "enter_pressed")
        self.cancel.on_click(lambda _: self._ask_name(False))
        self._naming = button_row(self.new_name, self.save, self.cancel)
        self._naming.visible = False
        self._empty = html_pane((8, 12), visible=False)
        self._others = html_pane((4, 12), visible=False)
        self.compared = ComparisonView()
        self._compared_box = box(
            html_pane((4, 12), "<h2 class='view'>Compared on equal Joules</h2>"), self.compared
        )
        self._compared_box.visible = False
        actions = button_row(self.rename_button, self.delete_button, self.download)
        self._list = column(
            box(self._empty, self.table, actions, self._naming, self._others, borderRadius="12px"),
            self._compared_box, sx={"gap": "14px"},
        )  # fmt: skip
        self.back = pmui.Button(label="All runs", icon="arrow_back", **PLAIN)
        self.back.on_click(lambda _: self.close_run())
        self._title = html_pane((10, 8), sizing_mode=None)
        self._run = column(visible=False)

    @property
    def controls(self) -> Any:
        """What fills the side: where the runs are, and how more get there."""
        if self.folder is None:
            words = "<p class='words'>Runs cannot be kept on this server at the moment.</p>"
        elif is_public():
            words = f"<p class='words'>{PUBLIC}</p>"
        else:
            words = ways(self.folder, public=False)
        return column(html_pane((10, 12), words))

    def main(self) -> Any:
        """Return what fills the middle."""
        told = button_row(self.alert, self.undo)
        return middle(told, self._list, self._run)

    # --- what a visitor does ---

    def open(self, name: str) -> None:
        """Open a run."""
        if self.watch is None:
            return
        opened = self.opened or OpenedRun(self.watch.folder)
        opened.open(name)
        opened.say(self._summary_of(name))
        self._title.object = f"<h2 class='view'>{text(name)}</h2>"
        self._wanted = name
        # The figures come with the next look: a column of Material measures a part that it gets
        # before Bokeh has laid out the figures in it.
        self._list.visible, self._run.visible = False, True
        if self.opened is None:
            self.opened = opened
            self._run.objects = [button_row(self.back, self._title), opened]

    def _ask_for(self, name: str) -> None:
        """Have a run opened by the next tick, which comes when the browser has drawn the last."""
        self._wanted, self._looked = name, 0.0

    def close_run(self) -> None:
        """Show the list again."""
        self._wanted = ""
        self._run.visible, self._list.visible = False, True
        self.draw()

    def rename(self) -> None:
        """Give the chosen run the name that was typed."""
        (name,) = self.table.selected
        new = self.new_name.value_input or self.new_name.value
        if self.watch is None or not self._naming.visible:
            return
        self.watch.folder.rename(name, new)
        self._ask_name(False)
        self._changed([" ".join(new.split())])

    def delete(self) -> None:
        """Delete the chosen runs; they can be brought back."""
        if self.watch is None:
            return
        names = list(self.table.selected)
        self._moved = self.watch.folder.delete(names)
        what = f"“{names[0]}” is" if len(names) == 1 else f"{len(names)} runs are"
        self._changed([])
        show_alert(self.alert, f"{what} deleted.", severity="info")
        self.undo.visible = True

    def bring_back(self) -> None:
        """Bring the runs back that were deleted last."""
        if self.watch is not None:
            self.watch.folder.restore(self._moved)
        self._moved = []
        self._changed([])

    def _changed(self, selected: list[str]) -> None:
        if self.watch is not None:
            self.watch.note()
        self.undo.visible = False
        show_alert(self.alert)
        self.table.selected = selected
        self.draw()

    def _ask_name(self, asks: bool = True) -> None:
        if asks and len(self.table.selected) == 1:
            self.new_name.param.update(value=self.table.selected[0])
        self._naming.visible = asks

    def _try(self, do: Callable[..., None], *arguments: Any) -> None:
        """Do what a visitor asked for; say why it cannot be done."""
        try:
            do(*arguments)
        except (EijError, OSError) as error:
            self.undo.visible = False
            show_alert(self.alert, failure_message(error), severity="error")

    def _file(self) -> io.BytesIO:
        """Return the record of the chosen run, or several in a zip."""
        if self.watch is None:
            return io.BytesIO()
        paths = [self.watch.folder.path_of(name) for name in self.table.selected]
        if len(paths) == 1:
            self.download.filename = paths[0].name
            return io.BytesIO(paths[0].read_bytes())
        self.download.filename = "runs.zip"
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w") as file:
            for path in paths:
                file.write(path, path.name)
        return io.BytesIO(sink.getvalue())

    # --- drawing ---

    @property
    def runs(self) -> tuple[Summary, ...]:
        """The runs of the folder, the newest first."""
        return self.watch.folder.runs[:MOST] if self.watch is not None else ()

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new, a few times a second at most."""
        now = time.monotonic()
        if self.watch is None or (now - self._looked < PERIOD and not lost):
            return False
        self._looked = now
        version = self.watch.ask()
        if self._wanted:
            return self._look_at_opened(lost)
        if version == self._seen and not lost and not self._is_loading():
            return False
        self._seen = version
        self.draw(lost)
        return True

    def draw(self, lost: bool = False) -> None:
        """Bring the list and the comparison up to date."""
        runs = self.runs
        names = {run.name for run in runs}
        known = self.watch is not None and self.watch.known
        if known and not set(self.table.selected) <= names:
            self.table.selected = [name for name in self.table.selected if name in names]
            return  # comes back here
        with pn.io.hold():
            set_changed(self.table, rows=[row_of(run) for run in runs], visible=bool(runs))
            chosen = [run for run in runs if run.name in set(self.table.selected)]
            over = bool(chosen) and all(run.state != "running" for run in chosen)
            set_changed(self.rename_button, disabled=len(chosen) != 1 or not over)
            set_changed(self.delete_button, disabled=not over)
            set_changed(self.download, disabled=not chosen)
            for button in (self.rename_button, self.delete_button, self.download):
                set_changed(button, visible=bool(runs))
            self._say(known and not runs)
            self._compare(chosen, lost)

    def _say(self, empty: bool) -> None:
        if empty and self.folder is not None and not self._empty.object:
            head = "<h2 class='view'>No runs yet</h2>"
            self._empty.object = head + ways(self.folder, is_public())
        set_changed(self._empty, visible=empty)
        troubles = self.watch.folder.troubles if self.watch is not None else {}
        lines = "".join(f"<li>{text(k)}: {text(why)}</li>" for k, why in troubles.items())
        words = f"<p class='words quiet'>Not shown:</p><ul class='words quiet'>{lines}</ul>"
        set_changed(self._others, object=words, visible=bool(troubles))

    def _compare(self, chosen: list[Summary], lost: bool) -> None:
        """Draw the chosen runs beside each other, as far as their records are read."""
        chosen = chosen[:COMPARED] if len(chosen) > 1 else []
        wanted = {run.name for run in chosen}
        self._followed = {name: f for name, f in self._followed.items() if name in wanted}
        courses = []
        reads = 0
        for run in chosen:
            known = self._followed.get(run.name)
            if known is None:
                reads += 1
                if reads > LOADED or self.watch is None:
                    continue
                known = self._followed[run.name] = Following(self.watch.folder.path_of(run.name))
            try:
                known.look()
            except (EijError, OSError) as error:
                show_alert(self.alert, failure_message(error), severity="error")
                continue
            if known.record is not None:
                courses.append(Course.of(run, known.record))
        set_changed(self._compared_box, visible=len(courses) > 1)
        if len(courses) > 1:
            self._story += lost
            # The oldest first: what comes later is held against it.
            self.compared.show(Comparison(tuple(courses[::-1])), self._story)

    def _is_loading(self) -> bool:
        chosen = self.table.selected[:COMPARED]
        return 1 < len(chosen) != len(self._followed)

    def _look_at_opened(self, lost: bool = False) -> bool:
        if self.opened is None or self.opened.shown != self._wanted:
            if self.watch is None or not self.watch.known:
                return False
            self._try(self.open, self._wanted)
            if self.opened is None or self.opened.shown != self._wanted:
                self.close_run()  # there is none of this name
            return True
        return self.opened.look(self._summary_of(self._wanted), lost)

    def _summary_of(self, name: str) -> Summary | None:
        return next((run for run in self.runs if run.name == name), None)

    def link(self) -> str:
        """Return the query that leads back here."""
        if self._wanted:
            return write_link({"page": "runs", "open": self._wanted})
        chosen = BETWEEN.join(self.table.selected)
        written = write_link({"page": "runs", "compare": chosen} if chosen else {"page": "runs"})
        return written if len(written.encode()) <= LONGEST else "?page=runs"

    def close(self) -> None:
        """Nothing runs for this page alone."""
