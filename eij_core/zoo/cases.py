"""The cases of the zoo: portfolios with a known answer, their operators and their prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.actor import ALMOST, ALMOST_NOISY, DUD, NULL, SHOCK, WORKER, Actor
from ..algorithms.ils import ILS, Flip
from ..algorithms.pso import PSO, Velocity
from ..algorithms.ssga import SSGA, Replace
from ..errors import check_known
from ..meters.meter import CompiledMeter
from ..meters.paper import PaperMachine
from ..protocols import EnergyInfo, Provenance

ALGORITHMS = ("ils", "ssga", "pso")
BUDGETS = {"knapsack": 1e3, "nk": 1e3, "ecc": 1e4}
"""The paper's budgets, in J."""

HALF = 0.5
"""The share of the budget after which a case changes."""
EARLY = 0.1
"""Waste is counted after this share of the budget, because learning is not waste."""


class Part(NamedTuple):
    """One operator of a case: its role, and its price relative to the operator inside."""

    role: int = WORKER
    price: float = 1.0
    grade: int = 1
    """The operator inside: the number of flips in ILS, of children in SSGA; 1 is the good one."""


@dataclass(frozen=True)
class Case:
    """A portfolio with a known answer.

    Parameters
    ----------
    name, about : str
    parts : tuple of Part
        The operators.
    wasteful : tuple of int
        The operators to which a good rule gives almost no energy.
    since : float
        The share of the budget after which waste is counted: a tenth, or the change of the case.
    then : tuple of Part, optional
        The operators after half of the budget is spent.
    algorithms : tuple of str
        The algorithms that the case applies to.
    """

    name: str
    about: str
    parts: tuple[Part, ...]
    wasteful: tuple[int, ...] = (1,)
    since: float = EARLY
    then: tuple[Part, ...] = ()
    algorithms: tuple[str, ...] = ALGORITHMS


GOOD = Part()
OVERPRICED = Part(price=3.0)

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("twin-10", "the same operator again, at 10 times the price", (GOOD, Part(price=10.0))),
        Case("twin-100", "the same operator, at 100 times the price", (GOOD, Part(price=100.0))),
        Case("null", "an operator that does nothing, at the good one's price", (GOOD, Part(NULL))),
        Case("cheap-null", "the same at a hundredth of the price", (GOOD, Part(NULL, 0.01))),
        Case("almost", "a decoy that always falls 0.01 % short", (GOOD, Part(ALMOST))),
        Case("almost-noisy", "the same decoy with noise", (GOOD, Part(ALMOST_NOISY))),
        Case("shock", "the good one sometimes loses a million", (Part(SHOCK), OVERPRICED)),
        Case(
            "late-bloomer",
            "useless at first, by far the best after half of the budget",
            (Part(grade=5), Part(DUD)),
            wasteful=(0,),
            since=0.55,
            then=(Part(grade=5), GOOD),
            algorithms=("ils",),
        ),
        Case(
            "cost-up",
            "half-way the price of the good one rises tenfold",
            (GOOD, Part(price=1.5)),
            wasteful=(0,),
            since=HALF,
            then=(Part(price=10.0), Part(price=1.5)),
        ),
        Case(
            "cost-down",
            "half-way the price of one operator falls to a tenth, which makes it the best",
            (Part(price=10.0), OVERPRICED),
            wasteful=(1,),
            since=HALF,
            then=(GOOD, OVERPRICED),
        ),
        Case(
            "twelve",
            "twelve operators, each worse than the one before",
            tuple(Part(grade=grade) for grade in range(1, 13)),
            wasteful=tuple(range(6, 12)),
            algorithms=("ils",),
        ),
        Case("single", "one operator: nothing to choose", (GOOD,), wasteful=()),
        Case("useless", "no operator works", (Part(NULL), Part(NULL)), wasteful=(0, 1)),
    )
}


def cast(algorithm: str, parts: Sequence[Part], problem: Any) -> Any:
    """Build the algorithm whose operators play these parts."""
    makers: dict[str, tuple[Callable[[int], Any], Callable[[Any], Any]]] = {
        "ils": (Flip, ILS),
        "ssga": (Replace, SSGA),
        "pso": (lambda grade: Velocity(True), PSO),
    }
    operator_of, plain = makers[algorithm]
    inner = tuple(operator_of(part.grade) for part in parts)
    bare = plain(inner)
    seen: dict[str, int] = {}
    actors = []
    for part, operator in zip(parts, inner, strict=True):
        actor = Actor(part.role, 1, operator.forecast(bare, problem), operator)
        seen[actor.name] = seen.get(actor.name, 0) + 1
        actors.append(actor._replace(number=seen[actor.name]))
    return plain(tuple(actors))


class ZooPrices(NamedTuple):
    """The paper machine's prices, times the factors of a case."""

    problem: str
    algorithm: str
    factors: tuple[float, ...]
    noise: float = 0.1

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known."""
        return EnergyInfo("zoo", Provenance.SIMULATED, notes=(f"price factors {self.factors}",))

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        """Return the compiled meter for these operators."""
        inner = tuple(actor.inner for actor in operators)
        meter = PaperMachine(self.noise).attach(self.problem, self.algorithm, inner)
        reprice(meter, (1.0,) * len(operators), self.factors)
        return meter


def reprice(meter: CompiledMeter, old: Sequence[float], new: Sequence[float]) -> None:
    """Change the operators' prices in place, from one list of factors to another."""
    change = np.append(np.asarray(new, float) / np.asarray(old, float), 1.0)  # the start stays
    meter.per_application[:] *= change
    meter.per_evaluation[:] *= change


def case_of(name: str) -> Case:
    """Return a case by its name."""
    check_known("case", name, CASES)
    return CASES[name]
