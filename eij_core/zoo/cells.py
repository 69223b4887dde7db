"""Many runs of a rule in a case: means with intervals, against the best single operator."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..registry import Spec, problems
from ..result import finite
from .cases import BUDGETS, CASES, case_of, cast
from .visits import Knowledge, sample

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.01
"""Fitness within this share of the static best counts as equivalent."""


@dataclass(frozen=True)
class Estimate:
    """A mean over trials with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """A rule in a case: all that the table and the heat map show, as plain numbers."""

    rule: str
    case: str
    algorithm: str
    problem: str
    costs: str
    trials: int
    budget: float
    wasted_share: Estimate
    wasted_late: Estimate
    final: Estimate
    static_best: float
    """Mean fitness of the best single operator, on the same seeds."""
    static_operator: str
    behind: Estimate
    """(static best − final) / |static best|, trial by trial; below 0: the rule was better."""
    equivalent_p: float
    """TOST: the larger p of the two one-sided tests that |behind| is below the margin of 1 %."""
    tries: Estimate
    starvation: float
    """Share of trials in which a useful operator had fewer than three applications."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; what is not a number is None."""
        return finite(asdict(self))

    def flat(self) -> dict[str, Any]:
        """Return one row of a table: intervals as `…_low` and `…_high`."""
        row: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if isinstance(value, dict):
                row |= {name: value["mean"]}
                row |= {f"{name}_{end}": value[end] for end in ("low", "high")}
            else:
                row[name] = value
        return row


def observe(
    rule: str,
    case: str,
    algorithm: str = "ils",
    problem: str = "nk",
    *,
    trials: int = 20,
    costs: Knowledge = "hinted",
    budget: float = 0.0,
    **settings: Any,
) -> Cell:
    """Run one rule in one case on paired seeds, and compare it with the best single operator.

    `budget` and the other settings are those of `visit`.
    """
    if trials < 1:
        raise InputError("trials", trials, "a whole number, at least 1")
    settings["budget"] = budget
    found = sample(rule, case, algorithm, (problem,), trials, costs=costs, **settings)
    operator, best = _static_best(case, algorithm, problem, trials, **settings)
    behind = (best - found["final"]) / np.maximum(np.abs(best.mean()), 1e-300)
    return Cell(
        rule=rule,
        case=case,
        algorithm=algorithm,
        problem=problem,
        costs=costs,
        trials=trials,
        budget=budget or BUDGETS[Spec.parse(problem).name],
        wasted_share=estimate(found["wasted"]),
        wasted_late=estimate(found["wasted_late"]),
        final=estimate(found["final"]),
        static_best=float(best.mean()),
        static_operator=operator,
        behind=estimate(behind),
        equivalent_p=equivalence(behind),
        tries=estimate(found["tries"]),
        starvation=float(np.mean(found["starved"] > 0)),
    )


class Place(NamedTuple):
    """Where a rule is observed."""

    rule: str
    case: str
    algorithm: str
    problem: str


def places(
    rules: Iterable[str],
    cases: Iterable[str] = tuple(CASES),
    algorithms: Iterable[str] = ("ils",),
    on: Iterable[str] = ("nk",),
) -> list[Place]:
    """Return every rule in every case that its algorithm has.

    Examples
    --------
    >>> places(["eij"], ["twin-10"])
    [Place(rule='eij', case='twin-10', algorithm='ils', problem='nk')]
    """
    return [
        Place(rule, name, algorithm, problem)
        for problem, algorithm, name, rule in itertools.product(on, algorithms, cases, rules)
        if algorithm in case_of(name).algorithms
    ]


def observe_at(place: Place, **settings: Any) -> Cell:
    """Observe a rule where `place` says; see `observe` for the settings."""
    return observe(*place, **settings)


@functools.cache  # the same for all rules
def _static_best(
    case: str, algorithm: str, problem: str, trials: int, **settings: Any
) -> tuple[str, NDArray[np.float64]]:
    """Return the operator that is best alone, and the fitness of its runs."""
    finals = {}
    for actor in cast(algorithm, case_of(case).parts, problems.make(problem)).operators:
        rule = f"static:operator={actor.name}"
        finals[actor.name] = sample(rule, case, algorithm, (problem,), trials, **settings)["final"]
    return max(finals.items(), key=lambda item: item[1].mean())


def estimate(values: ArrayLike) -> Estimate:
    """Return the mean and its 95 % t interval; nan is left out."""
    from scipy import stats  # here, because it is half of the time of an import

    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return Estimate(math.nan, math.nan, math.nan)
    mean = float(known.mean())
    if known.size == 1 or known.std() == 0.0:
        return Estimate(mean, mean, mean)
    half = float(stats.t.ppf(0.975, known.size - 1) * known.std(ddof=1) / math.sqrt(known.size))
    return Estimate(mean, mean - half, mean + half)


def equivalence(behind: NDArray[np.float64]) -> float:
    """Return the p of two one-sided t tests that the mean lies within the margin."""
    from scipy import stats

    if behind.size < 2:
        return math.nan
    if behind.std() == 0.0:
        return 0.0 if abs(behind.mean()) < MARGIN else 1.0
    upper = stats.ttest_1samp(behind, MARGIN, alternative="less").pvalue
    lower = stats.ttest_1samp(behind, -MARGIN, alternative="greater").pvalue
    return float(max(upper, lower))


def frame_of_cells(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return one row per cell; see `Cell.flat`."""
    import pandas as pd  # here, because a run in the zoo does not need it

    return pd.DataFrame([cell.flat() for cell in cells])


def rules_by_cases(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the wasted share by rules × cases, averaged over problems and algorithms."""
    table = frame.pivot_table(index="rule", columns="case", values="wasted_share", aggfunc="mean")
    order = [name for name in CASES if name in table.columns]
    rules = [rule for rule in frame["rule"].unique() if rule in table.index]
    return table.loc[rules, order]
