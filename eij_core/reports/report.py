"""The report of a campaign: tables, figures and frames, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from . import comparisons as cmp
from .comparisons import Across
from .figures import Figure, energy_violins, residuals, selection, trajectories, transitions
from .frames import Frames, Namer, frames_of
from .ranks import critical_difference, expected, reached_targets
from .tables import (
    anytime_table,
    cells_table,
    comparisons_table,
    energy_table,
    fits_table,
    operators_table,
    ranks_table,
)
from .tabular import Table

__all__ = ["Excerpt", "Report", "report_of"]


class Excerpt(NamedTuple):
    """A part of a report that a notebook shows."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


@dataclass
class Report:
    """All that a campaign says, in frames, tables and figures.

    Examples
    --------
    In a notebook, ``report_of("results").comparisons`` is a DataFrame.
    """

    frames: Frames
    control: str
    cells: pd.DataFrame
    comparisons: pd.DataFrame
    anytime: pd.DataFrame
    operators: pd.DataFrame
    energy: pd.DataFrame
    across: Across | None
    tables: list[Table]
    figures: list[Figure]
    lead: list[Table] = field(default_factory=list)
    """Tables that come first, such as the paper's beside ours."""
    remarks: list[str] = field(default_factory=list)

    def html(self) -> str:
        """Return one page that needs nothing else: no server, no network."""
        from .page import page

        return page(self)

    def excerpt(self, *titles: str) -> Excerpt:
        """Return the sections of these titles, all without any, to be shown in a notebook."""
        from .page import excerpt

        return Excerpt(excerpt(self, titles))

    def _repr_html_(self) -> str:
        return self.excerpt().html

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        tables = [*self.lead, *self.tables]
        return f"# {self.frames.name}\n\n" + "\n".join(table.markdown() for table in tables)

    def latex(self) -> str:
        """Return the tables in LaTeX (booktabs)."""
        return "\n".join(table.latex() for table in [*self.lead, *self.tables])


def report_of(folder: str | Path, *, control: str = "", namer: Namer | None = None) -> Report:
    """Read a store and make its report.

    Parameters
    ----------
    folder : path
    control : str
        The method that others are held against: its name or the beginning of it. EI/J by default.
    namer : callable
        Names the method of a trial, see `frames.frames_of`.
    """
    frames = frames_of(folder, namer=namer)
    chosen = cmp.control_of(frames, control)
    cells, compared = cmp.cells(frames), cmp.compare(frames, control)
    anytime, across = cmp.anytime(frames), cmp.across(frames, control)
    operators, energy = cmp.operators(frames), cmp.honesty(frames)
    tables = [
        *_if(cells, cells_table),
        *_if(compared, comparisons_table),
        *([ranks_table(across)] if across else []),
        *_if(anytime, anytime_table),
        *fits_table(frames),
        *_if(operators, operators_table),
        *_if(energy, energy_table),
    ]
    drawn: list[Figure] = []
    if len(frames.trials):
        drawn = [
            trajectories(frames),
            residuals(frames),
            selection(frames),
            transitions(frames, chosen.partition("-")[0]),
            energy_violins(frames),
            reached_targets(frames),
            *([expected(frames, anytime)] if len(anytime) else []),
            *([critical_difference(across)] if across else []),
        ]
    return Report(
        frames,
        chosen,
        cells,
        compared,
        anytime,
        operators,
        energy,
        across,
        tables,
        [figure for figure in drawn if figure.panels],
    )


def _if(frame: pd.DataFrame, make: Any) -> list[Table]:
    return [make(frame)] if len(frame) else []
