"""Before the first trial of a campaign: is it allowed, can it run, are its kernels compiled?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import InputError, MeterUnavailable
from ..meters.meter import Provenance
from ..run import Run
from ..trial import FAMILIES, Trial

__all__ = ["check_energy", "combinations", "is_measured", "prepare"]


def is_measured(trials: Sequence[Trial]) -> bool:
    """Tell whether some of the trials read a counter that all processes of a host share."""
    for trial in {str(trial.meter): trial for trial in trials}.values():
        source = trial.make("meter")
        info = source.info
        getattr(source, "close", lambda: None)()
        if info.provenance == Provenance.MEASURED or info.scope == "package":
            return True
    return False


def check_energy(trials: Sequence[Trial], jobs: int) -> None:
    """Refuse to measure energy of several trials at once.

    Raises
    ------
    InputError
        Because the counter sees the sum: each trial would stop early, and learn wrong costs.
    """
    if jobs <= 1:
        return
    besides = ""
    try:
        measured = is_measured(trials)
    except MeterUnavailable as error:  # only counters can be unavailable
        measured, besides = True, f". Besides: {error}"
    if measured:
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


def prepare(
    trials: Iterable[Trial], note: Callable[[int, int, str], None] = lambda *_: None
) -> list[Trial]:
    """Check each combination and compile its kernels once, here, before the workers load them.

    Parameters
    ----------
    note : callable
        Told how many combinations are ready, of how many, and which comes next.

    Returns
    -------
    list of Trial
        One of each combination whose kernels are ready.
    """
    cells = combinations(trials)
    ready = []
    for i, trial in enumerate(cells):
        note(i, len(cells), " · ".join(map(trial.name_of, ("problem", "algorithm", "selector"))))
        if FAMILIES["problem"].is_private(trial.problem.name):
            trial.make("problem")  # the user's own code runs in workers only: it may crash
        else:
            Run(trial)
            ready.append(trial)
    note(len(cells), len(cells), "")
    return ready
