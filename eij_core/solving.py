"""A trial run to its end in one call."""

from __future__ import annotations

from pathlib import Path

from .result import Result
from .run import Run
from .trial import Trial


def solve(
    trial: Trial, *, compiled: bool | None = None, record: str | Path | None = None
) -> Result:
    """Run a trial to its end.

    With a model meter this is a pure function: the same trial gives the same result. The parameters
    are those of `Run`.

    Examples
    --------
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> 15.0 < result.spent.joules < 20.0
    True
    """
    run = Run(trial, compiled=compiled, record=record)
    try:
        for _ in run:
            pass
    finally:
        run.charges.close()  # of a run that failed
        if run.recorder is not None:
            run.recorder.close()  # of a run that was interrupted
    return run.result()
