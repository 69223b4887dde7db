"""`eij campaign`: many trials from a file, into a store that can be resumed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import check_known
from ..imports import options_of
from .shared.bars import progress_bar
from .shared.options import AsJson, Imports, Quiet, count

if TYPE_CHECKING:
    from ..campaigns import Campaign

campaign = typer.Typer(
    name="campaign",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Many trials from a file: run, resume, inspect, export.",
)

StoreOption = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="The campaign's own folder.")
]
Jobs = Annotated[int | None, count("Processes. [default: all cores; 1 where energy is measured]")]
DaskOption = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786."),
]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Try failed trials again.")]
Extend = Annotated[
    bool, typer.Option("--extend", help="Go on although the file or the version changed.")
]


@campaign.command("run")
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The grid, in TOML.")],
    store: StoreOption,
    jobs: Jobs = None,
    dask: DaskOption = None,
    extend: Extend = False,
    retry_failed: Retry = False,
    quiet: Quiet = False,
    imports: Imports = None,
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
    return conduct(_read(file), store, quiet, jobs, dask, retry_failed, extend)


@campaign.command("resume")
def resume(
    store: StoreOption,
    jobs: Jobs = None,
    dask: DaskOption = None,
    extend: Extend = False,
    retry_failed: Retry = False,
    quiet: Quiet = False,
    imports: Imports = None,
) -> int:
    """Continue a campaign that stopped: no trial is repeated, none is left out.

    What the store was made with is imported only where you name it: --import.
    """
    from ..campaigns import Campaign, Reader

    with Reader(store) as reader:
        grid = Campaign.from_dict(reader.spec(), stored=True)
    return conduct(grid, store, quiet, jobs, dask, retry_failed, extend)


@campaign.command("status")
def status(store: StoreOption, as_json: AsJson = False) -> None:
    """Show the progress of a campaign, also while it runs."""
    from ..campaigns import state_of

    state = state_of(store)
    if as_json:
        typer.echo(json.dumps(state, ensure_ascii=False))
        return
    typer.echo(
        f"{state['done']} of {state['planned']} trials are done, {len(state['failed'])} failed"
    )
    for key, error in state["failed"].items():
        typer.echo(f"  {key}: {error}")
    for path in state["bad_parts"]:
        typer.echo(f"  {path} is missing or damaged: its trials have no curves")


@campaign.command("export")
def export(
    store: StoreOption,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Where to; a new or empty folder.")],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="parquet, csv or ioh.")
    ] = "parquet",
) -> None:
    """Write a campaign as tables (Parquet, CSV) or in IOHprofiler's format.

    The last comes twice: by evaluations, and with cumulative mJ in the column that the IOH tools
    take for evaluations, so that their expected running time is the expected energy.
    """
    from ..reports.export import FORMS
    from ..reports.export import export as export_store

    check_known("--format", form, FORMS)
    for path in export_store(store, to, form):
        typer.echo(path)


@campaign.command("salvage")
def salvage(
    store: StoreOption,
    to: Annotated[Path, typer.Option(metavar="NEW", help="A new folder.")],
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The grid, if the store lost it.")
    ] = None,
) -> None:
    """Copy what is intact of a damaged store into a new one."""
    from ..campaigns import salvage as salvaging

    saved = salvaging.salvage(store, to, None if file is None else _read(file).data)
    typer.echo(
        f"{saved.trials} trials saved ({saved.without_trace} without their trace); run the rest "
        f"with: eij campaign resume --store {to}"
    )


def _read(file: Path) -> Campaign:
    from ..campaigns import Campaign

    return Campaign.from_file(file)


def conduct(
    campaign: Campaign,
    folder: Path,
    quiet: bool,
    jobs: int | None,
    dask: str | None,
    retry_failed: bool,
    extend: bool = False,
    again: str = "",
) -> int:
    """Run the rest of a campaign and show its events; return the exit code.

    0: all trials are done; 1: some failed, and they are listed. Where a campaign is interrupted or
    cannot go on, the last line is the command that resumes it.
    """
    from ..campaigns import CampaignError, Conductor, StoreError

    conductor = Conductor(
        campaign, folder, jobs=jobs, dask=dask, extend=extend, retry_failed=retry_failed
    )
    begun = False
    try:
        with progress_bar("compiling", quiet) as bar:
            for event in conductor:
                begun = True
                share = event.done / event.total
                if event.what == "compiling":
                    bar(share, f"compiling {event.name}")
                else:
                    bar(share, f"{event.done} of {event.total} trials")
    except (KeyboardInterrupt, StoreError, CampaignError) as error:
        if begun:
            options = ["--store", str(folder), *options_of(campaign.data.get("import", ()))]
            command = again or f"eij campaign resume {shlex.join(options)}"
            stored = f"stopped with {conductor.stored} trials stored"
            print(f"eij: {stored}; go on with: {command}", file=sys.stderr)
        if not isinstance(error, KeyboardInterrupt):
            raise
        return 1  # `main` turns it into the code of the signal
    for key, text in conductor.failed.items():
        print(f"eij: trial {key} failed: {text}", file=sys.stderr)
    if not quiet:
        done = conductor.stored - len(conductor.failed)
        typer.echo(f"{done} of {len(campaign.trials)} trials are done, in {folder}")
    return 1 if conductor.failed else 0
