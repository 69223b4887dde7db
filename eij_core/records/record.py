"""A record: what is kept of a run, to disk and back, read strictly."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..atomic_files import open_atomically
from ..errors import EijError, InputError, nearest
from ..protocols import EnergyInfo
from ..result import (
    Best,
    Change,
    OperatorTotal,
    Result,
    Spent,
    digest_of_run,
    fields_of,
    frame_of,
)
from ..scheduling.own_trial import trial_from
from ..trial import Trial
from .arrow import NotARecord
from .formats import WRITERS, content_of
from .metadata import SCHEMA, metadata_of, seal, upgraded

KINDS: dict[str, Any] = {
    "trial": dict | None,
    "key": str | None,
    "components": dict,
    "versions": dict,
    "reason": str,
}
"""Types of the metadata's parts that nothing else checks."""
DAMAGE = (
    ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, csv.Error
)  # fmt: skip
"""What reading content that no writer here has written may raise."""


class RecordError(EijError, ValueError):
    """A file that is not a record, or not a whole one; it was not changed."""


@dataclass(frozen=True, eq=False)
class Record:
    """What is kept of a run.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> record = Record.of(solve(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False))
    >>> record.names, record.meter.provenance
    (('flip-1', 'flip-5'), <Provenance.SIMULATED: 'simulated'>)
    """

    metadata: Mapping[str, Any]
    """The serialised form of the result, versions and names: plain data."""
    rows: NDArray[Any]
    """The recorded rows, of `engine.rows.row_dtype`."""
    notes: tuple[str, ...] = ()
    """What was wrong with the file although it could be read, in words."""
    best: Best = field(init=False)
    spent: Spent = field(init=False)
    operators: tuple[OperatorTotal, ...] = field(init=False)
    meter: EnergyInfo = field(init=False)
    reason: str = field(init=False)
    changes: tuple[Change, ...] = field(init=False)
    energy: dict[str, Any] = field(init=False)
    sense: str = field(init=False)
    overhead_seconds: float = field(init=False)
    """These are read from the metadata and mean what they do in `Result`."""

    def __post_init__(self) -> None:
        vars(self).update(fields_of(self.metadata))

    @classmethod
    def of(cls, result: Result) -> Record:
        """Make the record of a run."""
        return cls(metadata_of(result), result.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The operators."""
        return tuple(self.metadata["names"])

    @property
    def frame(self) -> Any:
        """The rows as a table, see `result.frame_of`."""
        return frame_of(self.rows, self.names)

    @property
    def digest(self) -> str:
        """The digest of the run, see `Result.digest`."""
        return str(self.metadata["digest"])

    @property
    def trial(self) -> Trial:
        """The trial that was run; an error if a component is not known here."""
        if self.metadata["trial"] is None:
            made_of = ", ".join(self.metadata["components"].values())
            raise RecordError(f"the trial of this record was made of objects ({made_of})")
        return trial_from(self.metadata["trial"])

    def result(self) -> Result:
        """Return the run's result."""
        names = [entry.name for entry in fields(Result) if entry.name != "trial"]
        return Result(trial=self.trial, **{name: getattr(self, name) for name in names})


def save(record: Record | Result, path: str | Path) -> None:
    """Write a record, whole or not at all; the suffix chooses .parquet, .csv or .json."""
    with open_atomically(Path(path)) as file:
        _write(record, Path(path), file)


def write(record: Record | Result, suffix: str) -> bytes:
    """Return the file of a record: ".parquet", ".csv" or ".json"."""
    sink = io.BytesIO()
    _write(record, Path(f"record{suffix}"), sink)
    return sink.getvalue()


def load(path: str | Path) -> Record:
    """Read a record in any of its forms; the content tells which, not the file's name.

    The record of a run that goes on, or that was killed, is the Arrow stream that it writes: a last
    batch that is not whole is left out, and `notes` says so.

    Raises
    ------
    RecordError
        Not a record, a damaged one, or one of a newer version.
    InputError
        A file that cannot be read.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError("record", path, f"a file that can be read ({error.strerror})") from None
    return read(data, str(path))


def read(data: bytes, name: str = "the file") -> Record:
    """Read a record from a file's bytes, see `load`; `name` is for messages."""
    try:
        metadata, rows, notes = content_of(data)
        _check_schema(name, metadata)
        if metadata.get("seal") != seal(metadata):
            raise ValueError("its metadata are not those that were written")
        if metadata["schema"] == 1:
            metadata = upgraded(metadata)
        if not len(rows):
            raise RecordError(f"{name} has no rows: its run had only begun")
        record = Record(metadata, rows, notes)
        _check(record)
    except NotARecord as error:
        raise RecordError(f"{name} is no record of EI/J: {error}") from None
    except RecordError:
        raise
    except DAMAGE as error:
        raise RecordError(f"{name} is damaged: {error}") from None
    return record


def _write(record: Record | Result, path: Path, file: BinaryIO) -> None:
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise InputError("record", path, f"a name that ends in {nearest(suffix, WRITERS)}")
    record = Record.of(record) if isinstance(record, Result) else record
    WRITERS[suffix](dict(record.metadata), record.rows, file)


def _check_schema(name: str, metadata: Any) -> None:
    schema = metadata["schema"]
    if type(schema) is not int or schema < 1:
        raise ValueError(f"schema {schema!r}")
    if schema > SCHEMA:
        raise RecordError(
            f"{name} was written by a newer version of eij (schema {schema}, this version reads "
            f"up to {SCHEMA}): update eij to read it"
        )


def _check(record: Record) -> None:
    """Make sure that the metadata have the right form and belong to these rows."""
    rows, names = record.rows, record.names
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError("no operators")
    if np.any(np.diff(rows["decision"]) < 0) or np.any(np.diff(rows["spent"]) < 0):
        raise ValueError("decisions or Joules run backwards")
    if np.any((rows["operator"] < -1) | (rows["operator"] >= len(names))):
        raise ValueError("an operator that is not there")
    if names != tuple(total.name for total in record.operators):
        raise ValueError("its operators have other names")
    if record.digest != digest_of_run(rows, record.best, record.operators):
        raise ValueError("its digest is not that of its content")
    for key, kind in KINDS.items():
        if not isinstance(record.metadata[key], kind):
            raise ValueError(f"{key} is not what it should be")
