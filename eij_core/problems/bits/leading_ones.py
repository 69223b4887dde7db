"""LeadingOnes: the number of ones before the first zero."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ...drawing import MOST, Drawing, cells
from ...engine.kernel import kernel
from ...registry import Range, problems


@kernel
class LeadingOnes(NamedTuple):
    """f(x) = Σᵢ Π_{j≤i} xⱼ, which is n at best."""

    n: int

    @property
    def optimum(self) -> float:
        """The string of ones."""
        return float(self.n)

    def fitness(self, x: Any) -> float:
        """Count the ones before the first zero."""
        return float(first_zero(x, 0))

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: the place of its first zero, n if it has none."""
        return np.full(1, first_zero(x, 0))

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        x[i] ^= 1
        memo[0] = first_zero(x, min(memo[0], i))

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return float(memo[0])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        start = memo[0]
        for j in range(count):
            x[bits[j]] ^= 1
            start = min(start, bits[j])
        ones = first_zero(x, start)
        for j in range(count):
            x[bits[j]] ^= 1
        return float(ones)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation.

        A full evaluation stops at the first zero: it takes as many steps as its value.
        """
        return 1 + self.n // 32

    def picture(self, x: Any) -> Drawing:
        """Draw the bits: the ones that count, the first zero, and what stands behind it."""
        count = min(self.n, MOST)
        ones = np.zeros(count, bool) if x is None else np.asarray(x[:count]) == 1
        leading = 0 if x is None else int(np.append(x, 0).argmin())
        place = np.arange(count)
        known = x is not None
        said = f"{leading:,} of {self.n:,} bits are ones before the first zero."
        said = said if known else f"{self.n:,} bits; no solution yet."
        return Drawing(
            (
                cells(count, colour="soft", shade=0.16),
                cells(count, colour="c2", shade=place < leading, label="counts"),
                cells(count, colour="bad", shade=known & (place == leading), label="first zero"),
                cells(
                    count, colour="c0", shade=0.45 * (ones & (place > leading)), label="1 behind it"
                ),
            ),
            said,
            f"The first {count:,} of {self.n:,} bits are drawn." if count < self.n else "",
            equal=True,
        )


@kernel
def first_zero(x: Any, start: int) -> Any:
    """Return the place of the first zero from `start` on, or the length of x."""
    place = np.int64(start)
    while place < x.size and x[place] == 1:
        place += 1
    return place


@problems.add("leading-ones")
def leading_ones(n: Annotated[int, Range(1, 1_000_000, "number of bits")] = 100) -> LeadingOnes:
    """LeadingOnes: the number of ones before the first zero; the optimum is n."""
    return LeadingOnes(n)
