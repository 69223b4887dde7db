"""`eij run`: run a trial, or repetitions of it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from ..trial import Trial
from .shared.options import (
    DEFAULT,
    AsJson,
    Imports,
    Quiet,
    budget_of,
    count,
    folder_of,
    number,
    selector_of,
    whole,
)

COMPONENT = "NAME[:KEY=VALUE,…]"
BEST = ("fitness", "feasible", "gap")
SPENT = ("joules", "evaluations", "decisions", "seconds", "overshoot")
OPERATOR = ("name", "applications", "evaluations", "joules", "share", "gain", "eij")
METER = ("name", "provenance", "settlement")


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
    evaluations: Annotated[int | None, count("Stop after N evaluations.")] = None,
    seconds: Annotated[
        float | None, typer.Option(parser=number, metavar="S", help="Stop after S seconds.")
    ] = None,
    target: Annotated[
        str, typer.Option(metavar="F", help="Stop at this fitness, at a gap of 1%, or at optimum.")
    ] = DEFAULT["target"],
    trials: Annotated[int, count("Repetitions 0 to N − 1 of the seed.")] = 1,
    jobs: Annotated[int, count("Processes to run them in.", metavar="J")] = 1,
    every: Annotated[int | None, count("Record each N-th decision.")] = None,
    points: Annotated[
        int | None, count(f"Record N rows along the budget. [default: {DEFAULT['points']}]")
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Begin with what `eij profile --out FILE` found."),
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep a record of each trial here (Parquet).")
    ] = None,
    quiet: Quiet = False,
    imports: Imports = None,
) -> None:
    """Run a search under a budget, once or several times.

    Components are written NAME:KEY=VALUE,KEY=VALUE; `eij list` shows them all.

    ```console
    $ eij run
    $ eij run --problem nk:n=50,k=4 --algorithm ssga --budget 200J --seed 7
    $ eij run --problem onemax --target optimum
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
        target=target,
    )
    finished = []
    for summary in _carried_out(trial, trials, jobs, folder_of(out), quiet):
        if as_json:
            typer.echo(json_line(summary))
        elif not quiet:
            finished.append(summary)
    if finished:
        from .shared import summaries

        summaries.show(finished)


def _carried_out(
    trial: Trial, count: int, jobs: int, folder: Path | None, quiet: bool
) -> Iterator[dict[str, Any]]:
    """Yield the trials' summaries in order, with a bar that shows how far it is."""
    from ..campaigns.executors import in_order
    from ..campaigns.preparation import check_energy, prepare
    from .shared.bars import progress_bar
    from .shared.trials import carry_out, carry_out_in_worker

    trials = [dataclasses.replace(trial, repetition=i) for i in range(count)]
    jobs = min(jobs, count)
    check_energy(trials[:1], jobs)
    with progress_bar("running", quiet) as bar:
        if jobs > 1:
            tasks = [(each, folder) for each in trials]
            found = in_order(carry_out_in_worker, tasks, jobs, prepare(trials[:1]))
            for done, summary in enumerate(found, 1):
                bar(done / count)
                yield summary
        else:
            for i, each in enumerate(trials):
                yield carry_out(each, folder, lambda part, i=i: bar((i + part) / count))  # type: ignore[misc]


def json_line(summary: dict[str, Any]) -> str:
    """Return one trial as a line of strict JSON: a selection of `Result.to_dict`."""

    def chosen(part: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
        return {key: part[key] for key in keys if key in part}

    line = {
        "trial": summary["trial"],
        "best": chosen(summary["best"], BEST),
        "spent": chosen(summary["spent"], SPENT),
        "operators": [chosen(operator, OPERATOR) for operator in summary["operators"]],
        "meter": chosen(summary["meter"], METER),
        **chosen(summary, ("target",)),
    }
    return json.dumps(line, allow_nan=False, ensure_ascii=False)
