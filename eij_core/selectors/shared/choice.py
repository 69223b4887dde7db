"""How rules choose: first tries, then by chance, on a wheel with unequal sectors, or by score.

Decorators give a rule what it has in common with others of its kind, so that its file holds its
parameters and its formulas.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...engine.arrays import Number, Numbers, Whole, empty
from ...engine.kernel import completed, kernel
from ...engine.rng import below, uniform
from ...protocols import Decision, Hints
from .rewards import RunningMeans, Seen, belief_of_means, belief_with_score, update_means

C = TypeVar("C", bound=type)

NOT_TRIED = "has not been tried yet, so it goes first"


def decide(selector: Any, stats: Any, left: float, rng: Any) -> tuple[int, Any]:
    """Select on copies; return the choice and a copy of the stream as it was before."""
    with np.errstate(over="ignore"):
        chosen = selector.select(copy.deepcopy(stats), left, rng.copy())
    return int(chosen), rng.copy()


@kernel
def untried(counts: Any, tries: float, rng: Any) -> int:
    """Return a random operator with fewer than `tries` applications, or -1."""
    # Paper: UCB1, its relatives and KUBE play each arm once first, the rules that choose by chance
    # or by posterior draws do not; here: all do, because then rules differ by what they learn
    # alone.
    waiting = 0
    for o in range(counts.size):
        if counts[o] < tries:
            waiting += 1
    if waiting == 0:
        return -1
    turn = below(rng, waiting)
    for o in range(counts.size):
        if counts[o] < tries:
            if turn == 0:
                return o
            turn -= 1
    return -1


def _belief(self: Any, stats: Any, operator: int) -> Any:
    """Return the running means, and the rule's estimate as score."""
    return belief_with_score(stats.seen, operator, stats.value[operator])


def _new_means(self: Any, hints: Hints, budget: float) -> RunningMeans:
    """Return means of nothing."""
    return empty(RunningMeans, len(hints.names))


def _update_means(self: Any, stats: Any, operator: int, outcome: Any, joules: float) -> None:
    """Take the application into the running means."""
    update_means(stats, operator, outcome.gain, joules)


def _belief_of_means(self: Any, stats: Any, operator: int) -> Any:
    """Return the running means."""
    return belief_of_means(stats, operator)


keeps_means = completed(memory=_new_means, learn=_update_means, belief=_belief_of_means)
"""Give a rule running means as its memory; it writes `select` and `explain`."""


# --- by chance ------------------------------------------------------------------------------------


class Wheel(NamedTuple):
    """What a rule that chooses by chance keeps."""

    seen: Seen
    value: Numbers
    """The rule's estimate of each operator."""
    chance: Numbers
    """Probability of being chosen next; the sum need not be 1."""
    peak: Number
    """Running maximum of the rewards."""


class Chance(NamedTuple):
    """One operator's part in a decision by chance."""

    chance: float


@kernel
def largest(values: Any) -> int:
    """Return the place of the largest value; of equals, the first."""
    winner = 0
    for o in range(1, values.size):
        if values[o] > values[winner]:
            winner = o
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
    return largest(chance)  # the sum was rounded up


def chooses_by_chance(reason: str) -> Callable[[C], C]:
    """Give a rule a wheel that it spins; it writes `learn`, which sets the chances.

    Parameters
    ----------
    reason : str
        Completes the sentence "operator X …" in explanations.
    """

    def memory(self: Any, hints: Hints, budget: float) -> Wheel:
        """Return a wheel with equal sectors."""
        k = len(hints.names)
        return empty(Wheel, k, chance=np.full(k, 1.0 / k))

    def explain(self: Any, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision by the chances."""
        chosen, _ = decide(self, stats, left, rng)
        if (stats.seen.applications == 0).any():
            return Decision(chosen, (), NOT_TRIED)
        total = float(stats.chance.sum()) or 1.0
        chances = tuple(Chance(float(chance) / total) for chance in stats.chance)
        return Decision(chosen, chances, reason)

    return completed(memory=memory, select=_spin_wheel, belief=_belief, explain=explain)


def _spin_wheel(self: Any, stats: Any, left: float, rng: Any) -> int:
    """Return an untried operator, else spin."""
    o = untried(stats.seen.applications, 1, rng)
    return o if o >= 0 else spin(stats.chance, rng)


# --- by score -------------------------------------------------------------------------------------


class MeanRewards(NamedTuple):
    """Mean rewards, and how many applications there were."""

    seen: Seen
    value: Numbers
    total: Whole
    peak: Number
    """Running maximum of the rewards."""


class Score(NamedTuple):
    """One operator's part in a decision by score."""

    score: float


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


def chooses_by_score(
    reason: str, without_cost: str = "", stats: type[Any] = MeanRewards
) -> Callable[[C], C]:
    """Give a rule the choice of the largest score; it writes `score` and `learn`.

    Parameters
    ----------
    reason : str
        Completes the sentence "operator X …" in explanations.
    without_cost : str
        The same where the rule's `cost` is off, if that makes a difference.
    stats : NamedTuple class
        What the rule keeps, empty at first.
    """

    def memory(self: Any, hints: Hints, budget: float) -> Any:
        """Return an empty memory."""
        return empty(stats, len(hints.names))

    def explain(self: Any, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision by the very scores that will decide it."""
        chosen, replay = decide(self, stats, left, rng)
        operators = range(stats.seen.applications.size)
        if (stats.seen.applications == 0).any():
            return Decision(chosen, (), NOT_TRIED)
        with np.errstate(over="ignore"):  # random words wrap around on purpose
            draws = tuple(Score(float(self.score(stats, left, o, replay))) for o in operators)
        if chosen < 0:
            return Decision(chosen, draws, "is not chosen: none fits in the Joules left")
        return Decision(chosen, draws, reason if self.cost else without_cost or reason)

    return completed(memory=memory, select=_take_highest, belief=_belief, explain=explain)


def _take_highest(self: Any, stats: Any, left: float, rng: Any) -> int:
    """Return an untried operator, else the one with the largest score."""
    o = untried(stats.seen.applications, 1, rng)
    return o if o >= 0 else highest(self, stats, left, rng, stats.seen.applications.size)
