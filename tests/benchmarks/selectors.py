"""What a decision costs, for every rule: nanoseconds of CPU time with 2, 4, 8 and 16 operators.

``make bench-selectors`` prints a table (``--json``: one object a rule) and ends with 1 if a target
is missed. A decision is select, learn and two readings of the cycle counter. The targets, with two
operators: `eij` at most 200 ns, `eij-plus` 300 ns and 60 ns a candidate (the table's limit is that
of one). For every rule: from 8 to 16 operators the cost of one more is at most 1.5 times that from
2 to 8, or 6 ns, else the verdict is "steep".
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from .overhead import Decider, public_selectors

OPERATORS = (2, 4, 8, 16)
CANDIDATES = (5, 100)
"""Beside 1: what SSGA's replace-5 and PSO have."""
STEEPER, LITTLE = 1.5, 6.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", action="append", help="a rule, again for more; default: all")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rules = options.rule or public_selectors()
    rows = []
    for rule in track(rules, "deciding", console=Console(stderr=True), transient=True):
        rows.append(row := measured(rule, options.repeats, options.decisions))
        if options.json:
            print(json.dumps(row), flush=True)
    if not options.json:
        show(rows)
    return int(not all(row["met"] for row in rows))


def measured(rule: str, repeats: int, decisions: int) -> dict[str, Any]:
    """Return the medians of one rule; sizes take turns, so that a busy machine bothers all."""
    decider = Decider("static:operator=operator-0" if rule == "static" else rule)
    sizes = [(k, 1) for k in OPERATORS] + [(2, c) for c in CANDIDATES]
    taken: dict[tuple[int, int], list[float]] = {size: [] for size in sizes}
    for _ in range(repeats):
        for operators, candidates in sizes:
            count = decisions if candidates < 100 else decisions // 10
            work = decider.decide(operators, candidates, count)
            taken[operators, candidates].append(1e9 / work.rate)
    ns = {size: statistics.median(values) for size, values in taken.items()}
    limits = {c: limit_of(rule, c) for c in (1, *CANDIDATES)}
    early = (ns[8, 1] - ns[2, 1]) / 6
    late = (ns[16, 1] - ns[8, 1]) / 8
    linear = late <= max(STEEPER * early, LITTLE)
    quick = all(ns[2, c] <= limits[c] for c in (1, *CANDIDATES))
    return {
        "rule": rule,
        **{f"ns_{k}": round(ns[k, 1], 1) for k in OPERATORS},
        **{f"ns_2_{c}_candidates": round(ns[2, c], 1) for c in CANDIDATES},
        "limit_ns_2": limits[1] if math.isfinite(limits[1]) else None,
        "ns_per_operator": round(late, 2),
        "linear": linear,
        "met": linear and quick,
    }


def limit_of(rule: str, candidates: int) -> float:
    """Return the most ns of a decision with two operators."""
    return {"eij": 200.0, "eij-plus": 300.0 + 60.0 * candidates}.get(rule, math.inf)


def show(rows: list[dict[str, Any]]) -> None:
    # Short headings: a table that is cut off at 80 columns tells nothing.
    table = Table(
        title="ns of CPU time per decision, medians: K operators, or 2 with C candidates",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    table.add_column("rule", no_wrap=True)
    heads = [f"K {k}" for k in OPERATORS] + [f"C {c}" for c in CANDIDATES]
    for heading in (*heads, "limit", "per K"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        figures = [row[f"ns_{k}"] for k in OPERATORS]
        figures += [row[f"ns_2_{c}_candidates"] for c in CANDIDATES]
        verdict = "met" if row["met"] else "missed" if row["linear"] else "steep"
        table.add_row(
            row["rule"],
            *(f"{figure:.0f}" for figure in figures),
            f"{row['limit_ns_2']:.0f}" if row["limit_ns_2"] else "–",
            f"{row['ns_per_operator']:.1f}",
            verdict,
        )
    console = Console()
    console.print(table)
    console.print(f"{sum(row['met'] for row in rows)} of {len(rows)} rules within their targets")


if __name__ == "__main__":
    sys.exit(main())
