"""One record, followed while its run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow import joined, whole_batches
from .messages import messages
from .metadata import Metadata
from .record import DAMAGE, Record, RecordError, load
from .recorder import STREAM


class Following:
    """Reads the record of a run, and of one that goes on only the rows that are new.

    Parameters
    ----------
    path : path
        Of the Parquet file or of the stream; a stream may be closed as Parquet meanwhile.

    Examples
    --------
    >>> import tempfile
    >>> from eij_core import Run, Trial
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run = Run(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False, record=place)
    ...     following = Following(run.recorder.stream)
    ...     for block in run:
    ...         pass
    ...     following.look(), len(following.record.rows) == len(run.rows()), following.look()
    (True, True, False)
    """

    def __init__(self, path: str | Path) -> None:
        self.record: Record | None = None
        """None until its run has a row."""
        self._whole = Path(path).with_suffix(".parquet")
        self._stream = Path(path).with_suffix(STREAM)
        self._seen: Any = None
        self._head, self._end = b"", 0
        self._parts: list[NDArray[Any]] = []
        self._metadata: Metadata | None = None

    def look(self) -> bool:
        """Read what is new; return whether there was anything.

        Raises
        ------
        RecordError
            A damaged record, or none.
        """
        if self._whole.exists():
            return self._look_at_whole()
        try:
            return self._look_at_stream()
        except FileNotFoundError:
            if self._whole.exists():  # closed just now
                return self._look_at_whole()
            raise RecordError(f"{self._whole.stem} is not there any more") from None
        except DAMAGE as error:
            raise RecordError(f"{self._stream.name} is damaged: {error}") from None

    def _look_at_whole(self) -> bool:
        status = self._whole.stat()
        seen = (status.st_mtime_ns, status.st_size)
        if seen == self._seen:
            return False
        self._seen, self.record = seen, load(self._whole)
        return True

    def _look_at_stream(self) -> bool:
        with self._stream.open("rb") as file:
            if not self._head:
                first = next(messages(file), None)
                if first is None:
                    return False  # its head is being written
                file.seek(0)
                self._head, self._end = file.read(first.end), first.end
            file.seek(self._end)
            news = file.read()
        metadata, rows, whole = whole_batches(self._head + news)
        self._end += whole - len(self._head)
        if not len(rows):
            return False
        self._parts = [np.concatenate([*self._parts, rows])]
        self._metadata = joined(metadata, self._parts[0])
        self.record = Record(self._metadata, self._parts[0])
        return True
