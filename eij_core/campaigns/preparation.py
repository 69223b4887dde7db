"""What is checked and compiled before the first trial of a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import InputError, MeterUnavailable
from ..meters.counters.detect import foreseen_info
from ..protocols import Provenance
from ..run import Run
from ..trial import FAMILIES, Trial


def is_measured(trials: Sequence[Trial]) -> bool:
    """Tell whether some of the trials read a counter that all processes of a host share."""
    meters = {str(trial.meter): trial.meter for trial in trials}
    infos = map(foreseen_info, meters.values())
    return any(info.provenance == Provenance.MEASURED or info.scope == "package" for info in infos)


def check_energy(trials: Sequence[Trial], jobs: int) -> None:
    """Refuse to measure energy of several trials at once.

    Raises
    ------
    InputError
        Because the counter sees the sum: each trial would stop early, and learn wrong costs.
    """
    if jobs > 1 and is_measured(trials):
        besides = ""
        try:
            for trial in {str(trial.meter): trial for trial in trials}.values():
                getattr(trial.make("meter"), "close", lambda: None)()
        except MeterUnavailable as error:
            besides = f". Besides: {error}"
        raise InputError(
            "--jobs",
            jobs,
            "1 with measured energy: the counter sees all processes of the machine, so each trial "
            f"would be charged for the others, stop early and learn wrong costs{besides}",
        )


def combinations(trials: Iterable[Trial]) -> list[Trial]:
    """Return one trial of each combination of components."""
    cells: dict[tuple[Any, ...], Trial] = {}
    for trial in trials:
        cells.setdefault((trial.problem, trial.algorithm, trial.selector, trial.meter), trial)
    return list(cells.values())


def compile_trial(trial: Trial) -> bool:
    """Check a combination and compile its kernels, here, once; return whether they are ready.

    Code of the user's own (`external`) is looked up but not called: it runs in workers only, where
    a crash costs one trial.
    """
    if FAMILIES["problem"].is_private(trial.problem.name):
        trial.make("problem")
        return False
    Run(trial).charges.close()
    return True


def prepare(trials: Iterable[Trial]) -> list[Trial]:
    """Check each combination of components; return one trial of each whose kernels are ready."""
    return [trial for trial in combinations(trials) if compile_trial(trial)]
