"""Particle swarm optimisation (Algorithm 3) on bits read off real positions."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel
from ..engine.rng import fill_uniforms, uniform
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("PSO operator")

# Paper: binary problems, encoding not stated; here: a position in [0, 2) whose whole part is the
# bit, because of the encodings tried only this one fits the paper's tables.
SPAN = 2.0
OUTSIDE = np.uint8(2)


class PsoState(NamedTuple):
    """The swarm: where each particle is, how fast, and the best places seen."""

    best_x: NDArray[np.uint8]
    best_f: NDArray[np.float64]
    place: NDArray[np.float64]
    velocity: NDArray[np.float64]
    fitness: NDArray[np.float64]
    own_place: NDArray[np.float64]
    own_f: NDArray[np.float64]
    best_place: NDArray[np.float64]
    x: NDArray[np.uint8]
    draws: NDArray[np.float64]
    """Random numbers of one particle's move."""
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
class Velocity(NamedTuple):
    """Move every particle once; light has no pull towards the swarm's best place."""

    social: bool

    @property
    def name(self) -> str:
        """The name used everywhere: light or full."""
        return "full" if self.social else "light"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        draws = 2 if self.social else 1
        return Forecast(algorithm.swarm, algorithm.swarm, draws * algorithm.swarm * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a single particle, to learn the cost cheaply."""
        return self, algorithm._replace(swarm=1)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Move all particles; the swarm's best place is updated after the loop."""
        gain = 0.0
        for p in range(algorithm.swarm):
            f = state.fitness[p]
            # Unchanged bits keep their fitness, unless each evaluation must be a call (reach 0).
            if move(algorithm, state, p, self.social, rng) > 0 or problem.reach() == 0:
                settle(state, p, rng)
                f = problem.fitness(state.x)
            delta = delta_of(f, state.fitness[p])
            state.deltas[p] = delta
            gain += delta
            state.fitness[p] = f
            if f > state.own_f[p]:
                state.own_f[p] = f
                for i in range(problem.n):
                    state.own_place[p, i] = state.place[p, i]
                if f > state.best_f[0]:
                    state.best_f[0] = f
                    copy(state.best_x, state.x)
        leader = np.argmax(state.own_f)
        copy(state.best_place, state.own_place[leader])
        draws = 2 if self.social else 1
        return Outcome(gain, algorithm.swarm, draws * algorithm.swarm * problem.n, state.deltas[:])


@kernel
def move(algorithm: Any, state: Any, p: int, social: bool, rng: Any) -> int:
    """Move particle `p`; return how many of its bits may have changed."""
    n = state.x.size
    place, velocity = state.place[p], state.velocity[p]
    own, best = state.own_place[p], state.best_place
    w, c1, c2, vmax, draws = algorithm.w, algorithm.c1, algorithm.c2, algorithm.vmax, state.draws
    fill_uniforms(rng, draws, n if social else (n + 1) // 2)
    others = 0
    for i in range(n):  # no branch depends on the data, so the compiler vectorises it
        before = place[i]
        v = w * velocity[i] + c1 * draws[i] * (own[i] - before)
        if social:
            v += c2 * draws[n + i] * (best[i] - before)
        v = min(max(v, -vmax), vmax)
        velocity[i] = v
        place[i] = before + v
        others += np.floor(before + v) != np.floor(before)
    return others


@kernel
def settle(state: Any, p: int, rng: Any) -> None:
    """Draw anew where particle `p` left its range, and read its bits into `state.x`."""
    place, x = state.place[p], state.x
    for i in range(x.size):
        outside = (place[i] < 0.0) | (place[i] >= SPAN)
        x[i] = OUTSIDE if outside else np.uint8(place[i] >= 1.0)
    for i in range(x.size):
        if x[i] == OUTSIDE:
            place[i] = SPAN * uniform(rng)
            x[i] = np.uint8(place[i] >= 1.0)


OPERATORS.add("light")(lambda: Velocity(False))
OPERATORS.add("full")(lambda: Velocity(True))


@kernel
class PSO(NamedTuple):
    """Particle swarm; an application moves every particle once.

    `vmax` is fitted to the paper's knapsack runs, which depend on it; the paper does not state it.
    """

    operators: tuple[Any, ...]
    swarm: Annotated[int, Range(2, 100_000, "number of particles")] = 100
    w: Annotated[float, Range(-2, 2, "inertia")] = 0.729
    c1: Annotated[float, Range(0, 10, "pull of the own best place")] = 2.05
    c2: Annotated[float, Range(0, 10, "pull of the swarm's best place")] = 2.05
    vmax: Annotated[float, Range(0, 100, "largest velocity", above=True)] = 0.47

    @property
    def tunable(self) -> tuple[str, ...]:
        """The parameters that an operator of a portfolio may have values of its own for."""
        return "w", "c1", "c2", "vmax"

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from uniform places and velocities."""
        shape = (self.swarm, problem.n)
        place = np.empty(shape)
        velocity = np.empty(shape)
        fitness = np.empty(self.swarm)
        x = np.empty(problem.n, np.uint8)
        best_x = np.empty(problem.n, np.uint8)
        best_f = np.full(1, -np.inf)
        for p in range(self.swarm):
            for i in range(problem.n):
                place[p, i] = SPAN * uniform(rng)
                velocity[p, i] = self.vmax * (2.0 * uniform(rng) - 1.0)
                x[i] = np.uint8(place[p, i] >= 1.0)
            fitness[p] = problem.fitness(x)
            if fitness[p] > best_f[0]:
                best_f[0] = fitness[p]
                best_x[:] = x
        best_place = place[np.argmax(fitness)].copy()
        return PsoState(
            best_x,
            best_f,
            place,
            velocity,
            fitness,
            place.copy(),
            fitness.copy(),
            best_place,
            x,
            np.zeros(2 * problem.n),
            np.zeros(self.swarm),
            self.swarm,
        )


pso = algorithms.add("pso")(factory_of("pso", PSO, OPERATORS, "light+full", "light, full"))
