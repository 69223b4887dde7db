"""`eij counterfactual`: what would another rule have chosen from a recorded run?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["counterfactual"]

Several = list[str]
RULES = ("eij-plus", "eij", "ucb1", "uniform")


def counterfactual(
    file: Annotated[Path, typer.Argument(help="A record of every decision (eij run --every 1).")],
    selector: Annotated[
        Several | None, typer.Option(help=f"A rule, again for more; default: {', '.join(RULES)}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a rule.")] = False,
) -> None:
    """Let other rules choose from the gains and Joules that a run recorded.

    ```console
    $ eij run --every 1 --out runs
    $ eij counterfactual runs/knapsack-ils-eij-0-0-0123456789abcdef.parquet --selector ucb1
    ```
    """
    from ..counterfactual import CAVEAT, reschedule
    from ..recorder import load

    record = load(file)
    trial = record.trial
    found = {
        rule: reschedule(
            record.rows,
            record.names,
            rule,
            budget=trial.budget.joules,
            seed=trial.seed,
            repetition=trial.repetition,
        )
        for rule in selector or RULES
    }
    if as_json:
        for rule, told in found.items():
            shares = {name: theirs for name, (_, theirs) in told.shares().items()}
            row = {"rule": rule, "decisions": int(told.operator.size), "shares": shares}
            row |= {"agreement": told.agreement, "ended_by": told.exhausted, "caveat": CAVEAT}
            typer.echo(json.dumps(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    recorded = str(trial.selector)
    table = Table(title=f"Shares of the choices; recorded under {recorded}", box=box.SIMPLE_HEAD,
                  title_justify="left")  # fmt: skip
    for heading in ("rule", *record.names, "agrees", "decisions", "ends where"):
        table.add_column(heading, justify="left" if heading == "rule" else "right")
    for rule, told in found.items():
        table.add_row(
            Text(rule),
            *(f"{theirs:.0%} ({was:.0%})" for was, theirs in told.shares().values()),
            f"{told.agreement:.0%}",
            str(told.operator.size),
            Text(f"{told.exhausted} has no more" if told.exhausted else "all is used"),
        )
    console = Console()
    console.print(table)
    console.print(Text(f"In brackets: the recorded choices as far as the rule got. {CAVEAT}"))
