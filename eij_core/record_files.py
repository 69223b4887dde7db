"""The three forms of a record on disk: Parquet, CSV and JSON, each one self-contained file.

A record is *metadata*, a JSON object, and *columns*, by name. Columns are those of
`result.frame_of`, but that `operator` is the operator's number in Parquet and JSON. Text cells of
a CSV that a spreadsheet would take for a formula get an apostrophe; numbers stay as they are.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .records import row_dtype

__all__ = ["FORMATS", "Foreign", "Format", "columns_of", "rows_of", "safe_cell"]

KEY = b"eij"
"""Where Parquet keeps the metadata."""
MARK = "# eij record "
"""How the first cell of a CSV begins."""
SCALARS = ("decision", "operator", "gain", "joules", "spent", "evaluations", "best")
BELIEFS = ("gain", "gain_sd", "cost", "cost_sd", "score")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")

Metadata = dict[str, Any]
Columns = dict[str, NDArray[Any]]
Places = list[tuple[str, str, Any]]


class Foreign(ValueError):
    """A file that was never a record."""


def labels(names: Sequence[str]) -> list[str]:
    """Return names that differ, where two operators of a portfolio have the same."""
    return [name if names.index(name) == o else f"{name}#{o}" for o, name in enumerate(names)]


def places(names: Sequence[str]) -> Places:
    """Return for each column its label, and where in the rows its values lie."""
    found: Places = [(name, name, ...) for name in SCALARS]
    for o, label in enumerate(labels(names)):
        found.append((f"applications:{label}", "applications", (..., o)))
        found.append((f"joules:{label}", "operator_joules", (..., o)))
        found += [(f"{b}:{label}", "beliefs", (..., o, i)) for i, b in enumerate(BELIEFS)]
    return found


def columns_of(rows: NDArray[Any], names: Sequence[str]) -> Columns:
    """Take structured rows apart into columns."""
    return {label: np.ascontiguousarray(rows[field][at]) for label, field, at in places(names)}


def rows_of(columns: Mapping[str, Any], names: Sequence[str]) -> NDArray[Any]:
    """Put columns together again; ValueError unless they are exactly the right ones."""
    wanted = places(names)
    if list(columns) != [label for label, _, _ in wanted]:
        raise ValueError("the columns are not those of a record")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError("the columns differ in length")
    rows = np.zeros(lengths.pop(), row_dtype(len(names)))
    for label, field, at in wanted:
        column = np.asarray(columns[label])
        if column.dtype != rows[field].dtype:
            raise ValueError(f"column {label} holds {column.dtype}")
        rows[field][at] = column
    return rows


# --- Parquet --------------------------------------------------------------------------------------


def to_parquet(metadata: Metadata, columns: Columns) -> bytes:
    """Write a record as Parquet; the metadata are those of the file, under `eij`."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(columns).replace_schema_metadata({KEY: _json(metadata)})
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def from_parquet(data: bytes) -> tuple[Metadata, Columns]:
    """Read what `to_parquet` wrote."""
    import pyarrow
    import pyarrow.parquet

    if data[:4] != b"PAR1":
        raise Foreign("not a Parquet file")
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    metadata = table.schema.metadata or {}
    if KEY not in metadata:
        raise Foreign("a Parquet file of another program")
    if any(column.null_count for column in table.columns):
        raise ValueError("values are missing")
    columns = {name: table[name].to_numpy() for name in table.column_names}
    return _loads(metadata[KEY]), columns


# --- JSON -----------------------------------------------------------------------------------------


def to_json(metadata: Metadata, columns: Columns) -> bytes:
    """Write a record as JSON; what is not finite becomes the text "nan", "inf" or "-inf"."""
    plain = {label: [_plain(value) for value in c.tolist()] for label, c in columns.items()}
    return _json({"eij": metadata, "columns": plain}) + b"\n"


def from_json(data: bytes) -> tuple[Metadata, Columns]:
    """Read what `to_json` wrote."""
    if not data.lstrip().startswith(b"{"):
        raise Foreign("not a JSON object")
    found = _loads(data)
    if "eij" not in found:
        raise Foreign("JSON of another program")
    metadata = found["eij"]
    kinds = _kinds(metadata)
    columns = {
        label: np.array([_real(v) for v in values], np.float64)
        if kinds.get(label) == "f"
        else _whole(values)
        for label, values in found["columns"].items()
    }
    return metadata, columns


# --- CSV ------------------------------------------------------------------------------------------


def to_csv(metadata: Metadata, columns: Columns) -> bytes:
    """Write a record as CSV: one cell with the metadata, the header, the rows."""
    names = [*labels(metadata["names"]), ""]  # the start applies no operator: its number is -1
    cells = {label: [str(value) for value in c.tolist()] for label, c in columns.items()}
    cells["operator"] = [safe_cell(names[o]) for o in columns["operator"].tolist()]
    sink = io.StringIO()
    # The metadata are one quoted cell. Bare, their commas would make cells of them, and the text
    # of someone's operator a formula.
    sink.write(_quoted(MARK + _json(metadata).decode()) + "\n")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(safe_cell(label) for label in cells)
    writer.writerows(zip(*cells.values(), strict=True))
    return sink.getvalue().encode()


def from_csv(data: bytes) -> tuple[Metadata, Columns]:
    """Read what `to_csv` wrote."""
    first, _, rest = data.decode().partition("\n")
    if not first.startswith(f'"{MARK}'):
        raise Foreign("a CSV file of another program")
    metadata = _loads(first.removesuffix('"')[1 + len(MARK) :].replace('""', '"'))
    kinds = _kinds(metadata)
    header, *lines = csv.reader(io.StringIO(rest, newline=""), strict=True)
    if [safe_cell(label) for label in kinds] != header:
        raise ValueError("the columns are not those of a record")
    numbers = {safe_cell(name): o for o, name in enumerate(labels(metadata["names"]))}
    numbers[""] = -1
    by_column = zip(*lines, strict=True) if lines else ([] for _ in header)
    columns: Columns = {}
    for (label, kind), cells in zip(kinds.items(), by_column, strict=True):
        if label == "operator":
            columns[label] = np.array([numbers[cell] for cell in cells], np.int64)
        elif kind == "f":
            columns[label] = np.array([_real_text(cell) for cell in cells], np.float64)
        else:
            columns[label] = _whole([_whole_text(cell) for cell in cells])
    return metadata, columns


def safe_cell(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("flip-1")
    ("'=1+1", 'flip-1')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# --- numbers --------------------------------------------------------------------------------------


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


def _loads(text: str | bytes) -> Any:
    """Read JSON as the standard has it: Python's own reader would take NaN and Infinity."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _real(value: Any) -> float:
    if isinstance(value, float) or value in ("nan", "inf", "-inf"):
        return float(value)
    raise ValueError(f"{value!r} is not a number of this column")


def _real_text(cell: str) -> float:
    if not re.fullmatch(r"-?([0-9.]+(e[+-]?[0-9]+)?|inf)|nan", cell):
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)


def _whole_text(cell: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,19}", cell):
        raise ValueError(f"{cell!r} is not a whole number")
    return int(cell)


def _whole(values: list[Any]) -> NDArray[np.int64]:
    if any(type(value) is not int for value in values):
        raise ValueError("a whole number is missing")
    return np.array(values, np.int64)


def _kinds(metadata: Metadata) -> dict[str, str]:
    """Return for each column whether it holds whole numbers, "i", or reals, "f"."""
    names = metadata["names"]
    dtype = row_dtype(len(names))
    return {label: dtype[field].base.kind for label, field, _ in places(names)}


class Format(NamedTuple):
    """How to write and to read one form."""

    write: Callable[[Metadata, Columns], bytes]
    read: Callable[[bytes], tuple[Metadata, Columns]]
    prepare: Callable[[], Any] = lambda: None
    """Imports what the others need."""


FORMATS = {
    ".parquet": Format(
        to_parquet, from_parquet, lambda: importlib.import_module("pyarrow.parquet")
    ),
    ".csv": Format(to_csv, from_csv),
    ".json": Format(to_json, from_json),
}
