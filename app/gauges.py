"""The numbers of a run, and the same in a sentence."""

from __future__ import annotations

import math

from app.escape import text
from app.frame import Frame
from app.tables import number

__all__ = ["numbers", "sentence"]

ABOUT = {
    "Watts": "Joules per second of the search",
    "evaluations / s": "evaluations per second of computing, pauses excluded",
    "optimum gap": "(optimum − best) / |optimum|",
}


def numbers(frame: Frame) -> str:
    """Return the row of numbers as HTML."""
    tally = frame.tally
    last = frame.rows[-1] if len(frame.rows) else None
    best = math.nan if last is None else float(last["best"])
    joules = 0.0 if last is None else float(last["spent"])
    decisions = 0 if last is None else int(last["decision"])
    evaluations = 0 if last is None else int(last["evaluations"])
    seconds = math.nan
    if tally is not None:
        best, joules, seconds = tally.best, tally.joules, tally.seconds
        decisions, evaluations = tally.decisions, tally.evaluations
    gap = 100.0 * (frame.optimum - best) / abs(frame.optimum) if frame.optimum else math.nan
    rate = evaluations / seconds if seconds > 0.0 else math.nan
    cards = [
        ("best fitness", number(best, 5)),
        ("optimum gap", _gap(gap)),
        (_spent_of(frame), f"{number(joules)} J"),
        ("decisions", _count(decisions)),
        ("evaluations", _count(evaluations)),
        ("evaluations / s", _short(rate)),
    ]
    if frame.provenance != "simulated":  # over real seconds, those are the power of no machine
        cards.append(("Watts", f"{number(joules / seconds, 3)} W" if seconds > 0.0 else "–"))
    body = "".join(
        f"<div class='stat' title='{ABOUT.get(key, '')}'><b>{value}</b><span>{key}</span></div>"
        for key, value in cards
    )
    return f"<div class='gauges'><div class='stats'>{body}</div></div>"


def _gap(percent: float) -> str:
    if not math.isfinite(percent):
        return "–"
    # A full knapsack that bursts is worse by millions of per cent; how many says nothing.
    return f"{number(percent, 3)} %" if percent < 1000.0 else "&gt; 999 %"


def _spent_of(frame: Frame) -> str:
    joules = frame.budget.joules
    return f"of {number(joules)} J spent" if math.isfinite(joules) else "Joules spent"


def sentence(frame: Frame) -> str:
    """Say how the run stands in words: for screen readers, and for everybody."""
    if not len(frame.rows):
        return ""
    last = frame.rows[-1] if frame.tally is None else frame.tally.tip[0]
    chosen = last["applications"]
    total = int(chosen.sum())
    if not total:
        return "Nothing has been chosen yet."
    favourite = int(chosen.argmax())
    share = 100.0 * float(chosen[favourite]) / total
    spent = last["operator_joules"]
    cost = 100.0 * float(spent[favourite]) / max(float(spent.sum()), 1e-300)
    decisions = int(last["decision"])
    after = f"{_count(decisions)} decision{'s' if decisions != 1 else ''}"
    return (
        f"After {after}, {text(frame.names[favourite])} has "
        f"{share:.0f} % of the choices and {cost:.0f} % of the Joules."
    )


def _count(value: int) -> str:
    return f"{value:,}".replace(",", " ")


def _short(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
