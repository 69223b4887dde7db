"""What another rule would have chosen from the gains and Joules of a recorded run.

When the other rule chooses an operator, it learns that operator's next recorded gain and Joules, in
the order of the record. This is not what would have happened: with other choices the search would
have gone elsewhere, and an operator that the recorded rule seldom chose has few applications on
record. The answer ends where the chosen operator has no more of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.rng import streams_for
from ..errors import InputError
from ..protocols import Hints, Outcome
from ..registry import Spec, selectors

CAVEAT = (
    "The gains and Joules are those that were recorded, in each operator's own order: with other "
    "choices the search would have gone elsewhere."
)


class Counterfactual(NamedTuple):
    """Another rule's choices among recorded applications."""

    names: tuple[str, ...]
    operator: NDArray[np.int64]
    """The other rule's choice, decision by decision."""
    recorded: NDArray[np.int64]
    """The recorded choices, as far as the other rule got."""
    spent: NDArray[np.float64]
    """Joules spent by then, under the other rule."""
    exhausted: str
    """The operator that was chosen once more than it is on record; empty if none was."""

    @property
    def agreement(self) -> float:
        """Share of the decisions on which both rules agree."""
        return float(np.mean(self.operator == self.recorded)) if self.operator.size else np.nan

    def shares(self) -> dict[str, tuple[float, float]]:
        """Return each operator's share of the choices: as recorded, and under the other rule."""
        count, both = max(self.operator.size, 1), (self.recorded, self.operator)
        was, now = (np.bincount(each, minlength=len(self.names)) / count for each in both)
        return dict(zip(self.names, zip(was.tolist(), now.tolist(), strict=True), strict=True))


def reschedule(
    rows: NDArray[Any],
    names: tuple[str, ...],
    rule: str | Spec,
    *,
    budget: float = np.inf,
    seed: int = 0,
    repetition: int = 0,
) -> Counterfactual:
    """Let another rule choose among the recorded applications.

    Parameters
    ----------
    rows : structured array
        Rows of a run recorded with `every=1`, see `engine.rows.row_dtype`.
    names : tuple of str
        The operators, in the order of the record.
    rule : str or Spec
        The other selector.
    budget : float
        Joules that it may spend; by default there is no limit.
    seed, repetition : int
        For the rule's own draws.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> trial = Trial("nk:n=20,k=3", "ils", "uniform", "model", "60 J", seed=7, every=1)
    >>> result = solve(trial, compiled=False)
    >>> names = tuple(total.name for total in result.operators)
    >>> again = reschedule(result.rows, names, "ucb1", budget=30.0)
    >>> 0.0 <= again.agreement <= 1.0
    True
    """
    rows = rows[rows["operator"] >= 0]
    if rows.size == 0:
        raise InputError("rows", "none", "a run of at least one decision: give it a larger budget")
    if (np.diff(rows["decision"]) != 1).any() or rows["decision"][0] != 1:
        raise InputError("rows", f"{rows.size} rows", "every decision: record with every=1")
    stream = [rows[rows["operator"] == o] for o in range(len(names))]
    selector = selectors.make(rule)
    stats = selector.memory(Hints(names, np.zeros(len(names)), np.zeros(len(names))), budget)
    rng = streams_for(seed, repetition).picks
    position = np.zeros(len(names), np.int64)
    chosen: list[int] = []
    spent: list[float] = []
    total = 0.0
    exhausted = ""
    with np.errstate(over="ignore"):  # random words wrap around on purpose
        while len(chosen) < rows.size and total < budget:
            o = int(selector.select(stats, budget - total, rng))
            if o < 0:
                break
            if position[o] == stream[o].size:
                exhausted = names[o]
                break
            row = stream[o][position[o]]
            position[o] += 1
            # The record has the sum over the candidates; it stands for a single one.
            outcome = Outcome(float(row["gain"]), 1, 0, np.array([row["gain"]]))
            selector.learn(stats, o, outcome, float(row["joules"]))
            total += float(row["joules"])
            chosen.append(o)
            spent.append(total)
    recorded = rows["operator"][: len(chosen)].astype(np.int64)
    return Counterfactual(names, np.array(chosen, np.int64), recorded, np.array(spent), exhausted)
