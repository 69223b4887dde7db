"""What EI/J+ must show, requirement by requirement, with figures from paired runs.

The instances and the seed are kept for this: nothing was tuned on them. A requirement is met if the
mean is within its limit. After a cost has risen, the first payment at the new price is what tells
of it: no rule can do without, so the share counts from there on, and the note has the share with
that payment beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..registry import Spec
from ..reports.statistics import holm, mann_whitney, wilcoxon
from ..trial import Trial
from .cases import ALGORITHMS, BUDGETS, CASES
from .cells import Estimate, equivalence, estimate, plain
from .visits import ENOUGH, KNOWLEDGE, Knowledge, begin, visit

__all__ = ["CLOSE", "HELD_OUT", "SEED", "Check", "Sample", "Task", "checks", "sample", "tasks"]

HELD_OUT = (
    tuple(f"knapsack:instance={i}" for i in (83, 84, 85, 86)),
    tuple(f"nk:instance={i}" for i in (97, 98, 99, 100)),
    ("ecc:words=23,length=12", "ecc:words=27,length=12", "ecc:words=30,length=13"),
)
"""Instances of each problem; the runs of a task take them in turn."""
SEED = 74_209
TRIALS = 40
CLOSE = {"twelve": 20, "cost-down": 5}
"""Cases in which a mean is close to its limit: how many times as many runs they get."""
LEVEL = 0.05
"""Of all tests."""

OURS, PAPER, UNIFORM = "eij-plus", "eij", "uniform"
NINE = "nine"
"""Stands for the paper's own portfolios, which are no case of the zoo."""

Verdict = Literal["met", "missed"]


class Task(NamedTuple):
    """Runs of one rule, paired with those of others by their number."""

    rule: str
    case: str
    algorithm: str
    problem: tuple[str, ...]
    """Its instances, which the runs take in turn."""
    costs: Knowledge


class Sample(NamedTuple):
    """What came out of a task, run by run."""

    final: Any
    wasted: Any
    wasted_late: Any
    tries: Any
    fewest: Any
    wasted_aware: Any


@dataclass(frozen=True)
class Check:
    """One requirement in one place."""

    requirement: str
    case: str
    algorithm: str
    problem: str
    costs: str
    figure: Estimate
    limit: str
    verdict: Verdict
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return plain(asdict(self))


# --- runs -----------------------------------------------------------------------------------------


def tasks(on: Iterable[tuple[str, ...]] = HELD_OUT) -> list[Task]:
    """Return all runs that the requirements need."""
    found = []
    for problem in on:
        for algorithm in ALGORITHMS:
            here = [name for name in JUDGED if algorithm in CASES[name].algorithms]
            for name in here:
                knowledge = JUDGED[name].costs
                found += [Task(OURS, name, algorithm, problem, costs) for costs in knowledge]
            found.append(Task(_alone(algorithm), "twin-10", algorithm, problem, "hinted"))
            found += [Task(OURS, NINE, algorithm, problem, costs) for costs in KNOWLEDGE]
            found.append(Task(PAPER, NINE, algorithm, problem, "hinted"))
            if "twelve" in here:
                found += [
                    Task(rule, "twelve", algorithm, problem, "hinted") for rule in (PAPER, UNIFORM)
                ]
    return found


def sample(
    task: Task,
    trials: int = TRIALS,
    seed: int = SEED,
    *,
    budget: float = 0.0,
    compiled: bool = True,
) -> Sample:
    """Carry a task out."""
    run: Callable[..., Any] = _nine if task.case == NINE else visit
    visits = [
        run(
            task.rule,
            task.case,
            task.algorithm,
            task.problem[i % len(task.problem)],
            repetition=i,
            seed=seed,
            costs=task.costs,
            budget=budget,
            compiled=compiled,
        )
        for i in range(trials * CLOSE.get(task.case, 1))
    ]
    return Sample(*(np.array([getattr(v, name) for v in visits], float) for name in Sample._fields))


def _nine(
    rule: str,
    case: str,
    algorithm: str,
    problem: str,
    *,
    repetition: int,
    seed: int,
    costs: Knowledge,
    budget: float,
    compiled: bool,
) -> Sample:
    """Run a rule with the paper's portfolio and prices."""
    joules = f"{budget or BUDGETS[Spec.parse(problem).name]!r} J"
    trial = Trial(problem, algorithm, rule, "paper", joules, seed=seed, repetition=repetition)
    run = begin(trial, costs, compiled=compiled)
    for _ in run:
        pass
    return Sample(float(run.state.best_f[0]), *[np.nan] * 5)


def _alone(algorithm: str) -> str:
    """Name the good operator by itself: in a twin test no other can be better."""
    return f"static:operator={dict(ils='flip-1', ssga='replace-1', pso='full')[algorithm]}"


# --- requirements ---------------------------------------------------------------------------------


class Requirement(NamedTuple):
    """A figure of a case, and what it may be."""

    text: str
    costs: tuple[Knowledge, ...]
    figure: Callable[[Sample], Any]
    limit: Callable[[str, str], float]
    """By problem and knowledge of costs."""
    least: bool = False
    """Whether the limit is the least instead of the most."""
    always: bool = False
    """Whether it holds for every run instead of the mean."""


def _limit(value: float) -> Callable[[str, str], float]:
    return lambda problem, costs: value


def _twin(problem: str, costs: str) -> float:
    return 0.05 if costs != "unknown" else 0.15 if problem == "knapsack" else 0.10


JUDGED: dict[str, Requirement] = {
    "twin-10": Requirement("share wasted on a twin ×10", KNOWLEDGE, lambda s: s.wasted, _twin),
    "twin-100": Requirement(
        "tries of a twin ×100 in any run",
        KNOWLEDGE,
        lambda s: s.tries,
        lambda problem, costs: 1.0 if costs == "unknown" else 0.0,
        always=True,
    ),
    "null": Requirement(
        "late share of a null operator", KNOWLEDGE, lambda s: s.wasted_late, _limit(0.1)
    ),
    "cheap-null": Requirement(
        "late share of a cheap null", KNOWLEDGE, lambda s: s.wasted_late, _limit(0.1)
    ),
    "almost": Requirement(
        "late share of the decoy", KNOWLEDGE, lambda s: s.wasted_late, _limit(0.15)
    ),
    "almost-noisy": Requirement(
        "late share of a noisy decoy", KNOWLEDGE, lambda s: s.wasted_late, _limit(0.15)
    ),
    "late-bloomer": Requirement(
        "late bloomer's share of the last 45 %",
        KNOWLEDGE,
        lambda s: 1.0 - s.wasted,
        _limit(0.65),
        least=True,
    ),
    "cost-up": Requirement(
        "share of a risen cost, once paid", KNOWLEDGE, lambda s: s.wasted_aware, _limit(0.05)
    ),
    "cost-down": Requirement(
        "share of a fallen cost afterwards",
        ("probed",),
        lambda s: 1.0 - s.wasted,
        _limit(0.6),
        least=True,
    ),
    "twelve": Requirement(
        "fewest tries of any of twelve, in any run",
        KNOWLEDGE,
        lambda s: s.fewest,
        _limit(ENOUGH),
        least=True,
        always=True,
    ),
}


def checks(samples: dict[Task, Sample]) -> Iterator[Check]:
    """Hold what came out against every requirement that it allows to judge."""
    for task, found in samples.items():
        if task.rule == OURS and task.case in JUDGED:
            yield _judge(JUDGED[task.case], task, found)
            if task.case == "twin-10":
                yield _equivalent(task, found, samples)
            if task.case == "twelve":
                yield from (_not_below(task, found, rule, samples) for rule in (UNIFORM, PAPER))
    yield from _nine_cases(samples)


def _judge(requirement: Requirement, task: Task, found: Sample) -> Check:
    values = requirement.figure(found)
    limit = requirement.limit(_name(task), task.costs)
    figure = estimate(values)
    told = figure.mean
    if requirement.always:
        told = float(values.min() if requirement.least else values.max())
    holds = told >= limit if requirement.least else told <= limit
    verdict: Verdict = "met" if holds else "missed"
    note = f"at worst {told:g}" if requirement.always else ""
    if task.case == "cost-up":
        note = f"{found.wasted.mean():.1%} with the first payment, {found.tries.mean():.2g} in all"
    sign = "≥" if requirement.least else "≤"
    return Check(requirement.text, *_place(task), figure, f"{sign} {limit:g}", verdict, note)


def _equivalent(task: Task, found: Sample, samples: dict[Task, Sample]) -> Check:
    alone = Task(_alone(task.algorithm), "twin-10", task.algorithm, task.problem, "hinted")
    best = samples[alone].final
    behind = (best - found.final) / np.abs(best.mean())
    p = equivalence(behind)
    verdict: Verdict = "met" if p < LEVEL else "missed"
    text = "twin ×10: fitness short of the static best"
    return Check(text, *_place(task), estimate(behind), "within 1 %, TOST", verdict, f"p {p:.2g}")


def _not_below(task: Task, found: Sample, rule: str, samples: dict[Task, Sample]) -> Check:
    theirs = samples[task._replace(rule=rule, costs="hinted")].final
    ahead = (found.final - theirs) / np.abs(theirs.mean())
    p = wilcoxon(found.final, theirs)
    verdict: Verdict = "met" if ahead.mean() >= 0.0 else "missed"
    text = f"twelve: fitness ahead of {rule}"
    return Check(text, *_place(task), estimate(ahead), "≥ 0", verdict, f"p {p:.2g}")


def _nine_cases(samples: dict[Task, Sample]) -> Iterator[Check]:
    for costs in KNOWLEDGE:
        mine = [task for task in samples if task[:2] == (OURS, NINE) and task.costs == costs]
        theirs = [samples[task._replace(rule=PAPER, costs="hinted")].final for task in mine]
        pairs = [(samples[task].final, other) for task, other in zip(mine, theirs, strict=True)]
        paired = holm([wilcoxon(a, b) for a, b in pairs])
        unpaired = holm([mann_whitney(a, b) for a, b in pairs])
        for task, (a, b), p, q in zip(mine, pairs, paired, unpaired, strict=True):
            ahead = (a - b) / np.abs(b.mean())
            worse = ahead.mean() < 0.0 and (p < LEVEL or q < LEVEL)
            yield Check(
                "the paper's case: fitness ahead of its rule",
                *_place(task),
                estimate(ahead),
                "not worse (Holm)",
                "missed" if worse else "met",
                f"Wilcoxon p {p:.2g}, Mann-Whitney p {q:.2g}",
            )


def _place(task: Task) -> tuple[str, str, str, str]:
    return task.case, task.algorithm, _name(task), task.costs


def _name(task: Task) -> str:
    return Spec.parse(task.problem[0]).name
