"""Permutations in arrays: drawing one, and the three changes that problems can preview."""

from __future__ import annotations

from typing import Any

from .kernel import kernel
from .rng import below


@kernel
def shuffle(rng: Any, x: Any) -> None:
    """Fill x with a random permutation."""
    for i in range(x.size):
        x[i] = i
    for i in range(x.size - 1, 0, -1):
        exchange_places(x, i, below(rng, i + 1))


@kernel
def exchange_places(x: Any, i: int, j: int) -> None:
    """Exchange what stands at places i and j."""
    kept = x[i]
    x[i] = x[j]
    x[j] = kept


@kernel
def reverse_segment(x: Any, i: int, j: int) -> None:
    """Reverse the places from i to j, both included; with i > j the segment passes the end."""
    n = x.size
    length = j - i + 1 if i <= j else j - i + 1 + n
    for _ in range(length // 2):
        exchange_places(x, i, j)
        i = i + 1 if i + 1 < n else 0
        j = j - 1 if j > 0 else n - 1


@kernel
def move_segment(x: Any, i: int, j: int, k: int) -> None:
    """Move the places from i to below j behind those from j to below k, i < j < k.

    `move_segment(x, i, i + k - j, k)` undoes it.
    """
    if j == i + 1:  # one element: the others move up
        kept = x[i]
        for p in range(i, k - 1):
            x[p] = x[p + 1]
        x[k - 1] = kept
        return
    reverse_segment(x, i, j - 1)
    reverse_segment(x, j, k - 1)
    reverse_segment(x, i, k - 1)
