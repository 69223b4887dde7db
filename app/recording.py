"""A frame with the runs beside it as JSON: how the page keeps the run that it opens with."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.escape import label
from app.frame import Frame, Lane, Tally
from app.limits import ROWS
from eij_core import Budget, EijError, InputError
from eij_core.records import BINS, row_dtype

__all__ = ["read", "to_json"]

FORMAT = "eij-frame"
VERSION = 1
MAX_OPERATORS = 24
WORDS = ("problem", "algorithm", "selector", "meter")
KINDS = ("static", "uniform", "past")


def to_json(frame: Frame) -> str:
    """Write a frame, with the runs beside it, as JSON that `read` takes back."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        **{key: getattr(frame, key) for key in WORDS},
        "provenance": frame.provenance,
        "names": list(frame.names),
        "budget": str(frame.budget),
        "optimum": _plain(frame.optimum),
        "columns": _columns(frame.rows),
        "histogram": _sparse(frame.tally.histogram) if frame.tally is not None else [],
        "others": [
            {"label": lane.label, "kind": lane.kind, "columns": _columns(lane.rows)}
            for lane in frame.others
        ],
    }
    return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def read(data: bytes) -> Frame:
    """Read what `to_json` wrote, or say what is wrong with it."""
    try:
        content = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise InputError("file", f"byte {error.start}", "UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        found = error if isinstance(error, EijError) else "unreadable JSON"
        raise InputError("file", found, "what `app.recording` writes") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError("file", "another format", "what `app.recording` writes")
    if content.get("version") != VERSION:
        raise InputError("file:version", label(content.get("version")), f"{VERSION}")
    try:
        return _frame(content)
    except EijError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError("file", label(error), "the fields that this page writes") from None


def _frame(content: dict[str, Any]) -> Frame:
    names = tuple(label(name, 40) for name in _list(content["names"], MAX_OPERATORS, "names"))
    if not names:
        raise InputError("file:names", "none", "at least one operator")
    rows = _rows(content["columns"], len(names))
    last = rows[-1]
    histogram = _dense(content["histogram"], len(names))
    tally = Tally(
        int(last["decision"]),
        int(last["evaluations"]),
        float(last["spent"]),
        math.nan,
        float(last["best"]),
        1.0,
        histogram,
        None,
        rows[-1:],
    )
    others = tuple(
        Lane(
            label(other["label"], 60),
            _rows(other["columns"], len(names)),
            other["kind"] if other["kind"] in KINDS else "past",
        )
        for other in _list(content["others"], 12, "others")
    )
    words = {key: label(content[key], 60) for key in WORDS}
    optimum = content["optimum"]
    return Frame(
        rows,
        names,
        Budget.parse(str(content["budget"])[:80]),
        words["problem"],
        words["algorithm"],
        words["selector"],
        words["meter"],
        provenance=label(content["provenance"], 20),
        optimum=math.nan if optimum is None else float(optimum),
        tally=tally,
        others=others,
    )


def _columns(rows: NDArray[Any]) -> dict[str, Any]:
    """Return columns as lists; numbers to eight digits, what is not a number as null."""
    found: dict[str, Any] = {}
    for name in rows.dtype.names or ():
        column = rows[name]
        if column.dtype.kind == "f":
            flat = [_plain(value) for value in column.ravel().tolist()]
            found[name] = flat
        else:
            found[name] = column.ravel().tolist()
    return found


def _rows(columns: Any, operators: int) -> NDArray[Any]:
    if not isinstance(columns, dict):
        raise InputError("file:columns", "none", "columns by name")
    dtype = row_dtype(operators)
    length = len(_list(columns["decision"], ROWS * 4, "decision"))
    if length == 0:
        raise InputError("file:columns", "no rows", "at least one row")
    rows = np.zeros(length, dtype)
    for name in dtype.names or ():
        kind = dtype[name]
        values = _list(columns[name], length * kind.itemsize, name)
        numbers = [math.nan if value is None else value for value in values]
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in numbers):
            raise InputError(f"file:{name}", "text", "numbers")
        rows[name] = np.array(numbers, kind.base).reshape(length, *kind.shape)
    if np.any(np.diff(rows["spent"]) < 0) or not np.isfinite(rows["spent"]).all():
        raise InputError("file:spent", "decreasing values", "Joules that never decrease")
    if rows["operator"].max() >= operators or rows["operator"].min() < -1:
        raise InputError("file:operator", "an unknown operator", f"-1 to {operators - 1}")
    return rows


def _list(value: Any, longest: int, field: str) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) > longest:
        raise InputError(f"file:{field}", "not so", f"a list of at most {longest} entries")
    return value


def _sparse(histogram: NDArray[np.int64]) -> list[list[list[int]]]:
    return [[[int(i), int(row[i])] for i in np.flatnonzero(row)] for row in histogram]


def _dense(sparse: Any, operators: int) -> NDArray[np.int64]:
    histogram = np.zeros((operators, BINS), np.int64)
    for o, pairs in enumerate(_list(sparse, operators, "histogram")):
        for place, count in _list(pairs, BINS, "histogram"):
            if not (isinstance(place, int) and 0 <= place < BINS and 0 <= int(count) < 2**60):
                raise InputError("file:histogram", "a count out of range", "bins and counts")
            histogram[o, place] = int(count)
    return histogram


def _plain(value: float) -> float | None:
    return float(f"{value:.8g}") if math.isfinite(value) else None


def _refuse(name: str) -> Any:
    raise InputError("file", name, "finite numbers, or null")
