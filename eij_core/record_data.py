"""What is kept of a run: a record, its metadata, and reading it back strictly."""

from __future__ import annotations

import csv
import dataclasses
import functools
import hashlib
import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from .durable import write_durably
from .errors import EijError, InputError, nearest
from .meters.meter import Provenance, SourceInfo
from .record_files import FORMATS, Foreign, Format, columns_of, rows_of
from .records import BINS, Belief
from .result import Best, Change, OperatorTotal, Result, Spent, digest_of_run, finite, frame_of
from .trial import FAMILIES, Trial

__all__ = ["SCHEMA", "Record", "RecordError", "format_of", "load", "save", "seal"]

SCHEMA = 1
"""Version of the metadata; a newer one is refused, an older one read."""


KINDS: dict[str, Any] = {
    "trial": dict | None,
    "key": str | None,
    "components": dict,
    "versions": dict,
    "energy": dict,
    "reason": str,
}
"""What the parts of the metadata are that nothing else looks at."""


class RecordError(EijError, ValueError):
    """A file that is not a record, or is not whole; it was left as it is."""


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
    """Trial, meter, best, spent, operators, changes, digest, versions: plain data."""
    rows: NDArray[Any]
    """The recorded rows, of `records.row_dtype`."""

    @classmethod
    def of(cls, result: Result) -> Record:
        """Make the record of a run."""
        # Through JSON and back, so that a record is the same before and after the disk.
        metadata = json.loads(json.dumps(_describe(result), allow_nan=False))
        return cls({**metadata, "seal": seal(metadata)}, result.rows)

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
        """What was run; an error if a component is not known here."""
        if self.metadata["trial"] is None:
            made_of = ", ".join(self.metadata["components"].values())
            raise RecordError(f"the trial of this record was made of objects ({made_of})")
        return Trial.from_dict(self.metadata["trial"])

    @functools.cached_property
    def meter(self) -> SourceInfo:
        """Where the Joules came from."""
        data = dict(self.metadata["meter"])
        lists = {key: tuple(data[key]) for key in ("domains", "notes")}
        return SourceInfo(**{**data, **lists, "provenance": Provenance(data["provenance"])})

    @functools.cached_property
    def best(self) -> Best:
        """The best solution."""
        data = self.metadata["best"]
        x = np.frombuffer(data["x"].encode("ascii"), np.uint8) - ord("0")
        numbers = (_real(data[key]) for key in ("gap", "optimum"))
        return Best(x.astype(np.uint8), _real(data["fitness"]), data["feasible"], *numbers)

    @property
    def spent(self) -> Spent:
        """What the run took."""
        return Spent(**self.metadata["spent"])

    @functools.cached_property
    def operators(self) -> tuple[OperatorTotal, ...]:
        """What each operator did."""
        return tuple(
            _total(name, data)
            for name, data in zip(self.names, self.metadata["operators"], strict=True)
        )

    def result(self) -> Result:
        """Return the run's result."""
        changes = tuple(Change(*change) for change in self.metadata["changes"])
        return Result(
            self.trial,
            self.best,
            self.spent,
            self.operators,
            self.meter,
            self.metadata["reason"],
            self.rows,
            changes,
            self.metadata["energy"],
        )


# --- to disk and back -----------------------------------------------------------------------------


def save(record: Record | Result, path: str | Path) -> None:
    """Write a record, whole or not at all; the suffix chooses .parquet, .csv or .json."""
    record = Record.of(record) if isinstance(record, Result) else record
    path = Path(path)
    columns = columns_of(record.rows, record.names)
    write_durably(path, format_of(path).write(dict(record.metadata), columns))


def load(path: str | Path) -> Record:
    """Read a record, and refuse anything that is not exactly what `save` wrote.

    Raises
    ------
    RecordError
        Not a record, a damaged one, or one of a newer version.
    InputError
        A file that cannot be read.
    """
    path = Path(path)
    form = format_of(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError("record", path, f"a file that can be read ({error.strerror})") from None
    try:
        metadata, columns = form.read(data)
        _check_schema(path, metadata)
        if metadata.get("seal") != seal(metadata):
            raise ValueError("its metadata are not those that were written")
        record = Record(metadata, rows_of(columns, metadata["names"]))
        _check(record)
    except Foreign as error:
        raise RecordError(f"{path} is no record of EI/J: {error}") from None
    except (ValueError, TypeError, LookupError, AttributeError, csv.Error, RecursionError) as error:
        if isinstance(error, RecordError):
            raise
        raise RecordError(f"{path} is damaged: {error}") from None
    return record


def format_of(path: Path) -> Format:
    """Return how files with this suffix are written and read."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError("record", path, f"a name that ends in {nearest(suffix, FORMATS)}")
    return FORMATS[suffix]


def _check_schema(path: Path, metadata: Any) -> None:
    schema = metadata["schema"]
    if type(schema) is not int or schema < 1:
        raise ValueError(f"schema {schema!r}")
    if schema > SCHEMA:
        raise RecordError(
            f"{path} was written by a newer version of eij (schema {schema}, this version reads "
            f"up to {SCHEMA}): update eij to read it"
        )


def _check(record: Record) -> None:
    """Make sure that the metadata are of the right form and tell of these very rows."""
    rows, names = record.rows, record.names
    if not len(rows) or not all(isinstance(name, str) for name in names):
        raise ValueError("no rows" if names else "no operators")
    if np.any(np.diff(rows["decision"]) < 0) or np.any(np.diff(rows["spent"]) < 0):
        raise ValueError("decisions or Joules run backwards")
    if np.any((rows["operator"] < -1) | (rows["operator"] >= len(names))):
        raise ValueError("an operator that is not there")
    histograms = [total.histogram for total in record.operators]
    if record.digest != digest_of_run(rows, record.best.x, histograms):
        raise ValueError("its digest is not that of its content")
    metadata = record.metadata
    for key, kind in KINDS.items():
        if not isinstance(metadata[key], kind):
            raise ValueError(f"{key} is not what it should be")
    _ = record.meter, record.spent, [Change(*change) for change in metadata["changes"]]


# --- plain data -----------------------------------------------------------------------------------


def seal(metadata: Mapping[str, Any]) -> str:
    """Return a digest of the metadata, which are kept with it: changed by accident, they show."""
    rest = {key: value for key, value in metadata.items() if key != "seal"}
    return hashlib.blake2b(json.dumps(rest, sort_keys=True).encode(), digest_size=16).hexdigest()


def _describe(result: Result) -> dict[str, Any]:
    trial, best = result.trial, result.best
    return {
        "schema": SCHEMA,
        "versions": _versions(),
        "trial": trial.to_dict() if trial.is_data else None,
        "key": trial.key if trial.is_data else None,
        "components": {family: trial.name_of(family) for family in FAMILIES},
        "names": [total.name for total in result.operators],
        "meter": dataclasses.asdict(result.meter),
        "best": {
            "fitness": _plain(best.fitness),
            "feasible": best.feasible,
            "gap": _plain(best.gap),
            "optimum": _plain(best.optimum),
            "x": (best.x + ord("0")).astype(np.uint8).tobytes().decode("ascii"),
        },
        "spent": result.spent._asdict(),
        "operators": [_described(total) for total in result.operators],
        "reason": result.reason,
        "changes": [list(change) for change in result.changes],
        "energy": finite(result.energy),
        "digest": result.digest,
    }


def _described(total: OperatorTotal) -> dict[str, Any]:
    bins = np.flatnonzero(total.histogram)
    return {
        "applications": total.applications,
        "evaluations": total.evaluations,
        "joules": total.joules,
        "gain": _plain(total.gain),
        "belief": [_plain(float(value)) for value in total.belief],
        "histogram": np.column_stack((bins, total.histogram[bins])).tolist(),
    }


def _total(name: str, data: Mapping[str, Any]) -> OperatorTotal:
    histogram = np.zeros(BINS, np.int64)
    for bin_, count in data["histogram"]:
        histogram[bin_] = count
    return OperatorTotal(
        name,
        data["applications"],
        data["evaluations"],
        data["joules"],
        _real(data["gain"]),
        Belief(*map(_real, data["belief"])),
        histogram,
    )


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _real(value: float | str) -> float:
    return float(value)


def _versions() -> dict[str, str]:
    from . import __version__  # here, because the package imports this module

    return {
        "eij": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
