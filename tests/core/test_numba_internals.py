"""The undocumented names of numba exist, and processes that compile at once keep all entries."""

import inspect
import subprocess
import sys
import types as types_module

import numba
import numpy as np
import pytest
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.caching import IndexDataCacheFile
from numba.core.runtime.context import NRTContext

from eij_core.engine.numba_internals import guard_cache, on_loan

WRITER = """
import sys
from numba.core.caching import IndexDataCacheFile
from eij_core.engine.numba_internals import guard_cache
guard_cache()
name, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
index = IndexDataCacheFile(folder, "kernel", "stamp")
input()
for i in range(count):
    index.save((name, i), f"{name}{i}")
"""
COUNT = 60


def test_the_names_that_numba_does_not_document_exist(tmp_path):
    """If this fails, numba has changed: mend engine/numba_internals.py before raising the cap."""
    assert list(inspect.signature(IndexDataCacheFile.save).parameters) == ["self", "key", "data"]
    index = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    assert str(index._index_path).startswith(str(tmp_path))
    assert index._load_index() == {}
    assert callable(BaseContext.make_array)
    assert callable(NRTContext.incref)
    assert callable(cgutils.get_null_value)
    assert issubclass(types.NamedTuple, types.BaseTuple)
    assert callable(types.ExternalFunction)


@pytest.mark.compiled
def test_arrays_on_loan_have_no_owner():
    @numba.njit
    def total(record):
        return on_loan(record)[0].sum()

    assert total((np.arange(4.0), 1)) == 6.0


def test_an_entry_of_a_module_that_has_moved_is_a_miss(tmp_path, monkeypatch):
    moved = types_module.ModuleType("moved")
    monkeypatch.setitem(sys.modules, "moved", moved)
    moved.Thing = type("Thing", (), {"__module__": "moved"})
    index = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    index.save(moved.Thing, "compiled")
    assert index.load(moved.Thing) == "compiled"
    monkeypatch.delitem(sys.modules, "moved")
    assert index.load("anything") is None
    index.save("anything", "compiled anew")
    assert index.load("anything") == "compiled anew"


@pytest.mark.long
def test_no_entry_is_lost_or_swapped(tmp_path):
    command = [sys.executable, "-c", WRITER]
    writers = [
        subprocess.Popen([*command, name, tmp_path, str(COUNT)], stdin=subprocess.PIPE)
        for name in "abc"
    ]
    for writer in writers:
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    index = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    for name in "abc":
        for i in range(COUNT):
            assert index.load((name, i)) == f"{name}{i}"


def test_once_is_enough():
    guard_cache()
    before = IndexDataCacheFile.save
    guard_cache()
    assert IndexDataCacheFile.save is before
