"""Draws from the gamma and beta distributions."""

from __future__ import annotations

import math
from typing import Any

from ...engine.kernel import kernel
from ...engine.rng import normal, uniform


@kernel
def gamma(shape: float, rng: Any) -> float:
    """Draw from a gamma distribution of scale 1 (Marsaglia and Tsang 2000)."""
    # A shape below 1 is drawn one higher and thinned.
    raised = shape if shape >= 1.0 else shape + 1.0
    d = raised - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(rng)
        if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            break
    if shape >= 1.0:
        return d * v
    return d * v * math.exp(math.log(1.0 - uniform(rng)) / shape)


@kernel
def beta(a: float, b: float, rng: Any) -> float:
    """Draw from a beta distribution."""
    x = gamma(a, rng)
    y = gamma(b, rng)
    return x / (x + y) if x + y > 0.0 else 0.5
