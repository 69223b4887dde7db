"""`eij zoo`: rules in cases with a known answer, and who wastes energy there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..budget import Budget
from ..errors import InputError
from .bars import Bar
from .options import whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["zoo"]

RULES = ("eij-plus", "eij", "uniform")

Several = list[str]


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
    trials: Annotated[int, typer.Option(help="Runs a cell.", parser=whole(1))] = 40,
    seed: Annotated[int, typer.Option(help="Seed of all runs.", parser=whole(0))] = 0,
    costs: Annotated[
        str, typer.Option(help="What rules know beforehand: hinted, probed or unknown.")
    ] = "hinted",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a cell.")] = False,
    targets: Annotated[
        bool, typer.Option("--targets", help="Hold EI/J+ against all that it must show.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes, with --targets.", parser=whole(1))] = 1,
    picture: Annotated[
        Path | None, typer.Option(help="Write the map of rules and cases to this .svg file.")
    ] = None,
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
        from .zoo_targets import show_targets

        show_targets(trials, jobs, as_json)
        return
    from .. import zoo as zoo_

    names = tuple(case or zoo_.CASES)
    rules = tuple(selector or RULES)
    joules = Budget.parse(budget).joules if budget else 0.0
    if joules == float("inf"):
        raise InputError("--budget", budget, "a number of Joules, such as 1kJ")
    if picture is not None and picture.suffix != ".svg":
        raise InputError("--picture", picture, "the name of an .svg file")
    problems, algorithms = tuple(problem or ("nk",)), tuple(algorithm or ("ils",))
    total = len(names) * len(rules) * len(problems) * len(algorithms)
    found = []
    with Bar("the zoo") as bar:
        for cell in zoo_.visit_all(
            rules, names, algorithms, problems, budget=joules, trials=trials, seed=seed, costs=costs
        ):
            found.append(cell)
            bar(len(found) / total, f"{cell.rule} in {cell.case}")
            if as_json:
                row = zoo_.frame_of_cells([cell]).iloc[0].to_dict()
                typer.echo(json.dumps({key: _plain(value) for key, value in row.items()}))
    frame = zoo_.frame_of_cells(found)
    if not as_json:
        _print(frame)
    if picture is not None:
        from ..heatmap import heat_map_svg

        title = "Share of the Joules wasted (simulated Joules)"
        picture.write_text(heat_map_svg(zoo_.heat_map(frame), title), "utf-8")
        typer.echo(f"map of rules and cases: {picture}", err=True)


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and value != value else value


def _print(frame: pd.DataFrame) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from .tables import wide_console

    table = Table(
        title="The zoo, simulated Joules. wasted: share of the Joules given to useless or "
        "overpriced operators (95 % interval); behind: short of the best single operator alone",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("case", "on", "rule"):
        table.add_column(heading, overflow="fold")
    for heading in ("wasted", "final", "best", "behind", "starved"):
        table.add_column(heading, justify="right", no_wrap=True)
    last = None
    for row in frame.itertuples():
        place = (row.case, row.algorithm, row.problem)
        if last not in (None, place):
            table.add_section()
        last = place
        table.add_row(
            Text(str(row.case)),
            Text(f"{row.algorithm} {row.problem}"),
            Text(str(row.rule)),
            f"{_share(row.wasted_share)} "
            f"({_share(row.wasted_share_low).removesuffix('%')}–{_share(row.wasted_share_high)})",
            f"{row.final:.4g}",
            f"{row.static_best:.4g}",
            f"{row.behind:+.2%}",
            _share(row.starvation),
        )
    wide_console().print(table)


def _share(value: Any) -> str:
    return "–" if value != value else f"{value:.0%}"
