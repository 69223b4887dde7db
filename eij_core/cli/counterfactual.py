"""`eij counterfactual`: what would another rule have chosen from a recorded run?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .shared.options import AsJson, Imports, Several

RULES = ("eij-plus", "eij", "ucb1", "uniform")


def counterfactual(
    file: Annotated[Path, typer.Argument(help="A record of every decision (eij run --every 1).")],
    selector: Annotated[
        Several | None, typer.Option(help=f"A rule, again for more; default: {', '.join(RULES)}.")
    ] = None,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """Let other rules choose from the gains and Joules that a run recorded.

    ```console
    $ eij run --every 1 --out runs
    $ eij counterfactual runs/knapsack-ils-eij-0-0-0123456789abcdef.parquet --selector ucb1
    ```
    """
    from ..records import load
    from ..records.counterfactual import CAVEAT, reschedule

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
    from .shared.tables import print_lines, print_table

    rows = [
        (
            rule,
            *(f"{theirs:.0%} ({was:.0%})" for was, theirs in told.shares().values()),
            f"{told.agreement:.0%}",
            str(told.operator.size),
            f"{told.exhausted} has no more" if told.exhausted else "all is used",
        )
        for rule, told in found.items()
    ]
    title = f"Shares of the choices; recorded under {trial.selector}"
    print_table(title, ("rule",), (*record.names, "agrees", "decisions", "ends where"), rows)
    print_lines(f"In brackets: the recorded choices as far as the rule got. {CAVEAT}")
