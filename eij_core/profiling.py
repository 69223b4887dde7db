"""What each operator costs, by itself: the paper's initial operator profiling.

Operators take turns. A batch applies one operator and nothing else until the counter has moved for
50 ticks, so its energy needs no dividing; what a batch says of an operator's power also serves the
settlement of later runs (`Profile.prior`), and its Joules the selector (`Profile.joules`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .kernel import jit_is_off
from .loop import compiled_advance, compiled_begin, interpreted_advance, interpreted_begin
from .meters.host import this_host
from .meters.meter import Meter
from .meters.powers import OVERHEAD, Prior
from .meters.settle import Counted, Settlement
from .profiles import Batch, OperatorProfile, Profile, bin_centres
from .records import Hints, Limits, new_ledger, new_trace
from .registry import Spec, algorithms, meters, problems, selectors
from .rng import streams_for

__all__ = ["Batch", "OperatorProfile", "Profile", "Profiler", "profile"]

MIN_TICKS = 50
BATCH_NS = 50_000_000
"""The least length of a batch, where the counter ticks faster."""
BATCHES = 20
PRICED_DECISIONS = 200
"""Applications in a batch of a model, which has no ticks to wait for."""
CHUNK_SECONDS = 0.02


class Profiler(Iterator[Batch]):
    """A profile in progress: pull batches from it, look at `profile()` whenever you like.

    Parameters
    ----------
    problem, algorithm, meter : Spec or str
    batches : int
        Batches for each operator.
    seed : int
    compiled : bool

    Examples
    --------
    >>> profiler = Profiler("nk:n=20,k=3", "ssga", "model", batches=2, compiled=False)
    >>> [batch.operator for batch in profiler]
    ['replace-1', 'replace-5', 'replace-1', 'replace-5']
    """

    def __init__(
        self,
        problem: Spec | str,
        algorithm: Spec | str,
        meter: Spec | str = "auto",
        *,
        batches: int = BATCHES,
        seed: int = 0,
        compiled: bool = True,
    ) -> None:
        self.names_of = problems.check(problem), algorithms.check(algorithm)
        self.problem, self.algorithm = (
            problems.make(self.names_of[0]),
            algorithms.make(self.names_of[1]),
        )
        self.source = meters.make(meter)
        if isinstance(self.source, Counted):
            ticks = math.ceil(BATCH_NS / self.source.info.tick_ns)
            self.source.min_ticks = max(self.source.min_ticks, MIN_TICKS, ticks)
            self.source.prior = Prior.open(len(self.algorithm.operators) + 3)
        operators = self.algorithm.operators
        self.names = tuple(operator.name for operator in operators)
        self.meter: Meter = self.source.attach(
            self.names_of[0].name, self.names_of[1].name, operators
        )
        count = len(operators)
        self.ledger, self._trace = new_ledger(count), new_trace(64, count)
        self._limits = Limits(math.inf, math.inf, 0.0, False, 0)
        self._streams = streams_for(seed)
        self._selectors = [selectors.make(f"static:operator={name}") for name in self.names]
        hints = Hints(self.names, np.zeros(count), np.zeros(count))
        self._stats = [selector.memory(hints, math.inf) for selector in self._selectors]
        components = self.problem, self.algorithm, self._selectors[0], self.meter
        compiled = compiled and not (
            jit_is_off() or any(getattr(each, "interpreted", False) for each in components)
        )
        self._advance = compiled_advance(*components) if compiled else interpreted_advance
        begin = compiled_begin(self.problem, self.algorithm) if compiled else interpreted_begin
        # Each operator has a search of its own, from the same start.
        state = begin(self.problem, self.algorithm, self._streams.moves)
        self._states = [copy.deepcopy(state) for _ in operators]
        self._call(0, 0)  # compiles the loop, decides nothing
        self._pace = 1.0
        self._wanted = batches * count
        self.batches: list[Batch] = []

    @property
    def progress(self) -> float:
        """How much is done, 0 to 1."""
        return len(self.batches) / self._wanted

    def __next__(self) -> Batch:
        if len(self.batches) >= self._wanted:
            self.close()
            raise StopIteration
        o = len(self.batches) % len(self.names)
        before = self._sums(o)
        quality = self._measure(o) if self.meter.clocked else self._price(o)
        applications, evaluations, joules = (
            b - a for a, b in zip(before, self._sums(o), strict=True)
        )
        batch = Batch(self.names[o], int(applications), int(evaluations), float(joules), quality)
        self.batches.append(batch)
        return batch

    def close(self) -> None:
        """Close a real source."""
        if self.meter.clocked:
            self.source.close()

    def _sums(self, o: int) -> tuple[float, float, float]:
        ledger = self.ledger
        return (
            ledger.applications[o],
            ledger.operator_evaluations[o],
            ledger.operator_joules[o],
        )

    def _call(self, o: int, decisions: int) -> None:
        while True:
            decisions -= self._advance(
                self.problem,
                self.algorithm,
                self._selectors[o],
                self.meter,
                self._limits,
                self._states[o],
                self._stats[o],
                self.ledger,
                self._streams,
                self._trace,
                decisions,
            )[0]
            if decisions <= 0:
                return

    def _price(self, o: int) -> str:
        self._call(o, PRICED_DECISIONS)
        return str(self.source.info.provenance)

    def _measure(self, o: int) -> str:
        settlement: Settlement | None = None
        decisions = 1
        while settlement is None:
            self.source.begin(self.meter, self.ledger)
            started = self.source.clocks.now().wall_ns
            self._call(o, decisions)
            seconds = (self.source.clocks.now().wall_ns - started) / 1e9
            settlement = self.source.settle(self.meter, self.ledger, self._limits)
            decisions = max(1, min(int(decisions * CHUNK_SECONDS / max(seconds, 1e-9)), 2**30))
        return settlement.quality

    def profile(self) -> Profile:
        """Return what is known so far."""
        nothing = np.zeros(len(self.names) + 3)
        ratios = spreads = nothing
        if self.meter.clocked:
            ratios, spreads = self.source.powers.ratios(), self.source.powers.spreads()
        return Profile(
            str(self.names_of[0]),
            str(self.names_of[1]),
            self.source.info,
            tuple(
                self._operator(o, float(ratios[o]), float(spreads[o]))
                for o in range(len(self.names))
            ),
            tuple(self.batches),
            this_host().cpu,
            (float(ratios[OVERHEAD]), float(spreads[OVERHEAD])),
        )

    def _operator(self, o: int, ratio: float, ratio_sd: float) -> OperatorProfile:
        applications, evaluations, joules = self._sums(o)
        histogram = self.ledger.histogram[o]
        places = np.flatnonzero(histogram)
        p5, median, p95 = _quantiles(histogram, (0.05, 0.5, 0.95))
        means = [
            batch.joules / batch.applications
            for batch in self.batches
            if batch.operator == self.names[o] and batch.applications
        ]
        return OperatorProfile(
            self.names[o],
            int(applications),
            int(evaluations),
            float(joules),
            median,
            p5,
            p95,
            float(np.std(means)) if means else 0.0,
            ratio,
            ratio_sd,
            tuple((int(place), int(histogram[place])) for place in places),
        )


def profile(
    problem: Spec | str,
    algorithm: Spec | str,
    meter: Spec | str = "auto",
    *,
    batches: int = BATCHES,
    seed: int = 0,
    compiled: bool = True,
) -> Profile:
    """Measure every operator of an algorithm, in turns; see `Profiler`.

    Examples
    --------
    >>> found = profile("nk:n=20,k=3", "ssga", "model:noise=0", batches=1, compiled=False)
    >>> round(found.operators[0].mean, 3)
    0.011
    """
    profiler = Profiler(problem, algorithm, meter, batches=batches, seed=seed, compiled=compiled)
    for _ in profiler:
        pass
    return profiler.profile()


def _quantiles(histogram: NDArray[np.int64], shares: Sequence[float]) -> list[float]:
    """Return quantiles of a log-histogram, to the width of a bin (about 3 %)."""
    total = np.cumsum(histogram)
    if total[-1] == 0:
        return [math.nan] * len(shares)
    places = np.searchsorted(total, np.asarray(shares) * total[-1])
    return bin_centres()[places].tolist()
