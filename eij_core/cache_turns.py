"""Processes that compile at the same time take turns at numba's cache.

numba reads the index of a cached function, adds an entry and writes it back, without a lock. Two
processes that do so at once lose an entry, or, worse, give two kernels the same file: the loser's
code is then found under the winner's name.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["take_turns"]


def take_turns() -> None:
    """Make this process wait for its turn whenever it writes to a cache; once is enough."""
    save: Any = IndexDataCacheFile.save
    if not hasattr(save, "__wrapped__"):
        IndexDataCacheFile.save = _in_turn(save)  # type: ignore[method-assign]


def _in_turn(save: Any) -> Any:
    @functools.wraps(save)
    def save_in_turn(self: Any, key: Any, data: Any) -> None:
        with _turn(Path(f"{self._index_path}.lock")):
            save(self, key, data)

    return save_in_turn


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows: as numba has it
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # freed when the file is closed, or the process dies
        yield
