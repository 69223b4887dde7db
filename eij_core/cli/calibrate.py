"""`eij calibrate`: measure a counter of this machine, and keep the figures for this host."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import InputError, MeterUnavailable, check_known
from .shared.bars import progress_bar
from .shared.options import number

STEPS = 5
"""Steps that `calibrate` reports."""


def calibrate(
    meter: Annotated[str, typer.Option(help="powercap, perf or pyrapl; auto: the best.")] = "auto",
    seconds: Annotated[
        float, typer.Option(help="How many seconds it may take.", parser=number)
    ] = 60.0,
) -> None:
    """Measure idle and busy Watts, tick, unit and the cost of reading; keep them for this host.

    The estimate (meter cputime) and the error bands use these figures. Leave the machine idle
    meanwhile.

    ```console
    $ eij calibrate
    $ eij calibrate --meter perf --seconds 30
    ```
    """
    from ..meters.counters import calibrate as calibration
    from ..meters.counters.detect import detect, openers

    check_known("--meter", meter, {"auto", *openers()} - {"cputime"})
    if seconds <= 0:
        raise InputError("--seconds", seconds, "a number above 0")
    counter = detect()[0] if meter == "auto" else openers()[meter]()
    if counter.info.name == "cputime":
        counter.close()
        raise MeterUnavailable(
            "no energy counter is alive here, so there is nothing to calibrate with; "
            "see: eij meters"
        )
    with progress_bar("calibrating") as bar:
        done = iter(range(STEPS))
        found = calibration.calibrate(counter, seconds, lambda step: bar(next(done) / STEPS, step))
    counter.close()
    path = calibration.store(found)
    typer.echo(found.as_json())
    typer.echo(f"kept in {path}", err=True)
    if found.doubt:
        typer.echo(f"warning: {found.doubt}; calibrate again on a quiet machine", err=True)
