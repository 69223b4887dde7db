"""Numbers of generated instances: drawn in Python, the same for ever."""

from __future__ import annotations

from typing import Any

import numpy as np


def stream_of(instance: int) -> np.random.PCG64:
    """Return the raw words of an instance.

    They are the only stream that numpy promises never to change, so instances stay the same.
    """
    return np.random.PCG64(np.random.SeedSequence(instance))


def draw(random: np.random.PCG64, low: int, high: int, shape: Any) -> Any:
    """Draw whole numbers from `low` to `high`, both included.

    Examples
    --------
    >>> draw(stream_of(1), -1, 1, 6).tolist()
    [-1, -1, -1, 1, 1, 1]
    """
    words = random.random_raw(shape) >> np.uint64(1)
    return words.astype(np.int64) % (high - low + 1) + low


def draw_pairs(random: np.random.PCG64, n: int, count: int) -> Any:
    """Draw so many pairs i < j of numbers below n, all different, as rows.

    Examples
    --------
    >>> draw_pairs(stream_of(1), 3, 3).tolist()
    [[1, 2], [0, 1], [0, 2]]
    """
    possible = n * (n - 1) // 2
    if 2 * count > possible:  # most of them: all pairs in random order
        chosen = np.argsort(random.random_raw(possible), kind="stable")[:count]
        return np.stack(np.triu_indices(n, 1), axis=1)[chosen]
    codes = np.zeros(0, np.int64)
    while codes.size < count:
        ends = np.sort(draw(random, 0, n - 1, (count, 2)), axis=1)
        ends = ends[ends[:, 0] < ends[:, 1]]
        codes = np.concatenate([codes, ends[:, 0] * n + ends[:, 1]])
        codes = codes[np.sort(np.unique(codes, return_index=True)[1])]
    return np.stack(np.divmod(codes[:count], n), axis=1)
