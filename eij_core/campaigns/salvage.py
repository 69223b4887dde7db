"""Copying the intact part of a damaged store into a new one."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .reader import FILE, Row, intact_part, row_hash
from .store import Store
from .store_errors import StoreRefused


class Salvaged(NamedTuple):
    """How much of a store was copied."""

    trials: int
    without_trace: int
    """Trials whose row is intact but whose trace is missing or damaged."""


def salvage(damaged: Path, new: Path, spec: dict[str, Any] | None = None) -> Salvaged:
    """Copy every row that matches its checksum, with its trace where that is intact.

    Parameters
    ----------
    damaged, new : path
        The damaged store is only read.
    spec : dict
        The data of the campaign, for a store in which they are lost.

    Raises
    ------
    StoreRefused
        If there is no store, the new folder is not empty, or `spec` is lost and was not given.
    """
    if not (damaged / FILE).is_file():
        raise StoreRefused(f"{damaged} holds no campaign ({FILE} is missing)")
    if new.exists() and any(new.iterdir()):
        raise StoreRefused(f"{new} is not empty; salvage into a new folder")
    campaigns = list(_intact(damaged, "campaign"))
    if spec is None and not campaigns:
        raise StoreRefused(
            f"the specification in {damaged} is lost; give the campaign's file: --file FILE"
        )
    rows = {values[0]: Row(values[0], *values[2:]) for values in _intact(damaged, "trial")}
    without = 0
    with Store(new) as store:
        data, version = (spec, "") if spec else (json.loads(campaigns[-1][1]), campaigns[-1][3])
        store.begin(data, version)
        by_part: dict[tuple[str, str], list[Row]] = {}
        for row in rows.values():
            by_part.setdefault((row.trace_path, row.trace_sha256), []).append(row)
        for (path, digest), group in by_part.items():
            part = intact_part(damaged, path, digest) if path else None
            bare = [row._replace(trace_path="", trace_sha256="") for row in group]
            without += len(group) if path and part is None else 0
            store.put(bare, part or b"")
    return Salvaged(len(rows), without)


def _intact(folder: Path, table: str) -> Iterator[list[Any]]:
    """Yield the rows of a table that match their checksum, read from both ends."""
    seen: set[str] = set()
    # Reading stops at a damaged page; in the other order it reaches the rows behind the page.
    for order in ("", " ORDER BY rowid", " ORDER BY rowid DESC", " ORDER BY 1"):
        uri = f"{(folder / FILE).absolute().as_uri()}?mode=ro"
        with contextlib.suppress(sqlite3.Error, UnicodeError):
            base = sqlite3.connect(uri, uri=True, isolation_level=None)
            with contextlib.closing(base):
                for *values, digest in base.execute(f"SELECT * FROM {table}{order}"):
                    if row_hash(values) == digest and digest not in seen:
                        seen.add(digest)
                        yield values
