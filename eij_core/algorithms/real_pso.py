"""Particle swarm optimisation on real numbers: the paper's two moves in their original space."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel
from ..engine.rng import uniform
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("real PSO operator")


class SwarmState(NamedTuple):
    """Places, velocities and what each particle has found."""

    best_x: NDArray[np.float64]
    best_f: NDArray[np.float64]
    place: NDArray[np.float64]
    velocity: NDArray[np.float64]
    fitness: NDArray[np.float64]
    own_place: NDArray[np.float64]
    own_f: NDArray[np.float64]
    turn: NDArray[np.int64]
    """The particle that moves next."""
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
class Flight(NamedTuple):
    """Move a share of the swarm: inertia, the pull of the own best place, and of the swarm's."""

    social: bool
    share: int = 1
    """The swarm divided by this moves at a time."""

    @property
    def name(self) -> str:
        """The name used everywhere: light, full, light-tenth, full-tenth."""
        name = "full" if self.social else "light"
        return name if self.share == 1 else f"{name}-tenth"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        moved = max(1, algorithm.swarm // self.share)
        return Forecast(moved, moved, (2 if self.social else 1) * moved * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for one particle, to learn the cost cheaply."""
        return self, algorithm._replace(swarm=1)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Move particles one after another; each sees the best of those before it."""
        gain = 0.0
        moved = max(1, algorithm.swarm // self.share)
        low, high = problem.bounds()
        for c in range(moved):
            p = state.turn[0]
            state.turn[0] = p + 1 if p + 1 < state.fitness.size else 0
            fly(algorithm, state, p, self.social, low, high, rng)
            f = problem.fitness(state.place[p])
            state.deltas[c] = delta_of(f, state.fitness[p])
            gain += state.deltas[c]
            state.fitness[p] = f
            if f > state.own_f[p]:
                state.own_f[p] = f
                copy(state.own_place[p], state.place[p])
                if f > state.best_f[0]:
                    state.best_f[0] = f
                    copy(state.best_x, state.place[p])
        draws = 2 if self.social else 1
        return Outcome(gain, moved, draws * moved * problem.n, state.deltas[:moved])


@kernel
def fly(
    algorithm: Any, state: Any, p: int, social: bool, low: float, high: float, rng: Any
) -> None:
    """Move particle `p`; at a bound it stops and turns."""
    place, velocity, own = state.place[p], state.velocity[p], state.own_place[p]
    fastest = algorithm.vmax * (high - low)
    for i in range(place.size):
        v = algorithm.w * velocity[i] + algorithm.c1 * uniform(rng) * (own[i] - place[i])
        if social:
            v += algorithm.c2 * uniform(rng) * (state.best_x[i] - place[i])
        v = min(max(v, -fastest), fastest)
        there = place[i] + v
        if there < low or there > high:
            there = min(max(there, low), high)
            v *= -0.5
        velocity[i] = v
        place[i] = there


for _flight in (Flight(False), Flight(True), Flight(False, 10), Flight(True, 10)):
    OPERATORS.add(_flight.name)(lambda flight=_flight: flight)


@kernel(space="real")
class RealPSO(NamedTuple):
    """Particle swarm on real numbers; light without, full with the pull of the swarm's best."""

    operators: tuple[Any, ...]
    swarm: Annotated[int, Range(2, 100_000, "number of particles")] = 50
    w: Annotated[float, Range(-2, 2, "inertia")] = 0.729
    c1: Annotated[float, Range(0, 10, "pull of the own best place")] = 1.494
    c2: Annotated[float, Range(0, 10, "pull of the swarm's best place")] = 1.494
    vmax: Annotated[float, Range(0, 1, "largest velocity, share of the range", above=True)] = 0.2

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from uniform places and velocities."""
        low, high = problem.bounds()
        width, shape = high - low, (self.swarm, problem.n)
        place = np.empty(shape)
        velocity = np.empty(shape)
        fitness = np.empty(self.swarm)
        for p in range(self.swarm):
            for i in range(problem.n):
                place[p, i] = low + width * uniform(rng)
                velocity[p, i] = self.vmax * width * (2.0 * uniform(rng) - 1.0)
            fitness[p] = problem.fitness(place[p])
        best = np.argmax(fitness)
        return SwarmState(
            place[best].copy(),
            np.full(1, fitness[best]),
            place,
            velocity,
            fitness,
            place.copy(),
            fitness.copy(),
            np.zeros(1, np.int64),
            np.zeros(self.swarm),
            self.swarm,
        )


real_pso = algorithms.add("real-pso")(
    factory_of("real-pso", RealPSO, OPERATORS, "light+full", "light, full, light-tenth, full-tenth")
)
