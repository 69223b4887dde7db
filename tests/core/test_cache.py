"""The cache of compiled code: it hits when nothing changed, never when something did."""

import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pytest

from eij_core.engine.compiled import cache, entries
from eij_core.engine.compiled import compiler as numba_compiler
from eij_core.engine.compiled.cache import Compiled
from eij_core.engine.compiled.layout import pack
from eij_core.engine.kernel import kernel
from tests.core.processes import ROOT, copy_of_the_package, python


class Frame(NamedTuple):
    values: object


@kernel
def doubled_sum(frame):
    return 2.0 * frame.values.sum()


FRAME = Frame(np.arange(3.0))


# --- entries --------------------------------------------------------------------------------------


def test_an_entry_is_compiled_once_and_then_found(compiler, monkeypatch):
    assert entries.find_entry(doubled_sum, FRAME) is None
    assert entries.make_entry(doubled_sum, FRAME)(pack(FRAME)) == 6.0
    assert entries.find_entry(doubled_sum, FRAME) is entries.make_entry(doubled_sum, FRAME)
    assert cache.usage().entries == 1

    entries._loaded.clear()  # as in another process
    monkeypatch.setattr(numba_compiler, "compile_function", None)
    assert entries.make_entry(doubled_sum, FRAME)(pack(FRAME)) == 6.0


def test_another_layout_is_another_entry(compiler):
    whole = Frame(np.arange(4))
    assert entries.make_entry(doubled_sum, FRAME)(pack(FRAME)) == 6.0
    assert entries.make_entry(doubled_sum, whole)(pack(whole)) == 12.0
    assert cache.usage().entries == 2


def test_a_damaged_file_is_a_miss(compiler):
    entries.make_entry(doubled_sum, FRAME)
    (file,) = compiler.glob("*.o")
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:20], b"", b"{}\n", b"[]\ncode", whole + b"more"):
        file.write_bytes(damaged)
        entries._loaded.clear()
        assert entries.find_entry(doubled_sum, FRAME) is None
    assert entries.make_entry(doubled_sum, FRAME)(pack(FRAME)) == 6.0
    assert file.read_bytes() != whole + b"more"


def test_code_with_an_address_in_it_is_not_kept(compiler):
    """A function of C that is reached through ctypes is elsewhere in the next process."""
    import ctypes
    import math

    c_floor = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(
        ctypes.cast(ctypes.CDLL(None).floor, ctypes.c_void_p).value
    )

    @kernel
    def floored(frame):
        return c_floor(frame.values[0])

    frame = Frame(np.array([2.5]))
    assert entries.make_entry(floored, frame)(pack(frame)) == math.floor(2.5)
    assert cache.usage().entries == 0


def test_settings_of_numba_are_part_of_the_key(monkeypatch):
    first = entries.key_of(doubled_sum, FRAME).text
    entries._environment.cache_clear()
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    try:
        assert entries.key_of(doubled_sum, FRAME).text != first
    finally:
        monkeypatch.delenv("NUMBA_BOUNDSCHECK")
        entries._environment.cache_clear()
    assert entries.key_of(doubled_sum, FRAME).text == first


# --- the folder -----------------------------------------------------------------------------------

ENTRY = Compiled("symbol", "int64", [], b"machine code")


def test_what_is_kept_is_found_counted_and_deleted(compiler):
    assert cache.usage() == (0, 0)
    with cache.turn("key"):
        cache.save("key", ENTRY)
    assert cache.load("key") == ENTRY
    entries_, size = cache.usage()
    assert entries_ == 1
    assert size > len(ENTRY.code)
    assert cache.clear() == (1, size)
    assert cache.usage() == (0, 0)
    assert list(compiler.iterdir()) == []


def test_old_entries_go_and_so_do_too_many(compiler, monkeypatch):
    compiler.mkdir()
    monkeypatch.setattr(cache, "_forget_old", cache._forget_old.__wrapped__)
    now = time.time()
    for i, days in enumerate([100, 10, 5]):
        cache.save(f"key{i}", ENTRY)
        os.utime(compiler / f"key{i}.o", (now, now - days * 86_400))
    cache.save("new", ENTRY)
    assert {path.stem for path in compiler.iterdir()} == {"key1", "key2", "new"}
    monkeypatch.setattr(cache, "BYTES_KEPT", 2 * (compiler / "new.o").stat().st_size)
    os.utime(compiler / "new.o", (now, now - 3600))
    cache.load("key1")  # in use again
    cache.save("newer", ENTRY)
    assert {path.stem for path in compiler.iterdir()} == {"key1", "newer"}


def test_nowhere_to_keep_it_is_no_failure(compiler, caplog):
    compiler.write_text("a file where the folder should be")
    cache._warn.cache_clear()
    assert entries.make_entry(doubled_sum, FRAME)(pack(FRAME)) == 6.0
    assert "EIJ_CACHE_DIR" in caplog.text


def test_the_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("EIJ_CACHE_DIR", str(tmp_path))
    assert cache.folder.__wrapped__() == tmp_path
    monkeypatch.delenv("EIJ_CACHE_DIR")
    assert cache.folder.__wrapped__().name == "kernels"


# --- anybody's components, in new processes -------------------------------------------------------

MINE = """
from typing import NamedTuple
from eij_core import kernel
import helpers

SCALE = 1.0

@kernel
class Mine(NamedTuple):
    n: int

    def fitness(self, x):
        return helpers.weighted(float(x.sum())) * SCALE
"""
HELPERS = """
from eij_core import kernel

@kernel
def weighted(total):
    return 2.0 * total
"""
SOLVE = """
import json
from eij_core.engine.compiled import cache, compiler
from eij_core import Run, Trial
compiled = []
real = compiler.compile_function
def counting(function, frame):
    compiled.append(function.__name__)
    return real(function, frame)
compiler.compile_function = counting
run = Run(Trial(Mine(12), "ils:steps=5", "static", "model", "3 J"), compiled=True)
assert run.loop.compiled
for block in run:
    pass
print(json.dumps([run.result().best.fitness, compiled]))
"""


def solve_in(folder, code, cell=False):
    """Run code as a script, or as cells of a notebook; return fitness and what was compiled."""
    if cell:
        code = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {code.split("# cell")!r}:
    shell.run_cell(cell).raise_error()
"""
    script = folder / "script.py"
    script.write_text(code, "utf-8")
    done = subprocess.run(
        [sys.executable, script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "EIJ_CACHE_DIR": str(folder / "kernels"),
             "IPYTHONDIR": str(folder / "ipython")},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    fitness, compiled = json.loads(done.stdout.splitlines()[-1])
    return fitness, sorted(compiled)


@pytest.mark.compiled
@pytest.mark.parametrize("home", ["module", "script", "cell"])
def test_components_of_ones_own_are_cached_and_never_stale(tmp_path, home):
    mine, helpers = MINE, HELPERS

    def solve():
        (tmp_path / "helpers.py").write_text(helpers, "utf-8")
        (tmp_path / "mine.py").write_text(mine, "utf-8")
        source = "from mine import Mine" if home == "module" else mine
        return solve_in(tmp_path, source + "# cell" + SOLVE, cell=home == "cell")

    every = ["advance_compiled", "proceed", "start"]
    assert solve() == (24.0, every)
    assert solve() == (24.0, [])
    mine = f"# a comment\n\n{mine}"
    assert solve() == (24.0, [])
    mine = mine.replace("* SCALE", "* SCALE + 1.0")  # the function itself
    assert solve() == (25.0, ["advance_compiled", "start"])
    mine = mine.replace("SCALE = 1.0", "SCALE = 10.0")  # a global constant
    assert solve() == (241.0, ["advance_compiled", "start"])
    helpers = helpers.replace("2.0", "3.0")  # a helper in another module
    assert solve() == (361.0, ["advance_compiled", "start"])
    assert solve() == (361.0, [])


SESSION = """
import json, sys
from typing import NamedTuple
from eij_core import Trial, kernel, solve
SCALE = 1.0

@kernel
def helped(total):
    return SCALE * total

@kernel
class Mine(NamedTuple):
    n: int

    def fitness(self, x):
        return helped(float(x.sum()))

def best():
    trial = Trial(Mine(12), "ils:steps=5", "static", "model", "3 J")
    return solve(trial, compiled=True).best.fitness

found = [best()]
SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
found.append(best())
print(json.dumps(found))
"""


@pytest.mark.compiled
def test_a_constant_that_changes_in_a_session_is_followed(tmp_path):
    """numba keeps what a function named when it was compiled; all is compiled anew."""
    here = {"EIJ_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SESSION], cwd=ROOT, capture_output=True, text=True, timeout=600,
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT), **here},
    )  # fmt: skip
    assert json.loads(done.stdout) == [12.0, 120.0]
    assert done.stderr == ""  # nothing was refused, so both runs were compiled
    assert python(SESSION, **here) == [12.0, 120.0]
    assert python(SESSION.replace("SCALE = 1.0", "SCALE = 10.0"), **here) == [120.0, 120.0]


@pytest.mark.compiled
def test_a_refusal_is_short_says_the_remedy_and_comes_once(tmp_path):
    code = SESSION.replace("@kernel\ndef helped", "def helped")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600,
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT), "EIJ_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert json.loads(done.stdout) == [12.0, 120.0]
    assert done.stderr.count("runs interpreted") <= 2  # before and after the constant has changed
    assert "'helped'" in done.stderr
    assert "mark the function @kernel" in done.stderr
    assert len(done.stderr.splitlines()) < 10


@pytest.mark.compiled
def test_a_changed_component_of_ours_is_compiled_anew(tmp_path):
    package = copy_of_the_package(tmp_path)
    code = """
import json, eij_core
trial = eij_core.Trial("nk:n=9,k=1", "ils:steps=3", "static", "model", "1 J")
run = eij_core.Run(trial, compiled=True)
for block in run:
    pass
print(json.dumps([eij_core.__file__, run.result().best.fitness]))
"""
    here = {"cwd": tmp_path, "EIJ_CACHE_DIR": str(tmp_path / "kernels")}
    file, fitness = python(code, **here)
    assert file.startswith(str(tmp_path))
    assert 0.0 < fitness < 1.0
    source = package / "problems" / "bits" / "nk.py"
    text = source.read_text("utf-8")
    changed = text.replace("return float(total) * self.scale", "return 7.0").replace(
        "return float(memo[self.n]) * self.scale", "return 7.0"
    )
    assert changed.count("return 7.0") == 3  # fitness, flip and preview
    source.write_text(changed, "utf-8")
    assert python(code, **here)[1] == 7.0


@pytest.mark.compiled
def test_processes_that_compile_at_once_take_turns(tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS, "utf-8")
    script = tmp_path / "script.py"
    script.write_text(MINE + SOLVE, "utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "EIJ_CACHE_DIR": str(tmp_path / "kernels"),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, script], cwd=tmp_path, env=environment, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    answers = [json.loads(process.communicate(timeout=600)[0]) for process in processes]
    assert [fitness for fitness, _ in answers] == [24.0] * 3
    compiled = [name for _, names in answers for name in names]
    assert sorted(compiled) == ["advance_compiled", "proceed", "start"]
