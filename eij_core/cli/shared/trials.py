"""One trial of `eij run`: driven to its end or to Ctrl-C, with its record on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...campaigns.executors import stop_asked
from ...drive import Control, Lane, drive
from ...errors import EijError, RunError
from ...records.recorder import label_of
from ...trial import Trial
from .signals import interrupts


class RecordingFailed(EijError, OSError):
    """The disk did not take a record; what it took before is whole."""

    code = 74


def carry_out(
    trial: Trial, folder: Path | None = None, show: Callable[[float], Any] = lambda progress: None
) -> dict[str, Any]:
    """Run a trial to its end, or until interrupted; return its summary, as plain data.

    Parameters
    ----------
    trial : Trial
    folder : path, optional
        Where to keep its record.
    show : callable
        Called with the progress, 0 to 1, after each chunk.
    """
    lane = Lane(trial, record=None if folder is None else record_path(trial, folder))

    def after() -> None:
        show(lane.progress)
        if stop_asked():
            raise KeyboardInterrupt

    try:
        with interrupts.held():
            lane.build()
        drive([lane], Control(), turn=interrupts.held, after=after)
    except KeyboardInterrupt:
        if lane.run is not None:
            lane.stop("interrupted")
        raise
    run = lane.build()
    if run.recorder is not None and run.recorder.error is not None:
        raise RecordingFailed(f"{run.recorder.path} could not be written: {run.recorder.error}")
    return run.result().to_dict()


def carry_out_in_worker(task: tuple[Trial, Path | None]) -> dict[str, Any]:
    """Carry out a trial in a process; an interruption becomes an error that can be sent back."""
    try:
        if stop_asked():  # the trial was handed out before Ctrl-C came
            raise KeyboardInterrupt
        return carry_out(*task)
    except KeyboardInterrupt:
        raise RunError("interrupted") from None


def record_path(trial: Trial, folder: Path) -> Path:
    """Return where a trial's record goes: what it is, in plain letters, and its key."""
    return folder / f"{label_of(trial)}-{trial.key[:8]}.parquet"
