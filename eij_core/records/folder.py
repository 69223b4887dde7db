"""A folder of runs: what is in it, followed while it changes; names, deleting and getting back."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from ..errors import InputError
from .recorder import STREAM
from .summary import RUNNING, Reader, Summary

PARQUET = ".parquet"
BIN = ".deleted"
"""The folder below it where deleted runs wait to be brought back."""
KEPT_SECONDS = 7 * 24 * 3600.0
"""How long they wait."""
LONGEST = 80
"""Letters of a name."""


class RunFolder:
    """The runs of a folder. Threads may use it together.

    `look` compares the files with what is known and reads the heads and tails of those that have
    changed, so it can be called often.

    Parameters
    ----------
    path : path
        It need not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from eij_core import Trial, solve
    >>> with tempfile.TemporaryDirectory() as place:
    ...     trial = Trial("nk:n=20,k=3", "ils", budget="20 J")
    ...     result = solve(trial, compiled=False, record=place)
    ...     folder = RunFolder(place)
    ...     folder.look(), [(run.name, run.state) for run in folder.runs]
    (True, [('nk-ils-eij-plus-0-0', 'finished')])
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.runs: tuple[Summary, ...] = ()
        """The newest first."""
        self.troubles: dict[str, str] = {}
        """What the other files are that look like records, by their names."""
        self._readers: dict[str, Reader] = {}
        self._lock = threading.RLock()

    def look(self) -> bool:
        """Take in what has changed; return whether anything has."""
        with self._lock:
            files = self._files()
            for name in self._readers.keys() - files.keys():
                del self._readers[name]
            for name, path in files.items():
                reader = self._readers.get(name)
                if reader is None or reader.path != path:
                    reader = self._readers[name] = Reader(path)
                try:
                    reader.look()
                except FileNotFoundError:  # it ends just now: its Parquet comes with the next look
                    continue
            found = [(name, reader.summary) for name, reader in self._readers.items()]
            runs = tuple(sorted((run for _, run in found if run), key=_order))
            troubles = {
                name: self._readers[name].trouble
                for name, _ in found
                if self._readers[name].trouble
            }
            changed = (runs, troubles) != (self.runs, self.troubles)
            self.runs, self.troubles = runs, troubles
            return changed

    def _files(self) -> dict[str, Path]:
        """Return the record of each run; that of the end, where there are two for a moment."""
        found: dict[str, Path] = {}
        try:
            paths = list(self.path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return {}
        for path in paths:
            if path.suffix in (PARQUET, STREAM) and not path.name.startswith("."):
                known = found.get(path.stem)
                if known is None or known.suffix == STREAM:
                    found[path.stem] = path
        return found

    def path_of(self, name: str) -> Path:
        """Return the record of a run; `InputError` if there is none of this name."""
        for suffix in (PARQUET, STREAM):
            path = self.path / f"{name}{suffix}"
            if _is_plain(name) and path.is_file():
                return path
        raise InputError("run", name, f"one of the {len(self.runs)} runs of {self.path.name}")

    def rename(self, name: str, new: str) -> None:
        """Give a run that is over another name."""
        with self._lock:
            path = self._at_rest(name)
            new = " ".join(new.split())
            if not _is_plain(new) or len(new) > LONGEST:
                raise InputError("name", new, f'1 to {LONGEST} letters without / \\ : * ? " < > |')
            if any((self.path / f"{new}{suffix}").exists() for suffix in (PARQUET, STREAM)):
                raise InputError("name", new, "a name that no other run has")
            path.rename(path.with_name(f"{new}{path.suffix}"))
            self.look()

    def delete(self, names: Iterable[str]) -> list[str]:
        """Delete runs that are over; return what `restore` takes to bring them back."""
        with self._lock:
            paths = [self._at_rest(name) for name in names]
            bin_ = self.path / BIN
            bin_.mkdir(exist_ok=True)
            _empty(bin_, KEPT_SECONDS)
            moved = []
            for path in paths:
                place = bin_ / f"{time.time_ns()}-{path.name}"
                path.rename(place)
                moved.append(place.name)
            self.look()
            return moved

    def restore(self, moved: Iterable[str]) -> None:
        """Bring deleted runs back; where a name is taken by now, with another one."""
        with self._lock:
            for file in moved:
                path = Path(file.partition("-")[2])
                place, number = self.path / path, 2
                while place.exists():
                    place = self.path / f"{path.stem}-{number}{path.suffix}"
                    number += 1
                (self.path / BIN / file).rename(place)
            self.look()

    def expire(self, seconds: float, most: int, most_bytes: float) -> None:
        """Delete for good what is older, and the oldest beyond a number of runs or bytes.

        Only dates and sizes are looked at. A record that grows is older than all others when
        nothing was written to it for so long.
        """
        with self._lock:
            found = [(path.stat(), path) for path in self._files().values()]
            kept, size, now = 0, 0.0, time.time()
            for status, path in sorted(found, key=lambda each: -each[0].st_mtime):
                old = now - status.st_mtime > seconds
                if path.suffix == PARQUET:
                    kept, size = kept + 1, size + status.st_size
                    old |= kept > most or size > most_bytes
                if old:
                    path.unlink(missing_ok=True)
            shutil.rmtree(self.path / BIN, ignore_errors=True)

    def _at_rest(self, name: str) -> Path:
        path = self.path_of(name)
        if any(run.name == name and run.state == RUNNING for run in self.runs):
            raise InputError("run", name, "a run that is over: this one is still being written")
        return path


def _order(run: Summary) -> tuple[bool, float, str]:
    return run.state != RUNNING, -run.date, run.name


def _is_plain(name: str) -> bool:
    return bool(re.fullmatch(r"[^/\\:*?\"<>|\x00-\x1f\x7f.][^/\\:*?\"<>|\x00-\x1f\x7f]*", name))


def _empty(folder: Path, seconds: float) -> None:
    """Delete what was put into a folder so long ago."""
    for path in folder.iterdir():
        if time.time_ns() - int(path.name.partition("-")[0]) > seconds * 1e9:
            path.unlink(missing_ok=True)
