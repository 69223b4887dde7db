"""One run of a rule in a case of the zoo."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import check_known
from ..registry import Spec, problems, selectors
from ..run import Run
from ..trial import Trial
from .cases import BUDGETS, EARLY, HALF, Case, ZooPrices, case_of, cast, reprice

Knowledge = Literal["hinted", "probed", "unknown"]
"""What a rule knows of costs beforehand: the price list, probes of one candidate, or nothing."""
KNOWLEDGE: tuple[Knowledge, ...] = ("hinted", "probed", "unknown")

ENOUGH = 3
"""An operator with fewer applications has starved."""
PROBE_EVERY = 1 / 35
"""Share of the budget between two rounds of probes. Half of the budget is not a multiple of it, so
no probe comes just after the change of a case."""

Sample = dict[str, NDArray[np.float64]]
"""Several runs of a rule: the fields of `Visit`, each with one entry a run."""


class Visit(NamedTuple):
    """The figures of one run of a rule in a case."""

    final: float
    """The best fitness at the end."""
    wasted: float
    """Share of wasteful operators in the Joules spent since `case.since`."""
    wasted_late: float
    """The same share in the second half or, where the case changes, from a tenth of the budget
    after the change."""
    tries: int
    """Applications of wasteful operators; where the case changes, those after the change."""
    starved: int
    """Operators, other than wasteful ones, with fewer than three applications."""
    fewest: int
    """Applications of the operator with the fewest."""
    wasted_aware: float
    """Where the case changes, the share from the first payment to a wasteful operator after the
    change: only that payment shows the rule the new price or yield. Otherwise nan."""


def visit(
    rule: str,
    case: str,
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
    rule : str
        A selector, such as "eij-plus" or "ucb1:cost=off".
    case : str
        The name of a case.
    algorithm, problem : str
        The paper's machine must have prices for the problem; its size may differ.
    budget : float
        Joules; 0 stands for the paper's budget.
    seed, repetition : int
        Runs with equal seed and repetition start alike and are paired.
    costs : {"hinted", "probed", "unknown"}
        What the rule knows of costs beforehand.
    compiled : bool

    Examples
    --------
    >>> visit("eij-plus", "twin-10", "ils", "nk:n=20,k=2", budget=400, compiled=False).tries
    0
    """
    played = case_of(case)
    check_known("algorithm", algorithm, played.algorithms)
    check_known("costs", costs, KNOWLEDGE)
    name = Spec.parse(problem).name
    check_known("problem", name, BUDGETS)
    budget = budget or BUDGETS[name]
    factors = tuple(part.price for part in played.parts)
    trial = Trial(
        problem,
        cast(algorithm, played.parts, problems.make(problem)),
        rule,
        ZooPrices(name, algorithm, factors),
        f"{budget!r} J",
        seed=seed,
        repetition=repetition,
        points=200,
    )
    run = begin(trial, costs, compiled=compiled)
    before = np.zeros(len(factors), np.int64)
    if played.then:
        _advance_to(run, HALF * budget)
        before = run.ledger.applications.copy()
        run.replace(algorithm=cast(algorithm, played.then, run.problem))
        reprice(run.charges.compiled, factors, tuple(part.price for part in played.then))
        _advance_to_payment(run, played.wasteful)
    paid = run.ledger.operator_joules.copy()
    for _ in run:
        pass
    aware = run.ledger.operator_joules - paid if played.then else np.zeros_like(paid)
    return _account(run, played, budget, before, aware)


def sample(
    rule: str,
    case: str,
    algorithm: str,
    instances: Sequence[str],
    trials: int,
    *,
    of: Callable[..., Visit] = visit,
    **settings: Any,
) -> Sample:
    """Run a rule with repetitions 0 to trials − 1, on the instances in turn.

    `settings` are those of `visit`, or of the function `of` that makes one run instead.
    """
    visits = [
        of(rule, case, algorithm, instances[i % len(instances)], repetition=i, **settings)
        for i in range(trials)
    ]
    return dict(zip(Visit._fields, np.array(visits, float).T, strict=True))


def begin(trial: Trial, costs: Knowledge = "hinted", *, compiled: bool = True) -> Run:
    """Start a run whose rule has this knowledge of costs."""
    if costs == "probed" and "probe" in {p.name for p in selectors.parameters(trial.selector.name)}:
        spec = trial.selector
        probing = Spec(spec.name, {**spec.parameters, "probe": PROBE_EVERY})
        trial = dataclasses.replace(trial, selector=probing)
    run = Run(trial, compiled=compiled)
    if costs != "hinted":
        hints = run.charges.hints(run.algorithm, run.problem)
        ignorant = hints._replace(joules=np.zeros_like(hints.joules))
        run.replace(stats=run.selector.memory(ignorant, trial.budget.joules))
    return run


def _advance_to(run: Run, joules: float) -> None:
    """Advance until this many Joules are spent, and barely beyond."""
    dearest = max(
        run.charges.compiled.expected(o, actor.forecast(run.algorithm, run.problem))
        for o, actor in enumerate(run.algorithm.operators)
    )
    while not run.done and run.ledger.joules[0] < joules:
        run.advance(max(1, int((joules - run.ledger.joules[0]) / (2.0 * dearest))))


def _advance_to_payment(run: Run, operators: Sequence[int]) -> None:
    """Advance until an application or a probe of one of these operators is charged."""
    accounts, wanted = run.ledger.operator_joules, list(operators)
    before = accounts[wanted].sum()
    while not run.done and accounts[wanted].sum() == before:
        run.advance(1)


def _account(run: Run, case: Case, budget: float, before: Any, aware: Any) -> Visit:
    rows = run.rows()
    wasteful = list(case.wasteful)

    def since(share: float) -> Any:
        # Of an application that begins before the mark and ends after it, a part counts.
        totals = rows["operator_joules"].T
        return np.array([t[-1] - np.interp(share * budget, rows["spent"], t) for t in totals])

    def wasted(spent: Any) -> float:
        return float(spent[wasteful].sum() / spent.sum()) if spent.sum() > 0 else math.nan

    applications = run.ledger.applications
    useful = np.setdiff1d(np.arange(len(applications)), wasteful)
    return Visit(
        final=float(run.state.best_f[0]),
        wasted=wasted(since(case.since)),
        wasted_late=wasted(since(max(HALF, case.since + EARLY))),
        tries=int((applications - before)[wasteful].sum()),
        starved=int((applications[useful] < ENOUGH).sum()),
        fewest=int(applications.min()),
        wasted_aware=wasted(aware),
    )
