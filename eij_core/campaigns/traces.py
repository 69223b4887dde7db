"""The rows of many trials in one Parquet part of a store, and back, bit for bit."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.columns import LISTS, SCALARS
from ..engine.rows import row_dtype


def encode(traces: Iterable[tuple[str, NDArray[Any]]]) -> bytes:
    """Return one Parquet file with the rows of several trials.

    Parameters
    ----------
    traces : iterable of (key, rows)
        The trial's key and its rows, of `engine.rows.row_dtype`.

    Examples
    --------
    >>> rows = np.zeros(2, row_dtype(3))
    >>> [(key, back.tobytes() == rows.tobytes()) for key, back in decode(encode([("a", rows)]))]
    [('a', True)]
    """
    import pyarrow as pa  # here, because the state of a store is read without it
    import pyarrow.parquet as pq

    keys, parts = zip(*traces, strict=True)
    lengths = [len(rows) for rows in parts]
    columns: dict[str, Any] = {
        "key": pa.DictionaryArray.from_arrays(
            np.repeat(np.arange(len(keys), dtype=np.int32), lengths), pa.array(keys)
        )
    }
    for name in SCALARS:
        columns[name] = np.concatenate([rows[name] for rows in parts])
    for name in LISTS:  # portfolios differ in size, so the lists differ in length
        values = np.concatenate([rows[name].ravel() for rows in parts])
        widths = np.repeat([math.prod(rows.dtype[name].shape) for rows in parts], lengths)
        offsets = np.append(0, np.cumsum(widths)).astype(np.int32)
        columns[name] = pa.ListArray.from_arrays(offsets, values)
    sink = io.BytesIO()
    pq.write_table(
        pa.table(columns), sink, compression="zstd", compression_level=1, use_dictionary=["key"]
    )
    return sink.getvalue()


def decode(part: bytes, wanted: set[str] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield (key, rows) for the trials of a part, or for the `wanted` ones among them."""
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(part))
    keys = table["key"].combine_chunks()
    codes = keys.indices.to_numpy()
    names = keys.dictionary.to_pylist()
    scalars = {name: table[name].to_numpy() for name in SCALARS}
    lists = {name: table[name].combine_chunks() for name in LISTS}
    flat = {name: array.flatten().to_numpy() for name, array in lists.items()}
    offsets = {name: array.offsets.to_numpy() for name, array in lists.items()}
    bounds = np.append(np.flatnonzero(np.diff(codes, prepend=-1)), len(codes))
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        key = names[codes[low]]
        if wanted is not None and key not in wanted:
            continue
        operators = int(offsets["applications"][low + 1] - offsets["applications"][low])
        rows = np.empty(high - low, row_dtype(operators))
        for name in SCALARS:
            rows[name] = scalars[name][low:high]
        for name in LISTS:
            values = flat[name][offsets[name][low] : offsets[name][high]]
            rows[name] = values.reshape(rows[name].shape)
        yield key, rows
