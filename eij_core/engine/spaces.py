"""Spaces and senses: what a solution is, and whether its fitness is maximised.

A component says both by `@kernel(space=…, sense=…)`. A problem without them is one of bits, and
maximised. Algorithms maximise always: a minimised problem reaches them as `Minimised`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .kernel import kernel

BITS, PERMUTATION, REAL = "bits", "permutation", "real"
DTYPES: dict[str, Any] = {BITS: np.uint8, PERMUTATION: np.int64, REAL: np.float64}
"""What a solution of a space consists of."""
WORDS = {BITS: "bits", PERMUTATION: "permutations", REAL: "real numbers"}


def space_of(component: Any) -> str:
    """Return the space of a problem's solutions, or of those that an algorithm makes."""
    return str(getattr(component, "space", BITS))


def sense_of(problem: Any) -> str:
    """Return "max" or "min"."""
    return str(getattr(problem, "sense", "max"))


def sign_of(problem: Any) -> float:
    """Return 1 for a maximised problem, −1 for a minimised one: fitness = sign × what is searched.

    Examples
    --------
    >>> from eij_core.registry import problems
    >>> sign_of(problems.make("onemax")), sign_of(problems.make("tsp:n=5"))
    (1.0, -1.0)
    """
    return -1.0 if sense_of(problem) == "min" else 1.0


def searched(problem: Any) -> Any:
    """Return a problem as algorithms take it: to be maximised."""
    return Minimised(problem.n, problem) if sense_of(problem) == "min" else problem


@kernel
class Minimised(NamedTuple):
    """A minimised problem, whose negative fitness is maximised."""

    n: int
    problem: Any

    @property
    def space(self) -> str:
        """The space of the problem inside."""
        return space_of(self.problem)

    @property
    def interpreted(self) -> bool:
        """Whether numba must not compile the problem inside."""
        return bool(getattr(self.problem, "interpreted", False))

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        return -self.problem.fitness(x)

    def prepare(self, x: Any) -> Any:
        """Return the memo of x."""
        return self.problem.prepare(x)

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        return -self.problem.flip(x, memo, i)

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        self.problem.toggle(x, memo, i)

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        return -self.problem.preview(x, memo, bits, count)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return self.problem.reach()

    def exchange(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Exchange two places in x and memo."""
        self.problem.exchange(x, memo, i, j)

    def reverse(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Reverse a segment in x and memo."""
        self.problem.reverse(x, memo, i, j)

    def move(self, x: Any, memo: Any, i: int, j: int, k: int) -> None:
        """Move a segment in x and memo."""
        self.problem.move(x, memo, i, j, k)

    def preview_exchange(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the fitness after exchanging two places."""
        return -self.problem.preview_exchange(x, memo, i, j)

    def preview_reverse(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the fitness after reversing a segment."""
        return -self.problem.preview_reverse(x, memo, i, j)

    def preview_move(self, x: Any, memo: Any, i: int, j: int, k: int) -> float:
        """Return the fitness after moving a segment."""
        return -self.problem.preview_move(x, memo, i, j, k)

    def near(self) -> Any:
        """Return for each element those worth standing beside it."""
        return self.problem.near()

    def link(self, a: int, b: int) -> float:
        """Return what it costs that a and b are neighbours."""
        return self.problem.link(a, b)

    def bounds(self) -> Any:
        """Return the least and the largest value of a coordinate."""
        return self.problem.bounds()
