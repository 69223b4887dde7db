"""Which account draws how much power: learnt from the energies of windows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Powers", "Prior"]

Floats = NDArray[np.float64]

NOISE, LEAST_NOISE, NOISE_STEP = 0.05, 0.01, 0.02
"""Relative error of one window's energy, its ticks and what else the package does: the first
guess, the least, and how fast it follows what is seen."""
FADING = 0.999
"""What a window's weight shrinks to with each one that follows."""
LEVEL_STEP = 0.3
OVERHEAD = -2
"""Its place among the accounts."""
WIDEST = 5.0
"""No account draws more, or less, than believed before by this factor."""


class Prior(NamedTuple):
    """What is believed of the powers before a window was seen, relative to their mean."""

    ratio: Floats
    spread: Floats
    """Standard deviation of `ratio`."""

    @classmethod
    def unknown(cls, accounts: int) -> Prior:
        """Return the prior of accounts of which nothing is known: alike, within 10 %."""
        return cls(np.ones(accounts), np.full(accounts, 0.1))


class Powers:
    """Joules per cycle by account: ridge regression of window energies on cycles.

    A window holds cycles of every account and one energy. Over many windows the shares differ, or,
    in a profiling batch, one account has nearly all; so the powers come apart. Where the windows
    say nothing, the ridge pulls towards the prior: the same power for all, or a profile's.

    Parameters
    ----------
    prior : Prior
    rate : float
        J per cycle, until a window was seen.
    """

    def __init__(self, prior: Prior, rate: float) -> None:
        size = prior.ratio.size
        self.prior = prior
        self.windows = 0
        self._products = np.zeros((size, size))
        self._targets = np.zeros(size)
        self._mean, self._weight = rate, 1e-9
        self._level = 1.0
        self._noise = NOISE**2
        self._rates = rate * prior.ratio

    @property
    def rates(self) -> Floats:
        """J per cycle of each account, at the present level."""
        return self._rates * self._level

    def shares(self, cycles: Floats) -> Floats:
        """Return how an energy divides over accounts that took these cycles; the sum is 1."""
        parts = self._rates * cycles
        total = parts.sum()
        if total > 0:
            return parts / total
        parts[OVERHEAD] = 1.0  # nobody ran
        return parts

    def learn(self, cycles: Floats, joules: float) -> None:
        """Take one window's cycles and energy into the regression."""
        # Per cycle at the prior's mean power: what draws nothing does not dilute the others.
        total = float(self.prior.ratio @ cycles)
        if total <= 0.0:
            return
        draws = self.prior.ratio > 0.0
        share, rate = np.where(draws, cycles / total, 0.0), joules / total
        for sums, new in ((self._products, np.outer(share, share)), (self._targets, share * rate)):
            sums *= FADING
            sums += new
        self._weight = FADING * self._weight + 1.0
        self._mean += (rate - self._mean) / self._weight
        miss = (joules / float(self._rates @ cycles) - 1.0) if self.windows else NOISE
        self._noise += NOISE_STEP * (min(miss * miss, 1.0) - self._noise)
        ridge = max(self._noise, LEAST_NOISE**2) / self.prior.spread**2
        believed = self._mean * self.prior.ratio
        left = self._products + np.diag(ridge)
        solved = np.linalg.solve(left, self._targets + ridge * believed)
        bounded = np.clip(solved, believed / WIDEST, believed * WIDEST)
        self._rates = np.where(draws, bounded, 0.0)
        expected = float(self._rates @ cycles)
        # The level follows at once what moves all powers together, as a change of frequency does.
        step = LEVEL_STEP if self.windows else 1.0
        self._level += step * (joules / expected - self._level)
        self.windows += 1

    def ratios(self) -> Floats:
        """Return the powers relative to their mean, the form in which a profile keeps them."""
        return self._rates / self._mean
