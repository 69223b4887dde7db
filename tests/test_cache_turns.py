"""Processes that compile at once keep each other's entries in numba's cache."""

import subprocess
import sys

from numba.core.caching import IndexDataCacheFile

from eij_core.cache_turns import take_turns

WRITER = """
import sys
from numba.core.caching import IndexDataCacheFile
from eij_core.cache_turns import take_turns
take_turns()
name, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
index = IndexDataCacheFile(folder, "kernel", "stamp")
input()
for i in range(count):
    index.save((name, i), f"{name}{i}")
"""
COUNT = 60


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
    take_turns()
    before = IndexDataCacheFile.save
    take_turns()
    assert IndexDataCacheFile.save is before


def test_without_locks_it_is_as_numba_has_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    index = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    index.save("key", "code")
    assert index.load("key") == "code"
    assert not list(tmp_path.glob("*.lock"))
