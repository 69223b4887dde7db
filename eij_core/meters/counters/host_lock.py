"""One measured run at a time on a host: RAPL counts everything that runs there."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from ...errors import MeterUnavailable
from ...locks import Lock, LockBusy

log = logging.getLogger(__name__)

NAME = "eij-rapl.lock"

_reserved: ContextVar[bool] = ContextVar("host reserved", default=False)


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
    """The right to measure on this host, from construction until `release`.

    Inside `reserve_host` the right is there already, so nothing is taken and nothing given back.

    Parameters
    ----------
    wait : bool
        Wait for the run that is being measured instead of raising `MeterBusy`.
    """

    def __init__(self, *, wait: bool = False) -> None:
        self._lock = None if _reserved.get() else _take(wait)

    def release(self) -> None:
        """Let the next run in."""
        if self._lock is not None:
            self._lock.release()


@contextlib.contextmanager
def reserve_host() -> Iterator[None]:
    """Hold the host's lock while several runs are measured one after another.

    Waits for its turn. The lock is handed down: meters that this thread makes inside share it.
    """
    lock = HostLock(wait=True)
    before = _reserved.set(True)
    try:
        yield
    finally:
        _reserved.reset(before)
        lock.release()


def _take(wait: bool) -> Lock:
    path = lock_path()
    try:
        try:
            return Lock(path)
        except LockBusy as busy:
            if not wait:
                raise
            log.warning("waiting, because another run is being measured on this host (%s)", busy)
            return Lock(path, wait=True)
    except LockBusy as busy:
        raise MeterBusy(
            f"another run is being measured on this host ({busy}): RAPL counts the whole package. "
            "Wait for it, or measure with sharing=shared, which attributes by CPU time"
        ) from None
    except OSError as error:
        raise MeterUnavailable(
            f"the lock {path} cannot be opened ({error.strerror}): set EIJ_RAPL_LOCK"
        ) from None
