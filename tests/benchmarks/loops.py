"""Ours in ALNS's loop against every scheme that ALNS ships, on equal Joules.

``python -m tests.benchmarks.loops`` runs three problems in Python (`loop_problems`), 30 instances
of each, every scheme on each with the same seed, 5 J a run: half a second of CPU time at 10 W,
choosing and learning included. What is compared is the objective at the end (smaller is better):
the mean, the mean difference to ours, wins and losses, Wilcoxon's signed ranks with Holm's
correction within a problem. It ends with 1 if ours is significantly worse than a scheme, or not
better on average than RouletteWheel and AlphaUCB in two problems of three.

The Joules are an estimate from the CPU time of the thread, so other processes take none of them;
but they slow the processor's caches. Schemes therefore take turns: all on one instance one after
the other, in an order that moves on with each.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from alns import ALNS
from alns.select import AlphaUCB, MABSelector, RandomSelect, RouletteWheel, SegmentedRouletteWheel
from mabwiser.mab import LearningPolicy
from rich.console import Console
from rich.table import Table
from scipy.stats import wilcoxon

from eij_core.adapters.alns import JouleSelect, MaxJoules
from eij_core.meters.counters.cputime import CpuTimeCounter
from eij_core.reports.statistics import holm

from .loop_problems import PROBLEMS

SCORES, WATTS, OURS = [5, 2, 1, 0.5], 10.0, "eij-plus"
MUST_BEAT = ("RouletteWheel", "AlphaUCB")
ALPHA = 0.05
EPSILON = LearningPolicy.EpsilonGreedy(0.15)
SCHEMES: dict[str, Callable[[int, int, int], Any]] = {
    "RandomSelect": lambda d, r, seed: RandomSelect(d, r),
    "RouletteWheel": lambda d, r, seed: RouletteWheel(SCORES, 0.8, d, r),
    "SegmentedRouletteWheel": lambda d, r, seed: SegmentedRouletteWheel(SCORES, 0.8, 100, d, r),
    "AlphaUCB": lambda d, r, seed: AlphaUCB(SCORES, 0.05, d, r),
    "MABSelector": lambda d, r, seed: MABSelector(SCORES, d, r, EPSILON, seed=seed),
}


class Stop:
    """Ends every run alike, by the CPU time of its thread; ours also when nothing fits any more."""

    def __init__(self, joules: float, scheme: Any) -> None:
        self.all = MaxJoules(f"{joules} J", CpuTimeCounter(WATTS))
        self.own = MaxJoules(scheme) if isinstance(scheme, JouleSelect) else None

    def __call__(self, rng: Any, best: Any, current: Any) -> bool:
        return self.all(rng, best, current) or (
            self.own is not None and self.own(rng, best, current)
        )


def made(scheme: str, d: int, r: int, seed: int, joules: float) -> Any:
    if scheme != OURS:
        return SCHEMES[scheme](d, r, seed)
    meter = CpuTimeCounter(WATTS)
    return JouleSelect(d, r, budget=f"{joules} J", meter=meter, seed=seed, compiled=True)


def run(problem: str, scheme: str, seed: int, joules: float) -> dict[str, Any]:
    """Search one instance with one scheme."""
    case = PROBLEMS[problem](np.random.default_rng(1000 + seed))
    search = ALNS(np.random.default_rng(seed))
    for operator in case.destroy:
        search.add_destroy_operator(operator)
    for operator in case.repair:
        search.add_repair_operator(operator)
    select = made(scheme, len(case.destroy), len(case.repair), seed, joules)
    gc.collect()
    started = time.thread_time()
    found = search.iterate(case.start, select, case.accept(), Stop(joules, select))
    return {
        "problem": problem,
        "scheme": scheme,
        "seed": seed,
        "objective": found.best_state.objective(),
        "iterations": len(found.statistics.objectives) - 1,
        "joules": WATTS * (time.thread_time() - started),
    }


def turn(problem: str, seed: int, joules: float) -> list[dict[str, Any]]:
    """Let all schemes search one instance, one after the other."""
    names = [OURS, *SCHEMES]
    shift = seed % len(names)
    return [run(problem, name, seed, joules) for name in names[shift:] + names[:shift]]


def overhead(scheme: str, decisions: int = 2000) -> float:
    """Return the µs of choosing and learning once, with nine pairs and states that cost nothing."""
    select = made(scheme, 3, 3, 1, joules=1e6)
    rng, states = np.random.default_rng(1), [_Nothing(float(i % 7)) for i in range(decisions)]

    def decide(count: int) -> float:
        started = time.thread_time()
        for state in states[:count]:
            d, r = select(rng, state, state)
            select.update(state, d, r, 3)
        return 1e6 * (time.thread_time() - started) / count

    decide(200)
    return statistics.median(decide(decisions // 4) for _ in range(4))


class _Nothing:
    def __init__(self, value: float) -> None:
        self.value = value

    def objective(self) -> float:
        return self.value


def compared(rows: list[dict[str, Any]], problem: str) -> list[dict[str, Any]]:
    """Return, for each scheme of one problem, how ours does beside it."""
    ends = {
        name: {
            row["seed"]: row for row in rows if (row["problem"], row["scheme"]) == (problem, name)
        }
        for name in (OURS, *SCHEMES)
    }
    seeds = sorted(ends[OURS])
    mine = np.array([ends[OURS][seed]["objective"] for seed in seeds])
    lines = []
    for name, runs in ends.items():
        theirs = np.array([runs[seed]["objective"] for seed in seeds])
        difference = theirs - mine
        p = wilcoxon(difference).pvalue if difference.any() else 1.0
        lines.append(
            {
                "problem": problem,
                "scheme": name,
                "mean": theirs.mean(),
                "sd": theirs.std(ddof=1),
                "difference": difference.mean(),
                "wins": int((difference > 0).sum()),
                "losses": int((difference < 0).sum()),
                "p": float(p),
                "iterations": statistics.mean(row["iterations"] for row in runs.values()),
                "joules": statistics.mean(row["joules"] for row in runs.values()),
            }
        )
    for line, p in zip(lines[1:], holm([line["p"] for line in lines[1:]]), strict=True):
        line["p"] = float(p)
        better, clear = line["difference"] > 0, p < ALPHA
        line["verdict"] = ("better" if better else "WORSE") if clear else "no clear difference"
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--joules", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--problem", action="append", choices=list(PROBLEMS))
    parser.add_argument("--json", action="store_true", help="every run, one a line")
    options = parser.parse_args()
    costs = {name: overhead(name) for name in (OURS, *SCHEMES)}
    problems = options.problem or list(PROBLEMS)
    seeds = range(options.first, options.first + options.seeds)
    cases = [(problem, seed) for seed in seeds for problem in problems]
    with ProcessPoolExecutor(options.jobs) as pool:
        turns = [pool.submit(turn, *case, options.joules) for case in cases]
        rows = []
        for each in turns:
            rows += each.result()
            if options.json:
                print(*map(json.dumps, each.result()), sep="\n", flush=True)
    lines = {problem: compared(rows, problem) for problem in problems}
    show(lines, costs)
    worse = [line for each in lines.values() for line in each if line.get("verdict") == "WORSE"]
    beaten = [
        sum(_of(each, rival)["difference"] > 0 for each in lines.values()) for rival in MUST_BEAT
    ]
    return int(bool(worse) or min(beaten) < min(2, len(problems)))


def _of(lines: list[dict[str, Any]], scheme: str) -> dict[str, Any]:
    return next(line for line in lines if line["scheme"] == scheme)


def show(lines: dict[str, list[dict[str, Any]]], costs: dict[str, float]) -> None:
    for problem, schemes in lines.items():
        table = Table(title=f"{problem}: objective, smaller is better", title_justify="left")
        for heading in ("scheme", "mean ± sd", "theirs − ours", "ours wins : loses", "p (Holm)"):
            table.add_column(heading, justify="left" if heading == "scheme" else "right")
        for heading in ("iterations", "µs an iteration", "J, estimated", ""):
            table.add_column(heading, justify="right")
        for line in schemes:
            alone = line["scheme"] == OURS
            table.add_row(
                line["scheme"],
                f"{line['mean']:.4g} ± {line['sd']:.2g}",
                "" if alone else f"{line['difference']:+.3g}",
                "" if alone else f"{line['wins']} : {line['losses']}",
                "" if alone else f"{line['p']:.3g}",
                f"{line['iterations']:,.0f}",
                f"{costs[line['scheme']]:.0f}",
                f"{line['joules']:.2f}",
                line.get("verdict", ""),
            )
        Console(width=140).print(table)


if __name__ == "__main__":
    sys.exit(main())
