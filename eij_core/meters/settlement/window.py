"""A window: time and cycles since the last settlement, and how the window closed.

When it closes, its whole µJ are divided exactly, and its rows and the ledger are brought to their
settled Joules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.histogram import CENTRES, bin_of
from ...engine.rows import Ledger
from .clocks import Instant

Floats = NDArray[np.float64]

MIN_TICKS = 20
"""The least length of a window: its ends are blurred by a tick, so by 5 % at most."""
LONG_GAP_NS = 5_000_000
"""A gap between chunks from here on is a pause: its energy is booked to `away`."""
STUCK_NS = 1_000_000_000
"""A counter that has not moved for this long is stuck."""
SUSPEND_NS = 50_000_000
"""Suspended time between two readings from here on spoils a window."""
SAME_BIN = 0.0075
"""A smaller change of scale moves no application at the centre of its bin to another bin."""


class Base(NamedTuple):
    """What had been spent when a window opened."""

    joules: float
    operator_joules: Floats
    histogram: NDArray[np.int64]

    @classmethod
    def of(cls, ledger: Ledger) -> Base:
        """Copy what a rescaling needs from a ledger."""
        return cls(float(ledger.joules[0]), ledger.operator_joules.copy(), ledger.histogram.copy())


@dataclass(frozen=True)
class Settlement:
    """A window that has closed."""

    base: Base
    factors: Floats
    """Settled over provisional Joules, per operator; the last is the start's."""
    quality: str
    """measured (one operator alone), attributed (by cycles), or imputed: and why."""
    counter_uj: int
    """The counter's change that was settled; 0 where it was imputed."""
    accounts_uj: NDArray[np.int64]
    """The same by account; the sum is `counter_uj`, exactly."""

    def rescale(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the window's rows at their settled Joules."""
        return rescale_rows(rows, self.base, self.factors)


@dataclass
class Window:
    """Time and cycles since the last settlement."""

    start_uj: int | None
    base: Base
    used: Floats
    """Cycles of operators and start, on the CPU."""
    wall_ns: int = 0
    cpu_ns: int = 0
    cycles: int = 0
    still_ns: int = 0
    """Time since the counter last moved."""
    moved: bool = False
    pauses: int = 0
    faults: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, energy: int | None, ledger: Ledger) -> Window:
        """Return a window that opens at this reading of the counter."""
        return cls(energy, Base.of(ledger), np.zeros(ledger.operator_joules.size + 1))

    def pass_time(self, before: Instant, now: Instant) -> None:
        """Add the time between two moments."""
        wall = now.wall_ns - before.wall_ns
        self.wall_ns += wall
        self.still_ns += wall
        self.cpu_ns += cpu_ns_between(before, now)
        self.cycles += now.cycles - before.cycles

    def note_counter(self, before: int | None, now: int | None, least_ns: int) -> None:
        """Note whether the counter moved, stands, or is gone."""
        if now is None or self.start_uj is None:
            self.faults.append("vanished")
        elif now != before:
            self.moved, self.still_ns = True, 0
        elif self.still_ns > max(STUCK_NS, 2 * least_ns):
            self.faults.append("stuck")

    def accounts(self) -> Floats:
        """Return the cycles by account: operators, start, overhead, away."""
        share = min(self.cpu_ns / self.wall_ns, 1.0) if self.wall_ns else 1.0
        total = max(float(self.cycles), self.used.sum(), 1.0)
        running = total * share
        used = self.used
        # Interruptions were too short to be checked, or the machine has no clock for that.
        if used.sum() > running:
            used = used * (running / used.sum())
        return np.concatenate([used, [running - used.sum(), total - running]])

    @property
    def alone(self) -> bool:
        """Whether one operator ran and nothing else was charged."""
        return np.count_nonzero(self.used[:-1]) == 1 and self.used[-1] == 0


def cpu_ns_between(before: Instant, now: Instant) -> int:
    """Return the CPU time between two moments; another thread has another clock."""
    return now.cpu_ns - before.cpu_ns if now.thread == before.thread else 0


# --- whole µJ, rows and ledger ---


def apportion(total: int, parts: Floats) -> NDArray[np.int64]:
    """Divide whole µJ in proportion to parts, exactly (largest remainders, ties to the first).

    Examples
    --------
    >>> apportion(10, np.array([1.0, 1.0, 1.0])).tolist()
    [4, 3, 3]
    """
    parts = np.maximum(parts, 0.0)
    scale = parts.sum()
    if scale <= 0.0:
        parts, scale = np.ones(parts.size), float(parts.size)
    exact = parts / scale * total
    whole = np.floor(exact).astype(np.int64)
    missing = int(total - whole.sum())
    order = np.argsort(whole - exact, kind="stable")
    # Rounding can make the parts exceed the total, by very little of a very large one.
    whole[order[:missing] if missing >= 0 else order[missing:]] += np.sign(missing)
    return whole


def rescale_rows(rows: NDArray[Any], base: Base, factors: Floats) -> NDArray[Any]:
    """Return a window's rows at their settled Joules.

    Parameters
    ----------
    rows : array of `engine.rows.row_dtype`
        The rows written since the window opened.
    base : Base
        The ledger when the window opened.
    factors : array
        Settled over provisional Joules, per operator; the last is the start's.

    Returns
    -------
    array
        A copy with `joules`, `operator_joules` and `spent` settled. `spent` never falls, within the
        window and from the one before. `beliefs` stay as the selector held them.
    """
    rows = rows.copy()
    rows["joules"] *= factors[rows["operator"]]  # the start's operator is -1, its factor the last
    settled, spent = _settled(rows["operator_joules"], rows["spent"], base, factors)
    rows["operator_joules"] = settled
    rows["spent"] = np.maximum.accumulate(spent)
    return rows


def rescale_ledger(ledger: Ledger, base: Base, factors: Floats, by_joules: bool = True) -> None:
    """Bring a ledger, in place, to the settled Joules of the window that opened at `base`.

    The next grid point of `ledger.mark` keeps its distance, if the axis is Joules.
    """
    before = float(ledger.joules[0])
    settled, spent = _settled(ledger.operator_joules, before, base, factors)
    ledger.operator_joules[:], ledger.joules[0] = settled, spent
    if by_joules:
        ledger.mark[0] += ledger.joules[0] - before
    for o, factor in enumerate(factors[:-1]):
        if abs(factor - 1.0) > SAME_BIN:
            _shift(ledger.histogram[o], base.histogram[o], float(factor))


def _settled(operators: Floats, spent: Any, base: Base, factors: Floats) -> tuple[Floats, Any]:
    """Return the settled Joules by operator and in total, at least those at the opening."""
    moved = operators - base.operator_joules
    start = spent - base.joules - moved.sum(axis=-1)
    total = base.joules + moved @ factors[:-1] + start * factors[-1]
    return base.operator_joules + moved * factors[:-1], np.maximum(total, base.joules)


def _shift(counts: NDArray[np.int64], base: NDArray[np.int64], factor: float) -> None:
    """Move the applications of a window to the bins of their settled Joules."""
    new = counts - base
    places = np.flatnonzero(new)
    target = [bin_of(joules) for joules in (CENTRES[places] * factor).tolist()]
    moved = new[places]
    counts[:] = base
    np.add.at(counts, target, moved)
