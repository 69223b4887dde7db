"""Running averages of gain and Joules per operator, for rules that keep plain means."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import kernel
from ..records import Belief

__all__ = ["Averages", "average", "averaged_belief", "empty_averages"]


class Averages(NamedTuple):
    """Welford's running means and sums of squares."""

    applications: NDArray[np.int64]
    gain: NDArray[np.float64]
    gain_squares: NDArray[np.float64]
    joules: NDArray[np.float64]
    joules_squares: NDArray[np.float64]


def empty_averages(operators: int) -> Averages:
    """Return averages over nothing."""
    return Averages(np.zeros(operators, np.int64), *(np.zeros(operators) for _ in range(4)))


@kernel
def average(seen: Any, operator: int, gain: float, joules: float) -> None:
    """Take one application into the averages."""
    seen.applications[operator] += 1
    n = seen.applications[operator]
    step = gain - seen.gain[operator]
    seen.gain[operator] += step / n
    seen.gain_squares[operator] += step * (gain - seen.gain[operator])
    step = joules - seen.joules[operator]
    seen.joules[operator] += step / n
    seen.joules_squares[operator] += step * (joules - seen.joules[operator])


@kernel
def averaged_belief(seen: Any, operator: int) -> Any:
    """Return means, standard deviations and their ratio (Eq. basic_eij)."""
    n = seen.applications[operator]
    if n == 0:
        return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
    gain, joules = seen.gain[operator], seen.joules[operator]
    gain_sd = math.sqrt(seen.gain_squares[operator] / n)
    joules_sd = math.sqrt(seen.joules_squares[operator] / n)
    return Belief(gain, gain_sd, joules, joules_sd, gain / joules)
