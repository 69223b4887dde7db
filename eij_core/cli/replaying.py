"""`eij replay`: look at a record, and make sure that it can be had again."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from ..meters.meter import Provenance
from ..result import Result
from ..run import Run, RunError

if TYPE_CHECKING:
    from ..record_data import Record

__all__ = ["replay", "run_again"]

FOREVER = 1e18
"""Seconds; a slow machine must not end a run that a quick one could finish."""


def replay(
    file: Annotated[Path, typer.Argument(help="A record: .parquet, .csv or .json.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Run the trial again and compare the digests.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The summary as one JSON object.")
    ] = False,
) -> None:
    """Show the record of a run; with --verify, run it again and compare.

    ```console
    $ eij run --out runs
    $ eij replay runs/knapsack-ils-eij-0-0-0123456789abcdef.parquet
    $ eij replay --verify runs/knapsack-ils-eij-0-0-0123456789abcdef.parquet
    ```
    """
    from ..recorder import load
    from . import tables
    from .running import json_line

    record = load(file)
    summary = record.result().to_dict()
    if as_json:
        typer.echo(json_line(summary))
    else:
        tables.show([summary])
        typer.echo(f"record: {len(record.rows)} rows, digest {record.digest}")
    if verify:
        again = run_again(record).digest
        if again != record.digest:
            made_by = ", ".join(f"{k} {v}" for k, v in record.metadata["versions"].items())
            raise RunError(f"{file} differs: a new run gives {again}; it was made by {made_by}")
        typer.echo("verified: a new run gives the same digest", err=as_json)


def run_again(record: Record) -> Result:
    """Run a record's trial as far as the record goes, with the same changes on the way."""
    if record.meter.provenance != Provenance.SIMULATED:
        raise InputError(
            "--verify", record.meter.provenance, "a record whose Joules were simulated"
        )
    result = record.result()
    budget = dataclasses.replace(result.trial.budget, seconds=FOREVER)
    run = Run(dataclasses.replace(result.trial, budget=budget))
    for change in result.changes:
        run.advance(change.decision - int(run.ledger.decisions[0]))
        run.adjust(**{change.name: change.value})
    run.advance(result.spent.decisions - int(run.ledger.decisions[0]))
    run.stop()
    return run.result()
