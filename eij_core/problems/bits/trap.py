"""Concatenated traps: each block leads away from its optimum."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ...drawing import MOST, Boxes, Drawing, kept
from ...engine.kernel import kernel
from ...registry import Range, problems


@kernel
class Trap(NamedTuple):
    """f(x) = Σ over blocks of k bits: k if all are ones, else k − 1 − (number of ones).

    Fewer ones are better, except where all are: a climb ends in zeros, at n·(k − 1)/k. The values
    are k times those of the ConcatenatedTrap of the package `ioh`, so that they are whole numbers.
    """

    n: int
    k: int

    @property
    def optimum(self) -> float:
        """The string of ones."""
        return float(self.n)

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        total: Any = 0
        for block in range(self.n // self.k):
            total += depth(self, ones_in(self, x, block))
        return float(total)

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: the number of ones in each block, and the sum of the values."""
        blocks = self.n // self.k
        memo = np.zeros(blocks + 1, np.int64)
        for block in range(blocks):
            memo[block] = ones_in(self, x, block)
            memo[blocks] += depth(self, memo[block])
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        block = i // self.k
        old = memo[block]
        new = old + 1 - 2 * np.int64(x[i])
        memo[self.n // self.k] += depth(self, new) - depth(self, old)
        memo[block] = new
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return float(memo[self.n // self.k])

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 32

    def picture(self, x: Any) -> Drawing:
        """Draw the blocks: solved, caught at zeros, or between; and their bits."""
        blocks, k = self.n // self.k, self.k
        drawn = kept(blocks, max(1, MOST // k))
        wide = max(1, round(math.sqrt(2.5 * drawn.size / (k + 1) * 1.6)))
        left = np.arange(drawn.size) % wide * (k + 0.7)
        top = -1.6 * (np.arange(drawn.size) // wide)
        bits = np.zeros((drawn.size, k)) if x is None else np.reshape(x, (blocks, k))[drawn]
        ones = np.full(blocks, -1) if x is None else np.reshape(x, (blocks, k)).sum(axis=1)
        row, column = np.nonzero(bits)
        place = left[row] + column

        def frames(which: Any, colour: str, label: str) -> Boxes:
            x, y = left[which[drawn]], top[which[drawn]]
            return Boxes(x - 0.1, y - 1.1, x + k + 0.1, y + 0.1, 0.35, colour=colour, label=label)

        solved, caught = ones == k, ones == 0
        said = (
            "no solution yet."
            if x is None
            else f"{int(solved.sum()):,} solved, {int(caught.sum()):,} caught at zeros."
        )
        return Drawing(
            (
                frames(~(solved | caught), "soft", "between"),
                frames(caught, "c1", "caught: all zeros"),
                frames(solved, "c2", "solved: all ones"),
                Boxes(place + 0.1, top[row] - 0.9, place + 0.9, top[row] - 0.1, colour="c0"),
            ),
            f"{blocks:,} blocks of {k} bits: {said}",
            f"{drawn.size:,} of {blocks:,} blocks are drawn." if drawn.size < blocks else "",
            equal=True,
        )


@kernel
def ones_in(problem: Any, x: Any, block: int) -> Any:
    """Count the ones of a block."""
    ones: Any = 0
    for i in range(block * problem.k, (block + 1) * problem.k):
        ones += np.int64(x[i])
    return ones


@kernel
def depth(problem: Any, ones: int) -> int:
    """Return the value of a block with so many ones."""
    return ones if ones == problem.k else problem.k - 1 - ones


@problems.add("trap")
def trap(
    blocks: Annotated[int, Range(1, 100_000, "number of blocks")] = 20,
    k: Annotated[int, Range(2, 60, "bits of a block")] = 5,
) -> Trap:
    """Concatenated deceptive traps; the optimum is the number of bits, blocks times k.

    Examples
    --------
    >>> [trap(1, 3).fitness(np.array(x, np.uint8)) for x in ((0, 0, 0), (0, 1, 1), (1, 1, 1))]
    [2.0, 0.0, 3.0]
    """
    return Trap(blocks * k, k)
