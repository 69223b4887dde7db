"""What the rule believes of each operator: EI/J, expected improvement, expected energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import panel_material_ui as pmui

from eij_core.figures.numbers import padded
from eij_core.protocols import Belief

from ..text.escape import text
from ..text.labels import labels_of
from ..text.numbers import number
from ..text.theme import colour_of, dash_of
from .layer import Band, Layer, Line, thinned
from .plot import AxisLimits, Plot
from .scale import symlog, threshold, ticks
from .snapshot import Snapshot
from .view import SMALL, View, course

METRICS = ("EI/J", "E[Δf]", "E[E]")
ENERGY = "E[E]: Joules per application (J)"
BAND = 160
"""Corners of a band's side: a band is redrawn whole, so it is kept coarse."""


@dataclass(frozen=True)
class EstimatesPlot(Plot):
    """A line and a band of one standard deviation for each operator."""

    name = "estimates"
    metric: str = METRICS[0]
    log: bool = False

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the bands below the lines."""
        used, _, _ = snapshot.used
        middle, sd = self._estimate(snapshot)
        unit = self.unit(snapshot)
        keep = thinned(len(used), BAND)
        found: dict[str, Layer] = {}
        for o in range(len(snapshot.names)):
            low, high = middle[keep, o] - sd[keep, o], middle[keep, o] + sd[keep, o]
            columns = {"used": used[keep], "low": _on(low, unit), "high": _on(high, unit)}
            found[f"band {o}"] = Band(columns, colour_of(o))
        for o, name in enumerate(snapshot.names):
            columns = {"used": used, "value": _on(middle[:, o], unit)}
            found[f"line {o}"] = Line(columns, colour_of(o), name, dash_of(o), 2.2)
        return found

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the axes, y in the terms of the rule that believes the values."""
        labels = labels_of(snapshot.selector)
        _, used, end = snapshot.used
        y = dict(zip(METRICS, (labels.score, labels.gain, ENERGY), strict=True))[self.metric]
        logarithmic = {"yticks": ticks(self.unit(snapshot))} if self.log else {}
        return {"xlabel": used, "ylabel": y, "xlim": (0.0, end), **logarithmic}

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return what y must show: the lines, without the leaps of the first tries."""
        middle, _ = self._estimate(snapshot)
        seen = middle[np.isfinite(middle)]
        if self.log or seen.size == 0:
            return {"y": padded(_on(seen, self.unit(snapshot)))}
        return {"y": padded((*np.quantile(seen, (0.02, 0.98)), *middle[-1], 0.0))}

    def unit(self, snapshot: Snapshot) -> float:
        """Return where the logarithm starts."""
        return threshold(self._estimate(snapshot)[0]) if self.log else 0.0

    def _estimate(self, snapshot: Snapshot) -> tuple[Any, Any]:
        """Return the values and their standard deviations, rows × operators."""
        gain, gain_sd, joules, joules_sd, score = map(snapshot.belief, Belief._fields)
        if self.metric == "E[Δf]":
            return gain, gain_sd
        if self.metric == "E[E]":
            return joules, joules_sd
        with np.errstate(divide="ignore", invalid="ignore"):
            # The spread of a ratio, to first order.
            sd = np.hypot(gain_sd / joules, gain * joules_sd / joules**2)
        return score, sd


class EijView(View):
    """EI/J of each operator with its uncertainty; expected improvement; expected energy."""

    key, title, plot = "estimates", "What each is worth", EstimatesPlot

    def _options(self) -> list[Any]:
        metric = pmui.RadioButtonGroup(options=list(METRICS), value=METRICS[0], **SMALL)
        return [metric, pmui.Switch(label="log", value=True, **SMALL)]

    def table(self, snapshot: Snapshot) -> str:
        """Return score and Joules of each operator as the run went on."""
        score, joules = snapshot.belief("score"), snapshot.belief("joules")
        latest = zip(map(text, snapshot.names), score[-1], strict=True)
        ends = ", ".join(f"{name} {number(value)}" for name, value in latest)
        words = f"{labels_of(snapshot.selector).score}, at the end: {ends}."
        if np.isnan(score).any():
            words += " A dash: the operator had not been applied, so nothing was known of it."
        return course(words, snapshot, 4, worth=score, J=joules)


def _on(values: Any, unit: float) -> Any:
    return symlog(values, unit) if unit else values
