"""What the page of campaigns has done in the background: running one, and making a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from eij_core import InputError, Run, __version__
from eij_core.campaigns import Campaign, Inline, Row, Store, key_of, run_campaign
from eij_core.campaigns.preparation import combinations
from eij_core.paper.experiment import report_beside
from eij_core.reports import Report

__all__ = ["Progress", "conducted", "reported"]

TASK_SECONDS = 0.15
"""Short tasks: somebody watches, and others wait for a turn on the processor."""


class Progress(NamedTuple):
    """How far a campaign is."""

    what: str
    """compiling, running or reporting."""
    done: int
    total: int
    name: str = ""
    row: Row | None = None


def conducted(campaign: Campaign, folder: Path) -> Callable[[], Iterator[Progress | Report]]:
    """Return the steps that run what a store lacks of a campaign, and then report."""

    def steps() -> Iterator[Progress | Report]:
        with Store(folder) as store:
            if not store.spec():
                store.begin(campaign.data, __version__)
            elif changes := campaign.diff(store.spec()):
                raise InputError("store", folder.name, f"the same campaign ({'; '.join(changes)})")
            yield from _filled(campaign, store)
        yield from reported(folder)()

    return steps


def _filled(campaign: Campaign, store: Store) -> Iterator[Progress]:
    instances: dict[object, str] = {}
    states = store.states()
    todo = [trial for trial in campaign.trials if key_of(trial, instances) not in states]  # type: ignore[arg-type]
    cells = combinations(todo)
    for i, trial in enumerate(cells):
        name = " · ".join(map(trial.name_of, ("problem", "algorithm", "selector")))
        yield Progress("compiling", i, len(cells), name)
        Run(trial)
    total = len(campaign.trials)
    done = total - len(todo)
    yield Progress("running", done, total)
    for row in run_campaign(todo, Inline(), store, task_seconds=TASK_SECONDS):
        done += 1
        yield Progress("running", done, total, row=row)


def reported(folder: Path, control: str = "") -> Callable[[], Iterator[Progress | Report]]:
    """Return the steps that read a store and make its report."""

    def steps() -> Iterator[Progress | Report]:
        yield Progress("reporting", 0, 1)
        yield report_beside(folder, control)

    return steps
