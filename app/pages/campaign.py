"""The page of campaigns: many trials at once, their progress, and any store's report."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from app.escape import text
from app.pages import strip
from app.pages.campaign_form import CampaignForm
from app.pages.campaign_report import ReportView
from app.pages.campaign_work import Progress, conducted, reported
from app.pages.choices import Choices
from app.stores import Shelf, stores
from app.theme import PAGE_CSS
from app.work import Work
from eij_core import EijError
from eij_core.campaigns import Campaign
from eij_core.campaigns.preparation import is_measured
from eij_core.reports import Report
from eij_core.reports.tabular import mean_sd

__all__ = ["CampaignPage"]

NONE = "–"
STAGES = {
    **strip.STAGES,
    "running": ("Running", "primary"),
    "reporting": ("Making the report", "primary"),
    "opened": ("Opened", "success"),
}
EMPTY = """<div class='words'><p>One run teaches; a claim needs many. Choose problems, algorithms
and selectors at the side, or paste a campaign's file, and run them all on equal Joules; then read
what the runs say, with tests, effect sizes and intervals.</p><p class='quiet'>Larger campaigns, on
all cores or a cluster: <code>eij campaign run FILE --store DIR</code>; the paper's own:
<code>eij paper</code>. Their stores can be opened here.</p></div>"""


class CampaignPage:
    """One visitor's campaigns."""

    def __init__(self, query: str, owner: Hashable) -> None:
        self.owner = owner
        self.shelf = Shelf()
        self.form = CampaignForm()
        self.view = ReportView()
        self.work: Work[Any] | None = None
        self.campaign: Campaign | None = None
        self.folder: Path | None = None
        self._progress = Progress("idle", 0, 0)
        self._halted: Progress | None = None
        """Where a stopped campaign stands, while its report is made."""
        self._kind = ""
        """conducting or reporting: what the work is."""
        self._first = 0.0
        self._live: dict[tuple[str, str], list[tuple[float, bool]]] = {}
        self._quiet = False
        self._build()
        named = ("problems", "algorithms", "selectors", "budget", "seeds", "meter")
        linked = {"store": self.store, **{name: self.form.fields[name] for name in named}}
        self.choices = Choices(linked, query)
        self._tell(self.choices.notice, "warning")
        self._connect()
        self.form.count()
        self._refresh()
        if self.store.value != NONE:
            self.open(self.store.value)

    # --- the parts ---

    def _build(self) -> None:
        self.strip = strip.Strip()
        html: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [PAGE_CSS]}
        self._words = pn.pane.HTML(EMPTY, margin=(4, 10), **html)
        self._table = pn.pane.HTML("", margin=(0, 10), visible=False, **html)
        self.alert = pmui.Alert(
            object="", severity="error", visible=False, margin=(0, 0, 8, 0),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.store = pmui.Select(
            label="Open a store", options=[NONE, *stores()], value=NONE, size="small",
            sizing_mode="stretch_width", margin=(8, 4),
        )  # fmt: skip
        self.again = pmui.Button(
            label="Look again", icon="refresh", size="small", variant="text", margin=(0, 4)
        )
        self._reports = pmui.Column(self.view, sizing_mode="stretch_width", margin=0, visible=False)

    @property
    def controls(self) -> Any:
        """What fills the side."""
        kept = "kept on this server" if self.shelf.keeps else "kept until this page is closed"
        note = pn.pane.HTML(
            f"<div class='words quiet'>What you run here is {kept}.</div>", margin=(4, 8),
            sizing_mode="stretch_width", stylesheets=[PAGE_CSS],
        )  # fmt: skip
        return pmui.Column(
            self.form, note, pmui.Divider(margin=(8, 4)), self.store, self.again,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip

    def main(self) -> Any:
        """Return what fills the middle."""
        top = self.strip.above(self._words, self._table)
        return strip.middle(self.alert, top, self._reports)

    def _connect(self) -> None:
        self.strip.run.on_click(lambda _: self.start())
        self.strip.stop.on_click(lambda _: self.halt())
        self.again.on_click(lambda _: self.list_stores())
        self.store.param.watch(self._on_store, "value")
        self.view.control.param.watch(self._on_control, "value")

    # --- what a visitor does ---

    def start(self) -> None:
        """Run what the form says, or what is left of it."""
        if self.busy:
            return
        try:
            campaign = self.form.campaign()
        except EijError as error:
            self.form.complain(error)
            self._tell(f"The campaign cannot be run: {error}")
            return
        digest = hashlib.blake2b(json.dumps(campaign.data, sort_keys=True).encode()).hexdigest()
        folder = self.shelf.place(campaign.data["name"] or "campaign", digest)
        self._show_store(NONE)
        self._conduct(campaign, folder)

    def halt(self) -> None:
        """End after the present task; what is stored stays."""
        if self.work is not None:
            self.work.stop()

    def open(self, name: str) -> None:
        """Show the report of a store on this server."""
        try:
            self._report(self.shelf.find(name))
        except EijError as error:
            self._tell(str(error))

    def list_stores(self) -> None:
        """Look for stores anew."""
        self._quiet = True
        found = [NONE, *stores()]
        shown = self.store.value if self.store.value in found else NONE
        self.store.param.update(options=found, value=shown)
        self._quiet = False

    def _on_store(self, event: Any) -> None:
        if self._quiet or event.new == NONE:
            return
        if self.busy:
            self._show_store(NONE)
            self._tell("A campaign is running; stop it first.", "warning")
            return
        self.open(str(event.new))

    def _on_control(self, event: Any) -> None:
        report = self.view.report
        if not self.busy and report is not None and event.new not in (None, report.control):
            self._work("reporting", reported(report.frames.folder or Path(), str(event.new)))

    # --- work ---

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self.work is not None and not self.work.over

    def _conduct(self, campaign: Campaign, folder: Path) -> None:
        self.campaign, self.folder = campaign, folder
        self._live = {}
        self._first = 0.0
        self._work("conducting", conducted(campaign, folder), alone=is_measured(campaign.trials))

    def _report(self, folder: Path) -> None:
        self._live = {}
        self._work("reporting", reported(folder))

    def _work(self, kind: str, steps: Any, alone: bool = False) -> None:
        self._tell("")
        self._kind, self._halted = kind, None
        self._progress = Progress("waiting", 0, 1)
        self.work = Work(steps, self.owner, alone=alone).start()
        self._refresh()

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new."""
        if self.work is None:
            return lost and self._refresh()
        over = self.work.over
        items = self.work.take()
        if not items and not over and not lost:
            return False
        with pn.io.hold():
            for item in items:
                self._take(item)
            if over:
                self._finish()
            return self._refresh()

    def _take(self, item: Progress | Report) -> None:
        if isinstance(item, Report):
            if self._halted is not None:  # the last task was stored, but not watched
                stored = len(item.frames.trials) + item.frames.failed
                self._halted = self._halted._replace(done=stored)
            self.view.draw(item)
            self._reports.visible = True
            return
        self._progress = item
        if item.row is not None:
            self._first = self._first or time.monotonic()
            self._note(item.row)

    def _note(self, row: Any) -> None:
        trial = json.loads(row.spec_json)
        names = [trial[f].partition(":")[0] for f in ("problem", "algorithm")]
        rule = trial["selector"].partition(":")
        method = rule[2].partition("=")[2].partition(",")[0] if rule[0] == "static" else rule[0]
        best = row.result["best"] if row.state == "done" else {"fitness": 0.0, "feasible": False}
        cell = (" · ".join([*names, trial["budget"]]), method)
        self._live.setdefault(cell, []).append((float(best["fitness"]), bool(best["feasible"])))

    def _finish(self) -> None:
        work, self.work = self.work, None
        if work is None:
            return
        if work.stage == "failed":
            self._progress = self._progress._replace(what="failed")
            self._tell(work.error)
        elif work.stage == "stopped":
            self._progress = self._progress._replace(what="stopped")
            if self._kind == "conducting" and self.folder is not None and self._live:
                halted = self._progress
                self._work("reporting", reported(self.folder))
                self._halted = halted
        else:
            finished = "finished" if self._kind == "conducting" else "opened"
            self._progress = self._halted or self._progress._replace(what=finished)
        self.list_stores()

    # --- what is shown ---

    def _refresh(self) -> bool:
        progress = self._progress
        words, colour = STAGES.get(progress.what, STAGES["idle"])
        self.strip.show(words, colour)
        self.strip.run.param.update(disabled=self.busy, label=self._run_label())
        self.strip.stop.disabled = not (self.busy and self._kind == "conducting")
        share = 100.0 * progress.done / max(progress.total, 1)
        self.strip.bar.param.update(
            value=100 if progress.what in ("finished", "opened") else int(share)
        )
        if progress.what != "idle":
            self._words.object = f"<div class='words'>{text(self._sentence())}</div>"
        self._table.param.update(object=self._table_html(), visible=bool(self._live))
        return True

    def _run_label(self) -> str:
        return "Resume" if self._progress.what == "stopped" else "Run"

    def _sentence(self) -> str:
        progress, count = self._progress, sum(map(len, self._live.values()))
        if progress.what == "waiting":
            return "Waiting for a turn on the processor."
        if progress.what == "compiling":
            return (
                f"Compiling {progress.name} ({progress.done + 1} of {progress.total}): seconds the "
                "first time, nothing afterwards."
            )
        if progress.what == "running":
            left = ""
            if count > 3 and (seconds := time.monotonic() - self._first) > 1:
                left = (
                    f", about {_duration((progress.total - progress.done) * seconds / count)} left"
                )
            return f"{progress.done:,} of {progress.total:,} trials are stored{left}."
        if progress.what == "stopped":
            return (
                f"Stopped with {progress.done:,} of {progress.total:,} trials stored. Resume runs "
                "the rest and none twice."
            )
        return {
            "reporting": "Tests, effect sizes, intervals and figures are being made.",
            "failed": "It could not go on; what is stored is safe.",
            "opened": f"The report of {self._opened()}.",
        }.get(progress.what, "All trials are stored.")

    def _opened(self) -> str:
        report = self.view.report
        if report is None:
            return "nothing"
        return f"{report.frames.name}: {len(report.frames.trials):,} trials that are done"

    def _table_html(self) -> str:
        if not self._live or self._progress.what in ("finished", "opened"):
            return ""
        rows = []
        for (cell, method), found in self._live.items():
            good = np.array([fitness for fitness, feasible in found if feasible])
            spread = float(good.std(ddof=1)) if good.size > 1 else math.nan
            mean = mean_sd(float(good.mean()) if good.size else math.nan, spread)
            rows.append(
                f"<tr><td>{text(cell)} · <b>{text(method)}</b></td><td>{len(found)}</td>"
                f"<td>{mean}</td><td>{good.size / len(found):.0%}</td></tr>"
            )
        head = "<th>cell · method</th><th>trials</th><th>best fitness</th><th>feasible</th>"
        body = "".join(rows)
        return f"<div class='scroll'><table class='draws'><tr>{head}</tr>{body}</table></div>"

    def _tell(self, message: str, severity: str = "error") -> None:
        self.alert.param.update(object=text(message), severity=severity, visible=bool(message))

    def _show_store(self, name: str) -> None:
        self._quiet = True
        self.store.value = name
        self._quiet = False

    def link(self) -> str:
        """Return the query that holds the choices."""
        return self.choices.query("campaign")

    def close(self) -> None:
        """End what runs, and throw away what was only for this page."""
        self.halt()
        # A task or a report may take a moment, and the server has other visitors.
        threading.Thread(target=self._leave, args=(self.work,), daemon=True).start()

    def _leave(self, work: Work[Any] | None) -> None:
        if work is not None:
            work.join()
        self.shelf.clear()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
