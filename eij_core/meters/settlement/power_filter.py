"""A Kalman filter over windows: factors of powers, and the part of a tick that is not shown yet."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NOISE = 0.01
"""Relative noise of one window's energy: other work of the package, the clocks."""
LEVEL_DRIFT = 0.005
"""How far all powers may move together from one window to the next, as with the frequency."""
POWER_DRIFT = 0.0005
"""How far a power may move by itself."""
SURPRISE = 4.0
"""Standard deviations beyond which a window shows another level of power, not noise."""
WIDEST = 5.0
"""No account draws more, or less, than the others by this factor beyond what was believed."""


class PowerFilter:
    """Factors to the prior's powers, one per account, and their covariance.

    The counter ticks: at the end of a window it lags behind by an unknown part of a tick, with
    which the next window begins. The filter follows this lag: what one window lacks, the next one
    has too much of, so many short windows tell as much as a long one.

    Parameters
    ----------
    spread : array
        Standard deviation of each factor before the first window; 0: it never changes.
    """

    def __init__(self, spread: Floats) -> None:
        # The state: the factors, the lag at the window's beginning, the lag at its end.
        self._state = np.concatenate([np.ones(spread.size), [0.0, 0.0]])
        self._covariance = np.diag(np.concatenate([spread, [0.0, 0.0]]) ** 2)
        self._moves = spread > 0.0
        self._follows = False

    @property
    def factors(self) -> Floats:
        """The factor of each account."""
        return self._state[:-2]

    @property
    def covariance(self) -> Floats:
        """The covariance of the factors."""
        return self._covariance[:-2, :-2]

    def forget_lag(self) -> None:
        """The next window does not begin where the last one ended."""
        self._follows = False

    def begin(self, level_spread: float) -> None:
        """Doubt the level of all powers: it comes from one window."""
        self.covariance[:] += level_spread**2

    def learn(self, believed: Floats, joules: float, tick_joules: float, pauses: int) -> float:
        """Take in one window; return the logarithm of the density with which it was predicted.

        Parameters
        ----------
        believed : array
            Joules of each account at factors of 1.
        joules : float
            The counter's change.
        tick_joules : float
            What the counter gains by one tick.
        pauses : int
            How often the window was interrupted: each adds a lag at its beginning and at its end.
        """
        moving = self.factors * self._moves
        together = np.outer(moving, moving)
        self.covariance[:] += LEVEL_DRIFT**2 * together
        self.covariance.flat[:: believed.size + 1] += (POWER_DRIFT * moving) ** 2
        self._pass_lag(tick_joules)
        seen = np.concatenate([believed, [1.0, -1.0]])
        noise = (NOISE * joules) ** 2 + pauses * tick_joules**2 / 6.0
        surprise = joules - float(seen @ self._state)
        tied = self._covariance @ seen
        allowed = float(seen @ tied) + noise
        # A leap of the level tells nothing of single powers: it counts as the greatest noise.
        strange = min(surprise**2 / allowed, SURPRISE**2)
        predicted = -0.5 * (strange + math.log(allowed / joules**2))
        if surprise**2 > SURPRISE**2 * allowed:
            leap = surprise / float(believed @ self.factors)
            self.covariance[:] += leap**2 * together
            tied = self._covariance @ seen
            allowed = float(seen @ tied) + noise
        self._state += tied * (surprise / allowed)
        self._covariance -= np.outer(tied, tied / allowed)
        level = max(float(believed @ self.factors) / float(believed.sum()), math.ulp(1.0))
        np.clip(self.factors, level / WIDEST, level * WIDEST, out=self.factors)
        return predicted

    def _pass_lag(self, tick_joules: float) -> None:
        """The lag at the end of the last window is that at the beginning of this one."""
        mean, variance = 0.5 * tick_joules, tick_joules**2 / 12.0
        state, covariance = self._state, self._covariance
        if self._follows:
            state[-2] = state[-1]
            covariance[-2, :-2] = covariance[:-2, -2] = covariance[-1, :-2]
            covariance[-2, -2] = covariance[-1, -1]
        else:
            state[-2] = mean
            covariance[-2] = covariance[:, -2] = 0.0
            covariance[-2, -2] = variance
        state[-1] = mean
        covariance[-1] = covariance[:, -1] = 0.0
        covariance[-1, -1] = variance
        self._follows = True
