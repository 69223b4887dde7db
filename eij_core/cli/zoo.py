"""`eij zoo`: rules in cases with a known answer, and the energy they waste there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..budget import Budget
from ..errors import InputError
from .shared.bars import progress_bar
from .shared.options import AsJson, Imports, Several, count

if TYPE_CHECKING:
    import pandas as pd

    from ..zoo.targets import Check

RULES = ("eij-plus", "eij", "uniform")
STYLES = {"met": "green", "missed": "red"}


def zoo(
    case: Annotated[
        Several | None, typer.Option(help="A case, again for more; default: all.")
    ] = None,
    problem: Annotated[Several | None, typer.Option(help="A problem, again for more.")] = None,
    algorithm: Annotated[
        Several | None, typer.Option(help="ils, ssga or pso, again for more.")
    ] = None,
    selector: Annotated[
        Several | None, typer.Option(help=f"A rule, again for more; default: {', '.join(RULES)}.")
    ] = None,
    budget: Annotated[str, typer.Option(help="Joules of a run; default: the paper's.")] = "",
    trials: Annotated[int, count("Runs a cell.")] = 40,
    seed: Annotated[int, count("Seed of all runs.", low=0)] = 0,
    costs: Annotated[
        str, typer.Option(help="What rules know beforehand: hinted, probed or unknown.")
    ] = "hinted",
    as_json: AsJson = False,
    targets: Annotated[
        bool, typer.Option("--targets", help="Check EI/J+ against its requirements.")
    ] = False,
    jobs: Annotated[int, count("Processes.")] = 1,
    picture: Annotated[
        Path | None, typer.Option(help="Write the map of rules and cases to this .svg file.")
    ] = None,
    imports: Imports = None,
) -> None:
    """Show which rules waste Joules on operators that are useless, overpriced or traps.

    ```console
    $ eij zoo
    $ eij zoo --case twin-10 --selector eij-plus --selector eij --problem knapsack
    $ eij zoo --trials 40 --picture zoo.svg
    $ eij zoo --case null --json
    $ eij zoo --targets --trials 40 --jobs 2
    ```
    """
    if targets:
        given = (case, problem, algorithm, selector, budget, picture)
        if any(given) or costs != "hinted":
            raise InputError("--targets", "with a choice", "no other options but these three: "
                             "--trials, --jobs and --json; what it runs is fixed")  # fmt: skip
        _show_targets(trials, jobs, as_json)
        return
    from .. import zoo as zoo_
    from ..campaigns.executors import in_order
    from ..result import finite

    joules = Budget.parse(budget).joules if budget else 0.0
    if joules == float("inf"):
        raise InputError("--budget", budget, "a number of Joules, such as 1kJ")
    if picture is not None and picture.suffix != ".svg":
        raise InputError("--picture", picture, "the name of an .svg file")
    places = zoo_.places(
        selector or RULES, case or zoo_.CASES, algorithm or ("ils",), problem or ("nk",)
    )
    observe = partial(zoo_.observe_at, budget=joules, trials=trials, seed=seed, costs=costs)
    found = []
    with progress_bar("the zoo") as bar:
        for cell in in_order(observe, places, jobs):
            found.append(cell)
            bar(len(found) / len(places), f"{cell.rule} in {cell.case}")
            if as_json:
                typer.echo(json.dumps(finite(cell.flat())))
    frame = zoo_.frame_of_cells(found)
    if not as_json:
        _print(frame)
    if picture is not None:
        from ..figures.charts import heat_map_picture
        from ..zoo.cells import rules_by_cases

        title = "Share of the Joules wasted (simulated Joules)"
        heat_map_picture(rules_by_cases(frame), title).save(picture)
        typer.echo(f"map of rules and cases: {picture}", err=True)


def _print(frame: pd.DataFrame) -> None:
    from .shared.tables import print_table

    print_table(
        "The zoo, simulated Joules. wasted: share of the Joules given to useless or "
        "overpriced operators (95 % interval); behind: short of the best single operator alone",
        ("case", "on", "rule"),
        ("wasted", "final", "best", "behind", "starved"),
        _rows(frame),
    )


def _rows(frame: pd.DataFrame) -> Iterator[list[str]]:
    for _, place in frame.groupby(["case", "algorithm", "problem"], sort=False):
        yield []
        for row in place.itertuples():
            low, high = _share(row.wasted_share_low), _share(row.wasted_share_high)
            yield [
                str(row.case),
                f"{row.algorithm} {row.problem}",
                str(row.rule),
                f"{_share(row.wasted_share)} ({low.removesuffix('%')}–{high})",
                f"{row.final:.4g}",
                f"{row.static_best:.4g}",
                f"{row.behind:+.2%}",
                _share(row.starvation),
            ]


def _share(value: Any) -> str:
    return "–" if value != value else f"{value:.0%}"


# --- --targets ------------------------------------------------------------------------------------


def _show_targets(trials: int, jobs: int, as_json: bool) -> None:
    """Run what the requirements of EI/J+ need; print each with its figure, limit and verdict."""
    from ..campaigns.executors import in_order
    from ..zoo.targets import Group, checks, groups, run_group

    todo = groups()
    found: dict[Group, Any] = {}
    with progress_bar("targets") as bar:
        drawn = in_order(partial(run_group, trials=trials), todo, jobs)
        for group, runs in zip(todo, drawn, strict=True):
            found[group] = runs
            bar(len(found) / len(todo), f"{group.rule} in {group.case}")
    verdicts = sorted(checks(found), key=lambda check: check.requirement)
    if as_json:
        for check in verdicts:
            typer.echo(json.dumps(check.to_dict(), ensure_ascii=False))
    else:
        _print_targets(verdicts, trials)


def _print_targets(verdicts: list[Check], trials: int) -> None:
    from ..zoo.targets import CLOSE, SEED
    from .shared.tables import print_lines, print_table

    more = ", ".join(f"{case}: {trials * times}" for case, times in CLOSE.items())
    print_table(
        f"EI/J+ against its requirements: held-out instances, seed {SEED}, {trials} paired "
        f"runs a figure ({more}), simulated Joules; mean (95 % interval)",
        ("requirement", "on", "costs", "figure", "limit", "verdict", "note"),
        (),
        _target_rows(verdicts),
    )
    count = Counter(check.verdict for check in verdicts)
    print_lines(f"{len(verdicts)} checks: {count['met']} met, {count['missed']} missed")


def _target_rows(verdicts: list[Check]) -> Iterator[list[Any]]:
    for requirement, found in groupby(verdicts, lambda check: check.requirement):
        yield []
        for i, check in enumerate(found):
            figure = check.figure
            yield [
                "" if i else requirement,
                f"{check.algorithm} {check.problem}",
                check.costs,
                f"{figure.mean:.4f} ({figure.low:.4f} to {figure.high:.4f})",
                check.limit,
                (check.verdict, STYLES[check.verdict]),
                check.note,
            ]
