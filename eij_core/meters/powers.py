"""Which account draws how much power: learnt from the energies of windows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["OVERHEAD", "Powers", "Prior"]

Floats = NDArray[np.float64]

ALIKE, OVERHEAD_ALIKE = 0.03, 0.3
"""How far powers differ where nothing is known. Operators are all arithmetic on the same arrays; a
wider guess would take the noise of some hundred windows for differences. Overhead is another kind
of work (random numbers, logarithms, Python between chunks)."""
ANYTHING = 0.5
NOISE = 0.01
"""What else blurs one window's energy, relative: other work of the package, the clocks."""
LEVEL_DRIFT = 0.005
"""How far all powers may move together from one window to the next, as with the frequency."""
POWER_DRIFT = 0.0005
"""How far a power may move by itself."""
SURPRISE = 4.0
"""Standard deviations from which on a window tells of another level, not of noise."""
OVERHEAD, AWAY = -2, -1
"""Their places among the accounts."""
WIDEST = 5.0
"""No account draws more, or less, than the others by this factor beyond what was believed."""


class Prior(NamedTuple):
    """What is believed of the powers before a window was seen, relative to their mean."""

    ratio: Floats
    spread: Floats
    """Standard deviation of `ratio`."""

    @classmethod
    def unknown(cls, accounts: int) -> Prior:
        """Return the prior of accounts of which nothing is known: operators alike within 3 %."""
        spread = np.full(accounts, ALIKE)
        spread[[OVERHEAD, AWAY]] = OVERHEAD_ALIKE
        return cls(np.ones(accounts), spread)

    @classmethod
    def open(cls, accounts: int) -> Prior:
        """Return the prior for batches of one operator alone: they tell, nothing is assumed."""
        return cls(np.ones(accounts), np.full(accounts, ANYTHING))


class Powers:
    """Joules per cycle by account, followed by a Kalman filter over windows.

    A window has cycles of every account and one energy. Over many windows the shares differ, or, in
    a profiling batch, one account has nearly all; so the powers come apart. Where the windows say
    nothing, what was believed stays: the same power for all, or a profile's.

    The counter ticks: at the end of a window it lags behind by a part of a tick, unknown but the
    same with which the next window begins. The filter knows: what one window lacks the next one has
    too much, so many short windows tell as much as a long one.

    Parameters
    ----------
    prior : Prior
    rate : float
        J per cycle, until a window was seen.
    """

    def __init__(self, prior: Prior, rate: float) -> None:
        self.prior = prior
        self.windows = 0
        self._unit = rate * prior.ratio
        size = prior.ratio.size
        self._draws = prior.ratio > 0.0
        # Factors to `_unit`, and what is known of them.
        self._factors = np.ones(size)
        relative = prior.spread / np.where(self._draws, prior.ratio, 1.0)
        self._covariance = np.diag(np.where(self._draws, relative, 0.0) ** 2)
        self._lag: tuple[float, float, Floats] | None = None
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
        parts[OVERHEAD] = 1.0  # nobody ran
        return parts

    def forget_lag(self) -> None:
        """The next window does not begin where the last one ended."""
        self._lag = None

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
            How often the window was interrupted: each adds a lag at its begin and at its end.
        """
        believed = self._unit * cycles
        if believed.sum() <= 0.0:
            self.forget_lag()
            return
        if not self.windows:
            # The first guess of the level may be wrong by any factor.
            self._unit *= joules / believed.sum()
            believed = self._unit * cycles
            self._covariance += (0.5 * tick_joules / joules) ** 2
        self._drift()
        noise = (NOISE * joules) ** 2 + pauses * tick_joules**2 / 6.0
        self._update(believed, joules, tick_joules, noise)
        self._energy += joules
        self._believed += float(believed.sum())
        self.windows += 1

    def _drift(self) -> None:
        moving = np.where(self._draws, self._factors, 0.0)
        self._covariance += LEVEL_DRIFT**2 * np.outer(moving, moving)
        self._covariance += np.diag((POWER_DRIFT * moving) ** 2)

    def _update(self, believed: Floats, joules: float, tick_joules: float, noise: float) -> None:
        # The state: factors, the lag at the window's begin, the lag at its end.
        size = believed.size
        mean, variance = 0.5 * tick_joules, tick_joules**2 / 12.0
        begin, begin_variance, tie = self._lag or (mean, variance, np.zeros(size))
        state = np.concatenate([self._factors, [begin, mean]])
        spread = np.zeros((size + 2, size + 2))
        spread[:size, :size] = self._covariance
        spread[size, :size] = spread[:size, size] = tie
        spread[size, size], spread[-1, -1] = begin_variance, variance
        seen = np.concatenate([believed, [1.0, -1.0]])
        surprise = joules - float(seen @ state)
        allowed = float(seen @ spread @ seen) + noise
        if surprise**2 > SURPRISE**2 * allowed:
            level = surprise / float(believed @ self._factors)
            moving = np.where(self._draws, self._factors, 0.0)
            spread[:size, :size] += level**2 * np.outer(moving, moving)
            allowed = float(seen @ spread @ seen) + noise
        gain = spread @ seen / allowed
        state += gain * surprise
        spread -= np.outer(gain, gain) * allowed
        self._factors = _bounded(state[:size], believed)
        self._covariance = spread[:size, :size]
        self._lag = float(state[-1]), float(spread[-1, -1]), spread[-1, :size]

    def ratios(self) -> Floats:
        """Return the powers relative to their mean, the form in which a profile keeps them."""
        return self.prior.ratio * self._factors / self._level

    def spreads(self) -> Floats:
        """Return the standard deviations of `ratios`: of each against the mean of the operators."""
        size = self._factors.size
        # What moves all together is the level, and no matter of ratios.
        against = np.eye(size)
        against[:, : size - 3] -= 1.0 / (size - 3)
        alone = against @ self._covariance @ against.T
        return self.prior.ratio * np.sqrt(np.maximum(np.diag(alone), 0.0)) / self._level

    @property
    def _level(self) -> float:
        return self._energy / self._believed if self._believed > 0 else 1.0


def _bounded(factors: Floats, believed: Floats) -> Floats:
    level = max(float(believed @ factors) / float(believed.sum()), math.ulp(1.0))
    return np.clip(factors, level / WIDEST, level * WIDEST)
