"""The cases of the zoo: portfolios with a known answer, their operators and their prices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.actor import ALMOST, ALMOST_NOISY, DUD, NULL, SHOCK, WORKER, Actor
from ..algorithms.ils import ILS, Flip
from ..algorithms.pso import PSO, Velocity
from ..algorithms.ssga import SSGA, Replace
from ..errors import InputError, nearest
from ..meters.meter import Meter, Provenance, SourceInfo
from ..meters.paper import PaperMachine

__all__ = [
    "ALGORITHMS",
    "BUDGETS",
    "CASES",
    "EARLY",
    "HALF",
    "Case",
    "Part",
    "ZooPrices",
    "case_of",
    "cast",
    "known",
    "reprice",
]

ALGORITHMS = ("ils", "ssga", "pso")
BUDGETS = {"knapsack": 1e3, "nk": 1e3, "ecc": 1e4}
"""The paper's budgets, in J."""

HALF = 0.5
EARLY = 0.1
"""Waste counts after this share of the budget: learning is not waste."""


class Part(NamedTuple):
    """One operator of a case: what it plays, and its price relative to the operator inside."""

    role: int = WORKER
    price: float = 1.0
    grade: int = 1
    """Which operator plays it, the first being the good one: flips of ILS, children of SSGA."""


@dataclass(frozen=True)
class Case:
    """A portfolio with a known answer.

    Parameters
    ----------
    name, about : str
    parts : tuple of Part
        The operators.
    wasteful : tuple of int
        Those that a good rule gives next to nothing.
    since : float
        Waste is counted after this share of the budget: a tenth, or where the case changes.
    then : tuple of Part, optional
        What the operators become when half of the budget is spent.
    algorithms : tuple of str
        Where the case makes sense.
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
        Case("twin-10", "the same operator again, ten times as dear", (GOOD, Part(price=10.0))),
        Case("twin-100", "the same operator, a hundred times as dear", (GOOD, Part(price=100.0))),
        Case("null", "an operator that does nothing, as dear as the good one", (GOOD, Part(NULL))),
        Case("cheap-null", "nothing, at a hundredth of the price", (GOOD, Part(NULL, 0.01))),
        Case("almost", "a decoy, always a ten-thousandth short", (GOOD, Part(ALMOST))),
        Case("almost-noisy", "the same decoy with noise", (GOOD, Part(ALMOST_NOISY))),
        Case("shock", "now and then the good one loses a million", (Part(SHOCK), OVERPRICED)),
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
            "the good one becomes ten times as dear half-way",
            (GOOD, Part(price=1.5)),
            wasteful=(0,),
            since=HALF,
            then=(Part(price=10.0), Part(price=1.5)),
        ),
        Case(
            "cost-down",
            "a dear one becomes ten times as cheap half-way, and then the best",
            (Part(price=10.0), OVERPRICED),
            wasteful=(1,),
            since=HALF,
            then=(GOOD, OVERPRICED),
        ),
        Case(
            "twelve",
            "twelve operators, the later ones poorer",
            tuple(Part(grade=grade) for grade in range(1, 13)),
            wasteful=tuple(range(6, 12)),
            algorithms=("ils",),
        ),
        Case("single", "one operator: nothing to choose", (GOOD,), wasteful=()),
        Case("useless", "nothing works", (Part(NULL), Part(NULL)), wasteful=(0, 1)),
    )
}


def cast(algorithm: str, parts: Sequence[Part], problem: Any) -> Any:
    """Build the algorithm whose operators play these parts."""
    makers: dict[str, Callable[[int], Any]] = {
        "ils": Flip,
        "ssga": Replace,
        "pso": lambda grade: Velocity(True),
    }
    inner = tuple(makers[algorithm](part.grade) for part in parts)
    plain = {
        "ils": lambda operators: ILS(operators),
        "ssga": lambda operators: SSGA(operators, widest=max(o.children for o in inner)),
        "pso": lambda operators: PSO(operators),
    }[algorithm]
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
    def info(self) -> SourceInfo:
        """Say what these Joules are."""
        return SourceInfo("zoo", Provenance.SIMULATED, notes=(f"price factors {self.factors}",))

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> Meter:
        """Return the compiled meter for these operators."""
        inner = tuple(actor.inner for actor in operators)
        meter = PaperMachine(self.noise).attach(self.problem, self.algorithm, inner)
        reprice(meter, (1.0,) * len(operators), self.factors)
        return meter


def reprice(meter: Meter, old: Sequence[float], new: Sequence[float]) -> None:
    """Change the operators' prices in place, from one list of factors to another."""
    change = np.append(np.asarray(new, float) / np.asarray(old, float), 1.0)  # the start stays
    meter.per_application[:] *= change
    meter.per_evaluation[:] *= change


def case_of(case: Case | str) -> Case:
    """Return a case by its name."""
    if isinstance(case, Case):
        return case
    known("case", case, CASES)
    return CASES[case]


def known(field: str, name: str, names: Iterable[str]) -> None:
    """Refuse a name that does not exist, and say which is nearest."""
    names = tuple(names)
    if name not in names:
        raise InputError(field, name, nearest(name, names))
