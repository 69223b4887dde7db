"""`eij run`: run a trial, or repetitions of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from ..trial import Trial
from .options import DEFAULT, budget_of, folder_of, number, selector_of, trials_of, whole

__all__ = ["json_line", "run"]

COMPONENT = "NAME[:KEY=VALUE,…]"
SPENT = ("joules", "evaluations", "decisions", "seconds", "overshoot")


def run(
    problem: Annotated[str, typer.Option(metavar=COMPONENT)] = DEFAULT["problem"],
    algorithm: Annotated[str, typer.Option(metavar=COMPONENT)] = DEFAULT["algorithm"],
    selector: Annotated[
        str | None,
        typer.Option(
            metavar=COMPONENT,
            help="Our rule is eij-plus, the paper's eij. "
            f"[default: {DEFAULT['selector']}; eij with --alpha]",
        ),
    ] = None,
    meter: Annotated[str, typer.Option(metavar=COMPONENT)] = DEFAULT["meter"],
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="LIMITS",
            help=f"1kJ, 300J, '50 J, 5 s', 10000evaluations. [default: {DEFAULT['budget']}, where "
            "no limit is given]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(parser=whole(0), metavar="N")] = DEFAULT["seed"],
    alpha: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="A", help="The selector's alpha; in eij the weight of the past."
        ),
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(parser=whole(1), metavar="N", help="Stop after N evaluations.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(parser=number, metavar="S", help="Stop after S seconds.")
    ] = None,
    trials: Annotated[
        int,
        typer.Option(parser=whole(1), metavar="N", help="Repetitions 0 to N − 1 of the seed."),
    ] = 1,
    jobs: Annotated[
        int, typer.Option(parser=whole(1), metavar="J", help="Processes to run them in.")
    ] = 1,
    every: Annotated[
        int | None,
        typer.Option(parser=whole(1), metavar="N", help="Record each N-th decision."),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            parser=whole(1),
            metavar="N",
            help=f"Record N rows along the budget. [default: {DEFAULT['points']}]",
        ),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Begin with what `eij profile --out FILE` found."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line and trial.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep a record of each trial here (Parquet).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No table, no progress bar.")] = False,
) -> None:
    """Run a search under a budget, once or several times.

    Components are written NAME:KEY=VALUE,KEY=VALUE; `eij list` shows them all.

    ```console
    $ eij run
    $ eij run --problem nk:n=50,k=4 --algorithm ssga --budget 200J --seed 7
    $ eij run --selector eij --alpha 0.8 --trials 30 --jobs 4 --json > runs.jsonl
    $ eij profile --meter cputime --out costs.json; eij run --meter cputime --profile costs.json
    $ eij run --problem knapsack-file:file=my.kp --meter model --evaluations 100000 --out runs
    ```
    """
    if every is not None and points is not None:
        raise InputError("--every", every, "either --every or --points")
    trial = Trial(
        problem,
        algorithm,
        selector_of(selector, alpha),
        meter,
        budget_of(budget, evaluations, seconds),
        seed,
        points=DEFAULT["points"] if points is None else points,
        every=DEFAULT["every"] if every is None else every,
        profile="" if profile is None else str(profile),
    )
    finished = []
    for summary in _carried_out(trial, trials, jobs, folder_of(out), quiet):
        if as_json:
            typer.echo(json_line(summary))
        elif not quiet:
            finished.append(summary)
    if finished:
        from . import tables

        tables.show(finished)


def _carried_out(
    trial: Trial, count: int, jobs: int, folder: Path | None, quiet: bool
) -> Iterator[dict[str, Any]]:
    """Yield the trials' summaries in order, with a bar that shows how far it is."""
    from .bars import Bar
    from .work import carry_out, in_processes

    trials = trials_of(trial, count)
    with Bar("running", quiet) as bar:
        if min(jobs, count) > 1:
            for done, summary in enumerate(in_processes(trials, jobs, folder), 1):
                bar(done / count)
                yield summary
        else:
            for i, each in enumerate(trials):
                yield carry_out(each, folder, lambda part, i=i: bar((i + part) / count))  # type: ignore[misc]


def json_line(summary: dict[str, Any]) -> str:
    """Return one trial as a line of strict JSON."""
    best, spent = summary["best"], summary["spent"]
    line = {
        "trial": summary["trial"],
        "best": {key: best[key] for key in ("fitness", "feasible", "gap")},
        "spent": {key: spent[key] for key in SPENT},
        "operators": summary["operators"],
        "meter": summary["meter"],
    }
    return json.dumps(line, allow_nan=False, ensure_ascii=False)
