"""`eij paper`: the paper's whole experiment, its tables with ours beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .campaign import DaskOption, Jobs, Retry, conduct
from .report import ReportFile, write_report
from .shared.options import Imports, Quiet, count
from .shared.signals import interrupts


def paper(
    quick: Annotated[bool, typer.Option("--quick", help="20 trials per method: a minute.")] = False,
    trials: Annotated[int | None, count("Trials per method. [default: 100]", low=2)] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="[default: eij-paper or eij-paper-quick]")
    ] = None,
    meter: Annotated[
        str, typer.Option(metavar="METER", help="Whose Joules; auto: this machine's.")
    ] = "paper",
    jobs: Jobs = None,
    dask: DaskOption = None,
    out: ReportFile = None,
    retry_failed: Retry = False,
    quiet: Quiet = False,
    imports: Imports = None,
) -> int:
    """Repeat the paper's whole experiment, and print its tables with ours beside them.

    Both parts: at the paper's energy budgets, and at fixed evaluations. What was run before is
    not run again.

    ```console
    $ eij paper --quick
    $ eij paper --jobs 8
    ```
    """
    from ..paper import TRIALS, beside
    from ..reports import report_of

    folder = store or Path("eij-paper-quick" if quick else "eij-paper")
    campaign = _planned(folder, trials or (20 if quick else TRIALS), meter, quiet)
    code = conduct(campaign, folder, quiet, jobs, dask, retry_failed, again="the same command")
    if interrupts.code:
        return code
    made = report_of(folder, beside=beside)
    if not quiet:
        _print(made)
    write_report(made, folder, out)
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


def _print(made: Any) -> None:
    """Print the paper's tables, one problem after the other so that they fit on a terminal."""
    from .shared.tables import print_lines, print_table

    for table in made.lead:
        for first in range(1, len(table.headings), 5):
            problem, _, _ = table.headings[first].partition(":")
            chosen = ((row[0], *row[first : first + 5]) for row in table.rows)
            print_table(
                f"{table.title}: {problem}",
                ("method",),
                ("paper", "p", "ours", "p", "SE"),
                ([(cell.text, "bold" if cell.bold else "") for cell in cells] for cells in chosen),
            )
        print_lines(table.caption, style="dim")
    print_lines(*made.remarks)
