"""What the Campaign page has done in the background: running a campaign, making a report."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from eij_core.campaigns import Campaign, Conductor, Event
from eij_core.paper import beside
from eij_core.reports import Report, report_of

TASK_SECONDS = 0.15
"""Short tasks: the page shows progress after each, and other visitors wait for their turn."""


def conducted(campaign: Campaign, folder: Path) -> Generator[Event | Report]:
    """Run what a store lacks of a campaign, and then report."""
    yield from Conductor(campaign, folder, jobs=1, task_seconds=TASK_SECONDS)
    yield from reported(folder)


def reported(folder: Path, control: str = "") -> Generator[Event | Report]:
    """Read a store and make its report."""
    yield Event("reporting", 0, 1)
    report = report_of(folder, control=control, beside=beside)
    report.sections  # noqa: B018  the figures are drawn here, and not while the page waits
    yield report
