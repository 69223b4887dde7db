"""The hooks of problems whose solutions are no bits; `protocols` has those of bits, and all others.

A problem says its space by `@kernel(space="permutation")` or `@kernel(space="real")`. All hooks but
`fitness` may be left out, and a real problem has the fields `low` and `high`.
"""

from __future__ import annotations

from typing import Any, Protocol

from .protocols import Problem


class PermutationProblem(Problem, Protocol):
    """The hooks of problems on permutations: three changes, done, and previewed.

    A preview returns the fitness after the change and leaves x and memo as they were.
    """

    def exchange(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Exchange what stands at places i and j."""

    def reverse(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Reverse the places from i to j, both included; with i > j they pass the end."""

    def move(self, x: Any, memo: Any, i: int, j: int, k: int) -> None:
        """Move the places from i to below j behind those from j to below k, i < j < k."""

    def preview_exchange(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the fitness after `exchange`."""

    def preview_reverse(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the fitness after `reverse`."""

    def preview_move(self, x: Any, memo: Any, i: int, j: int, k: int) -> float:
        """Return the fitness after `move`."""

    def near(self) -> Any:
        """Return int64[n, k]: for each element those worth standing beside it, nearest first.

        With k = 0 nothing is known, and all are tried.
        """

    def link(self, a: int, b: int) -> float:
        """Return what it costs that a and b are neighbours, where `near` has entries."""


class RealProblem(Problem, Protocol):
    """The hook of problems on real numbers."""

    def bounds(self) -> tuple[float, float]:
        """Return the least and the largest value of a coordinate: the fields `low` and `high`."""
