"""The paper's machine: Joules per application recovered from its table of energy."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..errors import MeterUnavailable
from ..protocols import EnergyInfo, Provenance
from ..registry import Range, meters
from .meter import CompiledMeter, priced

PROBLEMS = ("knapsack", "nk", "ecc")

# Table "Energy consumption under fixed evaluation budgets", in J, at 35,000 evaluations on the
# knapsack, 10,000 on NK and 15,000 on ECC, divided by those evaluations.
EVALUATIONS = np.array([35_000.0, 10_000.0, 15_000.0])
PUBLISHED = {
    "replace-1": (798.84, 731.25, 7446.86),
    "replace-5": (679.98, 681.25, 7379.68),
    "light": (455.61, 607.44, 7080.38),
    "full": (452.67, 606.17, 7056.78),
    "flip-1": (426.45, 614.85, 7194.98),
    "flip-5": (433.55, 621.95, 7220.81),
}
PER_EVALUATION = {name: np.array(joules) / EVALUATIONS for name, joules in PUBLISHED.items()}

# Replace-k costs a fixed part and k times a part per child: two rows of the table, two unknowns.
PER_CHILD = (5 * PER_EVALUATION["replace-5"] - PER_EVALUATION["replace-1"]) / 4
PER_BROOD = PER_EVALUATION["replace-1"] - PER_CHILD
# More flips cost a little more per evaluation; between and beyond the two rows, in proportion.
PER_FLIP = (PER_EVALUATION["flip-5"] - PER_EVALUATION["flip-1"]) / 4


@meters.add("paper")
class PaperMachine(NamedTuple):
    """Simulated Joules of the paper's machine (Xeon E5-1650 v2, MEALPY), from its own tables.

    Examples
    --------
    >>> PaperMachine().info.provenance
    <Provenance.SIMULATED: 'simulated'>
    """

    noise: Annotated[float, Range(0, 5, "standard deviation of ln E")] = 0.1

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known."""
        return EnergyInfo(
            "paper",
            Provenance.SIMULATED,
            domains=("package", "dram"),
            notes=("prices recovered from the paper's table of energy, at its problem sizes",),
        )

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        """Return the compiled meter for these operators."""
        if problem not in PROBLEMS or algorithm not in START:
            raise MeterUnavailable(
                f"meter paper has no prices for {algorithm} on {problem}: the paper measured "
                f"{', '.join(START)} on {', '.join(PROBLEMS)}; use the meter model (--meter model)"
            )
        column = PROBLEMS.index(problem)
        prices = [price_of(algorithm, operator) for operator in operators]
        application = np.array([fixed[column] for fixed, _ in prices] + [0.0])
        evaluation = np.array([each[column] for _, each in prices] + [START[algorithm][column]])
        return priced(application, evaluation, 0.0, self.noise)


START = {"ssga": PER_CHILD, "pso": PER_EVALUATION["full"], "ils": PER_EVALUATION["flip-1"]}


def price_of(algorithm: str, operator: Any) -> tuple[Any, Any]:
    """Return the J per application and per evaluation, each by problem."""
    nothing = np.zeros(len(PROBLEMS))
    if algorithm == "ssga":
        return PER_BROOD, PER_CHILD
    if operator.name in PER_EVALUATION:
        return nothing, PER_EVALUATION[operator.name]
    if algorithm == "ils":
        flips = getattr(operator, "bits", 1)
        return nothing, PER_EVALUATION["flip-1"] + (flips - 1) * PER_FLIP
    return nothing, START[algorithm]
