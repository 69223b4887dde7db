"""The numbers of a run, and the same in a sentence."""

from __future__ import annotations

import math

from ...text.escape import text
from ...text.numbers import count, gap, number, quantity, short
from ...views.snapshot import Snapshot

ABOUT = {
    "Watts": "Joules per second of the search",
    "evaluations / s": "evaluations per second of computing, pauses excluded",
    "optimum gap": "(optimum − best) / |optimum|",
}


def numbers(snapshot: Snapshot) -> str:
    """Return the row of numbers as HTML."""
    found = snapshot.latest[["best", "spent", "decision", "evaluations"]].tolist()
    best, joules, decisions, evaluations = found[0] if found else (math.nan, 0.0, 0, 0)
    seconds = snapshot.tally.seconds if snapshot.tally is not None else math.nan
    rate = evaluations / seconds if seconds > 0.0 else math.nan
    cards = [
        ("best fitness", "infeasible" if snapshot.is_infeasible else number(best, 5)),
        ("optimum gap", "–" if snapshot.is_infeasible else gap(best, snapshot.optimum)),
        (_spent_of(snapshot), quantity(joules, "J")),
        ("decisions", count(decisions)),
        ("evaluations", count(evaluations)),
        ("evaluations / s", short(rate)),
    ]
    if snapshot.provenance != "simulated":  # simulated Joules per real second mean nothing
        cards.append(("Watts", quantity(joules / seconds, "W", 3) if seconds > 0.0 else "–"))
    body = "".join(
        f"<div class='stat' title='{ABOUT.get(key, '')}'><b>{value}</b><span>{key}</span></div>"
        for key, value in cards
    )
    return f"<div class='gauges'><div class='stats'>{body}</div></div>"


def _spent_of(snapshot: Snapshot) -> str:
    joules = snapshot.budget.joules
    return f"of {quantity(joules, 'J')} spent" if math.isfinite(joules) else "Joules spent"


def sentence(snapshot: Snapshot) -> str:
    """Return where the run stands in a sentence, which screen readers announce."""
    if not len(snapshot.rows):
        return ""
    last = snapshot.latest[0]
    chosen = last["applications"]
    total = int(chosen.sum())
    if not total:
        return "Nothing has been chosen yet."
    favourite = int(chosen.argmax())
    share = 100.0 * float(chosen[favourite]) / total
    spent = last["operator_joules"]
    cost = 100.0 * float(spent[favourite]) / max(float(spent.sum()), 1e-300)
    decisions = int(last["decision"])
    after = f"{count(decisions)} decision{'s' if decisions != 1 else ''}"
    return (
        f"After {after}, {text(snapshot.names[favourite])} has "
        f"{share:.0f} % of the choices and {cost:.0f} % of the Joules."
    )
