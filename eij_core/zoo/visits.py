"""One run of a rule in a case of the zoo."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..registry import Spec, problems, selectors
from ..run import Run
from ..trial import Trial
from .cases import BUDGETS, EARLY, HALF, Case, ZooPrices, case_of, cast, known, reprice

__all__ = ["KNOWLEDGE", "Knowledge", "Visit", "begin", "visit"]

Knowledge = Literal["hinted", "probed", "unknown"]
"""What a rule knows of costs beforehand: the price list, probes of one candidate, or nothing."""
KNOWLEDGE: tuple[Knowledge, ...] = ("hinted", "probed", "unknown")

ENOUGH = 3
"""An operator with fewer applications has starved."""
PROBE_EVERY = 1 / 35
"""Share of the budget between two rounds of probes: half of it is no multiple, so that no probe
comes just after the change of a case."""


class Visit(NamedTuple):
    """What one run of a rule in a case came to."""

    final: float
    wasted: float
    """Share of the Joules spent since `case.since` that went to wasteful operators."""
    wasted_late: float
    """The same of the second half; where the case changes, a tenth of the budget after that."""
    tries: int
    """Applications of wasteful operators; where the case changes, those after the change."""
    starved: int
    """Operators, not wasteful ones, with fewer than three applications."""
    fewest: int
    """Applications of the operator that had fewest."""
    wasted_aware: float
    """Where the case changes: share of the Joules spent after the first payment to a wasteful
    operator since the change, which is what tells that it is wasteful now; else nan."""


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
    case = case_of(case)
    known("algorithm", algorithm, case.algorithms)
    known("costs", costs, KNOWLEDGE)
    name = Spec.parse(problem).name
    known("problem", name, BUDGETS)
    budget = budget or BUDGETS[name]
    factors = tuple(part.price for part in case.parts)
    trial = Trial(
        problem,
        cast(algorithm, case.parts, problems.make(problem)),
        rule,
        ZooPrices(name, algorithm, factors),
        f"{budget!r} J",
        seed=seed,
        repetition=repetition,
        points=200,
    )
    run = begin(trial, costs, compiled=compiled)
    before = np.zeros(len(case.parts), np.int64)
    if case.then:
        _advance_to(run, HALF * budget)
        before = run.ledger.applications.copy()
        run.algorithm = cast(algorithm, case.then, run.problem)
        reprice(run.meter, factors, tuple(part.price for part in case.then))
        _advance_to_payment(run, case.wasteful)
    paid = run.ledger.operator_joules.copy()
    for _ in run:
        pass
    aware = run.ledger.operator_joules - paid if case.then else np.zeros_like(paid)
    return _account(run, case, budget, before, aware)


def begin(trial: Trial, costs: Knowledge = "hinted", *, compiled: bool = True) -> Run:
    """Start a run whose rule knows this much of costs."""
    if costs == "probed" and "probe" in {p.name for p in selectors.parameters(trial.selector.name)}:
        spec = trial.selector
        probing = Spec(spec.name, {**spec.parameters, "probe": PROBE_EVERY})
        trial = dataclasses.replace(trial, selector=probing)
    run = Run(trial, compiled=compiled)
    if costs != "hinted":
        hints = run.hints()
        ignorant = hints._replace(joules=np.zeros_like(hints.joules))
        run.stats = run.selector.memory(ignorant, trial.budget.joules)
    return run


def _advance_to(run: Run, joules: float) -> None:
    """Advance until that much is spent, never far beyond it."""
    dearest = max(
        run.meter.expected(o, actor.forecast(run.algorithm, run.problem))
        for o, actor in enumerate(run.algorithm.operators)
    )
    while not run.done and run.ledger.joules[0] < joules:
        run.advance(max(1, int((joules - run.ledger.joules[0]) / (2.0 * dearest))))


def _advance_to_payment(run: Run, operators: Sequence[int]) -> None:
    """Advance until one of these operators is paid for, by an application or a probe."""
    accounts, wanted = run.ledger.operator_joules, list(operators)
    before = accounts[wanted].sum()
    while not run.done and accounts[wanted].sum() == before:
        run.advance(1)


def _account(run: Run, case: Case, budget: float, before: Any, aware: Any) -> Visit:
    rows = run.rows()
    wasteful = list(case.wasteful)

    def since(share: float) -> Any:
        # Of an application that reaches beyond the mark, the Joules beyond it count.
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
