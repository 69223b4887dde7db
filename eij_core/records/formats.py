"""The forms of a record on disk: how each is written, and how a file is recognised and read.

Columns are those of `engine.columns.columns_of`, but that a CSV has the operator's name. Text cells
of a CSV that a spreadsheet would take for a formula get an apostrophe; numbers stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..engine.columns import Columns, columns_of, kinds_of, labels, rows_of
from .arrow import PARQUET, STREAM, Content, NotARecord, from_parquet, from_stream, to_parquet
from .metadata import Metadata, dumps, loads

CSV = "# eij record "
"""How the first cell of a CSV begins."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


# --- JSON -----------------------------------------------------------------------------------------


def to_json(metadata: Metadata, rows: NDArray[Any], file: BinaryIO) -> None:
    """Write a record as JSON."""
    columns = {key: c.tolist() for key, c in columns_of(rows, metadata["names"]).items()}
    file.write(dumps({"eij": metadata, "columns": columns}) + b"\n")


def from_json(data: bytes) -> Content:
    """Read what `to_json` wrote."""
    found = loads(data)
    if "eij" not in found:
        raise NotARecord("JSON of another program")
    metadata = found["eij"]
    kinds = kinds_of(metadata["names"])
    columns = {
        label: np.array(values, np.float64) if kinds.get(label) == "f" else _whole(values)
        for label, values in found["columns"].items()
    }
    return Content(metadata, rows_of(columns, metadata["names"]))


def _whole(values: list[Any]) -> NDArray[np.int64]:
    # numpy alone would round reals down.
    if any(type(value) is not int for value in values):
        raise ValueError("a whole number is missing")
    return np.array(values, np.int64)


# --- CSV ------------------------------------------------------------------------------------------


def to_csv(metadata: Metadata, rows: NDArray[Any], file: BinaryIO) -> None:
    """Write a record as CSV: one cell with the metadata, the header, the rows."""
    columns = columns_of(rows, metadata["names"])
    names = [*labels(metadata["names"]), ""]  # the start applies no operator: its number is -1
    cells = {label: [str(value) for value in c.tolist()] for label, c in columns.items()}
    cells["operator"] = [safe_cell(names[o]) for o in columns["operator"].tolist()]
    sink = io.TextIOWrapper(file, "utf-8", newline="")
    # The metadata are one quoted cell. Bare, their commas would make cells of them, and the text
    # of someone's operator a formula.
    quoted = (CSV + dumps(metadata).decode()).replace('"', '""')
    sink.write(f'"{quoted}"\n')
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(safe_cell(label) for label in cells)
    writer.writerows(zip(*cells.values(), strict=True))
    sink.detach()


def from_csv(data: bytes) -> Content:
    """Read what `to_csv` wrote."""
    first, _, rest = data.decode().partition("\n")
    metadata = loads(first.removesuffix('"')[1 + len(CSV) :].replace('""', '"'))
    names = metadata["names"]
    kinds = kinds_of(names)
    header, *lines = csv.reader(io.StringIO(rest, newline=""), strict=True)
    if [safe_cell(label) for label in kinds] != header:
        raise ValueError("the columns are not those of a record")
    numbers = {safe_cell(name): o for o, name in enumerate(labels(names))}
    numbers[""] = -1
    by_column = zip(*lines, strict=True) if lines else ([] for _ in header)
    columns: Columns = {}
    for (label, kind), cells in zip(kinds.items(), by_column, strict=True):
        values = [numbers[cell] for cell in cells] if label == "operator" else cells
        columns[label] = np.array(values, np.float64 if kind == "f" else np.int64)
    return Content(metadata, rows_of(columns, names))


def safe_cell(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("flip-1")
    ("'=1+1", 'flip-1')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


# --- all of them ----------------------------------------------------------------------------------

WRITERS: dict[str, Callable[[Metadata, NDArray[Any], BinaryIO], None]] = {
    ".parquet": to_parquet,
    ".csv": to_csv,
    ".json": to_json,
}
"""By the ending of a file's name."""
READERS: dict[bytes, Callable[[bytes], Content]] = {
    PARQUET: from_parquet,
    STREAM: from_stream,
    f'"{CSV}'.encode(): from_csv,
    b"{": from_json,
}
"""By how a file begins."""


def content_of(data: bytes) -> Content:
    """Read a file of any form; NotARecord or ValueError where that cannot be done."""
    data = data.lstrip(b" \t\r\n")
    for beginning, reader in READERS.items():
        if data.startswith(beginning):
            return reader(data)
    raise NotARecord("neither Parquet nor an Arrow stream, CSV or JSON" if data else "it is empty")
