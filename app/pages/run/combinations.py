"""The runs that the page offers, for the compiler behind it; free of any widget."""

from __future__ import annotations

from eij_core import Trial

from ...background.jobs import baselines_of
from .lessons.lessons import LESSONS
from .settings import Settings


def page_trials() -> list[Trial]:
    """Return the run that the page opens with, then the lessons', each before its baselines."""
    chosen = [{}, *({**lesson.values, "lesson": key} for key, lesson in LESSONS.items())]
    trials = []
    for values in chosen:
        trial = Settings(**values).trial()
        names = [operator.name for operator in trial.make("algorithm").operators]
        trials += [trial, *(lane.trial for lane in baselines_of(trial, names))]
    return trials
