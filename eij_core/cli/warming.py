"""`eij warm`: compile what people run first, so that nobody waits for it later."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ..registry import algorithms, problems, selectors
from ..run import Run
from ..trial import Trial
from .options import whole

__all__ = ["combinations", "compile_pair", "warm"]

PROBLEMS = ("knapsack", "nk", "ecc")
ALGORITHMS = ("ssga", "pso", "ils")
SELECTORS = ("eij", "eij-plus", "static", "uniform")

Pair = tuple[str, str, tuple[str, ...]]


def warm(
    everything: Annotated[
        bool, typer.Option("--all", help="Every problem, algorithm and selector.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(parser=whole(1), metavar="J", help="Processes. [default: all cores]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Compile the default combinations, so that their first run starts at once.

    Compiled code stays on disk; a second call takes seconds. One meter stands for all of them.

    ```console
    $ eij warm
    $ eij warm --all --jobs 8
    ```
    """
    from .bars import Bar
    from .work import mapped

    pairs = combinations(everything)
    workers = min(jobs or os.cpu_count() or 1, len(pairs))
    done = 0
    with Bar("compiling", quiet) as bar:
        for names in (
            mapped(compile_pair, pairs, workers) if workers > 1 else map(compile_pair, pairs)
        ):
            done += 1
            bar(done / len(pairs), f"compiled {names}")
    if not quiet:
        typer.echo(f"{sum(len(rules) for *_, rules in pairs)} combinations are compiled")


def combinations(everything: bool = False) -> list[Pair]:
    """Return the problems and algorithms to compile for, each pair with the selectors."""
    if everything:
        public = [name for name in problems if not problems.is_private(name)]
        families = public, list(algorithms), list(selectors)
    else:
        families = list(PROBLEMS), list(ALGORITHMS), [s for s in SELECTORS if s in selectors]
    rules = tuple(name for name in families[2])
    return [(problem, algorithm, rules) for problem in families[0] for algorithm in families[1]]


def compile_pair(pair: Pair) -> str:
    """Compile one problem and one algorithm with each of the selectors; return their names."""
    problem, algorithm, rules = pair
    for selector in rules:
        # A run that is made has compiled all it needs. Operators are compiled once for all
        # selectors, which is why those of a pair are not spread over processes.
        Run(Trial(problem, algorithm, selector, "model", "1 J"))
    return f"{algorithm} on {problem}"
