"""The 0-1 knapsack with the paper's penalty, and Pisinger's instances regenerated exactly."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing import MOST, Boxes, Drawing, Points, Texts, chosen, kept, sampled
from ...engine.kernel import kernel
from ...errors import InputError
from ...registry import Range, problems

Family = Literal[
    "uncorrelated",
    "weakly-correlated",
    "strongly-correlated",
    "inverse-strongly-correlated",
    "almost-strongly-correlated",
    "subset-sum",
]

# An exact optimum is computed where dynamic programming takes well under a second.
QUICK_CELLS = 30_000_000
# Instances of a series: their capacities rise from one to the next.
SERIES = 1000


@kernel
class Knapsack(NamedTuple):
    """Maximise profit under a capacity; excess weight is penalised.

    f(x) = Σ pᵢxᵢ − K·ρ·max(0, Σ wᵢxᵢ − C), with K = n and ρ = max pᵢ/wᵢ.
    """

    n: int
    profits: NDArray[np.int64]
    weights: NDArray[np.int64]
    capacity: int
    penalty: float
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate a selection of items in full."""
        profit = 0
        weight = 0
        for i in range(self.n):
            taken = -np.int64(x[i])  # a mask of all bits or none
            profit += self.profits[i] & taken
            weight += self.weights[i] & taken
        return penalised(self, profit, weight)

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: its profit and its weight."""
        memo = np.zeros(2, np.int64)
        for i in range(self.n):
            memo[0] += self.profits[i] * x[i]
            memo[1] += self.weights[i] * x[i]
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Put item `i` in or out."""
        sign = 1 - 2 * np.int64(x[i])
        memo[0] += sign * self.profits[i]
        memo[1] += sign * self.weights[i]
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Put item `i` in or out; return the new fitness."""
        self.toggle(x, memo, i)
        return penalised(self, memo[0], memo[1])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` items of `bits` put in or out."""
        profit, weight = memo[0], memo[1]
        for j in range(count):
            i = np.uint64(bits[j])  # unsigned: numba need not ask whether it counts from the end
            out = -np.int64(x[i])  # a mask: what is inside is taken out
            profit += (self.profits[i] ^ out) - out
            weight += (self.weights[i] ^ out) - out
        return penalised(self, profit, weight)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 16

    def feasible(self, x: Any) -> bool:
        """Tell whether the selection fits into the knapsack."""
        return bool((self.weights * x).sum() <= self.capacity)

    def picture(self, x: Any) -> Drawing:
        """Draw the items by weight and profit, and below them how full the knapsack is."""
        drawn = kept(self.n)
        taken = chosen(x, drawn)
        weight, profit = self.weights[drawn], self.profits[drawn]
        load = 0 if x is None else int(self.weights[x == 1].sum())
        high, wide = 0.1 * float(profit.max()), float(weight.max())
        low = -2.5 * high
        bar = min(load / self.capacity, 1.1) * wide
        full = load > self.capacity
        count = 0 if x is None else int(np.sum(x))
        share = f"weight {load:,} of {self.capacity:,}" + (", too much" if full else "")
        return Drawing(
            (
                Boxes(0.0, low, wide, low + high, colour="soft", shade=0.16),
                Boxes(0.0, low, bar, low + high, colour="bad" if full else "c2", shade=0.8),
                Points(
                    weight[~taken], profit[~taken], colour="soft", hollow=True, label="left out"
                ),
                Points(weight[taken], profit[taken], colour="c0", size=10.0, label="taken"),
                Texts(0.0, -0.9 * high, (share,), colour="ink", side="left"),
            ),
            f"{count:,} of {self.n:,} items taken: {share}.",
            sampled(self.n, "item", MOST),
            "weight of an item",
            "profit of an item",
        )


@kernel
def penalised(problem: Any, profit: int, weight: int) -> float:
    """Return the fitness of a selection of this profit and weight."""
    return float(profit) - problem.penalty * float(max(0, weight - problem.capacity))


@problems.add("knapsack")
def knapsack(
    family: Family = "uncorrelated",
    n: Annotated[int, Range(1, 100_000, "number of items")] = 100,
    r: Annotated[int, Range(10, 10_000_000, "largest profit or weight drawn")] = 1000,
    instance: Annotated[int, Range(1, 1000, "number of the instance, 1 to 1000")] = 1,
) -> Knapsack:
    """0-1 knapsack with the paper's penalty; Pisinger's instances by family, n, r, instance.

    The default is the paper's instance, knapPI_1_100_1000_1, whose optimum is 9147.

    Examples
    --------
    >>> problem = knapsack()
    >>> problem.capacity, problem.optimum
    (995, 9147.0)
    """
    return build(*pisinger(family, n, r, instance))


def build(profits: NDArray[np.int64], weights: NDArray[np.int64], capacity: int) -> Knapsack:
    """Make the problem from its numbers, with its exact optimum where that is quick."""
    n = len(profits)
    penalty = n * float((profits / weights).max())
    quick = n * (capacity + 1) <= QUICK_CELLS
    optimum = float(optimal_profit(profits, weights, capacity)) if quick else math.nan
    return Knapsack(n, profits, weights, int(capacity), penalty, optimum)


class _Rand48:
    """The 48-bit generator of POSIX `lrand48`, which Pisinger's generator draws from."""

    def __init__(self, seed: int) -> None:
        self.state = (seed << 16) + 0x330E

    def draw(self, bound: int) -> int:
        """Draw an integer in 0..bound-1."""
        self.state = (0x5DEECE66D * self.state + 0xB) % (1 << 48)
        return (self.state >> 17) % bound


def pisinger(
    family: Family, n: int, r: int, instance: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Regenerate an instance of Pisinger's generator: profits, weights and capacity.

    Examples
    --------
    >>> profits, weights, capacity = pisinger("uncorrelated", 100, 1000, 1)
    >>> [(int(p), int(w)) for p, w in zip(profits[:3], weights[:3])], int(weights.sum()), capacity
    ([(94, 485), (506, 326), (416, 248)], 50378, 995)
    """
    random = _Rand48(instance)
    r1 = r // 10
    profits = np.empty(n, np.int64)
    weights = np.empty(n, np.int64)
    for i in range(n):
        a = random.draw(r) + 1
        match family:
            case "uncorrelated":
                p, w = random.draw(r) + 1, a
            case "weakly-correlated":
                p, w = max(1, random.draw(2 * r1 + 1) + a - r1), a
            case "strongly-correlated":
                p, w = a + r1, a
            case "inverse-strongly-correlated":
                p, w = a, a + r1
            case "almost-strongly-correlated":
                p, w = a + r1 + random.draw(2 * r // 1000 + 1) - r // 1000, a
            case "subset-sum":
                p, w = a, a
            case _:
                raise InputError("family", family, f"one of {', '.join(Family.__args__)}")
        profits[i], weights[i] = p, w
    capacity = max(instance * int(weights.sum()) // (SERIES + 1), int(weights.max()))
    return profits, weights, capacity


def optimal_profit(profits: NDArray[np.int64], weights: NDArray[np.int64], capacity: int) -> int:
    """Return the exact optimum, by dynamic programming over capacities.

    Examples
    --------
    >>> optimal_profit(np.array([6, 5, 5]), np.array([4, 3, 3]), 6)
    10
    """
    best = np.zeros(capacity + 1, np.int64)
    for p, w in zip(profits.tolist(), weights.tolist(), strict=True):
        if w <= capacity:
            np.maximum(best[w:], best[: capacity + 1 - w] + p, out=best[w:])
    return int(best[capacity])
