"""One trial of `eij run`: driven to its end or to Ctrl-C, with its record on disk."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...campaigns.executors import stop_asked
from ...drive import Control, Lane, drive
from ...errors import EijError
from ...run import Run, RunError
from ...trial import Trial
from .signals import interrupts

if TYPE_CHECKING:
    from ...records import Recorder


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
    if folder is not None:
        from ...records import Recorder, load_writer

        load_writer()  # before the run: its counter would take the import for time off the CPU
    run = Run(trial)
    record: Recorder | None = None

    def after() -> None:
        if record is not None:
            with interrupts.held():
                record()
        show(run.progress)
        if stop_asked():
            raise KeyboardInterrupt

    try:
        if folder is not None:
            with interrupts.held():
                record = Recorder(record_path(trial, folder), run)
        drive([Lane(trial, run=run)], Control(), turn=interrupts.held, after=after)
    except KeyboardInterrupt:
        run.stop("interrupted")
        raise
    finally:
        if record is not None:
            record.close()
    if record is not None and record.error is not None:
        raise RecordingFailed(f"{record.path} could not be written: {record.error}")
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
    names = (trial.name_of(family) for family in ("problem", "algorithm", "selector"))
    label = "-".join((*names, str(trial.seed)[:20], str(trial.repetition)))
    return folder / f"{re.sub('[^A-Za-z0-9._-]', '_', label)}-{trial.key[:16]}.parquet"
