"""The errors of a store, and the lock that keeps it to one writer."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from ..errors import EijError
from ..locks import Lock, LockBusy

LOCK = ".lock"
"""The name of the lock's file in a store."""
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs"}
"""File systems whose locks are unreliable."""
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a disk that is full or failing."""


class StoreError(EijError, RuntimeError):
    """A store that cannot be used; the text names the remedy."""

    code: ClassVar[int] = 65
    """The exit code of the command line, as in sysexits.h."""


class StoreRefused(StoreError):
    """A folder that is not a store, or a store that is damaged or too new; nothing was changed."""


class StoreFull(StoreError):
    """The disk is full or failing; all trials stored before are safe."""

    code = 74


class StoreBusy(StoreError):
    """Another process is writing into the store."""

    code = 75


def damaged(folder: Path, fault: str) -> StoreRefused:
    """Return the error of a damaged store, with the command that saves what is intact."""
    return StoreRefused(
        f"{folder} is damaged ({fault}); nothing was changed. Save what is intact with "
        f"`eij campaign salvage --store {folder} --to NEW`"
    )


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite and of decoding into `StoreRefused`."""
    try:
        yield
    except (sqlite3.Error, UnicodeError, ValueError) as error:
        raise damaged(folder, str(error)) from error


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn a full or failing disk into `StoreFull`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # The low byte is the primary code: SQLITE_IOERR has many extended ones.
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
        f"the disk of {folder} is full or failing ({fault}); all trials stored so far are "
        f"safe. Make room, then `eij campaign resume --store {folder}`"
    )


def take_lock(folder: Path) -> Lock:
    """Become the only writer of a folder; the lock is released when the process ends."""
    if (kind := file_system(folder)) in NETWORK:
        raise StoreRefused(
            f"{folder} is on {kind}, whose locks are unreliable; choose a local folder"
        )
    try:
        return Lock(folder / LOCK)
    except LockBusy as busy:
        raise StoreBusy(
            f"another campaign is writing into {folder} ({busy.holder}); wait for it, "
            f"or choose another folder"
        ) from None


def file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the type of the file system of a folder; empty where it is unknown."""
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
