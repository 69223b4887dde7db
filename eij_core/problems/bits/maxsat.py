"""MAX-SAT: satisfy clauses of the largest weight; random formulas."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing import MOST, Drawing, Lines, Texts, cells, width_of
from ...engine.kernel import kernel
from ...errors import InputError
from ...registry import Range, problems
from ..draws import draw, stream_of

CLAUSES = 500_000
TRACED = 12
"""Clauses whose variables a picture shows by lines."""


@kernel
class MaxSat(NamedTuple):
    """f(x) = the weight of the satisfied clauses; hard clauses weigh more than all soft ones.

    A hard clause that is satisfied adds nothing, one that is not takes away more than all soft
    clauses weigh. So the best solutions satisfy all hard clauses, where that is possible.
    """

    n: int
    first: NDArray[np.uint64]
    """Where the literals of variable i begin in `clauses`; of length n + 1."""
    clauses: NDArray[np.uint32]
    """The clauses that a variable is in, each once."""
    negated: NDArray[np.int64]
    """1 where it is negated there, else 0."""
    weights: NDArray[np.int64]
    hard: NDArray[np.bool_]
    offset: int
    """The fitness of a string that satisfies no clause of these."""
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        return float(self.prepare(x)[self.weights.size])

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: how many literals are true in each clause, and the value."""
        clauses = self.weights.size
        memo = np.zeros(clauses + 1, np.int64)
        for i in range(self.n):
            for r in range(self.first[i], self.first[i + 1]):
                memo[self.clauses[r]] += np.int64(x[i]) ^ self.negated[r]
        total = self.offset
        for c in range(clauses):
            if memo[c] > 0:
                total += self.weights[c]
        memo[clauses] = total
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip variable `i` in x and memo."""
        memo[self.weights.size] += shift(self, x, memo, i)
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip variable `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return float(memo[self.weights.size])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` variables of `bits` flipped."""
        total = memo[self.weights.size]
        for j in range(1, count):
            total += shift(self, x, memo, bits[j])
            x[bits[j]] ^= 1
        i = bits[0]  # the last change, so the memo is not updated
        for r in range(self.first[i], self.first[i + 1]):
            true = np.int64(x[i]) ^ self.negated[r]
            if memo[self.clauses[r]] == true:
                total += (1 - 2 * true) * self.weights[self.clauses[r]]
        for j in range(1, count):
            shift(self, x, memo, bits[j])
            x[bits[j]] ^= 1
        return float(total)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 8

    def feasible(self, x: Any) -> bool:
        """Tell whether all hard clauses are satisfied."""
        return bool((self.prepare(x)[:-1][self.hard] > 0).all())

    def picture(self, x: Any) -> Drawing:
        """Draw the variables, below them the clauses, and lines to what is not satisfied."""
        return _picture(self, x)


@kernel
def shift(problem: Any, x: Any, memo: Any, i: int) -> Any:
    """Count the true literals with variable `i` flipped; return by how much the value changes."""
    change = 0
    for r in range(problem.first[i], problem.first[i + 1]):
        clause = problem.clauses[r]
        true = np.int64(x[i]) ^ problem.negated[r]
        step = 1 - 2 * true
        # The only true literal turns false, or the first one turns true.
        if memo[clause] == true:
            change += step * problem.weights[clause]
        memo[clause] += step
    return change


def _picture(problem: Any, x: Any) -> Drawing:
    n, count = problem.n, problem.weights.size
    variables = np.repeat(np.arange(n), np.diff(problem.first.astype(np.int64)))
    open_ = np.zeros(count, bool)
    if x is not None:
        true = x[variables].astype(np.int64) ^ problem.negated
        open_ = np.bincount(problem.clauses, true, count) == 0
    each = -(-max(n, count) // (MOST // 2))  # variables, and clauses, of a cell
    ones = np.zeros(n) if x is None else x.astype(float)
    width = width_of(-(-count // each))
    upper, lower = _means(ones, each), _means(open_.astype(float), each)
    down = -(-upper.size // width) + 1.8
    shades = np.where(lower > 0, np.maximum(lower, 0.4), 0.0)
    few = np.flatnonzero(open_)[: TRACED if each == 1 else 0]
    of_few = np.isin(problem.clauses, few)
    ends = variables[of_few] // each, problem.clauses[of_few].astype(np.int64) // each
    x_lines, y_lines = _joined(*ends, width, down)
    unmet = int(open_.sum())
    hard = int((open_ & problem.hard).sum())
    said = f"{unmet:,} of {count:,} clauses are not satisfied" + (f", {hard} hard" if hard else "")
    return Drawing(
        (
            cells(upper.size, width, colour="soft", shade=0.16),
            cells(upper.size, width, colour="c0", shade=upper, label="true"),
            cells(lower.size, width, down, colour="c2", shade=np.where(lower > 0, 0.0, 0.25),
                  label="satisfied" if x is not None else "clause"),
            cells(lower.size, width, down, colour="bad", shade=shades, label="not satisfied"),
            Lines(x_lines, y_lines, colour="bad", width=0.8, alpha=0.45),
            Texts((0, 0), (0.7, 0.7 - down), ("variables", "clauses"), colour="ink", side="left"),
        ),
        f"{n:,} variables, {count:,} clauses; no solution yet." if x is None else f"{said}.",
        f"A cell is {each} neighbouring variables, or clauses." if each > 1 else "", equal=True,
    )  # fmt: skip


def _means(values: Any, each: int) -> Any:
    """Return the mean of every stretch of values."""
    starts = np.arange(0, max(len(values), 1), each)
    sums = np.add.reduceat(values, starts) if len(values) else np.zeros(0)
    return sums / np.diff(np.append(starts, len(values)))[: len(sums)]


def _joined(upper: Any, lower: Any, width: int, down: float) -> tuple[Any, Any]:
    """Return the lines between the middles of cells, upper and lower ones."""
    gap = np.full(upper.size, math.nan)
    x = np.stack([upper % width + 0.5, lower % width + 0.5, gap], axis=1)
    y = np.stack([-(upper // width) - 0.5, -(lower // width) - 0.5 - down, gap], axis=1)
    return x.ravel(), y.ravel()


class Formula(NamedTuple):
    """Clauses of literals as DIMACS has them: variables from 1, negated ones below 0."""

    n: int
    clauses: list[list[int]]
    weights: list[int]
    """Of the clauses; 0 for a hard one, which has none."""


def build(formula: Formula, optimum: float = math.nan) -> MaxSat:
    """Make the problem; a clause that is true whatever x is counts as satisfied.

    Examples
    --------
    >>> problem = build(Formula(2, [[1, 2], [-1, -1], [2, -2]], [3, 4, 5]))
    >>> problem.fitness(np.array([1, 0], np.uint8)), problem.fitness(np.array([0, 0], np.uint8))
    (8.0, 9.0)
    """
    sets = [set(clause) for clause in formula.clauses]
    soft = np.array(formula.weights, np.int64)
    hard = soft == 0
    always = np.array([any(-literal in each for literal in each) for each in sets], bool)
    open_ = [each for each, settled in zip(sets, always, strict=True) if not settled]
    penalty = hard_weight(formula.weights)
    weights = np.where(hard, penalty, soft)[~always]
    offset = int(soft[always].sum()) - penalty * int(hard[~always].sum())
    first, clauses, negated = _occurrences(formula.n, open_)
    return MaxSat(formula.n, first, clauses, negated, weights, hard[~always], offset, optimum)


def hard_weight(weights: Iterable[int]) -> int:
    """Return what a hard clause weighs: more than all soft ones."""
    return sum(weights) + 1


def _occurrences(n: int, clauses: list[set[int]]) -> tuple[Any, ...]:
    """Invert the clauses: which ones variable i is in, and whether it is negated there."""
    sizes = [len(clause) for clause in clauses]
    literals = np.array([literal for clause in clauses for literal in sorted(clause)], np.int64)
    variables = np.abs(literals) - 1
    order = np.argsort(variables, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(variables, minlength=n))).astype(np.uint64)
    numbers = np.repeat(np.arange(len(clauses)), sizes)[order]
    return first, numbers.astype(np.uint32), (literals[order] < 0).astype(np.int64)


@problems.add("maxsat")
def maxsat(
    n: Annotated[int, Range(1, 100_000, "number of variables")] = 100,
    ratio: Annotated[float, Range(0.01, 1000.0, "clauses for each variable")] = 4.2,
    k: Annotated[int, Range(1, 20, "literals of a clause")] = 3,
    planted: Annotated[bool, Range(about="whether clauses are drawn around a solution")] = False,
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of the clauses")] = 1,
) -> MaxSat:
    """Uniform random k-SAT: the number of satisfied clauses.

    Planted formulas are drawn around a solution, so that their optimum, all clauses, is known; they
    are easier than others of the same ratio.

    Examples
    --------
    >>> maxsat(planted=True).optimum
    420.0
    """
    count = max(1, round(ratio * n))
    if k > n:
        raise InputError("maxsat:k", k, f"at most n = {n}")
    if count > CLAUSES:
        raise InputError("maxsat:ratio", ratio, f"n * ratio at most {CLAUSES}: lower n or ratio")
    random = stream_of(instance)
    variables = draw(random, 0, n - 1, (count, k))
    while (again := _repeats(variables)).any():
        variables[again] = draw(random, 0, n - 1, (int(again.sum()), k))
    signs = draw(random, 0, 1, (count, k))
    if planted:
        solution = draw(random, 0, 1, n)
        while (again := (signs != solution[variables]).all(axis=1)).any():
            signs[again] = draw(random, 0, 1, (int(again.sum()), k))
    clauses = ((variables + 1) * (2 * signs - 1)).tolist()
    return build(Formula(n, clauses, [1] * count), float(count) if planted else math.nan)


def _repeats(variables: NDArray[np.int64]) -> Any:
    """Tell which clauses have a variable twice."""
    ordered = np.sort(variables, axis=1)
    return (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
