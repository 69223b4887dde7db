"""Lessons: settings named after what they teach, a guess beforehand, and the answer afterwards.

`lessons.toml` holds their texts and settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eij_core import Trial
from eij_core.algorithms.ils import ILS, Flip

from ....views.snapshot import Snapshot
from . import verdicts
from .components import DearTwin, Idle, Tariff

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Lesson:
    """A guided run: its settings, a question to guess at, what to watch, and the answer."""

    key: str
    title: str
    question: str
    guesses: list[str]
    watch: str
    judge: Callable[[Snapshot], verdicts.Verdict]
    """Returns the guess that was right and what the finished run shows."""
    values: dict[str, Any]
    attempts: list[dict[str, Any]]
    """What to try next: a label, and the settings that it changes."""
    build: Callable[[Trial], Trial] | None
    """Puts the lesson's own operators into the trial; such a run has no command line."""


def _dear_twin(trial: Trial) -> Trial:
    operators = (Flip(1), DearTwin(1))
    return replace(trial, algorithm=ILS(operators), meter=Tariff(dear=10.0))


def _idle(trial: Trial) -> Trial:
    return replace(trial, algorithm=ILS((Flip(1), Idle(1))), meter=Tariff())


BUILDERS = {"dear-twin": _dear_twin, "idle-operator": _idle}


def _lesson(key: str, judge: dict[str, Any], **texts: Any) -> Lesson:
    ((name, arguments),) = judge.items()
    judged = getattr(verdicts, name)(**arguments)
    attempts = texts.pop("attempts", [])
    return Lesson(key, judge=judged, attempts=attempts, build=BUILDERS.get(key), **texts)


LESSONS: dict[str, Lesson] = {
    key: _lesson(key, **entry) for key, entry in tomllib.loads(FILE.read_text("utf-8")).items()
}
