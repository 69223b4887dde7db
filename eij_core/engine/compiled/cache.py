"""The cache of compiled code on disk: one file an entry, found by the digest of what it is of."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...atomic_files import write_atomically
from ...locks import Lock

log = logging.getLogger(__name__)

DAYS_KEPT = 60
"""An entry that was not used for so long goes."""
BYTES_KEPT = 1 << 30
"""When there is more, the entries unused for longest go."""


class Compiled(NamedTuple):
    """Machine code of one entry."""

    symbol: str
    """The name of the function in the object file."""
    result: Any
    """The form of what it returns, see `layout`."""
    needs: list[str]
    """Functions of numba's that it calls."""
    code: bytes
    """An object file."""


class Usage(NamedTuple):
    """What is in the cache."""

    entries: int
    bytes: int


@functools.cache
def folder() -> Path:
    """Return the folder of the cache; `EIJ_CACHE_DIR` names another one."""
    if named := os.environ.get("EIJ_CACHE_DIR"):
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("eij", appauthor=False) / "kernels"


def load(key: str) -> Compiled | None:
    """Return an entry; None if there is none, or one that was damaged."""
    path = _path(key)
    try:
        header, _, code = path.read_bytes().partition(b"\n")
        fields = json.loads(header)
        if fields.pop("check") != _check(code):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it is in use
        return Compiled(**fields, code=code)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(key: str, entry: Compiled) -> None:
    """Keep an entry; if nothing can be written there, say so once and go on."""
    fields = {**entry._asdict(), "check": _check(entry.code)}
    del fields["code"]
    try:
        write_atomically(_path(key), json.dumps(fields).encode() + b"\n" + entry.code)
        _forget_old()
    except OSError as error:
        _warn(str(error))


@contextlib.contextmanager
def turn(key: str) -> Iterator[None]:
    """Hold the turn to compile an entry: one process at a time, the others find it compiled."""
    with contextlib.ExitStack() as stack:
        try:
            folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(Lock(_path(key).with_suffix(".lock"), wait=True))
        except OSError as error:
            _warn(str(error))
        yield


def usage() -> Usage:
    """Count what is in the cache."""
    sizes = [size for _, _, size in _files()]
    return Usage(len(sizes), sum(sizes))


def clear() -> Usage:
    """Delete all entries; return what there was."""
    before = usage()
    if folder().is_dir():
        for path in folder().glob("*.[ol]*"):
            path.unlink(missing_ok=True)
    return before


def _path(key: str) -> Path:
    return folder() / f"{key}.o"


def _check(code: bytes) -> str:
    return hashlib.blake2b(code, digest_size=16).hexdigest()


def _files() -> list[tuple[float, Path, int]]:
    """Return the time of last use, path and size of every entry, the oldest first."""
    found = []
    for path in folder().glob("*.o") if folder().is_dir() else ():
        with contextlib.suppress(OSError):  # another process deletes, too
            status = path.stat()
            found.append((status.st_mtime, path, status.st_size))
    return sorted(found)


@functools.cache
def _forget_old() -> None:
    """Delete entries that nobody used for long, once in a process."""
    files = _files()
    total = sum(size for *_, size in files)
    for used, path, size in files:
        if time.time() - used < DAYS_KEPT * 86_400 and total <= BYTES_KEPT:
            return
        total -= size
        for each in (path, path.with_suffix(".lock")):
            each.unlink(missing_ok=True)


@functools.cache
def _warn(reason: str) -> None:
    log.warning(
        "compiled code cannot be cached (set EIJ_CACHE_DIR to a writable folder): %s", reason
    )
