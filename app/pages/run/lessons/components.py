"""Operators and prices of the lessons; also an example of how to write components."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eij_core import Forecast, Outcome
from eij_core.algorithms.ils import Flip, search
from eij_core.engine.kernel import kernel
from eij_core.meters.meter import CompiledMeter, priced
from eij_core.meters.paper import PaperMachine
from eij_core.protocols import EnergyInfo, Provenance

__all__ = ["DearTwin", "Idle", "Tariff"]


@kernel
class DearTwin(NamedTuple):
    """The same search as `flip-k`; the lesson's meter charges more for it."""

    bits: int

    @property
    def name(self) -> str:
        return f"dear-twin-{self.bits}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        return Forecast(1, algorithm.steps + 1, self.bits * (algorithm.steps + 1))

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        return search(Flip(self.bits), algorithm, problem, state, rng)


@kernel
class Idle(NamedTuple):
    """Changes nothing, and takes as long as `flip-k`."""

    bits: int

    @property
    def name(self) -> str:
        return "idle"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        return Forecast(1, algorithm.steps + 1, 0)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        state.deltas[0] = 0.0
        return Outcome(0.0, algorithm.steps + 1, 0, state.deltas[:1])


class Tariff(NamedTuple):
    """The paper's prices, with the twin of an operator dearer by a factor."""

    dear: float = 1.0
    noise: float = 0.1

    @property
    def info(self) -> EnergyInfo:
        return EnergyInfo(
            "lesson",
            Provenance.SIMULATED,
            notes=("the paper's prices for ILS; what the lesson adds is priced by the lesson",),
        )

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        plain = tuple(Flip(getattr(operator, "bits", 1)) for operator in operators)
        meter = PaperMachine(self.noise).attach(problem, "ils", plain)
        factor = np.ones(len(operators) + 1)
        for o, operator in enumerate(operators):
            if isinstance(operator, DearTwin):
                factor[o] = self.dear
        price = meter.per_evaluation * factor
        return priced(meter.per_application, price, 0.0, self.noise)
