"""A file that one process holds at a time, with the holder's name in it.

The operating system drops the lock when the process ends, so a crash leaves nothing to clean up.
"""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from .errors import EijError

POLL_SECONDS = 0.01
"""How often a waiting process tries again."""
NOTE_AT = 1 if os.name == "nt" else 0
"""Where the holder's name is read from: Windows lets nobody read the locked byte, the first."""
NOTE_BYTES = 500
"""The longest holder's name that is read."""


class LockBusy(EijError):
    """Another holder has the lock; `holder` names it."""

    def __init__(self, path: Path, holder: str) -> None:
        self.path, self.holder = path, holder
        super().__init__(f"{holder} holds {path}")


class Lock:
    """An exclusive lock on a file, held from construction until `release`.

    Parameters
    ----------
    path : path
        Created if it is missing. A symbolic link is refused. A file that is read-only for this
        user can be locked too, but keeps the name that stands in it.
    wait : bool
        Wait for the holder instead of raising.

    Raises
    ------
    LockBusy
        If another holder has it, in this process or another one.
    OSError
        If the file cannot be opened.
    """

    def __init__(self, path: Path, *, wait: bool = False) -> None:
        from filelock import lock_descriptor  # here: it imports asyncio, and few commands lock

        self.path = path
        self._file = _open(path)
        try:
            if not lock_descriptor(self._file, blocking=wait, poll_interval=POLL_SECONDS):
                raise LockBusy(path, _read_note(self._file))
        except BaseException:
            self.release()
            raise
        with contextlib.suppress(OSError):  # a read-only file is locked all the same
            _write_note(self._file)

    def release(self) -> None:
        """Free the lock; the second time does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


def _open(path: Path) -> int:
    flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)
    except PermissionError:  # another user's file: reading is enough to lock it
        if not path.exists():
            raise
        return os.open(path, os.O_RDONLY | flags)


def _read_note(file: int) -> str:
    os.lseek(file, NOTE_AT, os.SEEK_SET)
    note = os.read(file, NOTE_BYTES).decode("utf-8", "replace").strip()
    return note or "a process that has just started"


def _write_note(file: int) -> None:
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, f" process {os.getpid()} on {socket.gethostname()}\n".encode())
