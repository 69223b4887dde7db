"""The rows of a run on the page's side: appended as they come, and bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.limits import ROWS

__all__ = ["Track"]


class Track:
    """Rows of one run. When they outgrow `most`, every second one is dropped.

    Examples
    --------
    >>> track = Track(most=4)
    >>> track.add(np.zeros(5, [("spent", float)]))
    >>> len(track.rows), track.epoch
    (3, 1)
    """

    def __init__(self, most: int = ROWS) -> None:
        self.most = most
        self.epoch = 0
        """Grows when rows already shown have changed."""
        self.rows: NDArray[Any] = np.zeros(0)

    def add(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        merged = np.concatenate([self.rows, rows]) if len(self.rows) else rows
        while len(merged) > self.most:
            merged = np.concatenate([merged[:-1:2], merged[-1:]])
            self.epoch += 1
        self.rows = merged
