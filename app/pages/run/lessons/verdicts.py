"""Which guess a finished run proves right, from its own numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ....views.snapshot import Snapshot

Judge = Callable[[Snapshot], "Verdict"]


class Verdict(NamedTuple):
    """Which of the guesses was right, and what the run shows."""

    right: int
    """Its index; -1 if this run does not answer the question."""
    words: str


ELSEWHERE = Verdict(-1, "This run has other operators than the lesson's.")


def gap_of_choices(names: Sequence[str], even: float) -> Judge:
    """Ask which of two operators was chosen more often; `even`: percent apart that count as none.

    The guesses are the two names, then "about equally".
    """

    def judge(snapshot: Snapshot) -> Verdict:
        first, second = _shares(snapshot, "applications", names)
        if math.isnan(first + second):
            return ELSEWHERE
        right = 2 if abs(first - second) <= even else 0 if first > second else 1
        return Verdict(
            right, f"{names[0]} got {first:.0f} % of the choices, {names[1]} {second:.0f} %."
        )

    return judge


def choices_of(name: str, bounds: Sequence[float], column: str = "applications") -> Judge:
    """Ask for an operator's share, in percent: below, between or above the bounds."""
    what = "Joules" if column == "operator_joules" else "choices"

    def judge(snapshot: Snapshot) -> Verdict:
        (share,) = _shares(snapshot, column, (name,))
        if math.isnan(share):
            return ELSEWHERE
        right = 0 if share < bounds[0] else 1 if share <= bounds[1] else 2
        return Verdict(right, f"{name} got {share:.0f} % of the {what}.")

    return judge


def versus_uniform() -> Judge:
    """Ask whether the rule ended better than uniform choice: clearly, about alike, or worse."""

    def judge(snapshot: Snapshot) -> Verdict:
        other = next((lane for lane in snapshot.others if lane.kind == "uniform"), None)
        if other is None or not len(other.rows):
            return Verdict(-1, "Switch the comparison on and run again to see the answer.")
        ours, theirs = float(snapshot.rows["best"][-1]), float(other.rows["best"][-1])
        bad = snapshot.is_infeasible, snapshot.infeasible_of(other) == len(other.rows)
        if any(bad):
            right = 1 if all(bad) else 2 if bad[0] else 0
            found = "uniform choice alone" if bad[0] else "the rule alone"
            found = "neither of them" if all(bad) else found
            return Verdict(right, f"A feasible solution was found by {found}.")
        # Clearly: by more than one part in a hundred of the larger one.
        ahead = (ours - theirs) / max(abs(ours), abs(theirs), 1e-300)
        right = 0 if ahead > 0.01 else 2 if ahead < -0.01 else 1
        return Verdict(right, f"It ended at {ours:.5g}, uniform choice at {theirs:.5g}.")

    return judge


def _shares(snapshot: Snapshot, column: str, names: Sequence[str]) -> list[float]:
    """Return the share of these operators at the end, in percent; nan for those not there."""
    totals: Any = snapshot.rows[column][-1]
    whole = float(totals.sum()) or math.nan
    found = {name: float(total) for name, total in zip(snapshot.names, totals, strict=True)}
    return [100.0 * found.get(name, math.nan) / whole for name in names]
