"""`eij profile`: what one application of each operator costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .shared.bars import progress_bar
from .shared.options import DEFAULT, AsJson, Imports, count


def profile(
    problem: Annotated[str, typer.Option(help="name[:key=value,…]")] = DEFAULT["problem"],
    algorithm: Annotated[str, typer.Option(help="name[:key=value,…]")] = DEFAULT["algorithm"],
    meter: Annotated[str, typer.Option(help="name[:key=value,…]; auto: the best alive.")] = "auto",
    batches: Annotated[int, count("Batches of each operator.")] = 20,
    seed: Annotated[int, count("Seed.", low=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write .json, .parquet, or a picture: .svg, .html, .png.")
    ] = None,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """Measure what one application of each operator costs, in batches of one operator alone.

    A run of the same problem and algorithm can begin with these costs.

    ```console
    $ eij profile --problem nk --algorithm ssga
    $ eij profile --meter paper --out profile.svg
    $ eij profile --out profile.json
    $ eij run --profile profile.json
    ```
    """
    from ..figures.canvas import FORMS
    from ..figures.charts import profile_picture
    from ..profiles.measure import Profiler

    endings = (".json", ".parquet", *FORMS)
    if out is not None and out.suffix not in endings:
        raise InputError("--out", out, f"a file name that ends in {', '.join(endings)}")
    profiler = Profiler(problem, algorithm, meter, batches=batches, seed=seed)
    try:
        with progress_bar("profiling") as bar:
            for batch in profiler:
                bar(profiler.progress, batch.operator)
        found = profiler.profile()
    finally:
        profiler.close()
    if as_json:
        typer.echo(found.as_json())
    else:
        _show(found)
    if out is not None:
        if out.suffix in FORMS:
            profile_picture(found).save(out)
        else:
            found.write(out)
        typer.echo(f"written: {out}", err=True)


def _show(found: Any) -> None:
    from .shared.tables import print_lines, print_table

    meter, (unit, scale) = found.meter, found.unit

    def cells(each: Any) -> tuple[str, ...]:
        figures = (each.mean, each.median, each.p5, each.p95, each.per_evaluation)
        shown = (f"{value / scale:.4g}" for value in figures)
        return each.name, f"{each.applications:,}", *shown

    print_table(
        f"{found.problem} · {found.algorithm}: {meter.provenance} Joules, by meter {meter.name}",
        ("operator",),
        ("applications", f"mean ({unit})", "median", "p5", "p95", f"{unit}/evaluation"),
        map(cells, found.operators),
    )
    print_lines(*filter(None, (found.band_words, found.imputed_words)))
