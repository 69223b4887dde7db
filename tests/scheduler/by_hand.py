"""Our own operators, driven by hand through a scheduler, as somebody's own loop would be."""

from __future__ import annotations

import numpy as np

from eij_core import Scheduler, Trial
from eij_core.engine.rng import streams_for
from eij_core.protocols import ForecastingOperator


class ByHand:
    """The loop of a trial, written in plain Python around a scheduler."""

    def __init__(self, trial: Trial, **options) -> None:
        self.problem, self.algorithm = trial.make("problem"), trial.make("algorithm")
        self.rng = streams_for(trial.seed, trial.repetition).moves
        with np.errstate(over="ignore"):
            self.state = self.algorithm.begin(self.problem, self.rng)
        operators = self.algorithm.operators
        self.operators = {each.name: each for each in operators}
        self.scheduler = Scheduler(
            [each.name for each in operators],
            selector=trial.selector,
            budget=trial.budget,
            meter=trial.meter,
            seed=trial.seed,
            repetition=trial.repetition,
            points=trial.points,
            every=trial.every,
            forecasts={
                each.name: each.forecast(self.algorithm, self.problem)
                for each in operators
                if isinstance(each, ForecastingOperator)
            },
            **options,
        )

    def start(self) -> None:
        state = self.state
        self.scheduler.start(evaluations=state.opening, best=state.best_f[0], solution=state.best_x)

    def apply(self, name):
        parts = self.algorithm, self.problem, self.state, self.rng
        with np.errstate(over="ignore"):
            return self.operators[name].apply(*parts)

    def steps(self, count=10**9):
        """Make up to so many steps by ask and tell."""
        for _ in range(count):
            step = self.scheduler.ask()
            if step is None:
                return
            outcome = self.apply(step.operator)
            self.scheduler.tell(
                step, outcome.gain, gains=outcome.deltas, evaluations=outcome.evaluations,
                touches=outcome.touches, best=self.state.best_f[0], solution=self.state.best_x,
            )  # fmt: skip
