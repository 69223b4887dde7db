"""What a component must be able to do; nothing is inherited, a method of that name is enough.

Components are NamedTuples marked `@kernel`, whose methods are plain Python in numba's subset.
Methods named here are called from compiled code, except those that say "in Python".
"""

from __future__ import annotations

from typing import Any, Protocol

from .meters.meter import Meter, SourceInfo
from .records import Belief, Forecast, Hints, Outcome
from .selectors.decision import Decision

__all__ = ["Algorithm", "EnergySource", "Operator", "Problem", "Selector"]


class Problem(Protocol):
    """Bit strings and their fitness, which is maximised.

    `fitness` is all that a newcomer writes. `prepare`, `flip`, `toggle` and `preview` are for
    speed; without them `@kernel` supplies versions that evaluate in full.
    """

    n: int

    def fitness(self, x: Any) -> float:
        """Evaluate a uint8 array of n bits."""
        ...

    def prepare(self, x: Any) -> Any:
        """Return the memo: one int64 array that describes x, copied with `memo[:] = other`."""
        ...

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit i in x and memo; return the new fitness, equal to the full evaluation."""
        ...

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit i in x and memo; the value is not asked for."""
        ...

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped.

        These are one or more, and distinct; x and memo are left as they were.
        """
        ...

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation (optional).

        Where it is 0, every evaluation that an algorithm counts calls `fitness` or `flip`.
        """
        ...

    # Optional, in Python: `feasible(x) -> bool`; a field `optimum`, nan where it is unknown.


class Operator(Protocol):
    """One way to change an algorithm's state."""

    name: str

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Outcome:
        """Change the state's arrays in place and report what was done."""
        ...

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Tell what one application takes (optional, in Python)."""
        ...


class Algorithm(Protocol):
    """A portfolio of operators and the state that they work on."""

    operators: tuple[Any, ...]

    def begin(self, problem: Any, rng: Any) -> Any:
        """Return the first state: a NamedTuple with `best_x`, `best_f`, `deltas`, `opening`.

        `best_f` is an array of length one, `deltas` room for the Δf of one application's
        candidates, `opening` the number of evaluations that the start took.
        """
        ...


class Selector(Protocol):
    """The rule that chooses the next operator."""

    def memory(self, hints: Hints, budget: float) -> Any:
        """Return the arrays that this rule learns into (in Python)."""
        ...

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return the number of the next operator; -1 if none fits in the Joules left."""
        ...

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Take in what one application gained and cost."""
        ...

    def belief(self, stats: Any, operator: int) -> Belief:
        """Return what plots and tables show of an operator, the same for every rule."""
        ...

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Lay open the decision that comes next, on copies, with its own draws (in Python)."""
        ...


class EnergySource(Protocol):
    """Where a run's Joules come from (in Python); it hands the loop a compiled `Meter`."""

    @property
    def info(self) -> SourceInfo:
        """Say how these Joules are known."""
        ...

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> Meter:
        """Return the meter for these operators."""
        ...
