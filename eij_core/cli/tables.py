"""What a person reads after a run."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["show", "wide_console"]

CONTENDED = 0.05
MOST = 20
"""Trials that get a line of their own."""
WIDE = 160

Summary = dict[str, Any]


def wide_console() -> Console:
    """Return a console that breaks no line of a wide table in a pipe or a file."""
    watched = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if watched else WIDE)


def show(summaries: Sequence[Summary], title: str = "") -> None:
    """Print tables of one trial or of several."""
    console = Console()
    first = summaries[0]
    console.print(Text(title or _title(first), style="bold"))
    if len(summaries) == 1:
        console.print(_result(first))
    else:
        console.print(_trials(summaries))
    console.print(_operators(summaries))
    console.print(Text(_energy(first)))


def _title(summary: Summary) -> str:
    trial = summary["trial"]
    if trial is None:
        return "a trial of objects"
    parts = (trial[key] for key in ("problem", "algorithm", "selector", "budget"))
    return f"{' · '.join(parts)} · seed {trial['seed']}"


def _energy(summary: Summary) -> str:
    """Say how the Joules are known: each figure with its provenance, its error, and its gaps."""
    meter = summary["meter"]
    lines = [f"Joules: {meter['provenance']}, by meter {meter['name']}"]
    settled = meter.get("settlement")
    if not settled:
        return lines[0]
    low, high = settled["band"]
    counted = settled["joules"]
    lines[0] += f" ({' + '.join(settled['domains'])})"
    lines.append(
        f"counted ± {settled['quantisation_sd']:.2g} J by ticks; systematically between "
        f"{low:.4g} and {high:.4g} J"
    )
    lines.append(
        f"beside the budget: overhead of scheduler and meter {counted['overhead']:.4g} J, "
        f"away from the CPU {counted['away']:.4g} J"
        + (f", other programs {counted['others']:.4g} J" if counted["others"] else "")
    )
    if settled["imputed_share"] > 0:
        why = ", ".join(
            f"{name.partition(': ')[2]} ×{count}"
            for name, count in settled["quality"].items()
            if name.startswith("imputed")
        )
        lines.append(
            f"imputed, no counter confirmed them: {settled['imputed_joules']:.4g} J, "
            f"{settled['imputed_share']:.1%} of the energy spent ({why})"
        )
    if settled["contention"] > CONTENDED:
        lines.append(
            f"other programs took {settled['contention']:.2f} times our CPU time: "
            "the Joules of the package are not ours alone"
        )
    return "\n".join(lines)


def _result(summary: Summary) -> Table:
    best, spent = summary["best"], summary["spent"]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("best fitness", _number(best["fitness"]))
    table.add_row("feasible", "yes" if best["feasible"] else "no")
    if best["gap"] is not None:
        table.add_row("gap to the optimum", _number(best["gap"]))
    over = f" (overshoot {spent['overshoot']:.3g} J)" if spent["overshoot"] else ""
    table.add_row("energy", f"{spent['joules']:.6g} J{over}")
    table.add_row("evaluations", f"{spent['evaluations']:,}")
    table.add_row("decisions", f"{spent['decisions']:,}")
    table.add_row("time", f"{spent['seconds']:.3g} s")
    table.add_row("ended", summary["reason"])
    return table


def _trials(summaries: Sequence[Summary]) -> Table:
    table = Table(title=f"{len(summaries)} trials", title_justify="left")
    for name in ("repetition", "best fitness", "feasible", "gap", "J", "evaluations"):
        table.add_column(name, justify="right")
    for summary in summaries if len(summaries) <= MOST else ():
        best, spent = summary["best"], summary["spent"]
        table.add_row(
            str(summary["trial"]["repetition"]),
            _number(best["fitness"]),
            "yes" if best["feasible"] else "no",
            _number(best["gap"]),
            f"{spent['joules']:.6g}",
            f"{spent['evaluations']:,}",
        )
    table.add_section()
    table.add_row(
        "mean ± sd",
        _spread(summaries, lambda s: s["best"]["fitness"]),
        f"{sum(s['best']['feasible'] for s in summaries)}/{len(summaries)}",
        _spread(summaries, lambda s: s["best"]["gap"]),
        _spread(summaries, lambda s: s["spent"]["joules"]),
        _spread(summaries, lambda s: s["spent"]["evaluations"]),
    )
    return table


def _operators(summaries: Sequence[Summary]) -> Table:
    many = len(summaries) > 1
    table = Table(
        title="operators" + (", mean of the trials" if many else ""), title_justify="left"
    )
    table.add_column("operator")
    for name in ("applications", "evaluations", "J", "share of J", "EI/J"):
        table.add_column(name, justify="right")
    for o, operator in enumerate(summaries[0]["operators"]):

        def mean(key: str, o: int = o) -> float | None:
            return _mean([summary["operators"][o][key] for summary in summaries])

        table.add_row(
            Text(operator["name"]),
            f"{mean('applications'):,.6g}",
            f"{mean('evaluations'):,.6g}",
            f"{mean('joules'):.6g}",
            f"{mean('share'):.1%}",
            _number(mean("eij")),
        )
    return table


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _spread(summaries: Sequence[Summary], of: Callable[[Summary], float | None]) -> str:
    known = [value for value in map(of, summaries) if value is not None]
    if not known:
        return "–"
    deviation = statistics.stdev(known) if len(known) > 1 else 0.0
    return f"{statistics.fmean(known):.6g} ± {deviation:.3g}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
