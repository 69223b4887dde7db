"""Running means of gain and Joules per operator."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ...engine.arrays import Numbers, Wholes, empty
from ...engine.kernel import kernel
from ...protocols import Belief


class RunningMeans(NamedTuple):
    """Welford's running means and sums of squares."""

    applications: Wholes
    gain: Numbers
    gain_squares: Numbers
    joules: Numbers
    joules_squares: Numbers


Seen = Annotated[RunningMeans, lambda operators: empty(RunningMeans, operators)]
"""The field of a memory that holds them."""


@kernel
def update_means(seen: Any, operator: int, gain: float, joules: float) -> None:
    """Take in one application."""
    seen.applications[operator] += 1
    n = seen.applications[operator]
    step = gain - seen.gain[operator]
    seen.gain[operator] += step / n
    seen.gain_squares[operator] += step * (gain - seen.gain[operator])
    step = joules - seen.joules[operator]
    seen.joules[operator] += step / n
    seen.joules_squares[operator] += step * (joules - seen.joules[operator])


@kernel
def belief_of_means(seen: Any, operator: int) -> Any:
    """Return means, standard deviations and their ratio (Eq. basic_eij)."""
    n = seen.applications[operator]
    if n == 0:
        return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
    gain, joules = seen.gain[operator], seen.joules[operator]
    gain_sd = math.sqrt(seen.gain_squares[operator] / n)
    joules_sd = math.sqrt(seen.joules_squares[operator] / n)
    return Belief(gain, gain_sd, joules, joules_sd, gain / joules)
