"""How things are measured: CPU time of this thread, competitors in turn, medians of ratios.

On a busy machine the wall clock says little, and a rate alone not much more. But two competitors
that take turns see the same machine, so the ratio of neighbours is steady, and its median more so.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

__all__ = ["Work", "calibrated", "cpu_seconds", "interleaved", "ratio"]


class Work(NamedTuple):
    """How much was done, and in which CPU time."""

    amount: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.amount / self.seconds


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time that a call takes in this thread."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def interleaved(
    competitors: Mapping[str, Callable[[], Work]],
    repeats: int,
    note: Callable[[], None] = lambda: None,
) -> dict[str, list[float]]:
    """Let the competitors take turns; return the rates of each, in order."""
    rates: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(repeats):
        for name, compete in competitors.items():
            rates[name].append(compete().rate)
        note()
    return rates


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Return the median of the ratios of neighbours."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def calibrated(work: Callable[[float], Work], start: float, seconds: float) -> float:
    """Return the size of work that takes about so many seconds."""
    size = start
    while (took := work(size).seconds) < seconds / 4:
        size *= min(max(seconds / max(took, 1e-6), 2.0), 50.0)
    return size * seconds / took
