"""The Campaign page: many trials at once, their progress, and the report of any store."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Generator, Hashable
from pathlib import Path
from typing import Any

import panel_material_ui as pmui

from eij_core import EijError, __version__
from eij_core.campaigns import Campaign, Conductor, Event
from eij_core.campaigns.preparation import is_measured
from eij_core.paper import beside
from eij_core.reports import Report, report_of

from ...text.escape import text
from ...text.numbers import count
from ...views.panes import html_pane
from ..common.job_page import JobPage
from ..common.layout import FIELD, Quiet, box, column, middle
from ..common.links import Choices
from .form import CampaignForm
from .live import LiveTable
from .report import ReportView
from .stores import Shelf, stores

NONE = "–"
TASK_SECONDS = 0.15
"""Short tasks: the page shows progress after each, and other visitors wait for their turn."""
EMPTY = """<div class='words'><p>One run shows how a rule works; to claim that it is better takes
many. Choose problems, algorithms and rules at the side, or paste a campaign's file, and run
them all on equal Joules; the report then compares them with tests, effect sizes and
intervals.</p><p class='quiet'>Larger campaigns, on all cores or a cluster: <code>eij campaign run
FILE --store DIR</code>; the paper's own: <code>eij paper</code>. Their stores can be opened
here.</p></div>"""


class CampaignPage(JobPage[Event | Report]):
    """One visitor's campaigns."""

    def __init__(self, query: str, owner: Hashable) -> None:
        super().__init__(owner)
        self.shelf = Shelf()
        self.form = CampaignForm()
        self.view = ReportView()
        self._folder = Path()
        """Where the latest campaign of this page is stored."""
        self._progress = Event("idle", 0, 0)
        self._ending = "opened"
        """What the job is when it has ended well: a campaign is finished, a store opened, and the
        report on a stopped campaign leaves it stopped."""
        self._live = LiveTable()
        self._quiet = Quiet()
        self._words = html_pane((4, 10), EMPTY)
        self._table = html_pane((0, 10), visible=False)
        self._reports = column(self.view, visible=False)
        self.store = pmui.Select(
            label="Open a store", options=[NONE, *stores()], value=NONE, **FIELD
        )
        self.again = pmui.Button(
            label="Look again", icon="refresh", size="small", variant="text", margin=(0, 4)
        )
        self.choices = Choices("campaign", {"store": self.store, **self.form.fields}, query)
        self.alert_visitor(self.choices.notice, "warning")
        self.again.on_click(lambda _: self.list_stores())
        self.store.param.watch(self._on_store, "value")
        self.view.control.param.watch(self._on_control, "value")
        self.form.check()
        self.draw()
        if self.store.value != NONE:
            self.open(self.store.value)

    @property
    def controls(self) -> Any:
        """What fills the side."""
        kept = "kept on this server" if self.shelf.keeps else "kept until this page is closed"
        note = html_pane((4, 8), f"<div class='words quiet'>What you run here is {kept}.</div>")
        return column(self.form, note, pmui.Divider(margin=(8, 4)), self.store, self.again)

    def main(self) -> Any:
        """Return what fills the middle."""
        words = box(self._words, self._table)
        return middle(self.alert, self.toolbar.bar(), words, self._reports)

    # --- what a visitor does ---

    def start(self) -> None:
        """Run what the form says, or what is left of it."""
        if self.busy:
            return
        try:
            campaign = self.form.campaign()
        except EijError as error:
            self.form.complain(error)
            self.alert_visitor(f"The campaign cannot be run: {error}")
            return
        # Another version of the code would be refused in the same folder.
        made = json.dumps([campaign.data, __version__], sort_keys=True)
        digest = hashlib.blake2b(made.encode()).hexdigest()
        self._folder = self.shelf.place(campaign.data["name"] or "campaign", digest)
        self._show_store(NONE)
        self._live = LiveTable()
        alone = is_measured(campaign.trials)
        self._begin(_conducted(campaign, self._folder), "finished", alone=alone)

    def open(self, name: str) -> None:
        """Show the report of a store on this server."""
        try:
            folder = self.shelf.find(name)
        except EijError as error:
            self.alert_visitor(str(error))
            return
        self._live = LiveTable()
        self._begin(_reported(folder), "opened")

    def list_stores(self) -> None:
        """Look for stores anew."""
        found = [NONE, *stores()]
        self._show_store(self.store.value if self.store.value in found else NONE, options=found)

    def _show_store(self, name: str, **params: Any) -> None:
        with self._quiet:
            self.store.param.update(value=name, **params)

    def _on_store(self, event: Any) -> None:
        if self._quiet or event.new == NONE:
            return
        if self.busy:
            self._show_store(NONE)
            self.alert_visitor("A campaign is running; stop it first.", "warning")
            return
        self.open(str(event.new))

    def _on_control(self, event: Any) -> None:
        report = self.view.report
        if not self.busy and report is not None and event.new not in (None, report.control):
            self._begin(_reported(report.dataset.folder or Path(), str(event.new)), "opened")

    # --- the job ---

    def _begin(self, steps: Any, ending: str, *, alone: bool = False) -> None:
        self._ending = ending
        known = self._progress if ending == "stopped" else Event("", 0, 1)
        self._progress = known._replace(what="waiting")
        self.run_job(steps, alone)

    def take(self, item: Event | Report) -> None:
        """Take in the next step of the campaign, or the report."""
        if isinstance(item, Report):
            # After a stop, the last task was stored without an event.
            stored = len(item.dataset.trials) + item.dataset.failed
            self._progress = self._progress._replace(done=stored)
            self.view.draw(item)
            self._reports.visible = True
        elif item.what == "reporting":
            self._progress = self._progress._replace(what="reporting")
        else:
            self._progress = item
            if item.row is not None:
                self._live.note(item.row)

    def finish(self, error: str) -> None:
        """Report on a campaign that was stopped; otherwise say how the job ended."""
        if self.stage == "stopped" and self._ending == "finished" and self._live.count:
            self._begin(_reported(self._folder), "stopped")
        else:
            what = self._ending if self.stage == "finished" else self.stage
            self._progress = self._progress._replace(what=what)
            super().finish(error)
        self.list_stores()

    # --- what is shown ---

    def draw(self, lost: bool = False) -> None:
        """Draw where the campaign stands; the report is drawn when it comes."""
        what, done, total, *_ = self._progress
        over = what in ("finished", "opened")
        self.show_stage(
            "running" if what == "stored" else what, 1 if over else done / max(total, 1)
        )
        self.toolbar.run.label = "Resume" if what == "stopped" else "Run"
        self.toolbar.stop.disabled = not (self.busy and self._ending == "finished")
        if what != "idle":
            self._words.object = f"<div class='words'>{text(self._sentence())}</div>"
        self._table.param.update(
            object="" if over else self._live.html(), visible=bool(self._live.count)
        )

    def _sentence(self) -> str:
        what, done, total, name, _ = self._progress
        stored = f"{count(done)} of {count(total)} trials"
        left = self._live.time_left(total - done)
        running = f"{stored} are stored{left and f', about {left} left'}."
        return {
            "waiting": "Waiting for a turn on the processor.",
            "compiling": f"Compiling {name} ({done + 1} of {total}): seconds the first time, "
            "nothing afterwards.",
            "running": running,
            "stored": running,
            "stopped": f"Stopped with {stored} stored. Resume runs the rest and none twice.",
            "reporting": "Computing tests, effect sizes, intervals and figures.",
            "failed": "The campaign stopped with an error; what is stored is safe.",
            "finished": f"All trials are stored{self.view.failures}.",
            "opened": f"The report of {self.view.title}.",
        }[what]

    def close(self) -> None:
        """End what runs, and throw away what was only for this page."""
        self.halt()
        # In a thread: a task or a report may take seconds, and the server has other visitors.
        threading.Thread(target=self._leave, args=(self.job,), daemon=True).start()

    def _leave(self, job: Any) -> None:
        if job is not None:
            job.join()
        self.shelf.clear()


def _conducted(campaign: Campaign, folder: Path) -> Generator[Event | Report]:
    """Run what a store lacks of a campaign, and then report."""
    yield from Conductor(campaign, folder, jobs=1, task_seconds=TASK_SECONDS)
    yield from _reported(folder)


def _reported(folder: Path, control: str = "") -> Generator[Event | Report]:
    """Read a store and make its report."""
    yield Event("reporting", 0, 1)
    report = report_of(folder, control=control, beside=beside)
    report.sections  # noqa: B018  the figures are drawn here, and not while the page waits
    yield report
