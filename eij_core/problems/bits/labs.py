"""LABS: binary sequences of low autocorrelation, by their merit factor."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ...drawing import Boxes, Drawing, Lines, Texts, chosen, kept, sampled
from ...engine.kernel import kernel
from ...registry import Range, problems

DRAWN = 400
"""Places of a picture."""

# The least energies of n = 2 to 66: T. Packebusch and S. Mertens, Low autocorrelation binary
# sequences, J. Phys. A 49 (2016).
LEAST_ENERGIES = dict(
    enumerate(
        (
            *(1, 1, 2, 2, 7, 3, 8, 12, 13, 5, 10, 6, 19, 15, 24, 32, 25, 29, 26, 26, 39, 47, 36),
            *(36, 45, 37, 50, 62, 59, 67, 64, 64, 65, 73, 82, 86, 87, 99, 108, 108, 101, 109),
            *(122, 118, 131, 135, 140, 136, 153, 153, 166, 170, 175, 171, 192, 188, 197, 205),
            *(218, 226, 235, 207, 208, 240, 257),
        ),
        start=2,
    )
)


@kernel
class LABS(NamedTuple):
    """f(x) = n² / 2E, the merit factor; E = Σ_{k≥1} C_k², C_k = Σᵢ sᵢ·sᵢ₊ₖ, sᵢ = 1 − 2xᵢ.

    The energy E is minimised in the literature, the merit factor maximised: it is Golay's.
    """

    n: int
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        return merit(self, self.prepare(x)[0])

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: the energy, then C₁ to C_{n−1}."""
        memo = np.zeros(self.n, np.int64)
        for k in range(1, self.n):
            unlike: Any = 0
            for i in range(self.n - k):
                unlike += np.int64(x[i] ^ x[i + k])
            memo[k] = self.n - k - 2 * unlike
        memo[0] = energy(memo)
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        shift(self, x, memo, i)
        memo[0] = energy(memo)

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return merit(self, memo[0])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        for j in range(count):
            shift(self, x, memo, bits[j])
        f = merit(self, energy(memo))
        for j in range(count):
            shift(self, x, memo, bits[j])
        return f

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 8

    def picture(self, x: Any) -> Drawing:
        """Draw the sequence, and below it the correlations whose squares are the energy."""
        drawn = kept(self.n, DRAWN)
        plus, correlations = ~chosen(x, drawn), np.zeros(drawn.size)
        said = f"A sequence of {self.n:,} signs; none yet."
        if x is not None:
            signs = 1.0 - 2.0 * np.asarray(x)
            every = np.correlate(signs, signs, "full")[self.n - 1 :]
            every[0] = 0.0  # C₀ is n, whatever the signs are
            correlations, least = every[drawn], float((every**2).sum())
            said = f"Energy {least:,.0f}, merit factor {self.n**2 / (2 * least):.4g}."
        top = 1.25 * max(2.0, float(np.abs(correlations).max()))
        plus = plus if x is not None else np.zeros(drawn.size, bool)
        minus = ~plus if x is not None else plus
        strips = [
            Boxes(drawn[is_] - 0.45, np.full(is_.sum(), top), drawn[is_] + 0.45,
                  np.full(is_.sum(), 1.2 * top), colour=colour, label=label)
            for is_, colour, label in ((plus, "c0", "+1"), (minus, "c1", "−1"))
        ]  # fmt: skip
        low, high = np.minimum(correlations, 0), np.maximum(correlations, 0)
        return Drawing(
            (
                *strips,
                Boxes(drawn - 0.35, low, drawn + 0.35, high, colour="c2", label="correlation"),
                Lines((-0.5, self.n - 0.5), (0, 0), colour="ink", width=1.0),
                Texts(-0.5, 1.3 * top, ("sequence",), colour="ink", side="left"),
            ),
            said, sampled(self.n, "shift", DRAWN), "shift k, and place", "correlation of shift k",
        )  # fmt: skip


@kernel
def merit(problem: Any, energy: int) -> float:
    """Return the merit factor of a sequence of this energy, which is 1 at least."""
    return float(problem.n * problem.n) / float(2 * energy)


@kernel
def energy(memo: Any) -> Any:
    """Return the sum of the squares of the correlations in a memo."""
    total: Any = 0
    for k in range(1, memo.size):
        total += memo[k] * memo[k]
    return total


@kernel
def shift(problem: Any, x: Any, memo: Any, i: int) -> None:
    """Flip bit `i` in x and in the correlations of a memo; its energy stays as it was."""
    bit = x[i]
    # Unsigned: numba need not ask whether an index counts from the end.
    for k in range(1, i + 1):
        memo[k] += 4 * np.int64(bit ^ x[np.uint64(i - k)]) - 2
    for k in range(1, problem.n - i):
        memo[k] += 4 * np.int64(bit ^ x[np.uint64(i + k)]) - 2
    x[i] ^= 1


@problems.add("labs")
def labs(n: Annotated[int, Range(2, 10_000, "length of the sequence")] = 40) -> LABS:
    """Binary sequences of low autocorrelation: the merit factor n²/2E; optima up to n = 66.

    Examples
    --------
    >>> round(labs(13).optimum, 3), round(labs(40).optimum, 3)
    (14.083, 7.407)
    """
    least = LEAST_ENERGIES.get(n)
    return LABS(n, n * n / (2 * least) if least else math.nan)
