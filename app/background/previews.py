"""The instance that is drawn before its run begins."""

from __future__ import annotations

from typing import Any

from eij_core import InputError, Trial

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
