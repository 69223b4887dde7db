"""The run that a visitor finds on the page, and the runs beside it: records that come with it."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from eij_core import EijError, solve
from eij_core.atomic_files import slug
from eij_core.drive import Lane
from eij_core.records import load, save

from ....background.jobs import baselines_of
from ....views.snapshot import Curve, Snapshot, snapshot_of_result
from ..settings import OPENING, Settings

FOLDER = Path(__file__).with_name("recorded")
POINTS = 300


@functools.cache
def welcome() -> Snapshot | None:
    """Return the recorded runs; none if a file is missing."""
    try:
        found = load(FOLDER / "rule.json")
        others = tuple(
            Curve(lane.label, load(_file(lane)).rows, lane.kind)
            for lane in baselines_of(found.trial, found.names)
        )
        return snapshot_of_result(found.result(), others)
    except EijError:
        return None


def record() -> None:
    """Make the records anew: `python -m app.pages.run.lessons.welcome`."""
    trial = replace(Settings(**OPENING).trial(), points=POINTS)
    result = solve(trial)
    save(result, FOLDER / "rule.json")
    for lane in baselines_of(trial, [total.name for total in result.operators]):
        save(solve(lane.trial), _file(lane))


def _file(lane: Lane) -> Path:
    return FOLDER / f"{slug(lane.label)}.json"


if __name__ == "__main__":
    record()
