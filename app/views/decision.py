"""One decision laid open: the two posteriors of every operator, and what was drawn from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eij_core.figures.numbers import padded
from eij_core.protocols import Belief

from ..text.escape import text
from ..text.labels import labels_of
from ..text.numbers import count, number
from ..text.tables import operator_cell, row, table
from ..text.theme import MARKERS, colour_of, dash_of
from .layer import Layer, Line, Marks
from .panes import figure_place, grid, html_pane
from .plot import AxisLimits, Plot
from .selection import has_probability, log_normal, probability_of_first
from .snapshot import Snapshot
from .view import View

Z = np.linspace(-4.0, 4.0, 81)
"""Standard deviations at which a posterior is drawn."""


class Posterior(NamedTuple):
    """A normal belief about a value, or about its logarithm, and where the draw lies."""

    centre: float
    width: float
    logarithmic: bool
    drawn: float

    def curve(self) -> tuple[Any, Any]:
        """Return values and density; nothing where nothing is believed yet."""
        if not np.isfinite(self.centre + self.width):
            return np.zeros(0), np.zeros(0)
        width = max(self.width, 1e-9 if self.logarithmic else 1e-12 * abs(self.centre))
        values = self.centre + width * Z
        return (np.exp(values) if self.logarithmic else values), np.exp(-0.5 * Z * Z)

    def height(self) -> float:
        """Return where on the curve the draw lies; on the floor if the curve is a spike."""
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.log(self.drawn) if self.logarithmic else self.drawn
            z = (place - self.centre) / self.width
            return float(np.nan_to_num(np.exp(-0.5 * z * z), nan=0.0))


@dataclass(frozen=True)
class PosteriorPlot(Plot):
    """The posterior of each operator on one `side`, "gain" or "joules", and the draws on it."""

    side: str = "gain"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the figure and its file."""
        return f"posterior-{self.side}"

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the curves below the draws; a rule that draws nothing has no marks."""
        draws = _draws(snapshot)
        lines: dict[str, Layer] = {}
        marks: dict[str, Layer] = {}
        for o, (name, belief) in enumerate(zip(snapshot.names, snapshot.beliefs_now, strict=True)):
            draw = draws[o] if o < len(draws) else None
            posterior = self._posterior(snapshot, belief, draw)
            values, density = posterior.curve()
            columns = {"value": values, "density": density}
            lines[f"line {o}"] = Line(columns, colour_of(o), name, dash_of(o), grows=False)
            point = np.array([posterior.drawn]), np.array([posterior.height()])
            columns = dict(zip(columns, point, strict=True))
            marks[f"draw {o}"] = Marks(columns, colour_of(o), marker=MARKERS[o % len(MARKERS)])
        return {**lines, **marks}

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the axes, x in the terms of the rule."""
        energy = "Energy E of one application (J)"
        x = labels_of(snapshot.selector).gain_drawn if self.side == "gain" else energy
        axes: dict[str, Any] = {"xlabel": x, "ylabel": "Density", "xticks": 3}
        looks = {"height": 190, "toolbar": "right", "show_legend": False}
        return {**axes, **looks, "ylim": (0.0, 1.12)}

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return what x must show: every posterior and every draw."""
        layers = self.layers(snapshot).values()
        return {"x": padded(np.concatenate([layer.columns["value"] for layer in layers]))}

    def title(self, snapshot: Snapshot) -> str:
        """Say how the Joules are known, in two lines where half a notebook has no room for one."""
        words = snapshot.energy
        return words if len(words) <= 34 else words.replace(", ", ",\n", 1)

    def _posterior(self, snapshot: Snapshot, belief: Belief, draw: Any) -> Posterior:
        """Return what a rule believes of one operator, in the rule's own terms."""
        drawn = float(getattr(draw, self.side, np.nan))
        if self.side == "joules":
            centre, variance = log_normal(belief.joules, belief.joules_sd)
            return Posterior(centre, np.sqrt(variance), True, drawn)
        gain, sd = belief.gain, belief.gain_sd
        if labels_of(snapshot.selector).rule != "eij-plus":
            return Posterior(gain, sd, False, drawn)
        # EI/J+ draws the logarithm of the credit; an operator that may not be started draws none.
        with np.errstate(divide="ignore", invalid="ignore"):
            if draw is None:
                return Posterior(np.log(gain), np.divide(sd, gain), True, np.nan)
            luck = draw.luck if np.isfinite(draw.priority) else np.nan
            credit = draw.gain * np.exp(draw.spread * luck)
            return Posterior(np.log(draw.gain), draw.spread, True, credit)


class DecisionView(View):
    """The next decision laid open: beliefs, draws, priorities, the winner and why."""

    key, title = "decision", "The next decision"
    is_watched = False

    def plots(self) -> tuple[Plot, ...]:
        """Return what an application earns, and what it costs."""
        return PosteriorPlot("gain"), PosteriorPlot("joules")

    def _body(self) -> list[Any]:
        self._table = html_pane((4, 12))
        sides = [
            figure_place(figure.pane, min_width=220, min_height=190) for figure in self.figures
        ]
        columns = "repeat(auto-fit, minmax(min(100%, 290px), 1fr))"
        return [grid(self._table, *sides, columns=columns, gap="0")]

    def _draw(self, snapshot: Snapshot, story: Any) -> None:
        super()._draw(snapshot, story)
        self._table.object = f"<p class='words'>{_reason(snapshot)}</p>{_numbers(snapshot)}"


def _draws(snapshot: Snapshot) -> Any:
    """Return what the rule drew for the next decision; nothing if it is not known or not made."""
    decision = snapshot.tally.next if snapshot.tally is not None else None
    return decision.draws if decision is not None else ()


def _reason(snapshot: Snapshot) -> str:
    """Say in one sentence which operator wins the next decision, and why."""
    tally = snapshot.tally
    if not len(snapshot.rows):
        return "<span class='quiet'>Nothing is known of the operators yet.</span>"
    if tally is None:
        return "<span class='quiet'>Beliefs at this moment of the recording.</span>"
    if tally.next is None:
        words = f"The run is over, after {count(tally.decisions)} decisions."
        return f"<span class='quiet'>{words}</span>"
    chosen, reason = tally.next.operator, text(tally.next.reason)
    which = f"<b>Decision {tally.decisions + 1}</b>"
    if chosen < 0:
        return f"{which}: nothing is applied; {reason}."
    winner = operator_cell(chosen, snapshot.names[chosen])
    return f"{which}: <b>{winner}</b> {reason}.{_probability(snapshot)}"


def _probability(snapshot: Snapshot) -> str:
    """Compare the paper's probability with how often its operator was chosen lately."""
    if not has_probability(snapshot) or snapshot.tally is None:
        return ""
    chance = float(probability_of_first(snapshot.tally.tip["beliefs"])[0])
    applications = snapshot.tally.tip["applications"][0]
    recorded = snapshot.rows["applications"]
    if len(recorded) > 20:
        applications = applications - recorded[-max(20, len(recorded) // 20)]
    if not math.isfinite(chance) or applications.sum() == 0:
        return ""
    seen = applications[0] / applications.sum()
    return (
        f" <span class='quiet'>By Eq. (15), {text(snapshot.names[0])} wins with probability "
        f"{chance:.2f}; lately it won {seen:.2f} of the time.</span>"
    )


def _numbers(snapshot: Snapshot) -> str:
    """Return the draws, one row per operator, in the rule's own terms; beliefs if it draws none."""
    if not len(snapshot.rows):
        return ""
    draws, labels = _draws(snapshot), labels_of(snapshot.selector)
    unknown, winner = snapshot.never_applied, -1
    cells: Any
    if draws:
        winner = snapshot.tally.next.operator  # type: ignore[union-attr]
        heads = [labels.draws.get(f, text(f.replace("_", " "))) for f in draws[0]._fields]
        cells = draws
        why = "what is drawn for it is the rule's guess"
    else:
        gain, score = labels.short
        heads = [gain, "E[E] (J)", score]
        cells = [
            (math.nan,) * 3 if name in unknown else (belief.gain, belief.joules, belief.score)
            for name, belief in zip(snapshot.names, snapshot.beliefs_now, strict=True)
        ]
        why = "nothing is known of it"
    rows = [
        row(operator_cell(o, snapshot.names[o]), *map(number, values), winner=o == winner)
        for o, values in enumerate(cells)
    ]
    remarks = (f"{text(name)} has never been applied: {why}." for name in unknown)
    return table(("operator", *heads), rows) + f"<p class='words quiet'>{' '.join(remarks)}</p>"
