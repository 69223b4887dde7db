"""A run in one line, read from the head and the tail of its record."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..budget import Budget
from ..errors import InputError
from ..protocols import Provenance
from ..result import JOULES_SPENT, real
from .arrow import KEY, PARQUET, STREAM, NotARecord
from .messages import messages
from .metadata import FAILED, SCHEMA, UNFINISHED, Metadata, loads, seal, upgraded
from .record import DAMAGE, RecordError
from .recorder import STREAM as GROWING
from .writer import is_alive

RUNNING, FINISHED, STOPPED, INTERRUPTED = "running", "finished", "stopped", "interrupted"
ENDS = (
    JOULES_SPENT, "evaluations spent", "seconds spent", "no operator fits in the Joules left"
)  # fmt: skip
"""The reasons of runs that went to their end."""
POINTS = 48
"""Points of a spark line, at most."""
SILENT_SECONDS = 60.0
"""A run of another machine without news for so long counts as interrupted."""


class Summary(NamedTuple):
    """A run in one line."""

    name: str
    state: str
    """running, finished, stopped, interrupted or failed."""
    reason: str
    """Why it ended, in words."""
    problem: str
    algorithm: str
    selector: str
    sense: str
    best: float
    feasible: bool
    joules: float
    provenance: str
    meter: str
    progress: float
    """How much of its tightest limit is spent, 0 to 1."""
    decisions: int
    seed: int | None
    """None where the trial cannot be written down."""
    date: float
    """When it began; of records without that, when their file was written. Seconds since 1970."""
    method: str
    """The trial without seed and repetition: equal in repetitions of the same."""
    task: str
    """The problem with its parameters: runs of one task can be compared."""
    bytes: int
    points: tuple[tuple[float, float], ...]
    """Joules and best on the way, for a spark line."""


class Reader:
    """Reads the summary of one record, and of a record that grows only what is new.

    Parameters
    ----------
    path : path
        Ends in .parquet or .arrows.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: Any = None
        self._end = 0
        """Where the next batch of a stream begins."""
        self._metadata: Metadata | None = None
        self._points: list[tuple[float, float]] = []
        self._date = 0.0
        self._bytes = 0
        self._summary: Summary | None = None
        self.trouble = ""
        """Why there is no summary."""

    def look(self) -> bool:
        """Read what is new; return whether there was anything. FileNotFoundError: it is gone."""
        status = self.path.stat()
        seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        if seen == self._seen:
            return False
        if self._seen is not None and seen[2] != self._seen[2]:
            self._end, self._points, self._metadata = 0, [], None  # another file of this name
        self._summary = None
        self._seen, self._date, self._bytes = seen, status.st_mtime, status.st_size
        if not status.st_size:
            return False  # reserved: its run is about to begin
        try:
            with self.path.open("rb") as file:
                self._take(file)
            self.trouble = ""
        except NotARecord as error:
            self.trouble = f"no record of EI/J: {error}"
        except (RecordError, OSError) as error:
            self.trouble = str(error)
        except DAMAGE as error:
            self.trouble = f"damaged: {error}"
        return True

    @property
    def summary(self) -> Summary | None:
        """What is known of the run, the same object until that changes; None: nothing."""
        if self._metadata is None or self.trouble:
            return None
        try:
            if self._summary is None:
                self._summary = _summary(
                    self.path, self._metadata, self._points, self._date, self._bytes
                )
            elif self._summary.state == RUNNING:
                state, reason = _state(self._metadata, self._date, grows=True)
                if state != RUNNING:
                    self._summary = self._summary._replace(state=state, reason=reason)
        except (*DAMAGE, InputError) as error:
            self.trouble = f"damaged: {error}"
            return None
        return self._summary

    def _take(self, file: io.BufferedReader) -> None:
        mark = file.read(len(PARQUET))
        if mark == PARQUET:
            self._metadata, self._points = _parquet(self.path)
        elif mark == STREAM:
            self._take_batches(file)
        else:
            raise NotARecord("neither Parquet nor an Arrow stream")

    def _take_batches(self, file: io.BufferedReader) -> None:
        """Take the whole batches that are new; one that is torn or damaged ends them."""
        latest = b""
        try:
            for message in messages(file, self._end):
                latest, self._end = message.metadata, message.end
                if message.start:
                    self._points.append(_standing(loads(latest)))
                if len(self._points) > 2 * POINTS:
                    self._points = [*self._points[:-1:2], self._points[-1]]
        except ValueError:
            if self._metadata is None and not latest:
                raise
        if latest:
            self._metadata = _checked(loads(latest))
        elif not self._end:
            raise NotARecord("its head is not whole")


def _parquet(path: Path) -> tuple[Metadata, list[tuple[float, float]]]:
    """Read the metadata and a few points: a column at the most of the first group of rows."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            found = file.schema_arrow.metadata or {}
            if KEY not in found:
                raise NotARecord("a file of another program")
            metadata = _checked(loads(found[KEY]))
            points: list[tuple[float, float]] = []
            if file.num_row_groups:
                table = file.read_row_group(0, columns=["spent", "best"])
                spent, best = (table[name].to_numpy() for name in ("spent", "best"))
                places = np.unique(np.linspace(0, len(spent) - 1, POINTS).astype(int))
                points = [(float(spent[i]), float(best[i])) for i in places]
            if file.num_row_groups > 1:
                points.append(_standing(metadata))
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    return metadata, points


def _standing(metadata: Mapping[str, Any]) -> tuple[float, float]:
    return real(metadata["spent"]["joules"]), real(metadata["best"]["fitness"])


def _checked(metadata: Metadata) -> Metadata:
    schema = metadata["schema"]
    if schema > SCHEMA:
        raise RecordError(f"written by a newer version of eij (schema {schema}): update eij")
    if metadata.get("seal") != seal(metadata):
        raise ValueError("its metadata are not those that were written")
    return upgraded(metadata) if schema == 1 else metadata


def _summary(
    path: Path, metadata: Metadata, points: list[tuple[float, float]], date: float, size: int
) -> Summary:
    trial, words = metadata["trial"] or {}, metadata["components"]
    best, spent = metadata["best"], metadata["spent"]
    state, reason = _state(metadata, date, grows=path.suffix == GROWING)
    budget = metadata.get("budget") or trial.get("budget")
    own = {key: value for key, value in trial.items() if key not in ("seed", "repetition")}
    began = metadata.get("began")
    return Summary(
        path.stem,
        state,
        reason,
        str(words["problem"]),
        str(words["algorithm"]),
        str(words["selector"]),
        str(metadata.get("sense", "max")),
        real(best["fitness"]),
        bool(best["feasible"]),
        real(spent["joules"]),
        str(Provenance(metadata["meter"]["provenance"])),
        str(metadata["meter"]["name"]),
        1.0 if state == FINISHED else _progress(spent, budget),
        int(spent["decisions"]),
        int(trial["seed"]) if "seed" in trial else None,
        datetime.fromisoformat(began).timestamp() if began else date,
        str(sorted((own or {**words, "budget": budget}).items())),
        str(trial.get("problem") or words["problem"]),
        size,
        tuple(points),
    )


def _progress(spent: Mapping[str, Any], budget: str | None) -> float:
    if not budget:
        return math.nan
    limits = Budget.parse(budget)
    fields = ("joules", "evaluations", "seconds")
    return min(1.0, max(real(spent[field]) / getattr(limits, field) for field in fields))


def _state(metadata: Mapping[str, Any], date: float, *, grows: bool) -> tuple[str, str]:
    """Return the state of a record's run, and why it ended; `date`: that of the latest news."""
    reason = str(metadata["reason"])
    if reason in (UNFINISHED, RUNNING):
        writer = metadata.get("writer")
        alive = is_alive(writer) if grows and isinstance(writer, dict) else False
        if alive is None:
            alive = time.time() - date < SILENT_SECONDS
        return (RUNNING, "") if alive else (INTERRUPTED, "it was cut off before its end")
    if reason.startswith(FAILED):
        return FAILED, reason
    if reason in ENDS:
        return FINISHED, reason
    return (INTERRUPTED if reason == INTERRUPTED else STOPPED), reason
