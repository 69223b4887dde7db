"""`eij warm`: compile the combinations that people run first, before they run them.

`steps_of` is the one list of them. `eij warm` compiles it with all cores; a server compiles it
behind its page, at the lowest priority (`app.background.warming`).
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Iterable
from typing import Annotated, NamedTuple

import typer

from ..registry import Spec, algorithms, problems, selectors
from ..trial import Trial
from .shared.dashboard import DashboardMissing, dashboard_module
from .shared.options import Imports, Quiet, count

PROBLEMS = ("knapsack", "nk", "ecc")
ALGORITHMS = ("ssga", "pso", "ils")
SELECTORS = ("eij", "eij-plus", "static", "uniform")
PAGE = "pages.run.combinations"
"""Where the dashboard says what its page runs; by name, since the core never imports it."""


class Step(NamedTuple):
    """Trials of one problem with one portfolio, which share their operators' code."""

    name: str
    trials: tuple[Trial, ...]


def warm(
    everything: Annotated[
        bool, typer.Option("--all", help="Every problem, algorithm and selector.")
    ] = False,
    jobs: Annotated[int | None, count("Processes. [default: all cores]", metavar="J")] = None,
    quiet: Quiet = False,
    imports: Imports = None,
) -> None:
    """Compile the default combinations, so that their first run starts at once.

    Compiled code stays on disk; a second call takes seconds. One meter stands for all of them.
    `eij serve` does the same behind its page.

    ```console
    $ eij warm
    $ eij warm --all --jobs 8
    ```
    """
    from ..campaigns.executors import in_order
    from .shared.bars import progress_bar

    steps = steps_of(everything)
    total = sum(len(step.trials) for step in steps)
    piped = not quiet and not sys.stderr.isatty()  # a terminal has the bar
    if piped:
        typer.echo(f"compiling {total} combinations", err=True)
    done = 0
    with progress_bar("compiling", quiet) as bar:
        for step in in_order(_compile_step, steps, jobs or os.cpu_count() or 1):
            done += len(step.trials)
            bar(done / total, f"compiled {step.name}")
            if piped:
                rules = ", ".join(trial.name_of("selector") for trial in step.trials)
                typer.echo(f"{done} of {total} compiled: {step.name} with {rules}", err=True)
    if not quiet:
        typer.echo(f"{total} combinations are compiled")


def steps_of(everything: bool = False) -> list[Step]:
    """Return what to compile, in order: the page's own combination, its lessons', the rest."""
    if everything:
        families = tuple(problems.offered()), tuple(algorithms), tuple(selectors)
    else:
        families = PROBLEMS, ALGORITHMS, SELECTORS
    combinations = (
        names
        for names in itertools.product(*families)
        if problems.space(names[0]) == algorithms.space(names[1])
    )
    rest = (Trial(*names, "model", "1 J") for names in combinations)
    return _grouped([*_page_trials(), *rest])


def compile_trial(trial: Trial) -> None:
    """Compile all that a run of this trial needs, and keep it on disk."""
    from ..run import Run

    Run(trial, compiled=True)


def _compile_step(step: Step) -> Step:
    # Operators are compiled once for all selectors, so a step is not spread over processes.
    for trial in step.trials:
        compile_trial(trial)
    return step


def _page_trials() -> list[Trial]:
    """Return what the dashboard's page runs, in its order; nothing where it is not installed."""
    try:
        page = importlib.import_module(dashboard_module(PAGE))
    except (DashboardMissing, ModuleNotFoundError):
        return []
    trials: list[Trial] = page.page_trials()
    return trials


def _grouped(trials: Iterable[Trial]) -> list[Step]:
    """Return the trials without those that need nothing new; neighbours that share become one."""
    steps: list[Step] = []
    seen: set[tuple[str, str]] = set()
    for trial in trials:
        # Neither parameters nor the price list change what is compiled.
        name, rule = _name_of(trial), trial.name_of("selector")
        if (name, rule) in seen:
            continue
        seen.add((name, rule))
        if steps and steps[-1].name == name:
            steps[-1] = Step(name, (*steps[-1].trials, trial))
        else:
            steps.append(Step(name, (trial,)))
    return steps


def _name_of(trial: Trial) -> str:
    """Return problem and algorithm, the latter with its operators if they are its own."""
    algorithm = trial.name_of("algorithm")
    if not isinstance(trial.algorithm, Spec):
        operators = " and ".join(operator.name for operator in trial.algorithm.operators)
        algorithm = f"{algorithm.lower()} of {operators}"
    return f"{algorithm} on {trial.name_of('problem')}"
