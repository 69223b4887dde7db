"""How rules pick: the largest score, or a wheel with unequal sectors; and how they say why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import kernel
from ..rng import below, uniform
from .averages import Averages, empty_averages
from .decision import Decision, decide

__all__ = [
    "Chance",
    "Score",
    "Wheel",
    "explain_chances",
    "explain_scores",
    "highest",
    "largest",
    "new_wheel",
    "spin",
]

FIRST_TRY = "has not been tried yet, so it goes first"


class Wheel(NamedTuple):
    """What a rule that chooses by chance keeps."""

    seen: Averages
    value: NDArray[np.float64]
    """The rule's estimate of each operator."""
    chance: NDArray[np.float64]
    """Probability of being chosen next."""
    peak: NDArray[np.float64]
    """Running maximum of the rewards."""


def new_wheel(operators: int) -> Wheel:
    """Return a wheel with equal sectors."""
    chance = np.full(operators, 1.0 / operators)
    return Wheel(empty_averages(operators), np.zeros(operators), chance, np.zeros(1))


class Chance(NamedTuple):
    """One operator's part in a decision by chance."""

    chance: float


class Score(NamedTuple):
    """One operator's part in a decision by score."""

    score: float


@kernel
def largest(values: Any) -> int:
    """Return the place of the largest value; of equals, the first."""
    winner = 0
    for o in range(1, values.size):
        if values[o] > values[winner]:
            winner = o
    return winner


@kernel
def highest(selector: Any, stats: Any, left: float, rng: Any, operators: int) -> int:
    """Return the operator with the largest `score`; -1 if all of them are -inf."""
    winner = -1
    top = -np.inf
    for o in range(operators):
        score = selector.score(stats, left, o, rng)
        if score > top:
            winner = o
            top = score
    return winner


@kernel
def spin(chance: Any, rng: Any) -> int:
    """Return an operator with a probability in proportion to its chance."""
    total = 0.0
    for o in range(chance.size):
        total += chance[o]
    if not total > 0.0:
        return below(rng, chance.size)
    mark = uniform(rng) * total
    for o in range(chance.size):
        mark -= chance[o]
        if mark < 0.0:
            return o
    return largest(chance)  # rounding left a crumb


def explain_chances(selector: Any, stats: Any, left: float, rng: Any, reason: str) -> Decision:
    """Lay a decision by chance open."""
    chosen, _ = decide(selector, stats, left, rng)
    if (stats.seen.applications == 0).any():
        return Decision(chosen, (), FIRST_TRY)
    total = float(stats.chance.sum()) or 1.0
    return Decision(chosen, tuple(Chance(float(c) / total) for c in stats.chance), reason)


def explain_scores(selector: Any, stats: Any, left: float, rng: Any, reason: str) -> Decision:
    """Lay a decision by score open; scores that are drawn are the ones that will decide."""
    chosen, replay = decide(selector, stats, left, rng)
    operators = range(stats.seen.applications.size)
    if (stats.seen.applications == 0).any():
        return Decision(chosen, (), FIRST_TRY)
    with np.errstate(over="ignore"):  # random words wrap around on purpose
        draws = tuple(Score(float(selector.score(stats, left, o, replay))) for o in operators)
    if chosen < 0:
        return Decision(chosen, draws, "is not chosen: nothing fits into what is left")
    return Decision(chosen, draws, reason)
