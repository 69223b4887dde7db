"""The run that a visitor finds on the page: recorded, so that the page opens alive."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from app import recording
from app.frame import Frame, Lane, frame_of_result
from app.jobs import rivals_of
from app.settings import Settings
from eij_core import EijError, solve

__all__ = ["record", "welcome"]

FILE = Path(__file__).with_name("welcome.json")
POINTS = 300


@functools.cache
def welcome() -> Frame | None:
    """Return the recorded run; none if the file is missing."""
    try:
        return recording.read(FILE.read_bytes())
    except (OSError, EijError):
        return None


def record() -> None:
    """Make the recording anew: `python -m app.welcome`."""
    trial = replace(Settings().trial(), points=POINTS)
    result = solve(trial)
    names = [total.name for total in result.operators]
    others = tuple(
        Lane(rival.label, solve(rival.trial).rows, rival.kind) for rival in rivals_of(trial, names)
    )
    FILE.write_text(recording.to_json(frame_of_result(result, others)), "utf-8")


if __name__ == "__main__":
    record()
