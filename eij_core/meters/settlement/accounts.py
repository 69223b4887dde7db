"""The accounts of a run on a counter: they add up, and their uncertainty is known."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .window import apportion

Floats = NDArray[np.float64]

NOT_OPERATORS = ("start", "overhead", "away", "others")
QUANTISATION = math.sqrt(1.0 / 6.0)
"""A window opens and closes at a random phase of a tick: the sd of the two together, in ticks."""


class Accounts:
    """Whole µJ by account: operators, start, overhead, away, others.

    Their sum is the counter's change over all settled windows, exactly. What was imputed stands
    beside them, not in them. `settled_uj.sum() + unsettled_uj` is the counter's whole change.
    """

    def __init__(self, operators: tuple[str, ...], rel_uncertainty: float) -> None:
        self.names = (*operators, *NOT_OPERATORS)
        self._band = 1.0 + rel_uncertainty
        self.settled_uj = np.zeros(len(self.names), np.int64)
        self.imputed = np.zeros(len(operators) + 1)
        """Joules of operators and start that no counter confirmed."""
        self.unsettled_uj = 0
        """What the counter showed of windows that could not be settled."""
        self.quality: Counter[str] = Counter()
        """How many windows there were of each quality, and what happened to them."""
        self.interrupted = 0
        # `others` is booked as it is counted: only this run's accounts are divided.
        self._carry = np.zeros(len(self.names) - 1)
        self._variance = np.zeros(len(self.names) - 1)

    def book(self, counted_uj: int, shares: Floats, sd_uj: float) -> NDArray[np.int64]:
        """Divide a window's energy; return the µJ by account.

        Parameters
        ----------
        counted_uj : int
            The counter's change.
        shares : array
            The µJ of this run's accounts; the rest of the counter's change goes to `others`.
        sd_uj : float
            Standard deviation of the sum of the shares.
        """
        own = round(float(shares.sum()))
        whole = apportion(own, shares + self._carry)
        self._carry += shares - whole
        accounts = np.append(whole, counted_uj - own)
        self.settled_uj += accounts
        self._variance += (shares / max(own, 1) * sd_uj) ** 2
        return accounts

    def book_pause(self, counted_uj: int) -> None:
        """Book the energy of a pause between chunks."""
        self.settled_uj[self.names.index("away")] += counted_uj

    def joules(self) -> dict[str, float]:
        """Return the settled Joules of every account."""
        return dict(zip(self.names, (self.settled_uj * 1e-6).tolist(), strict=True))

    def uncertainty(self, *accounts: str) -> dict[str, Any]:
        """Return how well the energy of some accounts is known.

        `quantisation_sd` is the standard deviation by ticks and by the division over accounts,
        `band` the systematic error of the counter, from and to; the two are never mixed.
        """
        places = [self.names.index(name) for name in accounts]
        joules = float(self.settled_uj[places].sum()) * 1e-6
        sd = math.sqrt(float(self._variance[places].sum())) * 1e-6
        return {"quantisation_sd": sd, "band": [joules / self._band, joules * self._band]}

    def summary(self) -> dict[str, Any]:
        """Return the accounts and their uncertainty as plain data, for results and records."""
        charged = self.names[: self.imputed.size]  # to the budget: operators and start
        settled = float(self.settled_uj[: self.imputed.size].sum()) * 1e-6
        imputed = float(self.imputed.sum())
        return {
            "joules": self.joules(),
            "imputed_joules": imputed,
            "unsettled_joules": self.unsettled_uj * 1e-6,
            "imputed_share": imputed / (settled + imputed) if imputed else 0.0,
            "quality": dict(self.quality),
            "interrupted": self.interrupted,
            **self.uncertainty(*charged),
            "accounts": {name: self.uncertainty(name) for name in self.names[:-1]},
        }
