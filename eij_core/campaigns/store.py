"""The store of a campaign: one SQLite file, Parquet parts beside it, one writer.

What was acknowledged survives `kill -9` at any moment: a part reaches the disk before the rows that
name it, and rows reach it in one commit. A part that no row names does not exist; the next writer
deletes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..atomic_files import sync_folder, write_atomically
from .reader import APPLICATION, FILE, PARTS, SCHEMA, Reader, Row, row_hash
from .store_errors import LOCK, StoreRefused, reading, take_lock, writing

OURS = re.compile(r"[0-9a-f]{32}\.parquet(\.tmp)?")
TABLES = """
CREATE TABLE campaign(id TEXT PRIMARY KEY, spec_json TEXT NOT NULL, spec_hash TEXT NOT NULL,
    code_version TEXT NOT NULL, created REAL NOT NULL, row_hash TEXT NOT NULL);
CREATE TABLE trial(key TEXT PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaign(id),
    spec_json TEXT NOT NULL, state TEXT NOT NULL CHECK(state IN ('done', 'failed')),
    attempt INTEGER NOT NULL, host TEXT, started REAL, ended REAL, energy_source TEXT,
    result_json TEXT, trace_path TEXT, trace_sha256 TEXT, error TEXT, row_hash TEXT NOT NULL);
CREATE TABLE attempt(key TEXT NOT NULL, n INTEGER NOT NULL, started REAL, host TEXT, pid INTEGER,
    outcome TEXT NOT NULL, row_hash TEXT NOT NULL, PRIMARY KEY(key, n));
"""
# The first result of a trial wins; only a failure may be replaced.
REPLACE = "ON CONFLICT(key) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in ("campaign", *Row._fields[1:], "row_hash")
)


class Store(Reader):
    """The only writer of a campaign's folder.

    Parameters
    ----------
    folder : path
        Created if it is missing. A folder with other files and no campaign is refused.

    Raises
    ------
    StoreBusy
        While another process writes into the folder.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        strangers = {path.name for path in folder.iterdir()} - {LOCK, PARTS}
        if strangers and FILE not in strangers:
            raise StoreRefused(
                f"{folder} holds other files ({sorted(strangers)[0]}, …) and no campaign; "
                f"choose an empty folder"
            )
        self._lock = take_lock(folder)
        try:
            self._create(folder)
            super().__init__(folder)
            self._base.close()
            self._base = sqlite3.connect(folder / FILE, isolation_level=None, timeout=10)
            # The log is merged into the file rarely, because each time waits twice for the disk.
            for pragma in (
                "journal_mode=WAL",
                "synchronous=FULL",
                "foreign_keys=ON",
                "wal_autocheckpoint=4000",
            ):
                self._base.execute(f"PRAGMA {pragma}")
            (folder / PARTS).mkdir(exist_ok=True)
            self._sweep()
        except BaseException:
            self._lock.release()
            raise
        self.seconds = 0.0
        """Time spent in writing."""

    def begin(self, spec: dict[str, Any], code_version: str) -> None:
        """Write the campaign that is about to run."""
        text = json.dumps(spec, sort_keys=True, allow_nan=False, ensure_ascii=False)
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        # A campaign extended and taken back again comes last once more.
        name = f"{digest[:16]}-{len(self._all('SELECT id FROM campaign'))}"
        values = (name, text, digest, code_version, time.time())
        with self._transaction():
            self._insert("campaign", [values])

    def put(self, rows: Sequence[Row], part: bytes = b"") -> None:
        """Store the trials of one task: the part first, then all rows in one commit.

        A trial that is done already stays as it is: the first result wins. When this returns,
        the trials are on the disk.
        """
        started = time.perf_counter()
        if part:
            digest = hashlib.sha256(part).hexdigest()
            path = f"{PARTS}/{digest[:32]}.parquet"
            rows = [
                row._replace(trace_path=path, trace_sha256=digest) if row.state == "done" else row
                for row in rows
            ]
            with writing(self.folder):
                write_atomically(self.folder / path, part)
        campaign = self._newest("id")
        values = [(row.key, campaign, *row[1:]) for row in rows]
        with self._transaction():
            self._insert("trial", values, f"{REPLACE} WHERE trial.state = 'failed'")
        self.seconds += time.perf_counter() - started

    def note_attempts(self, attempts: Iterable[tuple[Any, ...]]) -> None:
        """Keep (key, n, started, host, pid, outcome) of attempts without a result."""
        with self._transaction():
            self._insert("attempt", list(attempts), "ON CONFLICT DO NOTHING")

    def close(self) -> None:
        """Merge the log into the file and release the folder."""
        super().close()
        self._lock.release()

    # --- inside ---

    def _insert(self, table: str, rows: list[tuple[Any, ...]], conflict: str = "") -> None:
        marks = ", ".join("?" * (len(rows[0]) + 1)) if rows else ""
        query = f"INSERT INTO {table} VALUES ({marks}) {conflict}"
        if rows:
            self._base.executemany(query, ((*values, row_hash(values)) for values in rows))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with writing(self.folder):
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._base.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._base.execute("ROLLBACK")
                raise

    def _create(self, folder: Path) -> None:
        """Make the tables, unless they exist; killed half-way, the next writer starts afresh."""
        path = folder / FILE
        if path.exists() and path.stat().st_size:
            # Read only: a store that will be refused must stay as it is, its log included.
            query = "SELECT count(*) FROM sqlite_master"
            uri = f"{path.absolute().as_uri()}?mode=ro"
            with reading(folder), contextlib.closing(sqlite3.connect(uri, uri=True)) as base:
                if base.execute(query).fetchone()[0]:
                    return
        with (
            writing(folder),
            contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base,
        ):
            base.execute("PRAGMA journal_mode=WAL")
            base.executescript(
                f"PRAGMA synchronous=FULL; BEGIN; {TABLES} PRAGMA application_id={APPLICATION};"
                f"PRAGMA user_version={SCHEMA}; COMMIT;"
            )
        sync_folder(folder)

    def _sweep(self) -> None:
        known = {Path(path).name for path in self.parts()}
        for path in (self.folder / PARTS).iterdir():
            if path.name not in known and OURS.fullmatch(path.name):
                path.unlink()
