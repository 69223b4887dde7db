"""Concatenated traps: each block leads away from its optimum."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

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
