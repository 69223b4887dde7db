"""The next decision, taken on copies, for explanations."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def decide(selector: Any, stats: Any, left: float, rng: Any) -> tuple[int, Any]:
    """Select on copies; return the choice and a copy of the stream as it was before."""
    with np.errstate(over="ignore"):
        chosen = selector.select(copy.deepcopy(stats), left, rng.copy())
    return int(chosen), rng.copy()
