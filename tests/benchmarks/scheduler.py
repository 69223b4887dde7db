"""What a decision costs in somebody's own loop: µs of `ask` + `tell`, interpreted and compiled.

``python -m tests.benchmarks.scheduler`` prints a table (``--json``: one object a line) and ends
with 1 if a target is missed: with ten operators and `eij-plus`, at most 20 µs on a price list and
40 µs on a counter. "machine code" is the two calls of the compiled rule alone. Below stand, of the
same run and where the group `bench` is installed, ALNS's RouletteWheel and MABWiser's Thompson
sampling with as many operators. Times are CPU times of the thread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from eij_core import Scheduler
from eij_core.meters.counters.cputime import CpuTimeCounter

TARGETS = {"price list": 20.0, "counter": 40.0}
METERS: dict[str, Any] = {"price list": lambda: "model", "counter": lambda: CpuTimeCounter(10.0)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", action="append", help="a rule, again for more")
    parser.add_argument("--operators", type=int, default=10)
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        measured(rule, meter, options.operators, options.decisions, options.repeats)
        for rule in options.rule or ["eij-plus", "eij", "uniform"]
        for meter in METERS
    ]
    others = peers(options.operators, options.decisions // 20, options.repeats)
    if options.json:
        for row in [*rows, *others]:
            print(json.dumps(row))
    else:
        show(rows)
        for other in others:
            print(f"{other['peer']}: {other['us']:.2f} µs a decision")
    return int(not all(row["met"] for row in rows))


def measured(rule: str, meter: str, operators: int, decisions: int, repeats: int) -> dict[str, Any]:
    """Return the medians of one rule on one meter."""

    def made(compiled: bool) -> Scheduler:
        names = [f"operator-{o}" for o in range(operators)]
        counter = METERS[meter]()
        return Scheduler(names, selector=rule, budget="1 MJ", meter=counter, compiled=compiled)

    compiled, interpreted = made(True), made(False)
    decide(compiled, 500)
    decide(interpreted, 50)
    quick = statistics.median(decide(compiled, decisions) for _ in range(repeats))
    slow = statistics.median(decide(interpreted, decisions // 100) for _ in range(repeats))
    bare = statistics.median(calls(compiled, decisions) for _ in range(repeats))
    limit = TARGETS[meter]
    return {
        "rule": rule,
        "meter": meter,
        "interpreted_us": round(slow, 2),
        "compiled_us": round(quick, 2),
        "machine_code_us": round(bare, 2),
        "limit_us": limit,
        "met": quick <= limit,
    }


def peers(operators: int, decisions: int, repeats: int) -> list[dict[str, Any]]:
    """Return the medians of other people's schemes, which choose a repair for one destroy."""
    try:
        from alns.select import MABSelector, RouletteWheel
        from alns.tests.states import Zero
        from mabwiser.mab import LearningPolicy
    except ModuleNotFoundError as error:
        print(f"without the peers: {error}; `make bench` installs them", file=sys.stderr)
        return []
    scores, random, state = [5, 2, 1, 0.5], np.random.default_rng(1), Zero()
    thompson = LearningPolicy.ThompsonSampling(lambda arm, reward: reward > 1)
    schemes = {
        "ALNS's RouletteWheel": RouletteWheel(scores, 0.8, 1, operators),
        "MABWiser's Thompson sampling": MABSelector(scores, 1, operators, thompson, seed=1),
    }

    def decided(scheme: Any) -> float:
        started = time.thread_time()
        for i in range(decisions):
            d, r = scheme(random, state, state)
            scheme.update(state, d, r, i % 4)
        return 1e6 * (time.thread_time() - started) / decisions

    return [
        {"peer": name, "us": round(statistics.median(decided(each) for _ in range(repeats)), 2)}
        for name, each in schemes.items()
    ]


def decide(scheduler: Scheduler, decisions: int) -> float:
    """Ask and tell so often; return the µs of one decision."""
    gains = np.random.default_rng(1).normal(-1.0, 1.0, decisions).tolist()
    ask, tell = scheduler.ask, scheduler.tell
    started = time.thread_time()
    for gain in gains:
        step = ask()
        assert step is not None
        tell(step, gain)
    return 1e6 * (time.thread_time() - started) / decisions


def calls(scheduler: Scheduler, decisions: int) -> float:
    """Call the compiled rule alone so often; return the µs of one decision."""
    run = scheduler.run
    choose, book = run.rule.choose, run.rule.book
    run.ledger.mark[0] = 1e12  # no rows
    started = time.thread_time()
    for _ in range(decisions):
        run.rule.frame.whole[0] = choose()
        book()
    return 1e6 * (time.thread_time() - started) / decisions


def show(rows: list[dict[str, Any]]) -> None:
    table = Table("rule", "meter", "interpreted", "compiled", "machine code", "limit", "")
    for row in rows:
        numbers = ("interpreted_us", "compiled_us", "machine_code_us", "limit_us")
        cells = [f"{row[key]:.2f} µs" for key in numbers]
        table.add_row(row["rule"], row["meter"], *cells, "met" if row["met"] else "missed")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
