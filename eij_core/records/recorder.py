"""Writing the record of a run while it goes on."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ..atomic_files import open_atomically
from ..errors import EijError, InputError
from ..result import Result, result_of
from ..trial import Trial
from .arrow import BATCH, load_writer, stream_batch, stream_head, to_parquet
from .metadata import FAILED, UNFINISHED, Metadata, metadata_of
from .writer import this_process

if TYPE_CHECKING:
    from ..run import Run

log = logging.getLogger(__name__)

STREAM = ".arrows"
"""The ending of a record whose run goes on."""
PAUSE = 0.3
"""Seconds between two batches of rows."""


def prepare(where: str | Path, trial: Trial) -> Path:
    """Return the path of a new record, and import what writing it needs.

    Parameters
    ----------
    where : path
        The record itself, if it ends in .parquet. Else a folder, which is made if need be; the
        record is named after the trial and replaces no other.
    trial : Trial
    """
    path = Path(where)
    load_writer()
    folder = path.parent if path.suffix == ".parquet" else path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("record", where, f"a folder to write to ({error.strerror})") from None
    return path if path.suffix == ".parquet" else _new_in(path, label_of(trial))


def label_of(trial: Trial) -> str:
    """Return what a trial is, in plain letters: the name of its record."""
    names = [trial.name_of(family) for family in ("problem", "algorithm", "selector")]
    if names[0] == "own problem":
        del names[0]  # "own loop" says it
    label = "-".join((*names, str(trial.seed)[:20], str(trial.repetition)))
    return re.sub("[^A-Za-z0-9._-]", "-", label)


def _new_in(folder: Path, label: str) -> Path:
    """Reserve a name that no record in the folder has."""
    for number in count(1):
        path = folder / f"{label}{f'-{number}' if number > 1 else ''}.parquet"
        if path.exists():
            continue
        try:
            os.close(os.open(path.with_suffix(STREAM), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            continue
        except OSError as error:
            raise InputError("record", folder, f"a folder to write to ({error.strerror})") from None
        return path
    raise AssertionError("numbers do not end")


class Recorder:
    """Keeps the record of a run on disk: call it after each chunk, and `close` it at the end.

    As a context it is called at the end of its block; an error there becomes the end of the run.

    While the run goes on, new rows are appended to an Arrow stream beside `path`. When it ends, the
    record is written to `path` as Parquet in one step and the stream deleted. A disk that takes no
    more costs the rows that do not fit: those before stay, the run goes on, `error` has the reason,
    and later calls try again.

    Parameters
    ----------
    path : path
        The finished record; ends in .parquet.
    run : Run
    pause : float
        Seconds between two writes.
    clock : callable
        Tells the seconds.

    Examples
    --------
    >>> import tempfile
    >>> from eij_core import Run, Trial
    >>> from eij_core.drive import Lane, drive
    >>> from eij_core.records import load
    >>> run = Run(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorder = Recorder(f"{folder}/a.parquet", run)
    ...     drive([Lane(run.trial, run=run)], after=recorder)
    ...     load(recorder.path).digest == run.result().digest
    True
    """

    def __init__(
        self,
        path: str | Path,
        run: Run,
        *,
        pause: float = PAUSE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = Path(path)
        if self.path.suffix != ".parquet":
            raise InputError("record", path, "a name that ends in .parquet; `save` writes others")
        load_writer()  # not when Ctrl-C has come and a second counts
        self.stream = self.path.with_suffix(STREAM)
        """Where the rows are while the run goes on."""
        self.error: OSError | None = None
        """Why the file is not up to date, if it is not."""
        self._run, self._pause, self._clock = run, pause, clock
        self._rows = self._bytes = 0  # in the stream
        self._closed = False
        self._writer = {"writer": this_process(), "began": datetime.now(UTC).isoformat()}
        self._append()

    def __call__(self) -> None:
        """Write what is new, if the run is over or the pause is."""
        if self._run.done:
            self.close()
        elif self._clock() >= self._due:
            self._append()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self()
        elif isinstance(error, Exception):
            told = str(error) if isinstance(error, EijError) else type(error).__name__
            self.close(f"{FAILED}: {told}")

    def close(self, reason: str = "") -> None:
        """Write the whole record as Parquet; it says why if the run was not over."""
        if self._closed:
            return
        self._append()  # this may fit where the whole does not
        result = self._run.result()
        if not len(result.rows):
            return  # a real counter has not yet said what the first application took
        if reason or not self._run.done:
            result = dataclasses.replace(result, reason=reason or UNFINISHED)
        try:
            with open_atomically(self.path) as file:
                to_parquet(self._metadata(result), result.rows, file)
            self.stream.unlink(missing_ok=True)
        except OSError as error:
            self._note(error)
        else:
            self._closed, self.error = True, None

    def _metadata(self, result: Result) -> Metadata:
        return metadata_of(result, **self._writer)

    def _append(self) -> None:
        """Append the new rows to the stream."""
        try:
            rows = self._run.rows(self._rows)
            if not self._bytes and not len(rows):
                self._write(self._head())
            for low in range(0, len(rows), BATCH):
                batch = rows[low : low + BATCH]
                data = stream_batch(self._metadata(result_of(self._run, batch)), batch)
                self._write(data if self._bytes else self._head() + data)
                self._rows += len(batch)
        except OSError as error:
            self._note(error)
        else:
            self.error = None
        self._due = self._clock() + self._pause

    def _head(self) -> bytes:
        return stream_head(self._metadata(result_of(self._run, self._run.rows()[:0])))

    def _write(self, data: bytes) -> None:
        """Append to the stream, all or nothing."""
        with self.stream.open("r+b" if self._bytes else "wb", buffering=0) as file:
            file.seek(self._bytes)
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError:
                # Where this fails too, the next write still begins at the same place.
                with contextlib.suppress(OSError):
                    file.truncate(self._bytes)
                raise
        self._bytes += len(data)

    def _note(self, error: OSError) -> None:
        if self.error is None:
            log.warning("%s cannot be written, the run goes on: %s", self.path, error)
        self.error = error
