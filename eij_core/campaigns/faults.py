"""What can go wrong with a store, in plain words; and the lock that lets one writer in."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from ..errors import EijError

__all__ = [
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreRefused",
    "advice",
    "file_system",
    "reading",
    "take_lock",
    "writing",
]

LOCK = ".lock"
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs"}
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class StoreError(EijError, RuntimeError):
    """A store that cannot be used, and what to do about it."""

    code: ClassVar[int] = 65
    """The exit code of the command line, as in sysexits.h."""


class StoreRefused(StoreError):
    """Not ours, damaged, or newer than this version; it was left as it is."""


class StoreFull(StoreError):
    """The disk did not take what was written; all that was acknowledged is safe."""

    code = 74


class StoreBusy(StoreError):
    """Another campaign is writing into the folder."""

    code = 75


def advice(folder: Path, fault: str) -> str:
    """Say that a store is damaged and how to save what is left."""
    return (
        f"{folder} is damaged ({fault}); nothing was changed. Save what is intact with "
        f"`eij campaign salvage --store {folder} --to NEW`"
    )


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn SQLite's complaints about what it reads into a refusal with advice."""
    try:
        yield
    except (sqlite3.Error, UnicodeError, ValueError) as error:
        raise StoreRefused(advice(folder, str(error))) from error


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn a full or failing disk into `StoreFull`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # The low byte is the family: an error of input or output has many members.
        if (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF not in (
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR,
        ):
            raise
        raise StoreFull(_full(folder, str(error))) from error
    except OSError as error:
        if error.errno not in DISK:
            raise
        raise StoreFull(_full(folder, str(error.strerror))) from error


def _full(folder: Path, fault: str) -> str:
    return (
        f"the disk of {folder} did not take more ({fault}); all trials acknowledged so far are "
        f"safe. Make room, then `eij campaign resume --store {folder}`"
    )


def take_lock(folder: Path) -> int:
    """Become the folder's one writer; the kernel frees the lock when the process dies."""
    if (kind := file_system(folder)) in NETWORK:
        raise StoreRefused(
            f"{folder} is on {kind}, whose locks cannot be trusted; choose a local folder"
        )
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 500).decode("utf-8", "replace").strip()
        os.close(descriptor)
        raise StoreBusy(
            f"another campaign is writing into {folder} ({holder or 'just started'}); wait for it, "
            f"or choose another folder"
        ) from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode())
    return descriptor


def file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the type of the file system that a folder is on; empty where that is unknown."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    place = str(folder.resolve())
    best, kind = "", ""
    for line in lines:
        _, at, type_, *_ = [*line.split(), "", "", ""]
        at = at.replace("\\040", " ")
        inside = place == at or place.startswith(at.rstrip("/") + "/")
        if inside and len(at) >= len(best):
            best, kind = at, type_
    return kind
