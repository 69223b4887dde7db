"""`eij zoo --targets`: every requirement of EI/J+ with its figure, its limit and a verdict."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import typer

from ..zoo.targets import CLOSE, SEED, Check, Sample, Task, checks, sample, tasks
from .bars import Bar
from .work import mapped

__all__ = ["show_targets"]

STYLES = {"met": "green", "missed": "red"}


def show_targets(trials: int, jobs: int, as_json: bool) -> None:
    """Run all that the requirements need, and print them one by one."""
    todo = tasks()
    found: dict[Task, Sample] = {}
    with Bar("targets") as bar:
        for task, drawn in zip(todo, _samples(todo, trials, jobs), strict=True):
            found[task] = drawn
            bar(len(found) / len(todo), f"{task.rule} in {task.case}")
    verdicts = sorted(checks(found), key=lambda check: check.requirement)
    if as_json:
        for check in verdicts:
            typer.echo(json.dumps(check.to_dict(), ensure_ascii=False))
    else:
        _print(verdicts, trials)


def _samples(todo: list[Task], trials: int, jobs: int) -> Iterator[Sample]:
    items = [(task, trials) for task in todo]
    return map(_sample, items) if jobs == 1 else mapped(_sample, items, jobs)


def _sample(item: tuple[Task, int]) -> Sample:
    return sample(*item)


def _print(verdicts: list[Check], trials: int) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from .tables import wide_console

    more = ", ".join(f"{case}: {trials * times}" for case, times in CLOSE.items())
    table = Table(
        title=f"EI/J+ against its requirements: held-out instances, seed {SEED}, {trials} paired "
        f"runs a figure ({more}), simulated Joules; mean (95 % interval)",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("requirement", "on", "costs"):
        table.add_column(heading, overflow="fold")
    table.add_column("figure", justify="right", no_wrap=True)
    table.add_column("limit", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("note", overflow="fold")
    last = ""
    for check in verdicts:
        if last not in ("", check.requirement):
            table.add_section()
        table.add_row(
            Text(check.requirement if check.requirement != last else ""),
            Text(f"{check.algorithm} {check.problem}"),
            check.costs,
            _interval(check),
            check.limit,
            Text(check.verdict, STYLES[check.verdict]),
            Text(check.note),
        )
        last = check.requirement
    console = wide_console()
    console.print(table)
    count = Counter(check.verdict for check in verdicts)
    console.print(f"{len(verdicts)} checks: {count['met']} met, {count['missed']} missed")


def _interval(check: Check) -> str:
    figure: Any = check.figure
    return f"{figure.mean:.4f} ({figure.low:.4f} to {figure.high:.4f})"
