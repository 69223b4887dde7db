"""What each operator costs by itself: the paper's initial operator profiling.

Operators take turns. A batch applies one operator and nothing else until the counter has moved for
50 ticks, so its energy needs no dividing. Later runs use an operator's power in their settlement
(`Profile.prior`) and its Joules in the selector (`Profile.hints`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator

import numpy as np

from ..engine.execution import Loop, begin, can_compile
from ..engine.histogram import quantiles, sparse
from ..engine.rng import streams_for
from ..engine.rows import Limits, new_ledger, new_trace
from ..engine.spaces import searched
from ..metering import charges_of
from ..meters.counters.host import this_host
from ..meters.settlement.counted import Counted
from ..meters.settlement.powers import BESIDES, OVERHEAD, Prior
from ..meters.settlement.window import Settlement
from ..protocols import SimulatedMeter
from ..registry import Spec, selectors
from ..trial import Trial
from .profile import Batch, OperatorProfile, Profile

MIN_TICKS = 50
"""The least length of a batch: its ends are blurred by a tick, so by 2 % at most."""
BATCH_NS = 50_000_000
"""The least length of a batch where the counter ticks faster than once a millisecond."""
BATCHES = 20
PRICED_DECISIONS = 200
"""Applications in a batch of a simulated meter, which has no ticks to wait for."""
CHUNK_SECONDS = 0.02
MOST_DECISIONS = 2**30
"""Decisions in a chunk at most, however quick an operator is."""


class Profiler(Iterator[Batch]):
    """A profile in progress: each step is a batch, and `profile()` can be asked at any time.

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
        self._trial = trial = Trial(problem, algorithm, "static", meter, seed=seed)
        self.problem = searched(trial.make("problem"))
        self.algorithm = trial.make("algorithm")
        operators = self.algorithm.operators
        self.names = tuple(operator.name for operator in operators)
        self.meter: SimulatedMeter | Counted = trial.make("meter")
        if isinstance(self.meter, Counted):
            ticks = math.ceil(BATCH_NS / self.meter.info.tick_ns)
            self.meter.min_ticks = max(self.meter.min_ticks, MIN_TICKS, ticks)
            self.meter.prior = Prior.open(len(operators))
        self._charges = charges_of(self.meter, trial.problem.name, trial.algorithm.name, operators)
        count = len(operators)
        self.ledger, self._trace = new_ledger(count), new_trace(64, count)
        self._limits = Limits(math.inf, math.inf, 0.0, False, 0)
        self._streams = streams_for(seed)
        self._selectors = [selectors.make(f"static:operator={name}") for name in self.names]
        hints = self._charges.hints(self.algorithm, self.problem)
        # Each operator has a search of its own, from the same start.
        compiled = compiled and can_compile(self.problem, self.algorithm)
        parts = (self.problem, self.algorithm)
        state = begin(*parts, self._streams.moves, compiled=compiled, wait=True)
        self._loops = []
        for selector in self._selectors:
            stats = selector.memory(hints, math.inf)
            records = (copy.deepcopy(state), stats, self.ledger, self._streams, self._trace)
            loop = Loop(*parts, self._charges.compiled, *records)
            if compiled:
                loop.compile(selector, self._limits)
            self._loops.append(loop)
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
        if isinstance(self.meter, Counted):
            quality = self._measure(o, self.meter)
        else:
            self._call(o, PRICED_DECISIONS)
            quality = str(self.meter.info.provenance)
        applications, evaluations, joules = np.subtract(self._sums(o), before).tolist()
        batch = Batch(self.names[o], int(applications), int(evaluations), joules, quality)
        self.batches.append(batch)
        return batch

    def close(self) -> None:
        """Close the meter's counter, if it has one."""
        self._charges.close()

    def _sums(self, o: int) -> tuple[int, int, float]:
        """Return the applications, evaluations and Joules of an operator so far."""
        ledger = self.ledger
        counts = int(ledger.applications[o]), int(ledger.operator_evaluations[o])
        return *counts, float(ledger.operator_joules[o])

    def _call(self, o: int, decisions: int) -> None:
        while True:
            taken, *_ = self._loops[o].advance(self._selectors[o], self._limits, decisions)
            decisions -= taken
            if decisions <= 0:
                return

    def _measure(self, o: int, meter: Counted) -> str:
        settlement: Settlement | None = None
        decisions = 1
        while settlement is None:
            meter.begin(self._charges.compiled, self.ledger)
            started = meter.clocks.now().wall_ns
            self._call(o, decisions)
            seconds = max((meter.clocks.now().wall_ns - started) / 1e9, 1e-9)
            settlement = meter.settle(self._charges.compiled, self.ledger, self._limits)
            decisions = max(1, min(int(decisions * CHUNK_SECONDS / seconds), MOST_DECISIONS))
        return settlement.quality

    def profile(self) -> Profile:
        """Return the profile of the batches so far."""
        ratios = spreads = np.zeros(len(self.names) + BESIDES)
        if isinstance(self.meter, Counted):
            ratios, spreads = self.meter.powers.ratios(), self.meter.powers.spreads()
        powers = list(zip(ratios.tolist(), spreads.tolist(), strict=True))
        return Profile(
            str(self._trial.problem),
            str(self._trial.algorithm),
            self.meter.info,
            tuple(self._operator(o, *powers[o]) for o in range(len(self.names))),
            tuple(self.batches),
            this_host().cpu,
            powers[OVERHEAD],
            self._charges.summary(),
        )

    def finish(self) -> Profile:
        """Take the batches that are left, and return the profile.

        Examples
        --------
        >>> profiler = Profiler("nk:n=20,k=3", "ssga", "model:noise=0", batches=1, compiled=False)
        >>> round(profiler.finish().operators[0].mean, 3)
        0.011
        """
        for _ in self:
            pass
        return self.profile()

    def _operator(self, o: int, ratio: float, ratio_sd: float) -> OperatorProfile:
        name, histogram = self.names[o], self.ledger.histogram[o]
        batches = [each for each in self.batches if each.operator == name and each.applications]
        p5, median, p95 = quantiles(histogram, (0.05, 0.5, 0.95))
        return OperatorProfile(
            name,
            *self._sums(o),
            median,
            p5,
            p95,
            float(np.std([each.joules / each.applications for each in batches] or [0.0])),
            ratio,
            ratio_sd,
            tuple((place, count) for place, count in sparse(histogram)),
        )
