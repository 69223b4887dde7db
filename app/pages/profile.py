"""The page of profiles: what each operator costs by itself, while the batches run."""

from __future__ import annotations

import io
import math
from collections.abc import Hashable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import panel as pn
import panel_material_ui as pmui

from app.escape import slug, text
from app.frame import Frame, Tally
from app.limits import check_trial
from app.live import LiveFigure
from app.meters_here import LOOK_HERE, MetersHere
from app.pages.choices import Choices
from app.pages.strip import STAGES, Strip, box, middle
from app.pickers import ComponentPicker
from app.plots import energy
from app.settings import Settings, offered_spec
from app.tables import number, table
from app.theme import PAGE_CSS, colour_of
from app.words import PROVENANCE
from app.work import Work
from eij_core import Budget, EijError, InputError, Trial
from eij_core.meters.detect import OPENERS
from eij_core.profiles import Profile
from eij_core.profiling import Profiler
from eij_core.records import BINS, row_dtype
from eij_core.registry import algorithms

__all__ = ["ProfilePage", "profile_table"]

OVER = ("finished", "stopped", "failed")
EMPTY = """<div class='words'><p>What does one application of an operator cost? The operators take
turns, each alone for a batch of many applications, so that a counter which ticks once a millisecond
can tell operators of a microsecond apart. The paper calls this the initial operator profiling.</p>
<p class='quiet'>On the command line: <code>eij profile --out costs.json</code>; a run that begins
with what it found: <code>eij run --profile costs.json</code>.</p></div>"""
BESIDE = 5
"""Batches of every operator before a distribution says much."""


class Step(NamedTuple):
    """A profile as far as it has come."""

    profile: Profile | None
    progress: float


class SpecChoice:
    """A component of the settings as a value of the link."""

    def __init__(self, settings: Settings, family: str) -> None:
        self._settings, self._family = settings, family

    @property
    def value(self) -> str:
        """The component as text."""
        return str(getattr(self._settings, self._family))

    @value.setter
    def value(self, spec: str) -> None:
        offered_spec(self._family, spec)
        setattr(self._settings, self._family, spec)


class ProfilePage:
    """One visitor's profiles.

    Parameters
    ----------
    query : str
        The link: problem, algorithm, meter, batches.
    owner : hashable
        Whose turns it takes.
    """

    def __init__(self, query: str, owner: Hashable) -> None:
        self.owner = owner
        self.settings = Settings(algorithm="ssga", meter="auto")
        self.work: Work[Step] | None = None
        self.profile: Profile | None = None
        self._progress = 0.0
        self._telling = 0
        self._build()
        families = ("problem", "algorithm", "meter")
        self.choices = Choices(
            {**{family: SpecChoice(self.settings, family) for family in families},
             "batches": self.batches},
            query,
        )  # fmt: skip
        self.pickers = {family: ComponentPicker(family, self.settings) for family in families}
        self._here = MetersHere(self.pickers["meter"].select)
        self._tell(self.choices.notice, "warning")
        self.strip.run.on_click(lambda _: self.start())
        self.strip.stop.on_click(lambda _: self.halt())
        # The figure is there from the start: Bokeh stumbles over one that comes into a page later.
        self.figure.show(_no_frame(self.settings), self._telling)
        self._refresh()

    # --- the parts ---

    def _build(self) -> None:
        self.strip = Strip("Profile")
        html: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [PAGE_CSS]}
        self.words = pn.pane.HTML(EMPTY, margin=(4, 10), **html)
        self.table = pn.pane.HTML("", margin=(4, 10), **html)
        self.told = pn.pane.HTML("", margin=0, **html)
        self.alert = pmui.Alert(
            self.told, severity="error", visible=False, margin=(0, 0, 8, 0),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.batches = pmui.IntInput(
            label="batches of each operator", value=20, start=1, end=200, step=1, size="small",
            sizing_mode="stretch_width", margin=(6, 6),
            description="A batch lasts 50 ms on a real meter; more batches, finer distributions",
        )  # fmt: skip
        self.figure = LiveFigure(
            energy.layers, energy.element, energy.limits, title=attrgetter("energy")
        )
        self.downloads = {
            kind: pmui.FileDownload(
                label=words, filename=f"profile.{kind}", callback=partial(self._file, kind),
                auto=True, embed=False, size="small", margin=(4, 4), disabled=True,
            )
            for kind, words in (("json", "JSON"), ("parquet", "Parquet"))
        }  # fmt: skip
        self._found = box(self.figure.pane, self.table, pmui.FlexBox(*self.downloads.values()))

    @property
    def controls(self) -> Any:
        """What fills the side."""
        return pmui.Column(
            *self.pickers.values(), self._here, self.batches, sizing_mode="stretch_width", margin=0
        )

    def main(self) -> Any:
        """Return what fills the middle."""
        return middle(self.alert, self.strip.above(self.words), self._found)

    # --- what a visitor does ---

    @property
    def busy(self) -> bool:
        """Whether batches run."""
        return self.work is not None and not self.work.over

    def start(self) -> None:
        """Profile what is chosen."""
        if self.busy:
            return
        for picker in self.pickers.values():
            picker.complain("", "")
        try:
            trial = self._trial()
        except EijError as error:
            self._complain(error)
            return
        self._tell("")
        self.profile, self._progress = None, 0.0
        self._telling += 1
        steps = partial(_steps, trial, int(self.batches.value or 1))
        # Two at once would count each other's Joules; a price list does not mind.
        simulated = trial.name_of("meter") in ("model", "paper")
        self.work = Work(steps, self.owner, alone=not simulated).start()
        self._refresh("waiting")  # whatever it is by now: a tick tells, and takes what came

    def halt(self) -> None:
        """End after the present batch; what was found stays."""
        if self.work is not None:
            self.work.stop()

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new."""
        work = self.work
        if work is None:
            return False
        stage = work.stage  # asked first: what came before it is taken now
        steps = work.take()
        if steps:
            self.profile, self._progress = steps[-1].profile or self.profile, steps[-1].progress
        over = stage in OVER
        with pn.io.hold():
            if not over:
                self._refresh(stage)
            if self.profile is not None and (steps or lost or over):
                self._show(self.profile, lost)
            if over:
                self.work = None
                self._end(work)
        return bool(steps) or over or lost

    def link(self) -> str:
        """Return the query that holds the choices."""
        return self.choices.query("profile")

    def close(self) -> None:
        """End what runs."""
        self.halt()

    # --- inside ---

    def _trial(self) -> Trial:
        settings = self.settings
        for family in ("problem", "algorithm", "meter"):
            offered_spec(family, getattr(settings, family))
        return check_trial(
            Trial(settings.problem, settings.algorithm, "static", settings.meter, "1 J")
        )

    def _complain(self, error: EijError) -> None:
        field = error.field if isinstance(error, InputError) else ""
        family = field.partition(":")[0]
        picker = self.pickers.get(family)
        if picker is None:
            self._tell(str(error))
        else:
            picker.complain(field, text(str(error)))

    def _end(self, work: Work[Step]) -> None:
        self._refresh(work.stage)
        if work.error:
            self._tell(_failure(self.profile, work.error, self.settings.meter))
        elif self.profile is not None and self.profile.imputed_words:
            self._tell(self.profile.imputed_words, "warning")

    def _refresh(self, stage: str = "") -> None:
        work = self.work
        stage = stage or (work.stage if work is not None else "idle")
        if stage == "working" and self.profile is None:
            stage = "compiling"
        label, colour = STAGES[stage]
        place = work.place if work is not None else 0
        if stage == "waiting" and place:
            label = f"{label}: number {place}"
        self.strip.show(label, colour)
        idle = stage in ("idle", *OVER)
        self.strip.run.disabled = not idle
        self.strip.stop.disabled = idle
        self.strip.bar.value = round(100 * self._progress)
        ready = self.profile is not None and any(o.applications for o in self.profile.operators)
        for download in self.downloads.values():
            download.disabled = not ready

    def _show(self, profile: Profile, lost: bool) -> None:
        self.figure.show(_frame(profile), (self._telling, lost))
        self.table.object = profile_table(profile)
        kind = str(profile.meter.provenance)
        self.words.object = (
            f"<h2 class='view'>{text(profile.title)}</h2>"
            f"<p class='words quiet'>{PROVENANCE.get(kind, '')} {_trust(profile)}</p>"
        )
        name = slug("-".join(("profile", *_names(profile), profile.meter.name)), 60)
        for kind, download in self.downloads.items():
            download.filename = f"{name}.{kind}"

    def _tell(self, words: str, severity: str = "error") -> None:
        # The remedy for a counter that may not be read has lines of its own.
        lines = "<br>".join(text(line) for line in words.splitlines())
        self.told.object = f"<div class='words' style='overflow-wrap: anywhere'>{lines}</div>"
        self.alert.param.update(severity=severity, visible=bool(words))

    def _file(self, kind: str) -> io.BytesIO:
        if self.profile is None:
            raise RuntimeError("there is no profile yet")
        data = self.profile.as_parquet() if kind == "parquet" else self.profile.as_json().encode()
        return io.BytesIO(data)


def _failure(profile: Profile | None, error: str, meter: str) -> str:
    """Say what is left after an error, and where else to look."""
    if profile is not None:
        return f"The profile ended after {len(profile.batches)} batches: {error}"
    told = f"Nothing was profiled: {error}"
    if meter.partition(":")[0] in OPENERS:
        told += f"\n{LOOK_HERE}"
    return told


def _steps(trial: Trial, batches: int) -> Iterator[Step]:
    """Take batch after batch; each yields the profile as it stands."""
    yield Step(None, 0.0)
    profiler = Profiler(
        trial.problem, trial.algorithm, trial.meter, batches=batches, seed=trial.seed
    )
    try:
        for _ in profiler:
            yield Step(profiler.profile(), profiler.progress)
    finally:
        profiler.close()


def _no_frame(settings: Settings) -> Frame:
    """Return the axes of a profile that was not taken yet."""
    names = tuple(operator.name for operator in algorithms.make(settings.algorithm).operators)
    problem, algorithm, meter = (
        getattr(settings, family).partition(":")[0] for family in ("problem", "algorithm", "meter")
    )
    nothing = np.zeros((len(names), BINS), np.int64)
    return _drawn(names, nothing, problem, algorithm, meter, "no")


def _frame(profile: Profile) -> Frame:
    """Return what the figure of a run's energy draws: the histograms, and how they are known."""
    histogram = np.zeros((len(profile.operators), BINS), np.int64)
    for o, operator in enumerate(profile.operators):
        for place, count in operator.histogram:
            histogram[o, place] = count
    names = tuple(operator.name for operator in profile.operators)
    kind = str(profile.meter.provenance)
    return _drawn(names, histogram, *_names(profile), profile.meter.name, kind)


def _names(profile: Profile) -> tuple[str, str]:
    """Return problem and algorithm without their parameters."""
    return profile.problem.partition(":")[0], profile.algorithm.partition(":")[0]


def _drawn(
    names: tuple[str, ...], histogram: Any, problem: str, algorithm: str, meter: str, kind: str
) -> Frame:
    rows = np.zeros(0, row_dtype(len(names)))
    tally = Tally(0, 0, 0.0, 0.0, math.nan, 0.0, histogram, None, rows)
    budget = Budget(joules=1.0)
    return Frame(rows, names, budget, problem, algorithm, "", meter, kind, tally=tally)


def profile_table(profile: Profile) -> str:
    """Return one line per operator, in a unit that is easy to read."""
    means = [each.mean for each in profile.operators if each.applications]
    unit, scale = _unit(min(means, default=1.0))
    lines = []
    for o, each in enumerate(profile.operators):
        swatch = f"<span class='swatch' style='background:{colour_of(o)}'></span>"
        figures = (each.mean, each.median, each.p5, each.p95, each.per_evaluation)
        cells = "".join(f"<td>{number(value / scale)}</td>" for value in figures)
        applications = f"{each.applications:,}".replace(",", " ")
        name = f"<td>{swatch}{text(each.name)}</td>"
        lines.append(f"<tr>{name}<td>{applications}</td>{cells}</tr>")
    heads = ("operator", "applications", f"mean ({unit})", f"median ({unit})", f"5 % ({unit})",
             f"95 % ({unit})", f"{unit} per evaluation")  # fmt: skip
    return table(heads, lines)


def _trust(profile: Profile) -> str:
    """Say how far the figures go: how many batches, and the source's band."""
    done = len(profile.batches)
    rounds = done // max(len(profile.operators), 1)
    early = "Few batches so far: the violins will still change." if rounds < BESIDE else ""
    return " ".join(filter(None, (f"{done} batches.", profile.band_words, early)))


def _unit(joules: float) -> tuple[str, float]:
    for unit, scale in (("J", 1.0), ("mJ", 1e-3)):
        if joules >= scale:
            return unit, scale
    return "µJ", 1e-6
