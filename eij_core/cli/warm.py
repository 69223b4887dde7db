"""`eij warm`: compile the combinations that people run first, before they run them."""

from __future__ import annotations

import itertools
import os
from typing import Annotated

import typer

from ..registry import algorithms, problems, selectors
from ..trial import Trial
from .shared.options import Quiet, count

__all__ = ["compile_pair", "pairs_of", "warm"]

PROBLEMS = ("knapsack", "nk", "ecc")
ALGORITHMS = ("ssga", "pso", "ils")
SELECTORS = ("eij", "eij-plus", "static", "uniform")

Pair = tuple[str, str, tuple[str, ...]]


def warm(
    everything: Annotated[
        bool, typer.Option("--all", help="Every problem, algorithm and selector.")
    ] = False,
    jobs: Annotated[int | None, count("Processes. [default: all cores]", metavar="J")] = None,
    quiet: Quiet = False,
) -> None:
    """Compile the default combinations, so that their first run starts at once.

    Compiled code stays on disk; a second call takes seconds. One meter stands for all of them.

    ```console
    $ eij warm
    $ eij warm --all --jobs 8
    ```
    """
    from ..campaigns.executors import in_order
    from .shared.bars import progress_bar

    pairs = pairs_of(everything)
    with progress_bar("compiling", quiet) as bar:
        compiled = in_order(compile_pair, pairs, jobs or os.cpu_count() or 1)
        for done, names in enumerate(compiled, 1):
            bar(done / len(pairs), f"compiled {names}")
    if not quiet:
        typer.echo(f"{sum(len(rules) for *_, rules in pairs)} combinations are compiled")


def pairs_of(everything: bool = False) -> list[Pair]:
    """Return the problems and algorithms to compile for, each pair with the selectors."""
    if everything:
        public = [name for name in problems if not problems.is_private(name)]
        families = tuple(public), tuple(algorithms), tuple(selectors)
    else:
        families = PROBLEMS, ALGORITHMS, SELECTORS
    return [(*pair, families[2]) for pair in itertools.product(*families[:2])]


def compile_pair(pair: Pair) -> str:
    """Compile one problem and one algorithm with each of the selectors; return their names."""
    from ..run import Run

    problem, algorithm, rules = pair
    for selector in rules:
        # A run that is made has compiled all it needs. Operators are compiled once for all
        # selectors, which is why those of a pair are not spread over processes.
        Run(Trial(problem, algorithm, selector, "model", "1 J"))
    return f"{algorithm} on {problem}"
