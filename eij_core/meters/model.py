"""Energy by a price list: simulated Joules, the same on every machine."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..protocols import EnergyInfo, Provenance
from ..registry import Range, meters
from .meter import CompiledMeter, priced


@meters.add("model")
class Model(NamedTuple):
    """Simulated Joules: so much per application, per evaluation and per gene touched.

    Examples
    --------
    >>> Model(evaluation=0.5).info.provenance
    <Provenance.SIMULATED: 'simulated'>
    """

    application: Annotated[float, Range(0, 1e9, "J per application")] = 0.001
    evaluation: Annotated[float, Range(0, 1e9, "J per evaluation")] = 0.01
    touch: Annotated[float, Range(0, 1e9, "J per gene read or drawn outside fitness")] = 0.0
    noise: Annotated[float, Range(0, 5, "standard deviation of ln E")] = 0.1

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known."""
        return EnergyInfo("model", Provenance.SIMULATED, notes=(f"price list {tuple(self)}",))

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        """Return the compiled meter for these operators."""
        size = len(operators) + 1
        application = np.full(size, self.application)
        application[-1] = 0.0  # the start applies no operator
        return priced(application, np.full(size, self.evaluation), self.touch, self.noise)
