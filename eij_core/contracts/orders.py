"""The contract of the hooks that problems on permutations may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.orders import exchange_places, move_segment, reverse_segment
from .findings import Findings

CHANGES = 24
"""Changes made one after another from each permutation that is tried."""
DONE: dict[str, Callable[..., None]] = {
    "exchange": exchange_places,
    "reverse": reverse_segment,
    "move": move_segment,
}

Compare = Callable[[Findings, str, float, float, float], None]


def check_changes(
    found: Findings, problem: Any, x: Any, random: np.random.Generator, compare: Compare
) -> None:
    """Preview and make random changes; each is compared with a full evaluation."""
    n, memo, scale = problem.n, problem.prepare(x), abs(problem.fitness(x))
    shape = (getattr(memo, "dtype", None), getattr(memo, "ndim", 0))
    found.expect(shape == (np.dtype(np.int64), 1), "prepare", "returns no int64 array of one axis")
    for _ in range(CHANGES if n > 1 else 0):
        for hook, change in DONE.items():
            places = sorted(random.choice(n + (hook == "move"), 2, replace=False).tolist())
            if hook == "move":
                places = sorted({*places, int(random.integers(n + 1))})
                if len(places) < 3:
                    continue
            elif random.random() < 0.5:
                places = places[::-1]
            moved, kept = x.copy(), (x.copy(), memo.copy())
            change(moved, *places)
            value = getattr(problem, f"preview_{hook}")(x, memo, *places)
            compare(found, f"preview_{hook}", value, problem.fitness(moved), scale)
            unchanged = bool((x == kept[0]).all() and (memo == kept[1]).all())
            found.expect(unchanged, f"preview_{hook}", "leaves x or memo changed")
            getattr(problem, hook)(x, memo, *places)
            right = bool((x == moved).all() and (memo == problem.prepare(moved)).all())
            found.expect(right, hook, f"of places {places} gives another x, or another memo")


def check_near(found: Findings, problem: Any) -> None:
    """Check the lists of elements that are worth standing beside another."""
    near: Any = problem.near()
    right = isinstance(near, np.ndarray) and near.ndim == 2 and len(near) == problem.n
    found.expect(right and near.dtype == np.int64, "near", "returns no int64 array of n rows")
    for a in range(problem.n if right else 0):
        others = set(near[a].tolist())
        apt = others <= set(range(problem.n)) - {a} and len(others) == near.shape[1]
        found.expect(apt, "near", f"of {a} has an element twice, or none, or {a} itself")


def check_bounds(found: Findings, problem: Any) -> None:
    """Check the range of the coordinates."""
    low, high = problem.bounds()
    right = bool(np.isfinite([low, high]).all()) and low < high
    found.expect(right, "bounds", f"returns {low!r} and {high!r}, not two numbers, rising")
