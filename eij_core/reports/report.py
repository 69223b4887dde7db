"""The report of a campaign: data frames, tables and figures, and the page that shows them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..errors import InputError, nearest
from . import analysis, figures, tables
from .analysis import Across, Fitted
from .dataset import Dataset, Namer, read_dataset, sources_of
from .figures import Figure
from .templating import Table, part, render


class Beside(NamedTuple):
    """What a report shows beside its own values, such as published ones."""

    tables: Sequence[Table] = ()
    """These come first."""
    remarks: Sequence[str] = ()
    namer: Namer | None = None
    """Names methods as the other values do."""
    control: str = ""
    """Where methods are renamed: the one that others are held against."""


class Excerpt(NamedTuple):
    """A part of a report that a notebook shows."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


@dataclass
class Report:
    """The results of a campaign; each part is computed at its first use.

    Examples
    --------
    In a notebook, ``report_of("results").comparisons`` is a DataFrame.
    """

    dataset: Dataset
    wanted: str = ""
    """The beginning of the control's name; EI/J by default."""
    lead: Sequence[Table] = ()
    """Tables that come first, such as the paper's beside ours."""
    remarks: Sequence[str] = ()

    @functools.cached_property
    def control(self) -> str:
        """The method that others are compared with."""
        return analysis.control_of(self.dataset.trials, self.wanted)

    @functools.cached_property
    def cells(self) -> pd.DataFrame:
        """Quality, energy and feasibility by cell and method."""
        return analysis.cells(self.dataset)

    @functools.cached_property
    def comparisons(self) -> pd.DataFrame:
        """Tests and effect sizes of each method against the control."""
        return analysis.compare(self.dataset, self.wanted)

    @functools.cached_property
    def anytime(self) -> pd.DataFrame:
        """Medians along the budget, and the expected Joules to a target."""
        return analysis.anytime(self.dataset)

    @functools.cached_property
    def fits(self) -> list[Fitted]:
        """Typical curves at equal Joules, and the paper's fits of the means."""
        return analysis.fits(self.dataset)

    @functools.cached_property
    def operators(self) -> pd.DataFrame:
        """Each operator's share of applications and Joules."""
        return analysis.operators(self.dataset)

    @functools.cached_property
    def energy(self) -> pd.DataFrame:
        """What is known of the Joules, by source."""
        return analysis.energy(self.dataset)

    @functools.cached_property
    def across(self) -> Across | None:
        """Mean ranks over the cells."""
        return analysis.across(self.dataset, self.wanted)

    @functools.cached_property
    def tables(self) -> list[Table]:
        """The tables that have any line."""
        return [
            *([tables.cells_table(self.cells)] if len(self.cells) else []),
            *([tables.comparisons_table(self.comparisons)] if len(self.comparisons) else []),
            *([tables.ranks_table(self.across)] if self.across else []),
            *([tables.anytime_table(self.anytime)] if len(self.anytime) else []),
            *([tables.fits_table(self.fits)] if self.fits else []),
            *([tables.operators_table(self.operators)] if len(self.operators) else []),
            *([tables.energy_table(self.energy)] if len(self.energy) else []),
        ]

    @functools.cached_property
    def figures(self) -> list[Figure]:
        """The figures that have any panel."""
        if not len(self.dataset.trials):
            return []
        drawn = [
            figures.trajectories(self.dataset, self.fits),
            figures.residuals(self.dataset, self.fits),
            figures.selection(self.dataset),
            figures.transitions(self.dataset, self.control),
            figures.energy_violins(self.dataset),
            figures.reached_targets(self.dataset),
            *([figures.expected(self.dataset, self.anytime)] if len(self.anytime) else []),
            *([figures.critical_difference(self.across)] if self.across else []),
        ]
        return [figure for figure in drawn if figure.panels]

    @functools.cached_property
    def sections(self) -> dict[str, str]:
        """The HTML of all parts by title. The figures are drawn at the first use."""
        first, last = [*self.lead, *self.tables[:2]], self.tables[2:]
        return {
            **{table.title: part("table", table) for table in first},
            **{figure.title: part("figure", figure) for figure in self.figures},
            **{table.title: part("table", table) for table in last},
        }

    @property
    def sources(self) -> str:
        """Where the Joules come from."""
        return sources_of(self.dataset.trials)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """A few numbers, and what they count; none before the first trial is done."""
        trials = self.dataset.trials
        if not len(trials):
            return []
        cells, methods = len(list(self.dataset.cells())), trials["method"].nunique()
        provenance = " / ".join(sorted(set(trials["provenance"])))
        return [
            (f"{len(trials):,}", "trials"),
            (str(cells), "cell" if cells == 1 else "cells"),
            (str(methods), "method" if methods == 1 else "methods"),
            (f"{trials['joules'].sum() / 1000:,.0f} kJ", provenance),
            (f"{trials['evaluations'].sum() / 1e6:,.1f} M", "evaluations"),
        ]

    @property
    def all_remarks(self) -> list[str]:
        """The remarks, and what is missing from the report."""
        failed, lost = self.dataset.failed, self.dataset.without_curves
        return [
            *self.remarks,
            *([f"{failed} trials failed and are not in this report."] if failed else []),
            *([f"{lost} trials have lost their trace: they are in the tables, not in the curves."]
              if lost else []),
        ]  # fmt: skip

    def introduction(self) -> str:
        """Return the HTML that comes first: a paragraph, the facts and the remarks."""
        return part("introduction", self)

    def html(self) -> str:
        """Return one page that needs no server and no network."""
        return render("page.html", report=self)

    def excerpt(self, *titles: str) -> Excerpt:
        """Return the sections with these titles for a notebook; all, if none is given."""
        for title in titles:
            if title not in self.sections:
                raise InputError("excerpt", title, nearest(title, self.sections))
        chosen = {title: self.sections[title] for title in titles or self.sections}
        return Excerpt(render("excerpt.html", sections=chosen))

    def _repr_html_(self) -> str:
        return self.excerpt().html

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        tables = [*self.lead, *self.tables]
        return f"# {self.dataset.name}\n\n" + "\n".join(table.markdown() for table in tables)

    def latex(self) -> str:
        """Return the tables in LaTeX (booktabs)."""
        return "\n".join(table.latex() for table in [*self.lead, *self.tables])


def report_of(
    folder: str | Path,
    *,
    control: str = "",
    beside: Callable[[str | Path, str], Beside] | None = None,
) -> Report:
    """Read a store for its report.

    Parameters
    ----------
    folder : path
    control : str
        The method that others are compared with: its name or the beginning of it. EI/J by default.
    beside : callable
        Returns values to show beside these, given folder and control; see `eij_core.paper.beside`.
    """
    others = beside(folder, control) if beside else Beside()
    dataset = read_dataset(folder, namer=others.namer)
    report = Report(dataset, control or others.control, others.tables, others.remarks)
    if others.control:
        report.control = others.control
    return report
