"""The paper's table, printed with ours beside it.

``python -m eij_core.paper`` runs the nine cells, each with its three methods, and prints the
table. Energy is simulated by the meter `paper`, whose prices come from the paper's own table.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress import track
from rich.table import Table

from .comparison import Cell, cells, compare
from .published import FEATURED, METHODS, PROBLEMS, TRIALS

__all__ = ["main"]


def _render(compared: Iterable[Cell], title: str) -> Table:
    table = Table(title=title)
    for heading in ("problem", "method"):
        table.add_column(heading)
    headings = ("paper", "ours", "SE", "feasible", "optimal", "share of", "first → last fifth")
    for heading in headings:
        table.add_column(heading, justify="right")
    for cell in compared:
        adaptive = cell.method.startswith("EOS")
        table.add_row(
            PROBLEMS[cell.problem].title,
            cell.method,
            _figure(cell.paper, cell.paper_sd),
            _figure(cell.ours, cell.ours_sd),
            "–" if math.isnan(cell.errors) else f"{cell.errors:+.1f}",
            f"{cell.feasible:.0%}",
            f"{cell.optimal:.0%}",
            FEATURED[cell.algorithm] if adaptive else "",
            f"{cell.early:.2f} → {cell.late:.2f}" if adaptive else "",
            style=None if cell.agrees or math.isnan(cell.errors) else "yellow",
        )
    return table


def _figure(mean: float, sd: float) -> str:
    return "–" if math.isnan(mean) else f"{mean:.2f} ± {sd:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the paper's tables with ours beside them."""
    parser = argparse.ArgumentParser(prog="python -m eij_core.paper", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials per method")
    parser.add_argument("--quick", action="store_true", help="20 trials per method")
    parser.add_argument("--problem", action="append", choices=list(PROBLEMS))
    parser.add_argument("--algorithm", action="append", choices=list(METHODS))
    parser.add_argument("--fixed", choices=["joules", "evaluations"], default="joules")
    options = parser.parse_args(arguments)
    repetitions = 20 if options.quick else options.trials
    if repetitions < 2:
        parser.error("--trials: expected at least 2")
    console = Console()
    wanted = cells(options.problem or PROBLEMS, options.algorithm or METHODS)
    compared = [
        compare(*cell, repetitions, fixed=options.fixed)
        for cell in track(wanted, "the paper's cells", console=console, transient=True)
    ]
    what = (
        "final fitness at equal Joules"
        if options.fixed == "joules"
        else ("Joules at equal evaluations")
    )
    console.print(_render(compared, f"{what}, {repetitions} trials, energy simulated"))
    differing = [c for c in compared if not (c.agrees or math.isnan(c.errors))]
    console.print(f"{len(compared) - len(differing)} of {len(compared)} agree (NK: other instance)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
