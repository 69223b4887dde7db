"""Carrying out trials: here, or in processes that end when they are told to."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from ..errors import EijError
from ..run import Run, RunError
from ..trial import Trial
from .signals import interrupts

__all__ = ["RecordingFailed", "carry_out", "in_processes", "mapped", "record_path"]


PATIENCE = 0.8
"""Seconds that processes get to end what they are at."""


class RecordingFailed(EijError, OSError):
    """The disk did not take a record; what it took before is whole."""

    code = 74


def carry_out(
    trial: Trial,
    folder: Path | None = None,
    tell: Callable[[float], Any] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Run a trial to its end, or until interrupted; return its summary, as plain data.

    Parameters
    ----------
    trial : Trial
    folder : path, optional
        Where to keep its record.
    tell : callable
        Told the progress, 0 to 1, after each chunk.
    stopped : callable
        Asked after each chunk whether to end here.
    """
    run = Run(trial)
    record = _recorder(run, folder)
    try:
        while not run.done:
            with interrupts.held():
                record(next(run))
            tell(run.progress)
            if stopped():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        run.stop("interrupted")
        raise
    finally:
        record.close()
    if record.error is not None:
        raise RecordingFailed(f"{record.path} could not be written: {record.error}")
    return run.result().to_dict()


def record_path(trial: Trial, folder: Path) -> Path:
    """Return where a trial's record goes: what it is, in plain letters, and its key."""
    names = (trial.name_of(family) for family in ("problem", "algorithm", "selector"))
    label = "-".join((*names, str(trial.seed)[:20], str(trial.repetition)))
    return folder / f"{re.sub('[^A-Za-z0-9._-]', '_', label)}-{trial.key[:16]}.parquet"


class _NoRecord:
    """Stands in where nothing is recorded."""

    path, error = None, None

    def __call__(self, block: Any) -> None:
        pass

    def close(self) -> None:
        pass


def _recorder(run: Run, folder: Path | None) -> Any:
    if folder is None:
        return _NoRecord()
    from ..recorder import Recorder

    return Recorder(record_path(run.trial, folder), run)


# --- in processes ---------------------------------------------------------------------------------


def in_processes(
    trials: Sequence[Trial], jobs: int, folder: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Carry out trials in parallel; yield their summaries in the order of the trials."""
    from ..campaigns.preparation import check_energy

    check_energy(trials[:1], jobs)
    Run(trials[0])  # compiles, if need be: once, not in every process
    yield from mapped(_in_worker, [(trial, folder) for trial in trials], jobs)


def mapped(function: Callable[..., Any], items: Sequence[Any], jobs: int) -> Iterator[Any]:
    """Apply a function to items in processes; yield in order. Ends in time when interrupted."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    # Not fork: whatever threads hold at that moment would stay held in the child.
    context: Any = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["eij_core.recorder", __name__])  # imported once for all
    stop = context.Event()
    pool = ProcessPoolExecutor(
        min(jobs, len(items)), context, initializer=_enter_worker, initargs=(stop,)
    )
    try:
        yield from pool.map(function, items)
    except BrokenExecutor:
        raise RunError("a worker process died: too little memory, or it was killed") from None
    finally:
        stop.set()
        _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    """Wait until a pool that was told to stop is gone; kill those of its processes that linger."""
    cut = threading.Timer(PATIENCE, _kill, [multiprocessing.active_children()])
    cut.start()
    try:
        # Wait for the pool's own thread too: it removes semaphores, and whoever leaves before it is
        # through leaves some of them behind.
        pool.shutdown(wait=True, cancel_futures=True)
    finally:
        cut.cancel()


def _kill(children: Iterable[Any]) -> None:
    for child in children:
        with contextlib.suppress(OSError, ValueError):
            child.kill()


_stop: Any = None


def _enter_worker(stop: Any) -> None:
    """Prepare a process: Ctrl-C is its parent's business, and it does not outlive its parent."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _in_worker(task: tuple[Trial, Path | None]) -> dict[str, Any]:
    trial, folder = task
    try:
        if _stop.is_set():  # the pool had handed it out already
            raise KeyboardInterrupt
        return carry_out(trial, folder, stopped=_stop.is_set)
    except KeyboardInterrupt:  # the pool takes no other way out kindly
        raise RunError("interrupted") from None
