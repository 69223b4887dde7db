"""The Profile page: what each operator costs by itself, drawn while the batches run."""

from __future__ import annotations

import io
from collections.abc import Generator, Hashable
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
import panel_material_ui as pmui

from eij_core import EijError, Trial
from eij_core.atomic_files import slug
from eij_core.engine.histogram import dense
from eij_core.meters.counters.detect import openers
from eij_core.profiles.measure import Profiler
from eij_core.profiles.profile import Profile
from eij_core.registry import Range

from ...server.limits import check_trial
from ...text.escape import text
from ...text.labels import PROVENANCE
from ...text.numbers import count, number
from ...text.tables import operator_cell, row, table
from ...views.energy import EnergyPlot
from ...views.live_figure import LiveFigure
from ...views.panes import figure_place, html_pane
from ...views.snapshot import Tally, empty_snapshot
from ..common.fields import number_field
from ..common.job_page import JobPage
from ..common.layout import FIELD, box, column, download, middle
from ..common.links import Choices
from ..common.meters_table import LOOK_HERE, MetersHere
from ..common.offers import check_offered
from ..common.pickers import ComponentPicker, complain_at
from ..run.settings import Settings

PROFILED = ("problem", "algorithm", "meter")
EMPTY = """<div class='words'><p>What does one application of an operator cost? The operators take
turns, each alone for a batch of many applications, so that a counter which moves once a millisecond
can tell operators of a microsecond apart. The paper calls this the initial operator profiling.</p>
<p class='quiet'>On the command line: <code>eij profile --out costs.json</code>; a run that begins
with these costs: <code>eij run --profile costs.json</code>.</p></div>"""
ENOUGH = 5
"""Batches of each operator below which the page warns that the violins will change."""


Step = tuple[Profile, float]
"""A profile as far as it has come, and the share of its batches that are done."""


class ProfilePage(JobPage[Step]):
    """One visitor's profiles.

    Parameters
    ----------
    query : str
        The link: problem, algorithm, meter, batches.
    owner : hashable
        Whose turns it takes.
    """

    def __init__(self, query: str, owner: Hashable) -> None:
        super().__init__(owner, "Profile")
        self.settings = Settings(algorithm="ssga", meter="auto")
        self.profile: Profile | None = None
        self._progress = 0.0
        self._number = 0
        self.words = html_pane((4, 10), EMPTY)
        self.table = html_pane((4, 10))
        self.figure = LiveFigure()
        self.downloads = {
            kind: download(words, f"profile.{kind}", partial(self._file, kind))
            for kind, words in (("json", "JSON"), ("parquet", "Parquet"))
        }
        self.batches = number_field(
            "batches of each operator", 20, Range(1, 200), **FIELD,
            description="A batch lasts 50 ms on a real meter; more batches, finer distributions",
        )  # fmt: skip
        self.pickers = {family: ComponentPicker(family, self.settings) for family in PROFILED}
        self._here = MetersHere(self.pickers["meter"].select)
        self.choices = Choices("profile", {**self.pickers, "batches": self.batches}, query)
        self.alert_visitor(self.choices.notice, "warning")
        self._empty = empty_snapshot(self._trial())
        """The figure before the first batch of the latest profile."""
        # It is there from the start: Bokeh fails to draw a figure that joins a page later.
        self.figure.show(EnergyPlot(), self._empty, self._number)
        self.draw()

    @property
    def controls(self) -> Any:
        """What fills the side."""
        return column(*self.pickers.values(), self._here, self.batches, margin=(4, 0))

    def main(self) -> Any:
        """Return what fills the middle."""
        figure = figure_place(self.figure.pane, min_height=300)
        found = box(figure, self.table, pmui.FlexBox(*self.downloads.values()))
        return middle(self.alert, self.toolbar.bar(), box(self.words), found)

    def start(self) -> None:
        """Profile what is chosen."""
        if self.busy:
            return
        complain_at(self.pickers, None)
        try:
            for family in PROFILED:
                check_offered(family, getattr(self.settings, family))
            trial = check_trial(self._trial())
        except EijError as error:
            if not complain_at(self.pickers, error):
                self.alert_visitor(str(error))
            return
        self.profile, self._progress = None, 0.0
        self._number, self._empty = self._number + 1, empty_snapshot(trial)
        # Two profiles at once would count each other's Joules, except on a price list.
        simulated = trial.name_of("meter") in ("model", "paper")
        self.run_job(_steps(trial, int(self.batches.value)), alone=not simulated)

    def take(self, item: Step) -> None:
        """Take in the profile as it stands after another batch."""
        self.profile, self._progress = item

    def finish(self, error: str) -> None:
        """Say what went wrong, or what to know about the figures."""
        if error:
            self.alert_visitor(_failure(self.profile, error, self.settings.meter))
        elif self.profile is not None:
            self.alert_visitor(self.profile.imputed_words, "warning")

    def draw(self, lost: bool = False) -> None:
        """Draw the profile as far as it has come."""
        profile = self.profile
        compiling = self.stage == "running" and profile is None
        self.show_stage("compiling" if compiling else self.stage, self._progress)
        ready = profile is not None and any(o.applications for o in profile.operators)
        for button in self.downloads.values():
            button.disabled = not ready
        if profile is not None:
            self._show(profile, lost)

    # --- inside ---

    def _trial(self) -> Trial:
        chosen = self.settings
        return Trial(chosen.problem, chosen.algorithm, "static", chosen.meter, "1 J")

    def _show(self, profile: Profile, lost: bool) -> None:
        histogram = np.array([dense(operator.histogram) for operator in profile.operators])
        meter, kind = profile.meter.name, str(profile.meter.provenance)
        shown = self._empty._replace(
            meter=meter,
            provenance=kind,
            tally=Tally(0, 0.0, self._progress, histogram, None, self._empty.rows),
        )
        self.figure.show(EnergyPlot(), shown, (self._number, lost))
        self.table.object = profile_table(profile)
        self.words.object = (
            f"<h2 class='view'>{text(profile.title)}</h2>"
            f"<p class='words quiet'>{PROVENANCE.get(kind, '')} {_trust(profile)}</p>"
        )
        name = slug("-".join(("profile", shown.problem, shown.algorithm, meter)), 60)
        for ending, button in self.downloads.items():
            button.filename = f"{name}.{ending}"

    def _file(self, kind: str) -> io.BytesIO:
        if self.profile is None:
            raise RuntimeError("there is no profile yet")
        data = self.profile.as_parquet() if kind == "parquet" else self.profile.as_json().encode()
        return io.BytesIO(data)


def _failure(profile: Profile | None, error: str, meter: str) -> str:
    """Return the message for an error: what was found before it, and where to look."""
    if profile is not None:
        return f"The profile ended after {len(profile.batches)} batches: {error}"
    hint = f"\n{LOOK_HERE}" if meter.partition(":")[0] in openers() else ""
    return f"Nothing was profiled: {error}{hint}"


def _steps(trial: Trial, batches: int) -> Generator[Step]:
    """Take batch after batch; each yields the profile as it stands."""
    chosen = (trial.problem, trial.algorithm, trial.meter)
    with closing(Profiler(*chosen, batches=batches, seed=trial.seed)) as profiler:
        for _ in profiler:
            yield profiler.profile(), profiler.progress


def profile_table(profile: Profile) -> str:
    """Return one line per operator, in a unit that is easy to read."""
    unit, scale = profile.unit
    lines = []
    for o, each in enumerate(profile.operators):
        figures = (each.mean, each.median, each.p5, each.p95, each.per_evaluation)
        cells = (number(value / scale) for value in figures)
        lines.append(row(operator_cell(o, each.name), count(each.applications), *cells))
    heads = ("operator", "applications", f"mean ({unit})", f"median ({unit})", f"5 % ({unit})",
             f"95 % ({unit})", f"{unit} per evaluation")  # fmt: skip
    return table(heads, lines)


def _trust(profile: Profile) -> str:
    """Return how far the figures can be trusted: the batches, and the counter's band."""
    done = len(profile.batches)
    rounds = done // max(len(profile.operators), 1)
    early = "Few batches so far: the violins will still change." if rounds < ENOUGH else ""
    return " ".join(filter(None, (f"{done} batches.", profile.band_words, early)))
