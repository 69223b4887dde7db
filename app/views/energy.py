"""Joules per application of each operator, as violins from the run's own histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import CustomJSTickFormatter

from eij_core.engine.histogram import FAINT, density, quantiles
from eij_core.figures.numbers import padded

from ..text.escape import text
from ..text.numbers import count, number
from ..text.tables import row
from ..text.theme import colour_of
from .layer import Layer, Marks, Violin
from .plot import AxisLimits, Plot, script
from .snapshot import Snapshot
from .view import View, summary

QUARTILES = (0.25, 0.5, 0.75)
HALF = 0.42
"""Half the width of the widest violin; operators stand one apart."""


class EnergyPlot(Plot):
    """A violin and the quartiles of each operator."""

    name = "energy"

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the violins, each below its quartiles."""
        found: dict[str, Layer] = {}
        for o, counts in enumerate(_histograms(snapshot)):
            joules, share = density(counts)
            columns = {"joules": joules, "low": o - HALF * share, "high": o + HALF * share}
            found[f"violin {o}"] = Violin(columns, colour_of(o))
            box = {"place": np.full(3, o), "joules": np.array(quantiles(counts, QUARTILES))}
            found[f"quartiles {o}"] = Marks(
                box, colour_of(o), marker="dash", size=26, edge=colour_of(o), edge_width=3.0
            )
        return found

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the axes: the operators, and Joules with their unit."""
        return {
            "xlabel": "Operator",
            "ylabel": "Energy per application",
            "xlim": (-0.7, len(snapshot.names) - 0.3),
            "xticks": list(enumerate(snapshot.names)),
            "show_legend": False,
            "hooks": [_write_units],
        }

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return what y must show: every violin, without the thin ends of a few applications."""
        densities = map(density, _histograms(snapshot))
        shown = np.concatenate([joules[share > FAINT] for joules, share in densities])
        return {"y": padded(np.concatenate([0.95 * shown, 1.05 * shown]))}

    def title(self, snapshot: Snapshot) -> str:
        """Say how the Joules are known."""
        return snapshot.energy


class EnergyView(View):
    """Joules per application of each operator, as violins."""

    key, title, plot = "energy", "What an application costs", EnergyPlot
    is_watched = False

    def table(self, snapshot: Snapshot) -> str:
        """Return the quartiles of each operator."""
        if snapshot.tally is None:
            return "<p class='words quiet'>These Joules are known for the whole run only.</p>"
        rows, ends = [], []
        for name, counts in zip(map(text, snapshot.names), _histograms(snapshot), strict=True):
            found = [number(joules) for joules in quantiles(counts, QUARTILES)]
            rows.append(row(name, count(int(counts.sum())), *found))
            ends.append(f"{name} {found[1]} J")
        heads = ("lower quartile (J)", "median (J)", "upper quartile (J)")
        words = f"Median energy of one application: {', '.join(ends)}."
        return summary(words, ("operator", "applications", *heads), rows)


def _histograms(snapshot: Snapshot) -> Any:
    """Return the counts of each operator; those of a moment in the past are not recorded."""
    tally = snapshot.tally
    return np.zeros((len(snapshot.names), 1)) if tally is None else tally.histogram


def _write_units(plot: Any, element: Any) -> None:
    """Write Joules with a unit of their size: a hook of HoloViews."""
    plot.state.yaxis.formatter = CustomJSTickFormatter(code=script("joule_ticks"))
