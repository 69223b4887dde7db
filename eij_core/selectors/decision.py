"""What a selector says of its next decision, for people."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Decision", "decide"]


class Decision(NamedTuple):
    """One decision laid open: who wins, with which numbers, and why."""

    operator: int
    draws: tuple[Any, ...]
    """One NamedTuple per operator, in the rule's own terms; empty when nothing was drawn."""
    reason: str
    """Completes the sentence "operator X …"."""


def decide(selector: Any, stats: Any, left: float, rng: Any) -> tuple[int, Any]:
    """Select on copies; return the choice and a copy of the stream as it was before."""
    with np.errstate(over="ignore"):
        chosen = selector.select(copy.deepcopy(stats), left, rng.copy())
    return int(chosen), rng.copy()
