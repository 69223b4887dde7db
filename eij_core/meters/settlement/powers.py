"""The power that each account draws, learnt from the energies of windows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .power_filter import PowerFilter

Floats = NDArray[np.float64]

ALIKE, OVERHEAD_ALIKE = 0.03, 0.3
"""How far powers differ where nothing is known. Operators are all arithmetic on the same arrays.
Overhead is another kind of work (random numbers, logarithms, Python between chunks)."""
APART = 0.3
"""How far operators' powers may differ if they are not as believed after all."""
AS_BELIEVED = 3.0
"""The logarithm of the odds that they are: twenty to one, until windows say otherwise."""
SURE = 8.0
"""The odds grow no further than this, so that an hour of windows does not bind the next minute."""
ANYTHING = 0.5
"""How far powers may differ where batches of one operator alone will tell."""
START, OVERHEAD, AWAY = -3, -2, -1
"""Their places among the accounts, after the operators."""
BESIDES = 3
"""How many accounts there are besides the operators'."""


class Prior(NamedTuple):
    """What is believed of the powers before the first window, relative to their mean."""

    ratio: Floats
    spread: Floats
    """Standard deviation of `ratio`."""

    @classmethod
    def unknown(cls, operators: int) -> Prior:
        """Return the prior where nothing is known: operators alike within 3 %."""
        spread = np.full(operators + BESIDES, ALIKE)
        spread[[OVERHEAD, AWAY]] = OVERHEAD_ALIKE
        return cls(np.ones(spread.size), spread)

    @classmethod
    def open(cls, operators: int) -> Prior:
        """Return the prior for batches of one operator alone, which need no assumption."""
        spread = np.full(operators + BESIDES, ANYTHING)
        return cls(np.ones(spread.size), spread)


class Powers:
    """Joules per cycle by account, learnt from windows.

    A window has cycles of every account and one energy. The powers can be told apart because shares
    of cycles differ between windows; in a profiling batch one account has nearly all. Where windows
    give no information the prior stays: the same power for all, or a profile's.

    A filter that is free to find any difference takes the noise of a few hundred windows for one.
    So two filters follow the same windows. One holds that the operators are as believed, the other
    that they may differ by a third; each has a weight by how well it predicted the windows.

    Windows alone tell little: operators that are short against a window have nearly
    the same share of every window, and overhead has always so many cycles per application. Four
    operators of 2, 20, 300 and 1500 µs at 12, 18, 12, 18 W, overhead at 10 W, on a fake counter:
    over eleven stretches of 20 s, seven of them cut from one recording, totals were off by 6, 4, 3
    and 1 % (rms; a split by cycles is off by 19 and 21 %), single charges by 6 % in the median and
    16 % at 95 %, most of that in the first seconds. Another run, on a busy machine, had 24 and
    36 %: worse than by cycles. With a profile the errors are 1 and 3 % (`make bench-energy`).

    Parameters
    ----------
    prior : Prior
    rate : float
        J per cycle, until the first window.
    """

    def __init__(self, prior: Prior, rate: float) -> None:
        self.prior = prior
        self.windows = 0
        self._unit = rate * prior.ratio
        draws = prior.ratio > 0.0
        relative = np.where(draws, prior.spread / np.where(draws, prior.ratio, 1.0), 0.0)
        wider = relative.copy()
        wider[:START] = np.where(draws, np.maximum(relative, APART), 0.0)[:START]
        self._as_believed, self._apart = PowerFilter(relative), PowerFilter(wider)
        self._odds = AS_BELIEVED
        self._energy = self._believed = 0.0

    @property
    def rates(self) -> Floats:
        """J per cycle of each account."""
        return self._unit * self._factors

    def shares(self, cycles: Floats) -> Floats:
        """Return how an energy divides over accounts that took these cycles; the sum is 1."""
        parts = self.rates * cycles
        total = parts.sum()
        if total > 0:
            return parts / total
        parts[OVERHEAD] = 1.0  # no account has cycles
        return parts

    def forget_lag(self) -> None:
        """The next window does not begin where the last one ended."""
        self._as_believed.forget_lag()
        self._apart.forget_lag()

    def learn(
        self, cycles: Floats, joules: float, tick_joules: float = 0.0, pauses: int = 0
    ) -> None:
        """Take in one window.

        Parameters
        ----------
        cycles : array
            By account.
        joules : float
            The counter's change.
        tick_joules : float
            What the counter gains by one tick.
        pauses : int
            How often the window was interrupted.
        """
        believed = self._unit * cycles
        if believed.sum() <= 0.0:
            self.forget_lag()
            return
        if not self.windows:
            # The first guess of the level may be wrong by any factor.
            self._unit *= joules / believed.sum()
            believed = self._unit * cycles
            for each in (self._as_believed, self._apart):
                each.begin(0.5 * tick_joules / joules)
        window = (believed, joules, tick_joules, pauses)
        better = self._as_believed.learn(*window) - self._apart.learn(*window)
        self._odds = min(max(self._odds + better, -SURE), SURE)
        self._energy += joules
        self._believed += float(believed.sum())
        self.windows += 1

    def ratios(self) -> Floats:
        """Return the powers relative to their mean, the form in which a profile keeps them."""
        return self.prior.ratio * self._factors / self._level

    def spreads(self) -> Floats:
        """Return the standard deviations of `ratios`: of each against the mean of the operators."""
        size, operators = self._factors.size, self._factors.size + START
        # A common change of all powers is the level's, so ratios leave it out.
        against = np.eye(size)
        against[:, :operators] -= 1.0 / operators
        between = against @ (self._as_believed.factors - self._apart.factors)
        known = self._mixed(self._as_believed.covariance, self._apart.covariance)
        disagreement = self._sure * (1.0 - self._sure) * between**2
        variance = np.diag(against @ known @ against.T) + disagreement
        return self.prior.ratio * np.sqrt(np.maximum(variance, 0.0)) / self._level

    @property
    def _sure(self) -> float:
        """The probability that the operators are as believed."""
        return 1.0 / (1.0 + math.exp(-self._odds))

    @property
    def _factors(self) -> Floats:
        return self._mixed(self._as_believed.factors, self._apart.factors)

    def _mixed(self, as_believed: Floats, apart: Floats) -> Floats:
        return self._sure * as_believed + (1.0 - self._sure) * apart

    @property
    def _level(self) -> float:
        return self._energy / self._believed if self._believed > 0 else 1.0
