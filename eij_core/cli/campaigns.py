"""`eij campaign`: many trials from a file, into a store that can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .options import whole

__all__ = ["campaign"]

campaign = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Many trials from a file: run, resume, look, export.",
)

StoreOption = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="The campaign's own folder.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        parser=whole(1),
        metavar="N",
        help="Processes. [default: all cores; 1 where energy is measured]",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786."),
]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Try failed trials again.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No table, no progress bar.")]


@campaign.command("run")
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The grid, in TOML.")],
    store: StoreOption,
    jobs: Jobs = None,
    dask: DaskOption = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Go on although the file or the version changed.")
    ] = False,
    retry_failed: Retry = False,
    quiet: Quiet = False,
) -> int:
    """Run all trials of a file, or those that the store does not have yet.

    ```toml
    problems = ["knapsack", "nk:n=50,k=4"]
    algorithms = ["ils"]
    selectors = ["eij", "uniform"]
    meter = "model"
    budget = "300 J"
    seeds = 60
    ```
    ```console
    $ eij campaign run grid.toml --store results --jobs 4
    $ eij report results
    ```
    """
    from ..campaigns import Campaign
    from .conducting import conduct

    return conduct(Campaign.from_toml(_text(file)), store, jobs, dask, extend, retry_failed, quiet)


@campaign.command("resume")
def resume(
    store: StoreOption,
    jobs: Jobs = None,
    dask: DaskOption = None,
    retry_failed: Retry = False,
    quiet: Quiet = False,
) -> int:
    """Go on where a campaign stopped: no trial is repeated, none is missed."""
    from ..campaigns import Campaign, Reader
    from .conducting import conduct

    with Reader(store) as reader:
        grid = Campaign.from_dict(reader.spec())
    return conduct(grid, store, jobs, dask, False, retry_failed, quiet)


@campaign.command("status")
def status(
    store: StoreOption,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> int:
    """Say how far a campaign is; works while it runs."""
    from .conducting import state_of

    state = state_of(store)
    if as_json:
        typer.echo(json.dumps(state, ensure_ascii=False))
        return 0
    typer.echo(
        f"{state['done']} of {state['planned']} trials are done, {len(state['failed'])} failed"
    )
    for key, error in state["failed"].items():
        typer.echo(f"  {key}: {error}")
    for path in state["bad_parts"]:
        typer.echo(f"  {path} is missing or damaged: its trials have no curves")
    return 0


@campaign.command("export")
def export(
    store: StoreOption,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Where to; a new or empty folder.")],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="parquet, csv or ioh.")
    ] = "parquet",
) -> int:
    """Write a campaign as tables (Parquet, CSV) or in IOHprofiler's format.

    The last comes twice: by evaluations, and with cumulative mJ in the column that the IOH tools
    take for evaluations, so that their expected running time is the expected energy.
    """
    from ..reports.export import FORMS, write

    if form not in FORMS:
        from ..errors import nearest

        raise InputError("--format", form, nearest(form, FORMS))
    for path in write(store, to, form):
        typer.echo(path)
    return 0


@campaign.command("salvage")
def salvage(
    store: StoreOption,
    to: Annotated[Path, typer.Option(metavar="NEW", help="A new folder.")],
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The grid, if even that is lost.")
    ] = None,
) -> int:
    """Copy what is intact of a damaged store into a new one."""
    from ..campaigns import Campaign
    from ..campaigns import salvage as saving

    spec: dict[str, Any] | None = None if file is None else Campaign.from_toml(_text(file)).data
    saved = saving.salvage(store, to, spec)
    typer.echo(
        f"{saved.trials} trials saved ({saved.without_trace} without their trace); run the rest "
        f"with: eij campaign resume --store {to}"
    )
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise InputError("FILE", file, f"a readable text file ({error})") from None
