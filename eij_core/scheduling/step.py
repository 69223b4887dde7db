"""One step of somebody's own loop: the operator to apply, and what it did."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError, RunError

OUTCOME = ("gain", "gains", "evaluations", "touches", "best", "solution", "joules")


class Step:
    """An operator to apply; the loop writes into it what the application did.

    Attributes
    ----------
    operator : str or callable
        The operator, as it was given to the scheduler.
    name : str
    number : int
        Its place among the operators.
    gain : float or None
        How much better the solution has become, whatever the sense; not set: None.
    gains : sequence of float or None
        The same of each candidate, where there were several.
    evaluations, touches : int
        Solutions evaluated; genes read or drawn outside of that.
    best : float or None
        The objective of the solution that was found, for the plot.
    solution : object
        That solution.
    joules : float or None
        What the step took, if that was metered elsewhere.
    failed : bool
        Whether the step ended with an exception, or without a gain.
    """

    __slots__ = (
        "best", "evaluations", "failed", "gain", "gains", "joules", "name", "number", "operator",
        "owner", "solution", "touches",
    )  # fmt: skip

    def __init__(
        self, owner: object, operator: str | Callable[..., Any], name: str, number: int
    ) -> None:
        self.owner: object | None = owner
        self.operator: Any = operator
        self.name, self.number = name, number
        self.gain: float | None = None
        self.gains: Any = None
        self.evaluations, self.touches = 1, 0
        self.best: float | None = None
        self.solution: Any = None
        self.joules: float | None = None
        self.failed = False

    def __repr__(self) -> str:
        state = "failed" if self.failed else "open" if self.owner else "told"
        return f"<step {self.name}, {state}>"

    def note(self, *outcome: Any) -> None:
        """Take what is not None of gain, gains, evaluations, touches, best, solution, joules."""
        for name, value in zip(OUTCOME, outcome, strict=True):
            if value is not None:
                setattr(self, name, value)

    def fail(self, *, needs_joules: bool) -> None:
        """Become a step that gained nothing and found nothing; what it took is still charged."""
        self.failed = True
        self.gain, self.gains, self.best, self.solution = 0.0, None, None, None
        self.evaluations, self.touches = 1, 0
        if not needs_joules:
            self.joules = None
        elif self.joules is None:
            self.joules = 0.0  # nobody can say any more

    def check(self) -> tuple[float, Any]:
        """Return the gain and the gains of the candidates; an error if they cannot be used."""
        gain, gains = self.gain, self.gains
        if gain is None and gains is None:
            raise RunError(
                f"step {self.name} has no gain: set step.gain or step.gains before it ends; 0 if "
                f"nothing became better"
            )
        if gains is not None:
            gains = np.asarray(gains, float)
            if gains.ndim != 1 or not gains.size or not np.isfinite(gains).all():
                raise InputError("gains", self.gains, "a list of one or more finite numbers")
            if gain is None:
                gain = 0.0
                for each in gains.tolist():  # in order, as the operators of our own loop do
                    gain += each
        gain = float(gain)  # type: ignore[arg-type]
        if not math.isfinite(gain):
            raise InputError("gain", gain, "a finite number: how much better, 0 if it is not")
        for field in ("evaluations", "touches"):
            value = getattr(self, field)
            if not (value >= 0 and value == int(value)):
                raise InputError(field, value, "a whole number, at least 0")
        return gain, gains
