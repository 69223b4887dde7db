"""What numba does not document: its cache's index, its arrays' owners, external functions.

pyproject.toml caps numba at the versions for which this is known to work, and
tests/core/test_numba_internals.py fails when a name used here disappears.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, TypeVar

from numba import types
from numba.core import cgutils
from numba.core.caching import IndexDataCacheFile
from numba.extending import intrinsic, overload

from ..locks import Lock

__all__ = ["clock_gettime", "guard_cache", "on_loan", "read_cycle_counter"]

T = TypeVar("T")


# --- the index of the cache -----------------------------------------------------------------------
# numba reads the index of a cached function, adds an entry and writes it back, without a lock. Two
# processes that do so at once lose an entry or give two kernels the same file, and then one kernel
# is found under the name of the other. And it unpickles entries before it asks whether they are
# stale: one that names a module which an update has moved would be an error.


def guard_cache() -> None:
    """Let processes write to a cache in turns, and take unreadable entries as missing; once."""
    index: Any = IndexDataCacheFile
    if not hasattr(index.save, "__wrapped__"):
        index.save = _in_turn(index.save)
        index._load_index = _without_strays(index._load_index)


def _in_turn(save: Any) -> Any:
    @functools.wraps(save)
    def save_in_turn(self: Any, key: Any, data: Any) -> None:
        with Lock(Path(f"{self._index_path}.lock"), wait=True):
            save(self, key, data)

    return save_in_turn


def _without_strays(load_index: Any) -> Any:
    @functools.wraps(load_index)
    def load_readable_index(self: Any) -> Any:
        try:
            return load_index(self)
        except (ImportError, AttributeError):  # the entries' classes are not there any more
            return {}

    return load_readable_index


# --- arrays on loan -------------------------------------------------------------------------------


def on_loan(record: T) -> T:
    """Return a record as it is, but compiled, with arrays whose references are not counted.

    numba counts references in atomic steps wherever an array is passed on, which takes longer than
    a quick operator. The caller of a compiled entry holds the arrays while it runs, so inside it
    they need no counting (as those that `numba.carray` makes).
    """
    return record


@overload(on_loan, strict=False)
def _on_loan(record: Any) -> Any:
    return lambda record: _uncounted(record)  # type: ignore[call-arg]


@intrinsic
def _uncounted(typingctx: Any, record: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = _without_owners(context, builder, record, args[0])
        context.nrt.incref(builder, record, value)  # strings are still counted
        return value

    return record(record), codegen


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        for i, part in enumerate(parts):
            bare = _without_owners(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, bare, i)
    return value


# --- functions of the system and of LLVM ----------------------------------------------------------


read_cycle_counter: Any = types.ExternalFunction("llvm.readcyclecounter", types.int64())
clock_gettime: Any = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.voidptr)
)
"""Takes the number of a clock and an array for its seconds and nanoseconds."""
