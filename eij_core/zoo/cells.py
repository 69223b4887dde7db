"""Many runs of a rule in a case: means with intervals, against the best single operator."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..registry import Spec, problems
from .cases import BUDGETS, CASES, Case, case_of, cast
from .visits import Knowledge, visit

__all__ = ["Cell", "Estimate", "equivalence", "estimate", "observe", "plain", "visit_all"]

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
        return plain(asdict(self))


def observe(
    rule: str | Spec,
    case: Case | str,
    algorithm: str = "ils",
    problem: str = "nk",
    *,
    budget: float = 0.0,
    trials: int = 20,
    seed: int = 0,
    costs: Knowledge = "hinted",
    compiled: bool = True,
) -> Cell:
    """Run one rule in one case on paired seeds, and compare it with the best single operator."""
    case = case_of(case)
    if trials < 1:
        raise InputError("trials", trials, "a whole number, at least 1")
    settings: dict[str, Any] = {"budget": budget, "seed": seed, "compiled": compiled}
    visits = [
        visit(rule, case, algorithm, problem, repetition=i, costs=costs, **settings)
        for i in range(trials)
    ]
    operator, best = _static_best(case, algorithm, problem, trials, settings)
    finals = np.array([v.final for v in visits])
    behind = (best - finals) / np.maximum(np.abs(best.mean()), 1e-300)
    return Cell(
        rule=str(rule),
        case=case.name,
        algorithm=algorithm,
        problem=problem,
        costs=costs,
        trials=trials,
        budget=budget or BUDGETS[Spec.parse(problem).name],
        wasted_share=estimate([v.wasted for v in visits]),
        wasted_late=estimate([v.wasted_late for v in visits]),
        final=estimate(finals),
        static_best=float(best.mean()),
        static_operator=operator,
        behind=estimate(behind),
        equivalent_p=equivalence(behind),
        tries=estimate([v.tries for v in visits]),
        starvation=float(np.mean([v.starved > 0 for v in visits])),
    )


def visit_all(
    rules: Iterable[str],
    cases: Iterable[str] = tuple(CASES),
    algorithms: Iterable[str] = ("ils",),
    on: Iterable[str] = ("nk",),
    **settings: Any,
) -> Iterator[Cell]:
    """Observe every rule in every case that makes sense, cell by cell as they are done."""
    for problem in on:
        for algorithm in algorithms:
            for name in cases:
                if algorithm in case_of(name).algorithms:
                    for rule in rules:
                        yield observe(rule, name, algorithm, problem, **settings)


_static_cache: dict[Any, tuple[str, NDArray[np.float64]]] = {}


def _static_best(
    case: Case, algorithm: str, problem: str, trials: int, settings: dict[str, Any]
) -> tuple[str, NDArray[np.float64]]:
    """Return the operator that is best alone, and its finals; computed once for all rules."""
    key = (case, algorithm, problem, trials, tuple(settings.items()))
    if key not in _static_cache:
        candidates = []
        for actor in cast(algorithm, case.parts, problems.make(problem)).operators:
            rule = Spec("static", {"operator": actor.name})
            finals = [
                visit(rule, case, algorithm, problem, repetition=i, **settings).final
                for i in range(trials)
            ]
            candidates.append((actor.name, np.array(finals)))
        _static_cache[key] = max(candidates, key=lambda candidate: candidate[1].mean())
    return _static_cache[key]


def estimate(values: Sequence[float] | NDArray[Any]) -> Estimate:
    """Return the mean and its 95 % t interval; nan counts for nothing."""
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


def plain(value: Any) -> Any:
    """Return data for JSON: what is not a number is None."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
