"""Where the runs of this server are kept, and who watches their folders."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

from platformdirs import user_state_path

from eij_core.atomic_files import slug
from eij_core.records import RunFolder

from ..server.limits import is_public

log = logging.getLogger(__name__)

PERIOD = 0.5
"""Seconds between two looks at a folder that somebody watches."""
REST = 10.0
"""Seconds without an onlooker after which nobody looks any more."""
VISITORS = "visitors"
"""The folder of a public server that has a folder for each visitor."""
VISITOR_SECONDS, VISITOR_RUNS, VISITOR_BYTES = 24 * 3600.0, 50, 20e6
"""What a public server keeps of one visitor's runs."""
ALL_BYTES = 2e9
"""What it keeps of all of them together: beyond it, nothing new is recorded."""
CLEANING = 600.0
"""Seconds between two looks at what has expired."""


def runs_root() -> Path:
    """Return the folder of this server: `EIJ_RUNS`, else one in the user's folder of states."""
    named = os.environ.get("EIJ_RUNS", "")
    return Path(named) if named else user_state_path("eij") / "runs"


def runs_of(visitor: str = "") -> Path | None:
    """Return the folder of a visitor's runs; None: there is no room for them.

    On a private server all visitors share one. A public server keeps them apart: `visitor` is what
    their browser is known by.
    """
    folder = runs_root()
    if is_public():
        _expire_now_and_then()
        if not visitor or _bytes > ALL_BYTES:
            return None
        folder = folder / VISITORS / slug(visitor)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        log.warning("runs are not recorded: %s cannot be made (%s)", folder, error.strerror)
        return None
    return folder if os.access(folder, os.W_OK) else None


def expire() -> None:
    """Delete the runs of a public server's visitors that have expired."""
    global _bytes
    folder = runs_root() / VISITORS
    size = 0
    for path in folder.iterdir() if folder.is_dir() else ():
        RunFolder(path).expire(VISITOR_SECONDS, VISITOR_RUNS, VISITOR_BYTES)
        left = list(path.iterdir())
        size += sum(file.stat().st_size for file in left if file.is_file())
        if not left and time.time() - path.stat().st_mtime > VISITOR_SECONDS:
            path.rmdir()
    _bytes = size


_bytes = 0
"""What all visitors' runs take, as of the last look at what has expired."""
_cleaned = -CLEANING


def _expire_now_and_then() -> None:
    """Have it done by a thread of its own, every ten minutes: there may be many files."""
    global _cleaned
    if time.monotonic() - _cleaned >= CLEANING:
        _cleaned = time.monotonic()
        threading.Thread(target=expire, name="eij-expire", daemon=True).start()


class WatchedFolder:
    """A folder of runs that a thread keeps up to date while somebody asks for it.

    Reading many heads takes a while, which the thread of all pages cannot spare.
    """

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path)
        self.version = 0
        """Grows with each change."""
        self.known = False
        """Whether the folder has been looked at."""
        self._asked = 0.0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ask(self) -> int:
        """Return the version, and have the folder watched for a while from now on."""
        with self._lock:
            self._asked = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="eij-runs", daemon=True)
                self._thread.start()
        return self.version

    def note(self) -> None:
        """Say that the folder was changed from here."""
        self.version += 1

    def _work(self) -> None:
        while True:
            try:
                changed = self.folder.look()
            except OSError as error:  # it may come back
                log.warning("%s cannot be read: %s", self.folder.path, error)
                changed = False
            self.version += changed or not self.known
            self.known = True
            with self._lock:
                if time.monotonic() - self._asked > REST:
                    self._thread = None
                    return
            time.sleep(PERIOD)


_watched: dict[Path, WatchedFolder] = {}
_guard = threading.Lock()


def watched(path: Path) -> WatchedFolder:
    """Return the watched folder of this path, the same for all pages."""
    with _guard:
        return _watched.setdefault(path, WatchedFolder(path))
