"""OneMax: the number of ones."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ...drawing import Drawing, bits
from ...engine.kernel import kernel
from ...registry import Range, problems


@kernel
class OneMax(NamedTuple):
    """f(x) = Σ xᵢ, which is n at best."""

    n: int

    @property
    def optimum(self) -> float:
        """The string of ones."""
        return float(self.n)

    def fitness(self, x: Any) -> float:
        """Count the ones."""
        return float(self.prepare(x)[0])

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: its number of ones."""
        memo = np.zeros(1, np.int64)
        for i in range(self.n):
            memo[0] += x[i]
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        memo[0] += 1 - 2 * np.int64(x[i])
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return float(memo[0])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        ones = memo[0]
        for j in range(count):
            ones += 1 - 2 * np.int64(x[bits[j]])
        return float(ones)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 16

    def picture(self, x: Any) -> Drawing:
        """Draw the bits; every zero is still to be won."""
        return bits(x, self.n, "" if x is None else f"{int(np.sum(x)):,} of {self.n:,} bits are 1.")


@problems.add("onemax")
def onemax(n: Annotated[int, Range(1, 1_000_000, "number of bits")] = 100) -> OneMax:
    """OneMax: the number of ones; the optimum is n."""
    return OneMax(n)
