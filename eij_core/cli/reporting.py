"""`eij report` and `eij paper`: from a store to a page; from the paper to its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError, nearest
from .campaigns import DaskOption, Jobs, Quiet, Retry
from .options import whole

__all__ = ["paper", "report"]

FORMS = ("html", "md", "tex")


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A campaign's folder.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="[default: DIR.html, beside the folder]"),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="html, md or tex (tables).")
    ] = "html",
    control: Annotated[
        str, typer.Option(metavar="METHOD", help="What others are held against. [default: eij]")
    ] = "",
) -> int:
    """Write the report of a campaign: one page that opens anywhere, without a network.

    ```console
    $ eij report results
    $ eij report results --format tex --out tables.tex
    ```
    """
    if form not in FORMS:
        raise InputError("--format", form, nearest(form, FORMS))
    _write(_made(folder, control), out or folder.with_name(f"{folder.resolve().name}.{form}"), form)
    return 0


def paper(
    quick: Annotated[bool, typer.Option("--quick", help="20 trials per method: a minute.")] = False,
    trials: Annotated[
        int | None,
        typer.Option(parser=whole(2), metavar="N", help="Trials per method. [default: 100]"),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="[default: eij-paper or eij-paper-quick]")
    ] = None,
    meter: Annotated[
        str, typer.Option(metavar="METER", help="Whose Joules; auto: this machine's.")
    ] = "paper",
    jobs: Jobs = None,
    dask: DaskOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="[default: DIR.html, beside the folder]")
    ] = None,
    retry_failed: Retry = False,
    quiet: Quiet = False,
) -> int:
    """Repeat the paper's whole experiment, and print its tables with ours beside them.

    Both parts: at the paper's energy budgets, and at fixed evaluations. What was run before is
    not run again.

    ```console
    $ eij paper --quick
    $ eij paper --jobs 8
    ```
    """
    from ..paper import TRIALS
    from .conducting import conduct

    folder = store or Path("eij-paper-quick" if quick else "eij-paper")
    campaign = _planned(folder, trials or (20 if quick else TRIALS), meter, quiet)
    code = conduct(campaign, folder, jobs, dask, False, retry_failed, quiet)
    from .signals import interrupts

    if interrupts.code:
        return code
    made = _made(folder)
    if not quiet:
        _print(made)
    _write(made, out or folder.with_name(f"{folder.resolve().name}.html"), "html")
    return code


def _planned(folder: Path, trials: int, meter: str, quiet: bool) -> Any:
    """Return the campaign; on another machine its budgets are related to the paper's once."""
    from ..campaigns import Reader
    from ..campaigns.reader import FILE
    from ..paper.experiment import host_budgets, paper_campaign
    from ..trial import FAMILIES

    budgets: dict[str, str] | None = None
    if FAMILIES["meter"].check(meter).name != "paper":
        if (folder / FILE).is_file():
            with Reader(folder) as reader:
                budgets = {g["problems"][0].partition(":")[0]: g["budgets"][0]
                           for g in reader.spec().get("grid", ())}  # fmt: skip
        if not budgets:
            budgets = host_budgets(meter)
        if not quiet:
            typer.echo(
                "budgets that buy the paper's evaluations here: "
                + ", ".join(f"{problem} {budget}" for problem, budget in budgets.items())
            )
    return paper_campaign(trials, meter, budgets)


def _made(folder: Path, control: str = "") -> Any:
    from ..paper.experiment import report_beside

    return report_beside(folder, control)


def _write(made: Any, out: Path, form: str) -> None:
    text = {"html": made.html, "md": made.markdown, "tex": made.latex}[form]()
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise InputError("--out", out, f"a file to write to ({error.strerror})") from None
    typer.echo(f"report: {out}")


def _print(made: Any) -> None:
    """Print the paper's tables, one problem after the other so that they fit on a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for table in made.lead:
        for first in range(1, len(table.headings), 5):
            problem, _, _ = table.headings[first].partition(":")
            shown = Table(title=f"{table.title}: {problem}", title_justify="left")
            for heading in ("method", "paper", "p", "ours", "p", "SE"):
                shown.add_column(heading, justify="left" if heading == "method" else "right")
            for row in table.rows:
                cells = [row[0], *row[first : first + 5]]
                shown.add_row(*(Text(c.text, style="bold" if c.bold else "") for c in cells))
            console.print(shown)
        console.print(Text(table.caption, style="dim"))
    for remark in made.remarks:
        console.print(Text(remark))
