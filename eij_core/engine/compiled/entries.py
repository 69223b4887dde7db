"""Compiled entries: functions of one record, found in memory, on disk, or compiled now.

An entry is a function of one NamedTuple of components, numbers and arrays. Compiled, it takes the
address of a C struct (`layout`), so machine code that a process finds on disk is called without
numba: importing numba and setting up its types takes two seconds, calling takes none.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.metadata
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from . import cache
from .digest import Digest
from .layout import CannotCompile, form_of, parts_of, struct_of, unpack
from .numba_runtime import free, provide

Native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
"""numba's way to call: where to put the result and what went wrong, then the one argument."""
WELL = (0, -2)
"""What a function returns when nothing went wrong: with a result, or with None."""
NOT_IN_KEY = {"NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS"}
"""Settings of numba that do not change what it compiles."""


class EntryKey(NamedTuple):
    """What an entry is found by."""

    text: str
    """Digest of the code, the layout, the compiler and the machine."""
    classes: dict[str, type]
    """The classes that its code knows, for records that it returns."""


class Entry:
    """Machine code that Python, or other machine code, calls with the address of a record."""

    def __init__(self, compiled: cache.Compiled, classes: dict[str, type]) -> None:
        provide(compiled.needs)
        self._engine = _engine_of(compiled.code)
        self._form, self._classes = compiled.result, classes
        self.address: int = self._engine.get_function_address(compiled.symbol)
        self._call = Native(self.address)

    def __call__(self, struct: Any) -> Any:
        """Call the entry without the GIL; return its result, or raise what it raised."""
        result, error = struct_of(self._form)(), ctypes.c_void_p()
        status = self._call(
            ctypes.addressof(result), ctypes.addressof(error), ctypes.addressof(struct)
        )
        if status not in WELL:
            from .numba_internals import error_of

            raise error_of(error.value)
        if isinstance(self._form, str):
            return result.value
        return unpack(self._form, result, self._classes, free)


def key_of(function: Callable[..., Any], frame: tuple[Any, ...]) -> EntryKey:
    """Return the key of `function` compiled for records like `frame`."""
    digest = Digest()
    digest.add(function)
    for part in parts_of(frame):
        digest.add(type(part))
    words = (digest.text, json.dumps(form_of(frame)), _environment())
    text = hashlib.blake2b("\n".join(words).encode(), digest_size=20).hexdigest()
    return EntryKey(text, digest.classes)


_loaded: dict[str, Entry] = {}
_refused: dict[str, str] = {}
"""Why numba refused; it is not asked again."""
_loading = threading.Lock()


def find_entry(function: Callable[..., Any], frame: tuple[Any, ...]) -> Entry | None:
    """Return an entry that was compiled before, here or by another process; None: it was not."""
    return _find(key_of(function, frame))


def make_entry(function: Callable[..., Any], frame: tuple[Any, ...]) -> Entry:
    """Return an entry; compile it if it was not compiled before."""
    key = key_of(function, frame)
    if entry := _find(key):
        return entry
    if key.text in _refused:
        raise CannotCompile(_refused[key.text])
    from .compiler import compile_function

    with cache.turn(key.text):
        if entry := _find(key):  # another process has compiled it meanwhile
            return entry
        try:
            compiled, lasting = compile_function(function, frame)
        except CannotCompile as error:
            _refused[key.text] = str(error)
            raise
        if lasting:
            cache.save(key.text, compiled)
    with _loading:
        return _loaded.setdefault(key.text, Entry(compiled, key.classes))


def _find(key: EntryKey) -> Entry | None:
    with _loading:
        entry = _loaded.get(key.text)
        if entry is None and (compiled := cache.load(key.text)):
            entry = _loaded[key.text] = Entry(compiled, key.classes)
        return entry


@functools.cache
def _environment() -> str:
    """Name all that compiled code depends on, apart from its own source."""
    versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy")]
    settings = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    words = [*versions, sys.version, llvm.get_host_cpu_name(), _features()]
    words += [f"{k}={v}" for k, v in sorted(settings.items()) if k not in NOT_IN_KEY]
    here = Path(__file__).parent
    for name in ("compiler.py", "numba_internals.py", "layout.py"):
        words.append(hashlib.blake2b((here / name).read_bytes()).hexdigest())
    return "\n".join(words)


def _features() -> str:
    return str(llvm.get_host_cpu_features().flatten())


# --- machine code ---------------------------------------------------------------------------------


def _engine_of(code: bytes) -> Any:
    """Return an engine that holds the functions of one object file: their names need not differ."""
    empty = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(empty, _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(jit=True)
