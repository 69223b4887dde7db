"""The undocumented names of numba exist and do what compiled code relies on."""

import threading
from typing import NamedTuple

import numpy as np
import pytest
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.callconv import CPUCallConv
from numba.core.codegen import CPUCodeLibrary
from numba.core.runtime import _nrt_python

from eij_core.engine.compiled.entries import make_entry
from eij_core.engine.compiled.layout import pack
from eij_core.engine.compiled.numba_internals import hold_llvm
from eij_core.engine.compiled.numba_runtime import _memory, needs_of
from eij_core.engine.cpu_clocks import thread_ns
from eij_core.engine.histogram import EDGES, bin_of
from eij_core.engine.kernel import kernel


class Numbers(NamedTuple):
    values: object
    limit: float = 0.0


@kernel
def _bins(frame):
    for i in range(frame.values.size):
        frame.values[i] = bin_of(frame.values[i])
    return 0


@kernel
def _grown(frame):
    return Numbers(np.append(frame.values, frame.limit), 2.0 * frame.limit)


@kernel
def _clock(frame):
    return thread_ns()


@kernel
def _fails(frame):
    if frame.limit < 0.0:
        raise ValueError("below zero")
    if frame.limit > 1.0:
        raise ValueError("above one", frame.limit)
    return 0


def call(function, frame):
    return make_entry(function, frame)(pack(frame))


def test_the_names_that_numba_does_not_document_exist():
    """If this fails, numba has changed: mend engine/compiled before raising the cap."""
    assert callable(BaseContext.make_array)
    assert callable(BaseContext.unpack_value)
    assert callable(CPUCallConv.call_function)
    assert callable(CPUCallConv.return_status_propagate)
    assert callable(CPUCodeLibrary._get_compiled_object)
    assert callable(cgutils.get_null_value)
    assert issubclass(types.NamedTuple, types.BaseTuple)
    assert callable(types.ExternalFunction)


def test_numbas_memory_is_found_without_numba():
    assert _memory() == _nrt_python.c_helpers
    assert needs_of(["NRT_Free", "sqrt", "numba_frexp"]) == ["NRT_Free", "numba_frexp"]


def test_bins_are_the_same_compiled(compiler):
    inside = np.repeat(EDGES[1:-1], 2)
    inside[::2] = np.nextafter(inside[::2], 0.0)
    joules = np.concatenate([inside, [1e-300, 1e-13, 1e9, 1e300]])
    expected = [bin_of(each) for each in joules]
    call(_bins, Numbers(joules))
    assert joules.tolist() == expected


def test_compiled_code_returns_arrays(compiler):
    values, limit = call(_grown, Numbers(np.arange(3.0), 7.0))
    assert (values.tolist(), limit) == ([0.0, 1.0, 2.0, 7.0], 14.0)


def test_compiled_code_reads_the_clock_of_its_thread(compiler):
    before = thread_ns()
    assert before < call(_clock, Numbers(0)) < before + 60e9


@pytest.mark.parametrize(
    ("limit", "arguments"), [(-1.0, ("below zero",)), (1.5, ("above one", "…"))]
)
def test_what_compiled_code_raises_is_raised(compiler, limit, arguments):
    entry = make_entry(_fails, Numbers(0, 0.5))
    assert entry(pack(Numbers(0, 0.5))) == 0
    with pytest.raises(ValueError, match=arguments[0]) as caught:
        entry(pack(Numbers(0, limit)))
    assert caught.value.args == arguments
    assert "test_numba_internals.py" in caught.value.__notes__[-1]


def test_held_llvm_lets_nobody_else_in(compiler):
    from llvmlite import binding
    from llvmlite.binding import ffi

    hold_llvm()
    try:
        other = threading.Thread(target=binding.get_host_cpu_name, daemon=True)
        other.start()
        other.join(0.2)
        assert other.is_alive()
        assert binding.get_host_cpu_name()  # the holder may go on
    finally:
        ffi.lib._lock.__exit__(None, None, None)
    other.join(10)
    assert not other.is_alive()
