"""`eij meters`, `eij calibrate`, `eij profile`: what a Joule is on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError, MeterUnavailable
from .bars import Bar
from .options import DEFAULT, number, whole

__all__ = ["calibrate", "meters", "profile"]


def meters(
    check: Annotated[
        bool, typer.Option("--check", help="Measure a known load with every live source.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="Seconds of the check.", parser=number)] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show the sources of energy on this machine: alive, or why not and what to do about it.

    ```console
    $ eij meters
    $ eij meters --check
    ```
    """
    from ..meters.detect import check_sources, source_table

    rows = source_table()
    checked = check_sources(seconds) if check else []
    if as_json:
        found = {"sources": [row._asdict() for row in rows]}
        if check:
            found["check"] = [row._asdict() for row in checked]
        typer.echo(json.dumps(found, allow_nan=False))
    else:
        _show_sources(rows)
        if check:
            _show_check(checked, seconds)


def calibrate(
    meter: Annotated[str, typer.Option(help="powercap, perf or pyrapl; auto: the best.")] = "auto",
    seconds: Annotated[
        float, typer.Option(help="How many seconds it may take.", parser=number)
    ] = 60.0,
) -> None:
    """Measure idle and busy Watts, tick, unit and the cost of reading; keep them for this host.

    The estimate (meter cputime) and the error bands use what is found. Leave the machine alone
    meanwhile.

    ```console
    $ eij calibrate
    $ eij calibrate --meter perf --seconds 30
    ```
    """
    from ..errors import nearest
    from ..meters import calibrate as calibration
    from ..meters.detect import OPENERS, detect

    known = ("auto", *(name for name in OPENERS if name != "cputime"))
    if meter not in known:
        raise InputError("--meter", meter, nearest(meter, known))
    if seconds <= 0:
        raise InputError("--seconds", seconds, "a number above 0")
    source = detect()[0] if meter == "auto" else OPENERS[meter]()
    if source.info.name == "cputime":
        source.close()
        raise MeterUnavailable(
            "no energy counter is alive here, so there is nothing to calibrate with; "
            "see: eij meters"
        )
    steps = 5
    with Bar("calibrating") as bar:
        done = iter(range(steps))
        found = calibration.calibrate(source, seconds, lambda step: bar(next(done) / steps, step))
    source.close()
    path = calibration.store(found)
    typer.echo(found.as_json())
    typer.echo(f"kept in {path}", err=True)
    if found.doubt:
        typer.echo(f"warning: {found.doubt}; calibrate again on a quiet machine", err=True)


def profile(
    problem: Annotated[str, typer.Option(help="name[:key=value,…]")] = DEFAULT["problem"],
    algorithm: Annotated[str, typer.Option(help="name[:key=value,…]")] = DEFAULT["algorithm"],
    meter: Annotated[str, typer.Option(help="name[:key=value,…]; auto: the best alive.")] = "auto",
    batches: Annotated[int, typer.Option(help="Batches of each operator.", parser=whole(1))] = 20,
    seed: Annotated[int, typer.Option(help="Seed.", parser=whole(0))] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write .json, .parquet, or a picture: .svg, .html, .png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The profile as JSON.")] = False,
) -> None:
    """Measure what one application of each operator costs, in batches of one operator alone.

    A run of the same problem and algorithm can begin with what was found.

    ```console
    $ eij profile --problem nk --algorithm ssga
    $ eij profile --meter paper --out profile.svg
    $ eij profile --out profile.json
    $ eij run --profile profile.json
    ```
    """
    from ..profiling import Profiler
    from ..violins import PICTURES, write_picture

    endings = (".json", ".parquet", *PICTURES)
    if out is not None and out.suffix not in endings:
        raise InputError("--out", out, f"a file name that ends in {', '.join(endings)}")
    profiler = Profiler(problem, algorithm, meter, batches=batches, seed=seed)
    try:
        with Bar("profiling") as bar:
            for batch in profiler:
                bar(profiler.progress, batch.operator)
        found = profiler.profile()
    finally:
        profiler.close()
    if as_json:
        typer.echo(found.as_json())
    else:
        _show_profile(found)
    if out is not None:
        if out.suffix in PICTURES:
            write_picture(found, out)
        else:
            found.write(out)
        typer.echo(f"written: {out}", err=True)


def _table(title: str, left: tuple[str, ...], right: tuple[str, ...]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in left:
        table.add_column(heading, overflow="fold")
    for heading in right:
        table.add_column(heading, justify="right", overflow="fold")
    return table


def _show_sources(rows: list[Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    from ..meters.detect import PREFERRED

    console = Console()
    table = _table(
        "Sources of energy on this machine",
        ("source", "alive", "provenance"),
        ("tick (ms)", "unit (µJ)", "read (µs)", "error band"),
    )
    for row in rows:
        figures = (f"{row.tick_ms:.3g}", f"{row.unit_uj:.3g}", f"{row.read_us:.3g}", row.band)
        table.add_row(
            row.name,
            Text("yes" if row.alive else "no", style="green" if row.alive else "red"),
            row.provenance,
            *(figures if row.alive else ("",) * 4),
        )
    console.print(table)
    for row in rows:
        counts = f"counts {row.domains}; " if row.domains else ""
        console.print(Text(f"{row.name}: {counts}{row.notes}"))
    best = next((row.name for row in rows if row.alive and row.name in PREFERRED), "nothing")
    console.print(Text(f"\n--meter auto takes {best} here."))


def _show_check(rows: list[Any], seconds: float) -> None:
    from rich.console import Console

    table = _table(
        f"One busy thread for {seconds:g} s, seen by every live source at once",
        ("source",),
        ("J", "W", "relative to the first", "agrees"),
    )
    words = {None: "the yardstick", True: "yes", False: "no"}
    for row in rows:
        figures = f"{row.joules:.4g}", f"{row.watts:.4g}", f"{row.ratio:.3f}"
        table.add_row(row.name, *figures, words[row.agrees])
    console = Console()
    console.print(table)
    if len(rows) == 1:
        console.print(f"Only {rows[0].name} is alive: there is nothing to compare it with.")


def _show_profile(found: Any) -> None:
    from rich.console import Console

    meter = found.meter
    means = [each.mean for each in found.operators if each.mean == each.mean]
    unit, scale = _unit(min(means, default=1.0))
    table = _table(
        f"{found.problem} · {found.algorithm}: {meter.provenance} Joules, by meter {meter.name}",
        ("operator",),
        ("applications", f"mean ({unit})", "median", "p5", "p95", f"{unit}/evaluation"),
    )
    for each in found.operators:
        figures = (each.mean, each.median, each.p5, each.p95, each.per_evaluation)
        shown = (f"{value / scale:.4g}" for value in figures)
        table.add_row(each.name, f"{each.applications:,}", *shown)
    console = Console()
    console.print(table)
    for words in (found.band_words, found.imputed_words):
        if words:
            console.print(words)


def _unit(joules: float) -> tuple[str, float]:
    """Return a unit in which the figure is easy to read."""
    for unit, scale in (("J", 1.0), ("mJ", 1e-3)):
        if joules >= scale:
            return unit, scale
    return "µJ", 1e-6
