"""`eij replay`: show a record, and check that it can be reproduced."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError, RunError
from .shared.options import AsJson, Imports

if TYPE_CHECKING:
    from ..records import Record
    from ..result import Result

FOREVER = 1e18
"""Seconds; a slow machine must not end a run that a quick one could finish."""


def replay(
    file: Annotated[Path, typer.Argument(help="A record: .parquet, .arrows, .csv or .json.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Run the trial again and compare the digests.")
    ] = False,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """Show the record of a run; with --verify, run it again and compare.

    ```console
    $ eij run --out runs
    $ eij replay runs/knapsack-ils-eij-0-0-0123456789abcdef.parquet
    $ eij replay --verify runs/knapsack-ils-eij-0-0-0123456789abcdef.parquet
    ```
    """
    from ..records import load
    from .run import json_line
    from .shared import summaries

    record = load(file)
    summary = record.result().to_dict()
    if as_json:
        typer.echo(json_line(summary))
    else:
        summaries.show([summary])
        typer.echo(f"record: {len(record.rows)} rows, digest {record.digest}")
    for note in record.notes:
        typer.echo(f"note: {note}", err=as_json)
    if verify:
        again = run_again(record).digest
        if again != record.digest:
            made_by = ", ".join(f"{k} {v}" for k, v in record.metadata["versions"].items())
            raise RunError(f"{file} differs: a new run gives {again}; it was made by {made_by}")
        typer.echo("verified: a new run gives the same digest", err=as_json)


def run_again(record: Record) -> Result:
    """Run a record's trial as far as the record goes, with the same changes on the way."""
    from ..protocols import Provenance
    from ..run import Run

    if record.meter.provenance != Provenance.SIMULATED:
        raise InputError(
            "--verify", record.meter.provenance, "a record whose Joules were simulated"
        )
    result = record.result()
    if result.rows["decision"][-1] != result.spent.decisions:
        raise InputError(
            "--verify",
            f"a record that is {result.reason}",
            "one of a run that ended, or of every=1",
        )
    budget = dataclasses.replace(result.trial.budget, seconds=FOREVER)
    run = Run(dataclasses.replace(result.trial, budget=budget))
    for change in result.changes:
        run.advance(change.decision - int(run.ledger.decisions[0]))
        run.adjust(**{change.name: change.value})
    run.advance(result.spent.decisions - int(run.ledger.decisions[0]))
    run.stop()
    return run.result()
