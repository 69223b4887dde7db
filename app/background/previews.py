"""What is shown of a run before it begins: its instance, and what its meter will give."""

from __future__ import annotations

from typing import Any

from eij_core import InputError, Trial
from eij_core.meters.counters.detect import foreseen_info
from eij_core.protocols import EnergyInfo

from ..server.limits import VisitorLimits, check_trial
from ..views.snapshot import instance_of

QUICKLY_BUILT = VisitorLimits(size=5000, table=2**21)
"""Instances that are built while a visitor chooses; larger ones are drawn when they are run."""


def small_instance(trial: Trial) -> Any:
    """Return a trial's problem; None of one that takes long to build."""
    try:
        return instance_of(check_trial(trial, QUICKLY_BUILT))
    except InputError:
        return None


def checked_info(trial: Trial) -> EnergyInfo:
    """Say what the trial's meter will give; raise `MeterUnavailable` if its counter is dead.

    Only a named counter is opened for it: a price list needs none, and `auto` has chosen before.
    """
    info = foreseen_info(trial.meter)
    if info.scope != "package" or info.name != trial.name_of("meter"):
        return info
    meter = trial.make("meter")
    meter.close()
    opened: EnergyInfo = meter.info
    return opened
