"""`eij meters`: the energy counters of this machine."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from .shared.options import AsJson, number


def meters(
    check: Annotated[
        bool, typer.Option("--check", help="Measure a known load with every live counter.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="Seconds of the check.", parser=number)] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Show the energy counters of this machine: alive, or why not and what to do about it.

    ```console
    $ eij meters
    $ eij meters --check
    ```
    """
    from ..meters.counters.detect import check_counters, counter_table

    rows = counter_table()
    checked = check_counters(seconds) if check else []
    if as_json:
        found = {"sources": [row._asdict() for row in rows]}
        if check:
            found["check"] = [row._asdict() for row in checked]
        typer.echo(json.dumps(found, allow_nan=False))
    else:
        _show_counters(rows)
        if check:
            _show_check(checked, seconds)


def _show_counters(rows: list[Any]) -> None:
    from ..meters.counters.detect import openers
    from .shared.tables import print_lines, print_table

    def cells(row: Any) -> tuple[Any, ...]:
        alive = ("yes", "green") if row.alive else ("no", "red")
        figures = (f"{row.tick_ms:.3g}", f"{row.unit_uj:.3g}", f"{row.read_us:.3g}", row.band)
        return row.name, alive, row.provenance, *(figures if row.alive else ("",) * 4)

    print_table(
        "Energy counters of this machine",
        ("counter", "alive", "provenance"),
        ("tick (ms)", "unit (µJ)", "read (µs)", "error band"),
        map(cells, rows),
    )
    for row in rows:
        counts = f"counts {row.domains}; " if row.domains else ""
        print_lines(f"{row.name}: {counts}{row.notes}")
    automatic = openers(automatic=True)
    best = next((row.name for row in rows if row.alive and row.name in automatic), "nothing")
    print_lines(f"\n--meter auto takes {best} here.")


def _show_check(rows: list[Any], seconds: float) -> None:
    from .shared.tables import print_lines, print_table

    words = {None: "the yardstick", True: "yes", False: "no"}
    print_table(
        f"One busy thread for {seconds:g} s, seen by every live counter at once",
        ("counter",),
        ("J", "W", "relative to the first", "agrees"),
        (
            (r.name, f"{r.joules:.4g}", f"{r.watts:.4g}", f"{r.ratio:.3f}", words[r.agrees])
            for r in rows
        ),
    )
    if len(rows) == 1:
        print_lines(f"Only {rows[0].name} is alive: there is nothing to compare it with.")
