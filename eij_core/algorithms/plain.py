"""Operators of plain Python: functions of a solution, the same as for `Scheduler`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.kernel import kernel
from ..engine.rng import word
from ..engine.spaces import BITS, space_of
from ..errors import InputError, RunError
from ..protocols import Forecast, Outcome
from .portfolio import delta_of


@kernel
class PlainOperator(NamedTuple):
    """A function `f(x, rng)` that returns a new solution, as an operator of iterated local search.

    One application perturbs the best solution by the function, then takes as many steps by it as
    the algorithm says, each if it is better. `x` is a copy that the function may change and return;
    `rng` is a `numpy.random.Generator`. A portfolio with it runs interpreted.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> from eij_core.algorithms.ils import ILS, Flip
    >>> def turn(x, rng):
    ...     return np.roll(x, rng.integers(x.size))
    >>> portfolio = ILS((Flip(1), PlainOperator.of(turn)), steps=5)
    >>> result = solve(Trial("nk:n=20,k=3", portfolio, meter="model", budget="5 J"))
    >>> [total.name for total in result.operators]
    ['flip-1', 'turn']
    """

    name: str
    function: Callable[[Any, Any], Any]

    @classmethod
    def of(cls, function: Callable[[Any, Any], Any], name: str = "") -> PlainOperator:
        """Make an operator of a function; it is called after the function, like in `Scheduler`."""
        return cls(name or function.__name__, function)

    @property
    def interpreted(self) -> bool:
        """Always true: numba cannot compile any function."""
        return True

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        if not hasattr(algorithm, "steps") or space_of(algorithm) != BITS:
            wanted = "an algorithm on bits with local search steps, such as ils"
            raise InputError("operators", self.name, wanted)
        return Forecast(1, algorithm.steps + 1, problem.n * (algorithm.steps + 1))

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Perturb the incumbent, then take each step that is better."""
        draw = np.random.default_rng(int(word(rng)))
        x = self.moved(state.best_x, draw)
        f = problem.fitness(x)
        for _ in range(algorithm.steps):
            new_x = self.moved(x, draw)
            new = problem.fitness(new_x)
            if new > f:
                x, f = new_x, new
        delta = delta_of(f, state.best_f[0])
        if f > state.best_f[0]:
            state.best_x[:], state.best_f[0] = x, f
            state.best_memo[:] = problem.prepare(x)
        state.deltas[0] = delta
        evaluations = algorithm.steps + 1
        return Outcome(delta, evaluations, problem.n * evaluations, state.deltas[:1])

    def moved(self, x: Any, draw: Any) -> Any:
        """Return what the function makes of a copy of `x`, checked."""
        try:
            new = np.asarray(self.function(x.copy(), draw))
        except Exception as error:
            raise RunError(f"{self.name} raised {type(error).__name__}: {error}") from error
        if new.shape != x.shape or not np.isin(new, (0, 1)).all():
            raise RunError(f"{self.name} must return {x.size} bits, but returned {new!r:.60}")
        return new.astype(x.dtype, copy=False)
