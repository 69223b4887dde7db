"""How a run pays: at once with a simulated meter, after a settlement with a counted one.

A run chooses one of the two at construction and then no longer needs to know which it has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .engine.rows import Ledger, Limits
from .errors import InputError, MeterUnavailable
from .meters.meter import CompiledMeter
from .protocols import (
    Algorithm,
    CountedMeter,
    ForecastingOperator,
    Hints,
    Problem,
    Settled,
    SimulatedMeter,
)

Rows = list[NDArray[Any]]


class ReplayDiverged(MeterUnavailable):
    """The run left the path of the record."""


class Charges:
    """What a run asks of its meter: here a simulated one, whose charges are final at once."""

    waits_for_compiler = False
    """Whether the start is made anew after compiling, because a clock ran meanwhile."""

    def __init__(self, compiled: CompiledMeter) -> None:
        self.compiled = compiled
        self.held: Rows = []
        """Rows of a window that is not settled yet."""

    def hints(self, algorithm: Algorithm, problem: Problem) -> Hints:
        """Return what operators' forecasts and a meter's prices tell a selector beforehand."""
        operators = algorithm.operators
        names = tuple(operator.name for operator in operators)
        hints = Hints(names, np.zeros(len(names)), np.zeros(len(names)))
        for o, operator in enumerate(operators):
            if isinstance(operator, ForecastingOperator):
                forecast = operator.forecast(algorithm, problem)
                hints.candidates[o] = forecast.candidates
                hints.joules[o] = self.compiled.expected(o, forecast)
        return hints

    def check_probes(self, share: float) -> None:
        """Refuse probes where charges come from a record, which has none."""
        if self.compiled.script.size:
            raise InputError("probe", share, "0 in a replay: records have no probes")

    def begin(self, ledger: Ledger) -> None:
        """Prepare for a chunk."""

    def settle(self, rows: Rows, ledger: Ledger, limits: Limits) -> Rows:
        """Take the rows of a chunk; return the rows that are settled now."""
        if self.compiled.position[0] < 0:
            raise ReplayDiverged(
                "replay: the run asked for an application that the record does not have; it was "
                "made with other settings, another version, or without every=1"
            )
        return rows

    def finish(self, rows: Rows, ledger: Ledger, limits: Limits) -> Rows:
        """Take the last rows; return all rows that are left."""
        return self.settle(rows, ledger, limits)

    def latest_joules(self, ledger: Ledger) -> float:
        """Return the charge of the latest application; nan: unknown."""
        return float(ledger.latest[2])

    def close(self) -> None:
        """Close what the meter opened."""

    def summary(self) -> dict[str, Any]:
        """Return how a counter was settled, as plain data; empty: there is none."""
        return {}


class CountedCharges(Charges):
    """Charges that a counter confirms after a window of many chunks.

    Rows are held back until their window is settled, so that spent energy never runs backwards.
    """

    waits_for_compiler = True

    def __init__(self, meter: CountedMeter, compiled: CompiledMeter) -> None:
        super().__init__(compiled)
        self._meter = meter

    def begin(self, ledger: Ledger) -> None:
        """Read clocks and counter before a chunk."""
        self._meter.begin(self.compiled, ledger)

    def settle(self, rows: Rows, ledger: Ledger, limits: Limits) -> Rows:
        """Hold the rows of a chunk back; return all that are settled now."""
        return self._release(rows, self._meter.settle(self.compiled, ledger, limits))

    def finish(self, rows: Rows, ledger: Ledger, limits: Limits) -> Rows:
        """Settle the last window and return its rows."""
        return self._release(rows, self._meter.finish(self.compiled, ledger, limits))

    def _release(self, rows: Rows, settlement: Settled | None) -> Rows:
        self.held += rows
        if settlement is None:
            return []
        released, self.held = self.held, []
        return [settlement.rescale(each) for each in released]

    def latest_joules(self, ledger: Ledger) -> float:
        """Return nan: the charge of a single application is settled only as part of a row."""
        return math.nan

    def close(self) -> None:
        """Close the counter."""
        self._meter.close()

    def summary(self) -> dict[str, Any]:
        """Return how the counter was settled, as plain data."""
        return self._meter.summary()


def charges_of(
    meter: SimulatedMeter | CountedMeter, problem: str, algorithm: str, operators: tuple[Any, ...]
) -> Charges:
    """Attach a meter to a run's operators; see `Charges` and `CountedCharges`."""
    compiled = meter.attach(problem, algorithm, operators)
    if isinstance(meter, CountedMeter):
        return CountedCharges(meter, compiled)
    if compiled.clocked:
        raise InputError(
            "meter",
            type(meter).__name__,
            "begin, settle, finish, close, summary and prior, as `protocols.CountedMeter` has "
            "them: its compiled meter goes by the clock",
        )
    return Charges(compiled)
