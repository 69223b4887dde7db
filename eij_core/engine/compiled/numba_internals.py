"""What numba does not document: records in memory, calls by address, its runtime, its errors.

pyproject.toml caps numba at the versions for which this is known to work, and
tests/core/test_numba_internals.py fails when a name used here disappears.
"""

from __future__ import annotations

import ctypes
import pickle
import time
from typing import Any

from llvmlite import ir
from llvmlite.binding import ffi
from numba import literal_unroll, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic as _intrinsic
from numba.extending import overload

from ...protocols import Outcome
from ..cpu_clocks import HAS_THREAD_CLOCK, cycle_count, thread_ns
from ..histogram import BINS, LOWEST, PER_OCTAVE, bin_of
from ..loop import applied, apply, proceed
from .digest import PLAIN

intrinsic: Any = _intrinsic  # its annotations take the typing context for an argument


# Division by zero gives inf or nan inside kernels, as numpy does: no hidden exception paths.
# Everything is inlined: records are passed field by field, so calls would cost more than the work.
INLINED: Any = {
    "error_model": "numpy",
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


# --- records in memory ----------------------------------------------------------------------------


@intrinsic
def load_record(typingctx: Any, kind: Any, address: Any) -> Any:
    """Load the record at an address.

    The caller holds its arrays, so they have no owner here: numba would count references in atomic
    steps wherever an array is passed on, which takes longer than a quick operator.
    """
    record = kind.instance_type

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[1], context.get_data_type(record).as_pointer())
        return _loaded(context, builder, record, pointer)

    return record(kind, types.int64), codegen


OWNERS = ("meminfo", "parent")
"""The fields of arrays and texts that say who owns them."""


def _loaded(context: Any, builder: Any, kind: Any, pointer: Any) -> Any:
    """Load a value part by part.

    Nothing changes a frame while an entry runs. Told so, LLVM may load a part where it is used,
    instead of loading all of them first.
    """
    model, parts = context.data_model_manager[kind], kind
    if isinstance(kind, types.BaseTuple):
        value = cgutils.get_null_value(model.get_value_type())
        for i, part in enumerate(parts):
            inner = _loaded(context, builder, part, cgutils.gep_inbounds(builder, pointer, 0, i))
            value = builder.insert_value(value, inner, i)
        return value
    if isinstance(kind, types.Array | types.UnicodeType):
        value = cgutils.get_null_value(model.get_value_type())
        for i, name in enumerate(model._fields):
            if name not in OWNERS:
                field = _invariant(builder, cgutils.gep_inbounds(builder, pointer, 0, i))
                value = builder.insert_value(value, field, i)
        return value
    return model.from_data(builder, _invariant(builder, pointer))


def _invariant(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


# --- operators in the loop, rules by address ------------------------------------------------------


OUTCOME = (types.int64, types.float64, types.int64, types.int64, types.int64, types.int64)
"""How an outcome is passed: operator, gain, evaluations, touches, deltas by place and count."""
DELTAS = types.Array(types.float64, 1, "C")


@overload(apply, strict=False)
def _apply(search: Any, o: Any) -> Any:
    operators = search[search.fields.index("operators")]
    if isinstance(operators, types.UniTuple):
        return lambda search, o: applied(search.operators[o], search)

    def apply_one_of_many(search: Any, o: Any) -> Any:  # pragma: no cover - compiled
        outcome = Outcome(0.0, 0, 0, search.state.deltas[:0])
        index = 0
        for operator in literal_unroll(search.operators):
            if index == o:
                outcome = applied(operator, search)
            index += 1
        return outcome

    return apply_one_of_many


@overload(proceed, strict=False, jit_options=INLINED)
def _proceed(schedule: Any, o: Any, outcome: Any) -> Any:
    if "function" not in getattr(schedule, "fields", ()):
        return proceed

    def proceed_by_address(schedule: Any, o: Any, outcome: Any) -> Any:  # pragma: no cover
        return _call(schedule.function, schedule.frame, o, outcome)

    return proceed_by_address


@intrinsic
def _call(typingctx: Any, function: Any, frame: Any, o: Any, outcome: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        convention, kinds = context.call_conv, (types.int64, *OUTCOME)
        pointer = convention.get_function_type(types.int64, kinds).as_pointer()
        code = builder.inttoptr(args[0], pointer)
        gain, evaluations, touches, deltas = cgutils.unpack_tuple(builder, args[3], 4)
        array = context.make_array(DELTAS)(context, builder, deltas)
        place = builder.ptrtoint(array.data, ir.IntType(64))
        values = (args[1], args[2], gain, evaluations, touches, place, array.nitems)
        status, result = convention.call_function(builder, code, types.int64, kinds, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, types.int64, types.int64, outcome), codegen


@intrinsic
def deltas_at(typingctx: Any, place: Any, count: Any) -> Any:
    """Return the array of numbers at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(DELTAS)(context, builder)
        size = ir.IntType(64)(8)
        context.populate_array(
            array, data=builder.inttoptr(args[0], array.data.type), shape=[args[1]],
            strides=[size], itemsize=size, meminfo=None,
        )  # fmt: skip
        return array._getvalue()

    return DELTAS(types.int64, types.int64), codegen


# --- object files, the runtime, errors ------------------------------------------------------------


def object_code(library: Any) -> bytes:
    """Return the machine code of a compiled function as an object file."""
    library._ensure_finalized()
    return bytes(library._get_compiled_object())


def declared_functions(library: Any) -> list[str]:
    """Return the names of the functions that compiled code calls and does not bring."""
    return [each.name for each in library._final_module.functions if each.is_declaration]


def forget(functions: list[Any]) -> None:
    """Have numba compile these, and the loop that calls them, with what they name by now."""
    typing = cpu_target.typing_context
    typing.refresh()
    for function in (apply, proceed, *functions):
        for template in typing.resolve_value_type(function).templates:
            template._impl_cache.clear()


def start_numba() -> None:
    """Make all functions of numba known to machine code that was loaded without it."""
    cpu_target.target_context.refresh()


def hold_llvm() -> None:
    """Wait until no other thread is inside LLVM, and let none in any more."""
    ffi.lib._lock.__enter__()


class _ErrorInfo(ctypes.Structure):
    _fields_ = (
        ("pickled", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("values", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p),
        ("count", ctypes.c_int32),
    )


def error_of(address: int | None) -> BaseException:
    """Return the exception that compiled code has raised."""
    if not address:
        return RuntimeError("compiled code failed in a function of Python")
    info = _ErrorInfo.from_address(address)
    cls, arguments, place = pickle.loads(ctypes.string_at(info.pickled, info.size))
    arguments = arguments or ()
    if info.count > 0:
        arguments = tuple(part if isinstance(part, PLAIN) else "…" for part in arguments)
    error: BaseException = cls(*arguments)
    if info.count > 0:
        error.add_note("… stands for what was computed; compiled=False shows it")
    if place:
        error.add_note(f"raised by compiled code: {place[0]}, {place[1]}, line {place[2]}")
    return error


# --- the bits of a number -------------------------------------------------------------------------


@overload(bin_of)
def _bin_of(joules: Any) -> Any:
    """Take the bin from exponent and first bits of the number: `math.frexp` would be a call."""

    def bin_by_bits(joules: Any) -> Any:  # pragma: no cover - compiled
        bits = _bits_of(joules)
        exponent = ((bits >> 52) & 0x7FF) - 1022
        place = (exponent - LOWEST) * PER_OCTAVE + ((bits >> 47) & (PER_OCTAVE - 1))
        return min(max(place, 0), BINS - 1)

    return bin_by_bits


@intrinsic
def _bits_of(typingctx: Any, number: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


# --- clocks ---------------------------------------------------------------------------------------


read_cycle_counter: Any = types.ExternalFunction("llvm.readcyclecounter", types.int64())


@overload(cycle_count)
def _cycle_count() -> Any:
    return lambda: read_cycle_counter()


@overload(thread_ns)
def _thread_ns() -> Any:
    return (lambda: _read_thread_clock()) if HAS_THREAD_CLOCK else (lambda: 0)


@intrinsic
def _read_thread_clock(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, number = ir.IntType(64), ir.IntType(32)
        moment = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        declared = ir.FunctionType(number, [number, moment.type])
        read = cgutils.get_or_insert_function(builder.module, declared, "clock_gettime")
        builder.call(read, [number(time.CLOCK_THREAD_CPUTIME_ID), moment])
        seconds, ns = cgutils.unpack_tuple(builder, builder.load(moment), 2)
        return builder.add(builder.mul(seconds, word(1_000_000_000)), ns)

    return types.int64(), codegen
