"""The zoo: small cases with a known answer, which show who wastes energy.

In each case one operator works at a fair price and the rest is useless, overpriced or a trap by
construction, on every algorithm alike. A rule is judged by the Joules it gives to them and by the
fitness it ends with, against the best single operator on the same seeds. Joules are simulated: the
prices of the paper's machine, times a factor that the case sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .algorithms.actor import ALMOST, ALMOST_NOISY, DUD, NULL, SHOCK, WORKER, Actor
from .algorithms.ils import ILS, Flip
from .algorithms.pso import PSO, Velocity
from .algorithms.ssga import SSGA, Replace
from .errors import InputError, nearest
from .meters.meter import Meter, Provenance, SourceInfo
from .meters.paper import PaperMachine
from .probing import probe
from .records import Hints
from .registry import Spec, problems
from .run import Run
from .trial import Trial

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ALGORITHMS",
    "BUDGETS",
    "CASES",
    "Case",
    "Cell",
    "Estimate",
    "Knowledge",
    "Visit",
    "frame_of_cells",
    "heat_map",
    "observe",
    "visit",
    "visit_all",
]

Knowledge = Literal["hinted", "probed", "unknown"]
"""What a rule knows of costs beforehand: the price list, a probe, or nothing."""

ALGORITHMS = ("ils", "ssga", "pso")
BUDGETS = {"knapsack": 1e3, "nk": 1e3, "ecc": 1e4}
"""The paper's budgets, in J."""

HALF = 0.5
EARLY = 0.1
"""Waste counts after this share of the budget: learning is not waste."""
ENOUGH = 3
"""An operator with fewer applications has starved."""
PROBE_EVERY = 0.05
"""Share of the budget between two probes of an operator that is not applied."""
MARGIN = 0.01
"""Fitness within this share of the static best counts as equivalent."""


# --- the cases ------------------------------------------------------------------------------------


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
        Waste is counted after this share of the budget.
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
            since=HALF + EARLY,
            then=(Part(price=10.0), Part(price=1.5)),
        ),
        Case(
            "cost-down",
            "a dear one becomes ten times as cheap half-way, and then the best",
            (Part(price=10.0), OVERPRICED),
            wasteful=(1,),
            since=HALF + EARLY,
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


# --- one run --------------------------------------------------------------------------------------


class Visit(NamedTuple):
    """What one run of a rule in a case came to."""

    final: float
    wasted: float
    """Share of the Joules spent since `case.since` that went to wasteful operators."""
    wasted_late: float
    """The same, of the second half of the budget."""
    tries: int
    """Applications of wasteful operators."""
    starved: int
    """Operators, not wasteful ones, with fewer than three applications."""


def visit(
    rule: str | Spec,
    case: Case | str,
    algorithm: str = "ils",
    problem: str = "nk",
    *,
    budget: float = 0.0,
    seed: int = 0,
    repetition: int = 0,
    costs: Knowledge = "hinted",
    compiled: bool = True,
) -> Visit:
    """Run one rule once in one case.

    Parameters
    ----------
    rule : str or Spec
        A selector, such as "eij-plus" or "ucb1:cost=off".
    case : Case or str
    algorithm, problem : str
        The problem must be one that the paper's machine has prices for; its size may differ.
    budget : float
        Joules; 0 for the paper's.
    seed, repetition : int
        Runs with equal seed and repetition start alike and are paired.
    costs : {"hinted", "probed", "unknown"}
    compiled : bool

    Examples
    --------
    >>> visit("eij-plus", "twin-10", "ils", "nk:n=20,k=2", budget=400, compiled=False).tries
    0
    """
    case = _case(case)
    _known("algorithm", algorithm, case.algorithms)
    name = Spec.parse(problem).name
    _known("problem", name, BUDGETS)
    budget = budget or BUDGETS[name]
    factors = tuple(part.price for part in case.parts)
    made = problems.make(problem)
    trial = Trial(
        problem,
        cast(algorithm, case.parts, made),
        rule,
        ZooPrices(name, algorithm, factors),
        f"{budget!r} J",
        seed=seed,
        repetition=repetition,
        points=200,
    )
    run = Run(trial, compiled=compiled)
    if costs != "hinted":
        candidates = [a.forecast(run.algorithm, run.problem).candidates for a in _actors(run)]
        nothing = np.zeros(len(run.names))
        hints = Hints(run.names, np.array(candidates, float), nothing)
        run.stats = run.selector.memory(hints, budget)
    _play(run, case, algorithm, budget, costs == "probed")
    return _account(run, case, budget)


def _actors(run: Run) -> tuple[Any, ...]:
    return tuple(run.algorithm.operators)


def _play(run: Run, case: Case, algorithm: str, budget: float, probing: bool) -> None:
    """Drive the run to its end: probes on the way, and the change half-way."""
    stops = {HALF} if case.then else set()
    if probing:
        probe(run)
        stops |= {round(PROBE_EVERY * i, 10) for i in range(1, round(1 / PROBE_EVERY))}
    for stop in sorted(stops):
        before = run.ledger.applications.copy()
        _advance_to(run, stop * budget)
        if run.done:
            return
        if stop == HALF and case.then:
            run.algorithm = cast(algorithm, case.then, run.problem)
            old, new = (tuple(part.price for part in p) for p in (case.parts, case.then))
            reprice(run.meter, old, new)
        if probing:
            idle = np.flatnonzero(run.ledger.applications == before)
            probe(run, (int(o) for o in idle))
    for _ in run:
        pass


def _advance_to(run: Run, joules: float) -> None:
    """Advance until that much is spent, never far beyond it."""
    forecasts = [actor.forecast(run.algorithm, run.problem) for actor in _actors(run)]
    dearest = max(run.meter.expected(o, forecast) for o, forecast in enumerate(forecasts))
    while not run.done and run.ledger.joules[0] < joules:
        run.advance(max(1, int((joules - run.ledger.joules[0]) / (2.0 * dearest))))


def _account(run: Run, case: Case, budget: float) -> Visit:
    rows = run.rows()
    wasteful = list(case.wasteful)

    def share(since: float) -> float:
        # Of an application that reaches beyond the mark, the Joules beyond it count.
        totals = rows["operator_joules"].T
        spent = np.array([t[-1] - np.interp(since * budget, rows["spent"], t) for t in totals])
        return float(spent[wasteful].sum() / spent.sum()) if spent.sum() > 0 else math.nan

    applications = run.ledger.applications
    useful = np.setdiff1d(np.arange(len(applications)), wasteful)
    return Visit(
        final=float(run.state.best_f[0]),
        wasted=share(case.since),
        wasted_late=share(max(HALF, case.since)),
        tries=int(applications[wasteful].sum()),
        starved=int((applications[useful] < ENOUGH).sum()),
    )


# --- many runs ------------------------------------------------------------------------------------


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
        return _plain(asdict(self))


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
    case = _case(case)
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
        wasted_share=_estimate([v.wasted for v in visits]),
        wasted_late=_estimate([v.wasted_late for v in visits]),
        final=_estimate(finals),
        static_best=float(best.mean()),
        static_operator=operator,
        behind=_estimate(behind),
        equivalent_p=_equivalence(behind),
        tries=_estimate([v.tries for v in visits]),
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
                if algorithm in _case(name).algorithms:
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


def _estimate(values: Sequence[float] | NDArray[Any]) -> Estimate:
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


def _equivalence(behind: NDArray[np.float64]) -> float:
    """Return the p of two one-sided t tests that the mean lies within the margin."""
    from scipy import stats

    if behind.size < 2:
        return math.nan
    if behind.std() == 0.0:
        return 0.0 if abs(behind.mean()) < MARGIN else 1.0
    upper = stats.ttest_1samp(behind, MARGIN, alternative="less").pvalue
    lower = stats.ttest_1samp(behind, -MARGIN, alternative="greater").pvalue
    return float(max(upper, lower))


# --- tables ---------------------------------------------------------------------------------------


def frame_of_cells(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return one row per cell, intervals as `…_low` and `…_high`."""
    import pandas as pd

    rows = []
    for cell in cells:
        row: dict[str, Any] = {}
        for name, value in asdict(cell).items():
            if isinstance(value, dict):
                row |= {name: value["mean"], f"{name}_low": value["low"]}
                row[f"{name}_high"] = value["high"]
            else:
                row[name] = value
        rows.append(row)
    return pd.DataFrame(rows)


def heat_map(frame: pd.DataFrame, value: str = "wasted_share") -> pd.DataFrame:
    """Return rules × cases, averaged over problems and algorithms, in the order of the zoo."""
    table = frame.pivot_table(index="rule", columns="case", values=value, aggfunc="mean")
    order = [name for name in CASES if name in table.columns]
    rules = list(dict.fromkeys(frame["rule"]))
    return table.loc[[rule for rule in rules if rule in table.index], order]


def _case(case: Case | str) -> Case:
    if isinstance(case, Case):
        return case
    _known("case", case, CASES)
    return CASES[case]


def _known(field: str, name: str, known: Iterable[str]) -> None:
    known = tuple(known)
    if name not in known:
        raise InputError(field, name, nearest(name, known))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
