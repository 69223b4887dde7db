"""Recorded runs in and out: the core's own record files, with the limits of a server."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.escape import label
from app.frame import Frame, Tally
from app.limits import ROWS, UPLOAD_BYTES
from eij_core import Budget, EijError, InputError, Result
from eij_core.record_data import Record, RecordError, format_of, load
from eij_core.record_files import columns_of

__all__ = ["TEXTS", "frame_of_record", "read", "write"]

TEXTS = (".json", ".csv")
"""What may be uploaded: text, never unpacked, never executed."""


def write(result: Result, suffix: str) -> bytes:
    """Return the record of a run as a file: ".parquet", ".csv" or ".json"."""
    record = Record.of(result)
    form = format_of(Path(f"run{suffix}"))
    return form.write(dict(record.metadata), columns_of(record.rows, record.names))


def read(data: bytes, name: str) -> Frame:
    """Read an uploaded record, or say what is wrong with it.

    The file's name chooses how it is read and is otherwise only a label.
    """
    shown = label(name, 60)
    suffix = Path(name).suffix.lower()
    if suffix not in TEXTS:
        raise InputError("file", shown, f"a name that ends in {' or '.join(TEXTS)}")
    if len(data) > UPLOAD_BYTES:
        size = f"{len(data) / 1e6:.1f} MB"
        raise InputError("file", size, f"at most {UPLOAD_BYTES / 1e6:g} MB")
    if b"\0" in data:
        raise InputError("file", shown, "a text file; this one holds binary data")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("file", f"byte {error.start}", "UTF-8 text") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"record{suffix}")
        path.write_bytes(data)
        try:
            return frame_of_record(load(path))
        except EijError as error:
            # Where the server keeps its files is nobody's business.
            raise RecordError(str(error).replace(str(path), "this file")) from None


def frame_of_record(record: Record) -> Frame:
    """Return the frame of a record, for replay; names in it are cleaned."""
    if len(record.rows) > 50 * ROWS:
        raise InputError("file", f"{len(record.rows)} rows", f"at most {50 * ROWS}")
    rows = record.rows[:: max(1, math.ceil(len(record.rows) / ROWS))]
    trial = record.metadata["trial"]
    spent, best = record.spent, record.best
    budget = Budget.parse(str(trial["budget"])) if trial else Budget(joules=spent.joules)
    words = {family: label(word, 40) for family, word in record.metadata["components"].items()}
    tally = Tally(
        decisions=spent.decisions,
        evaluations=spent.evaluations,
        joules=spent.joules,
        seconds=spent.seconds,
        best=best.fitness,
        progress=1.0,
        histogram=_stacked(record),
        next=None,
        tip=record.rows[-1:],
    )
    return Frame(
        rows,
        tuple(label(name, 40) for name in record.names),
        budget,
        words["problem"],
        words["algorithm"],
        words["selector"],
        label(record.meter.name, 40),
        str(record.meter.provenance),
        best.optimum,
        tally,
        source=record.meter,
    )


def _stacked(record: Record) -> NDArray[np.int64]:
    return np.array([total.histogram for total in record.operators])
