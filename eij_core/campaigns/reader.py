"""Reading the store of a campaign, also while another process writes into it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

from .store_errors import StoreRefused, damaged, reading
from .traces import decode

SCHEMA = 1
"""Version of the tables. A store with a newer version is refused, an older one is read."""
APPLICATION = 0x45494A31  # "EIJ1": the mark of our files
FILE, PARTS = "campaign.sqlite", "parts"
# A path read from a store is not trusted: only names of this form are opened or deleted.
PART = re.compile(rf"{PARTS}/[0-9a-f]{{32}}\.parquet")


class Row(NamedTuple):
    """One trial in the store."""

    key: str
    spec_json: str
    state: str
    attempt: int = 1
    host: str = ""
    started: float = 0.0
    ended: float = 0.0
    energy_source: str = ""
    result_json: str = ""
    trace_path: str = ""
    trace_sha256: str = ""
    error: str = ""

    @property
    def result(self) -> dict[str, Any]:
        """The result as plain data; empty where the trial failed."""
        return json.loads(self.result_json) if self.result_json else {}

    @property
    def fault(self) -> str:
        """Why the trial failed, in one line; empty where it succeeded."""
        return self.error.strip().rpartition("\n")[2]


COLUMNS = ", ".join(Row._fields)


def row_hash(values: Iterable[Any]) -> str:
    """Return the digest of a row; SQLite itself has no checksums."""
    text = json.dumps(list(values), ensure_ascii=False, allow_nan=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def intact_part(folder: Path, path: str, digest: str) -> bytes | None:
    """Return the bytes of a part; None where it is missing or its digest differs."""
    try:
        data = (folder / path).read_bytes() if PART.fullmatch(path) else b""
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None


class Reader:
    """A campaign's store, read only; works while another process writes.

    Parameters
    ----------
    folder : path
    verify : bool
        Whether to check the whole file first. A page that polls needs this only once.

    Raises
    ------
    StoreRefused
        If the folder is not a store, or the store is damaged or of a newer version.
    """

    def __init__(self, folder: str | Path, *, verify: bool = True) -> None:
        self.folder = Path(folder)
        if not (self.folder / FILE).is_file():
            raise StoreRefused(
                f"{self.folder} holds no campaign ({FILE} is missing); make one with "
                f"`eij campaign run FILE --store {self.folder}`"
            )
        self._sound: dict[str, bool] = {}
        with reading(self.folder):
            self._check_magic()
            self._base = sqlite3.connect(self._uri(), uri=True, isolation_level=None, timeout=10)
            try:
                self._check_version()
                if verify:
                    self._check_contents()
            except BaseException:
                self._base.close()
                raise

    # --- contents ---

    def rows(self) -> list[Row]:
        """Return all trials as of one moment, in the order they were stored."""
        return [Row(*values) for values in self._all(f"SELECT {COLUMNS} FROM trial ORDER BY rowid")]

    def states(self) -> dict[str, str]:
        """Return `done` or `failed` by key."""
        return dict(self._all("SELECT key, state FROM trial"))

    def spec(self) -> dict[str, Any]:
        """Return the data of the campaign; if it was extended, the newest."""
        return json.loads(self._newest("spec_json") or "{}")

    def code_version(self) -> str:
        """Return the version of the code that the campaign was started with."""
        return self._newest("code_version")

    def attempts(self) -> list[tuple[Any, ...]]:
        """Return (key, n, started, host, pid, outcome) of the attempts without a result."""
        return self._all("SELECT key, n, started, host, pid, outcome FROM attempt ORDER BY rowid")

    def parts(self) -> dict[str, str]:
        """Return the SHA-256 of each part by its path."""
        query = "SELECT DISTINCT trace_path, trace_sha256 FROM trial WHERE trace_path <> ''"
        return dict(self._all(query))

    def traces(self, keys: Iterable[str] | None = None) -> Iterator[tuple[str, Any]]:
        """Yield (key, rows) of all trials, or of some; a missing or damaged part is skipped.

        `bad_parts` lists the parts that were skipped.
        """
        wanted = None if keys is None else set(keys)
        place = self._all("SELECT key, trace_path FROM trial WHERE trace_path <> ''")
        chosen = {path for key, path in place if wanted is None or key in wanted}
        for path, digest in self.parts().items():
            if path in chosen and (data := self._part(path, digest)) is not None:
                yield from decode(data, wanted)

    def bad_parts(self) -> list[str]:
        """Return the missing or damaged parts among those read so far."""
        return sorted(path for path, sound in self._sound.items() if not sound)

    def check_parts(self) -> list[str]:
        """Read all parts; return those that are missing or damaged."""
        for path, digest in self.parts().items():
            self._part(path, digest)
        return self.bad_parts()

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- inside ---

    def _all(self, query: str) -> list[tuple[Any, ...]]:
        with reading(self.folder):
            return self._base.execute(query).fetchall()

    def _newest(self, column: str) -> str:
        """Return an entry of the newest campaign; empty before the first one began."""
        found = self._all(f"SELECT {column} FROM campaign ORDER BY rowid DESC LIMIT 1")
        return found[0][0] if found else ""

    def _uri(self) -> str:
        # Not immutable where a writer may exist: SQLite would ignore the writer's log.
        published = (
            not os.access(self.folder, os.W_OK) and not (self.folder / f"{FILE}-wal").exists()
        )
        uri = (self.folder / FILE).absolute().as_uri()
        return f"{uri}?mode=ro{'&immutable=1' if published else ''}"

    def _part(self, path: str, digest: str) -> bytes | None:
        data = intact_part(self.folder, path, digest)
        self._sound[path] = data is not None
        return data

    def _check_magic(self) -> None:
        with (self.folder / FILE).open("rb") as file:
            head = file.read(16)
        if head not in (b"", b"SQLite format 3\0"):
            raise damaged(self.folder, f"{FILE} is not an SQLite file")

    def _check_version(self) -> None:
        (application,), (version,) = (
            self._base.execute(f"PRAGMA {name}").fetchone()
            for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise StoreRefused(f"{self.folder / FILE} is not a campaign of EI/J; nothing changed")
        if version > SCHEMA:
            raise StoreRefused(
                f"{self.folder} was written by a newer EI/J (schema {version}, this one reads up "
                f"to {SCHEMA}); install that version to open it"
            )
        if version < 1:
            raise damaged(self.folder, f"schema {version} never existed")

    def _check_contents(self) -> None:
        (report,) = self._base.execute("PRAGMA integrity_check(1)").fetchone()
        if report != "ok":
            raise damaged(self.folder, report)
        for table in ("campaign", "trial", "attempt"):
            for *values, digest in self._base.execute(f"SELECT * FROM {table}"):
                if row_hash(values) != digest:
                    raise damaged(self.folder, f"table {table} has a row with a wrong checksum")
