"""Recorded rows as columns with names, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import row_dtype

Columns = dict[str, NDArray[Any]]

_ROW = row_dtype(1)
SCALARS = tuple(name for name in _ROW.names or () if not _ROW[name].shape)
"""Fields of a row that hold one number."""
LISTS = tuple(name for name in _ROW.names or () if _ROW[name].shape)
"""Fields of a row that hold numbers for each operator."""
BELIEFS = ("gain", "gain_sd", "cost", "cost_sd", "score")
"""How the columns of a belief are labelled, in the order of `Belief`."""


def labels(names: Sequence[str]) -> list[str]:
    """Return names that differ, where two operators of a portfolio have the same."""
    return [name if names.index(name) == o else f"{name}#{o}" for o, name in enumerate(names)]


def _places(names: Sequence[str]) -> list[tuple[str, str, Any]]:
    """Return for each column its label, and where in the rows its values are."""
    found: list[tuple[str, str, Any]] = [(name, name, ...) for name in SCALARS]
    for o, label in enumerate(labels(names)):
        found.append((f"applications:{label}", "applications", (..., o)))
        found.append((f"joules:{label}", "operator_joules", (..., o)))
        found += [(f"{b}:{label}", "beliefs", (..., o, i)) for i, b in enumerate(BELIEFS)]
    return found


def columns_of(rows: NDArray[Any], names: Sequence[str]) -> Columns:
    """Return the columns of structured rows.

    Columns `decision, operator, gain, joules, spent, evaluations, best`, where `operator` is the
    operator's number or -1, then for each operator `applications`, `joules`, and the belief's
    `gain`, `gain_sd`, `cost`, `cost_sd`, `score`, each followed by a colon and its label.
    """
    return {label: np.ascontiguousarray(rows[field][at]) for label, field, at in _places(names)}


def rows_of(columns: Mapping[str, Any], names: Sequence[str]) -> NDArray[Any]:
    """Return the structured rows of columns; ValueError unless they are exactly the right ones."""
    wanted = _places(names)
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


def kinds_of(names: Sequence[str]) -> dict[str, str]:
    """Return for each column whether it holds whole numbers, "i", or reals, "f"."""
    dtype = row_dtype(len(names))
    return {label: dtype[field].base.kind for label, field, _ in _places(names)}
