"""NK landscapes: tunable epistasis, evaluated exactly in integers."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing import Boxes, Drawing, Lines, chosen, kept, sampled
from ...engine.kernel import kernel
from ...errors import InputError
from ...registry import Range, problems
from ..draws import stream_of

# Tables hold multiples of 2**-32: sums of integers are exact in any order, so that incremental
# evaluation equals the full one to the last bit.
UNIT = 2.0**-32
LARGEST_TABLES = 1 << 26
QUICK_STEPS = 1 << 24
FOUR = np.uint64(4)
DRAWN = 400
"""Bars of a picture."""


@kernel
class NK(NamedTuple):
    """f(x) = (1/n) Σ fᵢ(xᵢ, x_{i₁}, …, x_{i_K}), each fᵢ a table of uniform [0, 1) values."""

    n: int
    k: int
    neighbours: NDArray[np.uint32]
    """Row i: the k + 1 bits that table i reads, the first one i itself, highest weight first.

    Unsigned: numba then need not check whether an index counts from the end.
    """
    tables: NDArray[np.int64]
    first: NDArray[np.uint64]
    """Where the readers of bit i begin in `readers`; of length n + 1."""
    readers: NDArray[np.uint32]
    """The tables that read a bit, in fours, so that loops over them mostly take equal turns."""
    weights: NDArray[np.int64]
    """The weight of the bit in the index of the table that reads it; 0 where a four is filled."""
    scale: float
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        total: Any = 0
        for i in range(self.n):
            total += self.tables[i, index_of(self, x, i)]
        return float(total) * self.scale

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: the index into each table, and the sum of the entries."""
        memo = np.zeros(self.n + 1, np.int64)
        for i in range(self.n):
            memo[i] = index_of(self, x, i)
            memo[self.n] += self.tables[i, memo[i]]
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        x[i] ^= 1
        memo[self.n] += shift(self, memo, i)

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return float(memo[self.n]) * self.scale

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        total = memo[self.n]
        for j in range(1, count):
            total += shift(self, memo, bits[j])
        i = bits[0]  # the last change, so the memo is not updated
        for r in range(self.first[i], self.first[i + 1], FOUR):
            # Written out: a loop is compiled to gathers, which take longer than four reads.
            total += (
                effect(self, memo, r)
                + effect(self, memo, r + np.uint64(1))
                + effect(self, memo, r + np.uint64(2))
                + effect(self, memo, r + np.uint64(3))
            )
        for j in range(1, count):
            i = bits[j]
            for r in range(self.first[i], self.first[i + 1]):
                memo[self.readers[r]] ^= self.weights[r]
        return float(total) * self.scale

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 8

    def picture(self, x: Any) -> Drawing:
        """Draw what the table of each bit contributes; their mean is the fitness."""
        drawn = kept(self.n, DRAWN)
        ones, value, mean = chosen(x, drawn), np.zeros(drawn.size), math.nan
        if x is not None:
            powers = np.int64(1) << np.arange(self.k, -1, -1)
            index = (x[self.neighbours].astype(np.int64) * powers).sum(axis=1)
            values = self.tables[np.arange(self.n), index] * UNIT
            value, mean = values[drawn], float(values.mean())
        bars = [
            Boxes(drawn[is_] - 0.42, np.zeros(is_.sum()), drawn[is_] + 0.42, value[is_],
                  colour=colour, label=f"bit is {bit}", shade=0.85)
            for bit, is_, colour in ((1, ones, "c0"), (0, ~ones, "c1"))
        ]  # fmt: skip
        known = f"mean {mean:.4f}, the fitness" if x is not None else "mean"
        line = Lines((-0.5, self.n - 0.5), (mean, mean), colour="ink", dashed=True, label=known)
        frame = Boxes(-0.5, 0.0, self.n - 0.5, 1.0, colour="soft", shade=0.06)
        return Drawing(
            (frame, *bars, line),
            f"{self.n:,} bits; the table of each reads it and {self.k} other"
            f"{'' if self.k == 1 else 's'}, and contributes 0 to 1.",
            sampled(self.n, "table", DRAWN), "bit", "contribution",
        )  # fmt: skip


@kernel
def index_of(problem: Any, x: Any, i: int) -> Any:
    """Return the entry of table `i` that x takes."""
    index: Any = 0
    for j in range(problem.k + 1):
        index = 2 * index + np.int64(x[problem.neighbours[i, j]])
    return index


@kernel
def shift(problem: Any, memo: Any, i: int) -> Any:
    """Flip bit `i` in the indices of a memo; return by how much the sum changes."""
    change = 0
    for r in range(problem.first[i], problem.first[i + 1]):
        change += effect(problem, memo, r)
        memo[problem.readers[r]] ^= problem.weights[r]
    return change


@kernel
def effect(problem: Any, memo: Any, r: Any) -> Any:
    """Return by how much the entry changes that reader `r` takes from its table."""
    table = problem.readers[r]
    old = memo[table]
    new = old ^ problem.weights[r]
    return problem.tables[table, np.uint64(new)] - problem.tables[table, np.uint64(old)]


@problems.add("nk")
def nk(
    n: Annotated[int, Range(1, 100_000, "number of bits")] = 100,
    k: Annotated[int, Range(0, 20, "other bits that each table reads")] = 6,
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of tables and neighbours")] = 1,
    neighbours: Literal["random", "adjacent"] = "random",
) -> NK:
    """NK landscape with random or adjacent neighbours; the instance number seeds the tables.

    Adjacent landscapes know their optimum, by dynamic programming, where that is quick.

    Examples
    --------
    >>> problem = nk(n=20, k=2, neighbours="adjacent")
    >>> 0.5 < problem.optimum < 1.0
    True
    """
    if k >= n:
        raise InputError("nk:k", k, f"a whole number below n = {n}")
    if n << (k + 1) > LARGEST_TABLES:
        raise InputError("nk:k", k, f"n * 2**(k + 1) at most {LARGEST_TABLES}: lower n or k")
    random = stream_of(instance)
    tables = (random.random_raw((n, 1 << (k + 1))) >> np.uint64(32)).astype(np.int64)
    adjacent = neighbours == "adjacent"
    if adjacent:
        rows = (np.arange(n)[:, None] + np.arange(k + 1)) % n
    else:
        rows = np.array([_random_neighbours(random, n, k, i) for i in range(n)])
    quick = adjacent and n << (2 * k + 1) <= QUICK_STEPS
    scale = UNIT / n
    best = adjacent_optimum(tables) * scale if quick else math.nan  # to the bit, as fitness has it
    first, readers, weights = _readers(rows)
    return NK(n, k, rows.astype(np.uint32), tables, first, readers, weights, scale, best)


def _random_neighbours(random: np.random.PCG64, n: int, k: int, i: int) -> list[int]:
    """Return i and k other bits, all distinct."""
    chosen = [i]
    while len(chosen) <= k:
        bit = int(random.random_raw()) % n
        if bit not in chosen:
            chosen.append(bit)
    return chosen


def _readers(rows: NDArray[np.int64]) -> tuple[Any, ...]:
    """Invert the neighbour table: which tables read bit i, and with which weight."""
    n, width = rows.shape
    bits = rows.ravel()
    order = np.argsort(bits, kind="stable")
    counts = np.bincount(bits, minlength=n)
    room = -(-counts // 4) * 4
    first = np.append(0, np.cumsum(room))
    rank = np.arange(bits.size) - np.repeat(np.cumsum(counts) - counts, counts)
    place = np.repeat(first[:-1], counts) + rank
    readers = np.repeat(np.arange(n), room)  # fillers: with weight 0 any table will do
    weights = np.zeros(readers.size, np.int64)
    readers[place] = order // width
    weights[place] = np.int64(1) << (width - 1 - order % width)
    return first.astype(np.uint64), readers.astype(np.uint32), weights


def adjacent_optimum(tables: NDArray[np.int64]) -> int:
    """Return the largest sum of table entries for cyclic adjacent neighbours.

    For every start of k bits, dynamic programming over windows of k bits around the ring.
    """
    n, size = tables.shape
    k = size.bit_length() - 2
    if k == 0:
        return int(tables.max(axis=1).sum())
    windows = np.arange(size)
    best = np.full((1 << k, 1 << k), -1, np.int64)  # [bits the ring starts with, current window]
    np.fill_diagonal(best, 0)
    # Table i reads the window (x_i, ..., x_{i+k}): the k bits before, and one new bit.
    for i in range(n):
        value = best[:, windows >> 1]
        value = np.where(value >= 0, value + tables[i][windows], -1)
        value = value.reshape(1 << k, 2, 1 << k)  # the oldest bit is dropped
        best = value.max(axis=1)
    # After n tables the window is x_n..x_{n+k-1} = x_0..x_{k-1}: it must close the ring.
    return int(np.diagonal(best).max())
