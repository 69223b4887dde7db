"""Ours against MEALPY and against C: evaluations, decisions and overhead per CPU second.

    python -m tests.benchmarks.core --quick

All competitors take turns in one process and one thread. A figure with a target is a median of
paired ratios where two are compared, and a median of times where one is measured.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numba
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from eij_core.engine.compiled.layout import CannotCompile

from . import overhead
from .figures import Figure, shown
from .limit import EXACT, FLAGS, Limit
from .measure import Work, calibrated, interleaved, ratio
from .ours import Case, Loop, prepare, run_ours

try:
    from .peers import VERSION as MEALPY
    from .peers import run_mealpy
except ImportError:
    MEALPY = ""

PROBLEMS = ("knapsack", "nk", "ecc")
OPERATORS = {
    "ssga": ("replace-1", "replace-5"),
    "pso": ("light", "full"),
    "ils": ("flip-1", "flip-5"),
}
BUDGET, POINTS = 1000.0, 1000
"""Joules of a default run, and rows."""
RESULT = Path(__file__).with_name("core.json")
OUR_FITNESS = "MEALPY, our fitness"


class Effort(NamedTuple):
    """How long to measure."""

    repeats: int
    seconds: float
    """CPU time of one turn of ours and of C."""
    peer_seconds: float
    both_peers: bool
    """Whether MEALPY is measured with our compiled fitness too."""
    selectors: tuple[str, ...]
    operators: tuple[int, ...]


Note = Callable[[str], None]


class Limits(NamedTuple):
    """The loops in C: to be as fast as can be, and to be the same to the bit."""

    fast: Limit
    exact: Limit


# --- the parts ------------------------------------------------------------------------------------


def solvers(limit: Limits, effort: Effort, note: Note) -> Iterator[Figure]:
    """Yield each operator on each problem against MEALPY and C."""
    against_c = []
    for algorithm, operators in OPERATORS.items():
        for operator in operators:
            for problem in PROBLEMS:
                case = Case(problem, algorithm, operator)
                what = f"{operator} {problem}"
                note(what)
                loop = _sized(case, effort.seconds)
                competitors = _competitors(case, loop, limit)
                if MEALPY:
                    competitors |= _peers(case, effort)
                rates = interleaved(competitors, effort.repeats)
                ours = rates["ours"]
                for name, rate in rates.items():
                    yield Figure("solvers", what, name, statistics.median(rate), "eval/s")
                if MEALPY:
                    least = _least(algorithm, operator, problem)
                    times = ratio(ours, rates["MEALPY"])
                    yield Figure("solvers", what, "× MEALPY", times, "", least)
                if OUR_FITNESS in rates:
                    times = ratio(ours, rates[OUR_FITNESS])
                    yield Figure("solvers", what, f"× {OUR_FITNESS}", times, "")
                against_c.append(ratio(ours, rates["C"]))
                yield Figure("solvers", what, "/ C", against_c[-1], "", 0.6)
    mean = statistics.geometric_mean(against_c)
    yield Figure("solvers", "geometric mean", "/ C", mean, "", 0.75)


def whole_loop(limit: Limits, effort: Effort, note: Note) -> Iterator[Figure]:
    """Yield the loop with EI/J deciding, on the default grid of rows, against the same in C."""
    for algorithm in OPERATORS:
        for problem in PROBLEMS:
            case = Case(problem, algorithm)
            what = f"{algorithm} on {problem}"
            note(f"the whole loop, {what}")
            loop = _sized(case, effort.seconds)
            share = _decisions_per_evaluation(loop)
            rates = interleaved(_competitors(case, loop, limit), effort.repeats)
            first = (algorithm, problem) == ("ssga", "knapsack")
            for name, rate in rates.items():
                decisions = share * statistics.median(rate)
                least = 2.5e6 if first and name == "ours" else None
                yield Figure("loop", what, name, decisions, "decisions/s", least)
            yield Figure("loop", what, "/ C", ratio(rates["ours"], rates["C"]), "", 0.6)


def deciding(limit: Limits, effort: Effort, note: Note) -> Iterator[Figure]:
    """Yield what a decision costs, and its share of the loop."""
    note("select + learn + two cycle reads")
    eij = overhead.Decider("eij")
    yield _cost("eij", 1, _ns(eij, 2, 1, effort), 200)
    if "eij-plus" in overhead.public_selectors():
        plus = overhead.Decider("eij-plus")
        for deltas in (1, 5, 100):
            yield _cost("eij-plus", deltas, _ns(plus, 2, deltas, effort), 300 + 60 * deltas)
    for algorithm, most in (("ils", 5.0), ("pso", 10.0)):
        for problem in PROBLEMS:
            what = f"eij in {algorithm} on {problem}"
            note(what)
            loop = _sized(Case(problem, algorithm), effort.seconds)
            share = _decisions_per_evaluation(loop)
            decisions = _enough(eij, 2, 1, effort.seconds)
            rates = interleaved(
                {
                    "loop": lambda loop=loop: run_ours(loop)[0],
                    "eij": lambda decisions=decisions: eij.decide(2, 1, decisions),
                },
                effort.repeats,
            )
            percent = 100 * share * ratio(rates["loop"], rates["eij"])
            yield Figure("overhead", what, "of the loop", percent, "%", most, at_most=True)


def _cost(rule: str, deltas: int, ns: float, most: float) -> Figure:
    what = f"{rule}, two operators, {deltas} delta{'s' if deltas > 1 else ''}"
    return Figure("overhead", what, "a decision", ns, "ns", most, at_most=True)


def recording(limit: Limits, effort: Effort, note: Note) -> Iterator[Figure]:
    """Yield what the rows of the default grid cost, as a share of a default run."""
    row = 0.0
    for algorithm in OPERATORS:
        what = f"{algorithm} on knapsack"
        note(what)
        case = Case("knapsack", algorithm)
        loop = _sized(case, effort.seconds)
        rates = interleaved(
            {
                "each": lambda loop=loop: overhead.with_every_row(loop),
                "none": lambda loop=loop: overhead.without_rows(loop),
            },
            effort.repeats,
        )
        if not row:  # with the quickest decisions, whose difference stands out
            pairs = zip(rates["each"], rates["none"], strict=True)
            row = statistics.median(1 / each - 1 / none for each, none in pairs)
            yield Figure("recording", what, "a row", 1e9 * row, "ns")
        taken = int(run_ours(prepare(case, BUDGET))[1].ledger.decisions[0])
        yield Figure("recording", what, "decisions in 1 kJ", taken, "")
        rows = row * min(taken, POINTS)
        percent = 100 * rows / (rows + taken / statistics.median(rates["none"]))
        yield Figure("recording", what, "rows", percent, "% of the loop", 2.0, at_most=True)


def growth(limit: Limits, effort: Effort, note: Note) -> Iterator[Figure]:
    """Yield how the cost of a decision grows with the number of operators."""
    for name in effort.selectors or overhead.public_selectors():
        note(f"selector {name}")
        try:
            decider = overhead.Decider(name)
            costs = [_ns(decider, operators, 1, effort) for operators in effort.operators]
        except CannotCompile as error:
            note(f"{name} is not compiled: {type(error).__name__}")
            continue
        for operators, cost in zip(effort.operators, costs, strict=True):
            yield Figure("growth", name, f"{operators} operators", cost, "ns")


PARTS = {
    "solvers": solvers,
    "loop": whole_loop,
    "overhead": deciding,
    "recording": recording,
    "growth": growth,
}


# --- what they share ------------------------------------------------------------------------------


def _sized(case: Case, seconds: float) -> Loop:
    """Prepare a loop with a budget that takes so many CPU seconds."""
    joules = calibrated(lambda size: run_ours(prepare(case, size))[0], 500.0, seconds)
    return prepare(case, joules)


def _competitors(case: Case, loop: Loop, limit: Limits) -> dict[str, Callable[[], Work]]:
    """Return ours and C on the same loop, after seeing to it that both do the same."""
    ours, theirs = run_ours(loop)[1], limit.exact.run(case, loop)[1]
    for a, b in (
        (ours.state.best_f, theirs.state.best_f),
        (ours.ledger.joules, theirs.ledger.joules),
    ):
        if a[0] != b[0]:
            raise RuntimeError(f"{case}: ours ends with {a[0]}, C with {b[0]}")
    return {"ours": lambda: run_ours(loop)[0], "C": lambda: limit.fast.run(case, loop)[0]}


def _peers(case: Case, effort: Effort) -> dict[str, Callable[[], Work]]:
    run_mealpy(case, 1, compiled=True)  # compiles the fitness
    work = calibrated(lambda size: run_mealpy(case, int(size)), 2, effort.peer_seconds)
    peers: dict[str, Callable[[], Work]] = {"MEALPY": lambda: run_mealpy(case, int(work) + 1)}
    if effort.both_peers:
        peers[OUR_FITNESS] = lambda: run_mealpy(case, int(work) + 1, compiled=True)
    return peers


def _least(algorithm: str, operator: str, problem: str) -> float:
    """Return how many times as fast as MEALPY an operator should be."""
    if algorithm == "pso":
        return 150.0
    return 400.0 if operator == "flip-5" and problem != "knapsack" else 2000.0


def _decisions_per_evaluation(loop: Loop) -> float:
    end = run_ours(loop)[1].ledger
    return float(end.decisions[0] / (end.evaluations[0] - loop.ledger.evaluations[0]))


def _enough(decider: overhead.Decider, operators: int, deltas: int, seconds: float) -> int:
    return int(calibrated(lambda n: decider.decide(operators, deltas, int(n)), 10_000, seconds))


def _ns(decider: overhead.Decider, operators: int, deltas: int, effort: Effort) -> float:
    decisions = _enough(decider, operators, deltas, effort.seconds)
    works = [decider.decide(operators, deltas, decisions) for _ in range(effort.repeats)]
    return 1e9 / statistics.median(work.rate for work in works)


# --- showing --------------------------------------------------------------------------------------


def _about(part: Callable[..., Any]) -> str:
    return (part.__doc__ or "").removeprefix("Yield ").removesuffix(".")


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "mealpy": MEALPY or None,
        "compiler": compiler.stdout.splitlines()[0],
        "flags": FLAGS,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main(
    quick: Annotated[
        bool, typer.Option("--quick", help="About a minute: three turns, not eleven; less of all.")
    ] = False,
    only: Annotated[
        str, typer.Option(help=f"One part alone: {', '.join(PARTS)}.", show_default=False)
    ] = "",
    out: Annotated[
        Path,
        typer.Option(
            "--json", help="Where the figures go.", show_default="core.json beside this module"
        ),
    ] = RESULT,
) -> None:
    """Measure speed against MEALPY and against C, with the targets beside each figure.

    Everything is counted in CPU time of one thread, competitors in turn, so that other work on
    the machine disturbs little. The first run compiles for a minute or two more.

    [bold]solvers[/]: each operator on each problem, evaluations per second, without the start.
    [bold]loop[/]: the loop with EI/J deciding, decisions per second.
    [bold]overhead[/]: what a decision costs, and its share of the loop.
    [bold]recording[/]: the share of the rows. [bold]growth[/]: decisions among more operators.
    """
    console = Console(width=None if sys.stdout.isatty() else 120)
    if only and only not in PARTS:
        raise typer.BadParameter(f"{only!r}: expected one of {', '.join(PARTS)}")
    if not MEALPY:
        console.print(
            "[yellow]MEALPY is not installed, so it is left out: `make bench` installs it."
        )
    effort = (
        Effort(3, 0.02, 0.05, False, ("eij", "uniform"), (2, 16))
        if quick
        else Effort(11, 0.05, 0.2, True, (), (2, 8, 32))
    )
    limit = Limits(Limit(FLAGS), Limit(EXACT))
    figures: list[Figure] = []
    bar = Progress(TextColumn("{task.fields[part]}"), TimeElapsedColumn(), console=console)
    with bar as progress:
        for part in [only] if only else PARTS:
            task = progress.add_task(part, part=part)

            def note(text: str, task: Any = task, part: str = part) -> None:
                progress.update(task, part=f"{part}: {text}")

            figures.extend(PARTS[part](limit, effort, note))
            progress.update(task, part=part, total=1, completed=1)
    for table in shown(figures, {part: _about(yields) for part, yields in PARTS.items()}):
        console.print(table)
    judged = [figure for figure in figures if figure.met is not None]
    missed = [figure for figure in judged if not figure.met]
    console.print(f"{len(judged) - len(missed)} of {len(judged)} targets met")
    for figure in missed:
        console.print(f"[red]miss[/] {figure.what}, {figure.column}: {figure.said}")
    document = {
        "machine": machine(),
        "figures": [figure._asdict() | {"met": figure.met} for figure in figures],
    }
    out.write_text(json.dumps(document, indent=1) + "\n")
    console.print(f"figures: {out}")


if __name__ == "__main__":
    app = typer.Typer(rich_markup_mode="rich", add_completion=False)
    app.command()(main)
    app()
