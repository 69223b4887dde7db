"""The values that components, the loop and the pages exchange; `protocols` has the hooks.

This module imports nothing of the project, so every module may import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Outcome(NamedTuple):
    """What one application of an operator did; the meter prices it, the selector learns from it."""

    gain: float
    """The paper's Δf of the application: the sum of `deltas`."""
    evaluations: int
    touches: int
    """Genes read or drawn outside fitness."""
    deltas: Floats
    """The paper's Δf of each candidate; a view of a buffer that the state owns."""


class Forecast(NamedTuple):
    """What one application of an operator takes, known before the first one."""

    candidates: int
    evaluations: int
    touches: int


class Hints(NamedTuple):
    """What is known of the operators before the first application; 0 where unknown."""

    names: tuple[str, ...]
    candidates: Floats
    joules: Floats
    log_sd: Floats | None = None
    """Standard deviation of ln E, where a profile was taken; None: no profile."""


class Belief(NamedTuple):
    """A selector's estimates of an operator, in one form for all rules and all tables."""

    gain: float
    gain_sd: float
    joules: float
    joules_sd: float
    score: float
    """Improvement per Joule as this rule estimates it."""


class Decision(NamedTuple):
    """One decision laid open: the operator chosen, the numbers compared, and the reason."""

    operator: int
    draws: tuple[Any, ...]
    """One NamedTuple per operator, in the rule's own terms; empty when nothing was drawn."""
    reason: str
    """Completes the sentence "operator X …"."""


class Provenance(StrEnum):
    """How an energy figure came about; every figure carries it."""

    MEASURED = "measured"
    ATTRIBUTED = "attributed"
    ESTIMATED = "estimated"
    SIMULATED = "simulated"
    REPLAYED = "replayed"


@dataclass(frozen=True)
class EnergyInfo:
    """What a meter's or a counter's energy figures are, and how far to trust them."""

    name: str
    provenance: Provenance
    domains: tuple[str, ...] = ()
    scope: Literal["package", "process", "thread", "model"] = "model"
    tick_ns: int = 0
    """How often the counter moves."""
    unit_uj: float = 0.0
    """The counter's smallest step."""
    read_cost_ns: int = 0
    rel_uncertainty: float = 0.0
    """The systematic band: the true energy lies between E/(1 + r) and E·(1 + r)."""
    notes: tuple[str, ...] = ()

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> EnergyInfo:
        """Read back what `dataclasses.asdict` and JSON made of it."""
        lists = {key: tuple(data[key]) for key in ("domains", "notes")}
        return cls(**{**data, **lists, "provenance": Provenance(data["provenance"])})
