"""Records as Arrow: the stream that grows while a run goes on, and the Parquet of its end.

A stream is a schema and batches of rows. The schema has the metadata of the run's start; each batch
has those of its moment, with the digest of its own rows. So whatever interrupts the writing, the
whole batches are a record, and one that is not whole is noticed.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.columns import columns_of, kinds_of, rows_of
from ..engine.rows import row_dtype
from ..result import digest_of_run, fields_of
from .metadata import UNFINISHED, Metadata, dumps, loads, seal, sealed

if TYPE_CHECKING:
    import pyarrow

KEY = b"eij"
"""Where Arrow's files keep the metadata."""
PARQUET, STREAM = b"PAR1", b"\xff\xff\xff\xff"
"""How the files begin."""
BATCH = 65_536
"""Rows that are converted at a time, at most."""


def load_writer() -> None:
    """Import what writing needs, a second of it, where that disturbs no clock and no Ctrl-C."""
    import pyarrow.parquet

    pyarrow.array(())  # the first array imports pandas


class NotARecord(ValueError):
    """A file that is not a record."""


class Content(NamedTuple):
    """What a file holds."""

    metadata: Metadata
    rows: NDArray[Any]
    notes: tuple[str, ...] = ()
    """What is wrong with the file although it can be read, in words."""


# --- the stream -----------------------------------------------------------------------------------


def stream_head(metadata: Metadata) -> bytes:
    """Return how a stream begins: the schema."""
    return _schema(metadata).serialize().to_pybytes()


def stream_batch(metadata: Metadata, rows: NDArray[Any]) -> bytes:
    """Return what is appended to a stream: rows, and the metadata of a result with these alone."""
    import pyarrow

    schema = _schema({"names": metadata["names"]})
    sink = io.BytesIO()
    writer = pyarrow.ipc.new_stream(sink, schema)
    batch = pyarrow.record_batch(columns_of(rows, metadata["names"]), schema=schema)
    writer.write_batch(batch, custom_metadata={KEY: dumps(metadata)})
    return sink.getvalue()[len(schema.serialize()) :]


def from_stream(data: bytes) -> Content:
    """Read a stream as far as it is whole."""
    metadata, rows, whole = whole_batches(data)
    note = (
        f"the last {len(data) - whole} bytes are not whole batches of rows and were left out: the "
        f"record ends with decision {rows['decision'][-1] if rows.size else 0}"
    )
    return Content(joined(metadata, rows), rows, (note,) if whole < len(data) else ())


def whole_batches(data: bytes) -> tuple[Metadata, NDArray[Any], int]:
    """Return the metadata of the last whole batch, all rows, and how many bytes they take."""
    import pyarrow

    source = pyarrow.BufferReader(data)
    try:
        reader = pyarrow.ipc.open_stream(source)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(_first_line(error)) from None
    metadata = _metadata(reader.schema)
    names = metadata["names"]
    parts = [np.zeros(0, row_dtype(len(names)))]
    whole = source.tell()
    with contextlib.suppress(pyarrow.ArrowException, OSError, ValueError, TypeError, LookupError):
        for metadata, part in _batches(reader, names):  # noqa: B007
            parts.append(part)
            whole = source.tell()
    return metadata, np.concatenate(parts), whole


def _batches(reader: Any, names: list[str]) -> Iterator[tuple[Metadata, NDArray[Any]]]:
    while True:
        try:
            batch, custom = reader.read_next_batch_with_custom_metadata()
        except StopIteration:
            return
        metadata, rows = loads(custom[KEY]), _rows(batch, names)
        if metadata["seal"] != seal(metadata) or metadata["digest"] != _digest(metadata, rows):
            raise ValueError("its content is not what was written")
        yield metadata, rows


def joined(metadata: Metadata, rows: NDArray[Any]) -> Metadata:
    """Return the last batch's metadata as those of all rows."""
    reason = UNFINISHED if metadata["reason"] == "running" else metadata["reason"]
    return sealed({**metadata, "reason": reason, "digest": _digest(metadata, rows)})


def _digest(metadata: Metadata, rows: NDArray[Any]) -> str:
    fields = fields_of(metadata)
    return digest_of_run(rows, fields["best"], fields["operators"])


# --- Parquet --------------------------------------------------------------------------------------


def to_parquet(metadata: Metadata, rows: NDArray[Any], file: BinaryIO) -> None:
    """Write a record as Parquet; the metadata are those of the file, under `eij`."""
    import pyarrow
    import pyarrow.parquet

    schema = _schema(metadata)
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for low in range(0, len(rows), BATCH):
            columns = columns_of(rows[low : low + BATCH], metadata["names"])
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))


def from_parquet(data: bytes) -> Content:
    """Read what `to_parquet` wrote."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(_first_line(error)) from None
    metadata = _metadata(table.schema)
    return Content(metadata, _rows(table, metadata["names"]))


# --- both -----------------------------------------------------------------------------------------


def _schema(metadata: Metadata) -> pyarrow.Schema:
    import pyarrow

    kinds = {"i": pyarrow.int64(), "f": pyarrow.float64()}
    fields = [(label, kinds[kind]) for label, kind in kinds_of(metadata["names"]).items()]
    return pyarrow.schema(fields, {KEY: dumps(metadata)})


def _metadata(schema: pyarrow.Schema) -> Metadata:
    metadata = schema.metadata or {}
    if KEY not in metadata:
        raise NotARecord("a file of another program")
    return loads(metadata[KEY])


def _rows(table: Any, names: list[str]) -> NDArray[Any]:
    if any(column.null_count for column in table.columns):
        raise ValueError("values are missing")
    columns = {name: table[name].to_numpy() for name in table.schema.names}
    return rows_of(columns, names)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
