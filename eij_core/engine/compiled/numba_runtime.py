"""What machine code of numba calls at run time, loaded without importing numba.

Memory of arrays comes from a module of numba's that is written in C and needs nothing else of it.
pyproject.toml caps numba at the versions for which this is known to work, and
tests/core/test_numba_internals.py fails when a name used here disappears.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

MEMORY, OTHERS = "NRT_", ("numba_", "Py", "_Py")
"""How the names of functions begin: those that manage memory, and those that need all of numba."""


def needs_of(names: Iterable[str]) -> list[str]:
    """Return the functions among `names` that machine code finds only after `provide`."""
    return sorted(name for name in names if name.startswith((MEMORY, *OTHERS)))


def provide(needs: Iterable[str]) -> None:
    """Make functions known to machine code."""
    needs = list(needs)
    if any(name.startswith(OTHERS) for name in needs):
        from .numba_internals import start_numba

        start_numba()
    for name in needs:
        if name.startswith(MEMORY):
            llvm.add_symbol(name, _memory()[name.removeprefix(MEMORY)])


def free(owner: int) -> None:
    """Free the memory of an array that machine code has returned."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_memory()["MemInfo_call_dtor"])(owner)


@functools.cache
def _memory() -> dict[str, int]:
    numba = importlib.util.find_spec("numba")
    assert numba and numba.submodule_search_locations
    folder = Path(numba.submodule_search_locations[0], "core", "runtime")
    name = "_nrt_python"
    path = next(p for end in EXTENSION_SUFFIXES if (p := folder / f"{name}{end}").exists())
    spec: Any = importlib.util.spec_from_file_location(f"numba.core.runtime.{name}", path)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.c_helpers)
