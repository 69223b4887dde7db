"""One measured run at a time on a host: RAPL counts everything that runs there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from ..errors import MeterUnavailable

try:
    import fcntl
except ImportError:  # pragma: no cover - not a Unix: no RAPL there either
    fcntl = None  # type: ignore[assignment]

__all__ = ["HostLock", "MeterBusy", "lock_path"]

NAME = "eij-rapl.lock"


class MeterBusy(MeterUnavailable):
    """Another run is being measured on this host."""


def lock_path() -> Path:
    """Return the lock's file: EIJ_RAPL_LOCK, else in /run/lock, else in the temporary folder."""
    given = os.environ.get("EIJ_RAPL_LOCK")
    if given:
        return Path(given)
    shared = Path("/run/lock")
    folder = shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    return folder / NAME


class HostLock:
    """An exclusive `flock`; it goes with the process, so a crash leaves nothing behind."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or lock_path()
        self._file = _open(self.path)
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 100, 0).decode(errors="replace").strip()
            self.release()
            raise MeterBusy(
                f"another run is being measured on this host ({holder or 'unknown process'} holds "
                f"{self.path}): RAPL counts the whole package. Wait for it, or measure with "
                "sharing=shared, which attributes by CPU time"
            ) from None
        with contextlib.suppress(OSError):  # another user's file: locked all the same
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next run in."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _open(path: Path) -> int:
    flags = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)
    except PermissionError:
        with contextlib.suppress(OSError):
            return os.open(path, os.O_RDONLY | flags)
        raise MeterUnavailable(f"the lock {path} cannot be opened: set EIJ_RAPL_LOCK") from None
    except OSError as error:
        raise MeterUnavailable(f"the lock cannot be opened: {error}") from None
