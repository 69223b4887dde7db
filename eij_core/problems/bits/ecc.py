"""Error-correcting codes: words that are far apart, evaluated exactly in integers."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing import Boxes, Drawing, Texts, kept
from ...engine.bits import ones
from ...engine.kernel import kernel
from ...errors import InputError
from ...registry import Range, problems

# A (12, 24, 6) Hadamard code reaches it, and the Delsarte bound equals it.
KNOWN_OPTIMA = {(24, 12): 6.0 / 89.0}
DRAWN = 24
"""Words of a picture."""


@kernel
class ECC(NamedTuple):
    """f(X) = 1 / Σ_{i≠j} 1/d(Xᵢ, Xⱼ)² over the Hamming distances of the words.

    The sum is kept in integers, `cost[d]` = scale/d² for one pair, so that incremental evaluation
    equals the full one. A code in which two words coincide has fitness 0.
    """

    n: int
    words: int
    length: int
    cost: NDArray[np.int64]
    """Cost of a pair at distance d; that of distance 0 exceeds the sum of all others."""
    scale: float
    worst: int
    """Sums from here on contain a pair of equal words."""
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        return self.value(self.prepare(x)[self.words])

    def value(self, total: int) -> float:
        """Return the fitness that belongs to a sum of costs."""
        return 0.0 if total >= self.worst else self.scale / float(total)

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: the words, each packed into an integer, and the sum of costs."""
        memo = np.zeros(self.words + 1, np.int64)
        for i in range(self.words):
            word: Any = 0
            for b in range(self.length):
                word |= np.int64(x[i * self.length + b]) << b
            memo[i] = word
        total = 0
        for i in range(self.words):
            for j in range(i):
                total += self.cost[ones(memo[i] ^ memo[j])]
        memo[self.words] = total
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        memo[self.words] += change(self, memo, i)
        flip_packed(self, memo, i)
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return self.value(memo[self.words])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        total = memo[self.words]
        for j in range(1, count):
            total += change(self, memo, bits[j])
            flip_packed(self, memo, bits[j])
        total += change(self, memo, bits[0])  # the last change, so the memo is not updated
        for j in range(1, count):
            flip_packed(self, memo, bits[j])
        return self.value(total)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.words // 8

    def feasible(self, x: Any) -> bool:
        """Tell whether all words differ."""
        return bool(self.fitness(x) > 0.0)

    def picture(self, x: Any) -> Drawing:
        """Draw the words as rows of bits, and beside them how near any two of them are."""
        drawn = kept(self.words, DRAWN)
        count, length = drawn.size, self.length
        table = np.zeros((count, length), int)
        near = np.zeros((count, count))
        least, found = 0, "no words yet"
        if x is not None:
            words = np.asarray(x).reshape(self.words, length).astype(np.int64)
            table = words[drawn]
            apart = length - words @ words.T - (1 - words) @ (1 - words.T)
            least = int(apart[~np.eye(self.words, dtype=bool)].min())
            apart = apart[np.ix_(drawn, drawn)]
            near = 1.0 / np.maximum(apart, 1) ** 2
            np.fill_diagonal(near, 0.0)
            found = f"the nearest two are {least} apart"
        lowest = (near > 0) & (near >= 1.0 / max(least, 1) ** 2)
        across = length + 2
        return Drawing(
            (
                _grid(np.ones((count, length)), 0, colour="soft", shade=0.16),
                _grid(table, 0, colour="c0", label="1"),
                _grid(np.ones((count, count)), across, colour="soft", shade=0.1),
                _grid(near * ~lowest, across, colour="c4", label="near"),
                _grid(lowest, across, colour="c1", label="nearest"),
                Texts((0, across), (0.8, 0.8), ("words", "pairs of words"), colour="ink",
                      side="left"),
            ),
            f"{self.words:,} words of {length} bits: {found}.",
            f"{count} of the words are drawn." if count < self.words else "", equal=True,
        )  # fmt: skip


def _grid(values: Any, left: int, shade: float = 0.0, **looks: Any) -> Boxes:
    """Return a box for each value of a table that is not 0; its opacity says how large it is."""
    row, column = np.nonzero(values)
    size = np.asarray(values, float)[row, column]
    if shade:
        size = np.full(size.size, shade)
    elif size.size:
        size = size / size.max()
    x, y = left + column, -row
    return Boxes(x + 0.05, y - 0.95, x + 0.95, y - 0.05, size, **looks)


@kernel
def change(problem: Any, memo: Any, i: int) -> Any:
    """Return by how much the sum of costs changes when bit `i` is flipped."""
    row = i // problem.length
    old = memo[row]
    new = old ^ (1 << (i - row * problem.length))
    total = problem.cost[0] - problem.cost[1]  # the word itself does not count
    for j in range(problem.words):
        total += problem.cost[ones(new ^ memo[j])] - problem.cost[ones(old ^ memo[j])]
    return total


@kernel
def flip_packed(problem: Any, memo: Any, i: int) -> None:
    """Flip bit `i` in its packed word."""
    row = i // problem.length
    memo[row] ^= 1 << (i - row * problem.length)


@problems.add("ecc")
def ecc(
    words: Annotated[int, Range(2, 1000, "number of code words, M")] = 24,
    length: Annotated[int, Range(1, 62, "bits of a word, n")] = 12,
) -> ECC:
    """Error-correcting code design; the optimum of the paper's size is 6/89.

    Examples
    --------
    >>> round(ecc().optimum, 7)
    0.0674157
    """
    pairs = words * (words - 1) // 2
    if words > 2**length:
        raise InputError("ecc:words", words, f"at most 2**length = {2**length} different words")
    # Exact thirds and sevenths where they fit into 62 bits, else multiples of a power of two.
    unit = math.lcm(*range(1, length + 1)) ** 2
    largest = (1 << 61) // (2 * pairs * pairs + pairs)
    if unit > largest:
        unit = 1 << (largest.bit_length() - 1)
    cost = np.array([0] + [unit // (d * d) for d in range(1, length + 1)], np.int64)
    worst = pairs * unit + 1
    cost[0] = worst
    optimum = KNOWN_OPTIMA.get((words, length), math.nan)
    return ECC(words * length, words, length, cost, unit / 2.0, worst, optimum)
