"""Test functions of continuous optimisation: one minimum of 0, at a random place."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.kernel import kernel
from ...registry import Range, problems
from ..draws import draw, stream_of

FUNCTIONS = ("sphere", "ellipsoid", "rastrigin", "ackley", "rosenbrock", "griewank")
SPHERE, ELLIPSOID, RASTRIGIN, ACKLEY, ROSENBROCK, GRIEWANK = range(len(FUNCTIONS))
RANGES = (5.12, 5.12, 5.12, 32.768, 5.0, 600.0)
"""Coordinates lie between minus this and this."""
INNER = 0.8
"""The minimum lies within this share of the range."""
PARTS = 1 << 20


@kernel(space="real", sense="min")
class Classic(NamedTuple):
    """f(x) of z = x − shift, for the function of this number in `FUNCTIONS`."""

    n: int
    function: int
    low: float
    high: float
    shift: NDArray[np.float64]
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate."""
        if self.function == SPHERE or self.function == ELLIPSOID:
            return bowl(x, self.shift, 6.0 if self.function == ELLIPSOID else 0.0)
        if self.function == RASTRIGIN:
            return rastrigin(x, self.shift)
        if self.function == ACKLEY:
            return ackley(x, self.shift)
        if self.function == ROSENBROCK:
            return rosenbrock(x, self.shift)
        return griewank(x, self.shift)


@kernel
def bowl(x: Any, shift: Any, powers: float) -> float:
    """Return Σ 10^(powers·i/(n − 1))·zᵢ²."""
    total = 0.0
    for i in range(x.size):
        z = x[i] - shift[i]
        weight = 10.0 ** (powers * i / (x.size - 1)) if powers > 0.0 and x.size > 1 else 1.0
        total += weight * z * z
    return total


@kernel
def rastrigin(x: Any, shift: Any) -> float:
    """Return Σ zᵢ² + 10·(1 − cos 2πzᵢ)."""
    total = 0.0
    for i in range(x.size):
        z = x[i] - shift[i]
        total += z * z + 10.0 * (1.0 - math.cos(2.0 * math.pi * z))
    return total


@kernel
def ackley(x: Any, shift: Any) -> float:
    """Return 20·(1 − exp(−√(Σ zᵢ²/n)/5)) + e − exp(Σ cos 2πzᵢ / n)."""
    squares, waves = 0.0, 0.0
    for i in range(x.size):
        z = x[i] - shift[i]
        squares += z * z
        waves += math.cos(2.0 * math.pi * z)
    bowl = 20.0 * (1.0 - math.exp(-0.2 * math.sqrt(squares / x.size)))
    return max(bowl + math.exp(1.0) - math.exp(waves / x.size), 0.0)


@kernel
def rosenbrock(x: Any, shift: Any) -> float:
    """Return Σ 100·(uᵢ₊₁ − uᵢ²)² + (1 − uᵢ)², u = z + 1."""
    total = 0.0
    for i in range(x.size - 1):
        here = x[i] - shift[i] + 1.0
        step = x[i + 1] - shift[i + 1] + 1.0 - here * here
        total += 100.0 * step * step + (1.0 - here) * (1.0 - here)
    return total


@kernel
def griewank(x: Any, shift: Any) -> float:
    """Return 1 + Σ zᵢ²/4000 − Π cos(zᵢ/√(i + 1))."""
    squares, product = 0.0, 1.0
    for i in range(x.size):
        z = x[i] - shift[i]
        squares += z * z
        product *= math.cos(z / math.sqrt(i + 1.0))
    return max(1.0 + squares / 4000.0 - product, 0.0)


def classic(function: int, n: int, instance: int) -> Classic:
    """Make the problem; instance 0 has its minimum where the books have it.

    Examples
    --------
    >>> problem = classic(SPHERE, 2, 1)
    >>> float(problem.fitness(problem.shift)), float(problem.fitness(problem.shift + 2.0))
    (0.0, 8.0)
    """
    width, shift = RANGES[function], np.zeros(n)
    if instance > 0:
        shift = INNER * width * draw(stream_of(instance), -PARTS, PARTS, n) / PARTS
    elif function == ROSENBROCK:
        shift = np.ones(n)
    return Classic(n, function, -width, width, shift, 0.0)


Dimension = Annotated[int, Range(1, 10_000, "number of coordinates")]
Instance = Annotated[int, Range(0, 2**31 - 1, "seed of the place of the minimum; 0: not moved")]


@problems.add("sphere")
def sphere_problem(n: Dimension = 20, instance: Instance = 1) -> Classic:
    """Sphere: the sum of squares."""
    return classic(SPHERE, n, instance)


@problems.add("ellipsoid")
def ellipsoid_problem(n: Dimension = 20, instance: Instance = 1) -> Classic:
    """Ellipsoid: squares whose weights go up to a million."""
    return classic(ELLIPSOID, n, instance)


@problems.add("rastrigin")
def rastrigin_problem(n: Dimension = 20, instance: Instance = 1) -> Classic:
    """Rastrigin: a bowl with a regular grid of local minima."""
    return classic(RASTRIGIN, n, instance)


@problems.add("ackley")
def ackley_problem(n: Dimension = 20, instance: Instance = 1) -> Classic:
    """Ackley: flat and wavy far out, with a steep hole in the middle."""
    return classic(ACKLEY, n, instance)


@problems.add("rosenbrock")
def rosenbrock_problem(
    n: Annotated[int, Range(2, 10_000, "number of coordinates")] = 20, instance: Instance = 1
) -> Classic:
    """Rosenbrock: a long curved valley."""
    return classic(ROSENBROCK, n, instance)


@problems.add("griewank")
def griewank_problem(n: Dimension = 20, instance: Instance = 1) -> Classic:
    """Griewank: a wide bowl with waves, of which a product joins the coordinates."""
    return classic(GRIEWANK, n, instance)
