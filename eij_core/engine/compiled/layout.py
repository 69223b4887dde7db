"""Records as C structs: how compiled code sees a NamedTuple of numbers and arrays.

A compiled entry takes the address of one struct. The struct lies in memory as numba lays out the
type of the record, so neither numba's types nor its dispatcher are needed to call what is already
compiled. A form describes a layout as plain data: equal forms, equal layouts.
"""

from __future__ import annotations

import ctypes
import functools
import json
import reprlib
from collections.abc import Iterator
from typing import Any

import numpy as np

Form = Any
"""`"float64"` for a number, `["array", …]`, `["record", name, parts]`, `["text"]` or `["none"]`."""


class CannotCompile(TypeError):
    """Compiled code cannot take a value, or numba refuses the code."""


WIDE, WIDEST = 2**63, 2**64


def form_of(value: Any) -> Form:
    """Describe how compiled code sees a value.

    Raises
    ------
    CannotCompile
        Compiled code cannot take such a value.

    Examples
    --------
    >>> form_of((3, np.zeros(2), True))
    ['record', 'tuple', ['int64', ['array', 'float64', 1, 'C', True, True], 'bool']]
    """
    if isinstance(value, np.generic | bool | float):
        return np.result_type(value).name
    if isinstance(value, int) and -WIDE <= value < WIDEST:
        return "int64" if value < WIDE else "uint64"
    if isinstance(value, np.ndarray):
        flags = value.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return array_form(value.dtype, value.ndim, order, flags.writeable, flags.aligned)
    if isinstance(value, tuple):
        return ["record", type(value).__qualname__, [form_of(part) for part in value]]
    if isinstance(value, str):
        return ["text"]
    if value is None:
        return ["none"]
    raise CannotCompile(
        f"compiled code takes numbers, arrays, texts and tuples, not {reprlib.repr(value)}"
    )


def parts_of(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield a record and the records in it."""
    if isinstance(value, tuple):
        yield value
        for part in value:
            yield from parts_of(part)


def array_form(dtype: Any, axes: int, order: str, writeable: bool, aligned: bool) -> Form:
    """Describe an array; one of records by the places of their fields."""
    fields = [f"{name}:{kind}@{at}" for name, (kind, at, *_) in (dtype.fields or {}).items()]
    text = f"{dtype.itemsize}:{','.join(fields)}" if fields else str(dtype)
    return ["array", text, axes, order, writeable, aligned]


def struct_of(form: Form) -> Any:
    """Return the ctypes type of a form."""
    return _struct_of(json.dumps(form))


@functools.cache
def _struct_of(text: str) -> Any:
    form = json.loads(text)
    if isinstance(form, str):
        return ctypes.c_uint8 if form == "bool" else np.ctypeslib.as_ctypes_type(np.dtype(form))
    kind, *rest = form
    if kind == "array":
        return _array_struct(rest[1])
    if kind == "text":
        return _Text
    if kind == "none":
        return ctypes.c_void_p
    fields = [(f"_{i}", struct_of(part)) for i, part in enumerate(rest[1])]
    return type("Record", (ctypes.Structure,), {"_fields_": fields})


@functools.cache
def _array_struct(axes: int) -> Any:
    lengths = ctypes.c_ssize_t * axes
    words = [("owner", ctypes.c_void_p), ("parent", ctypes.c_void_p), ("size", ctypes.c_ssize_t)]
    words += [("item", ctypes.c_ssize_t), ("data", ctypes.c_void_p)]
    fields = [*words, ("shape", lengths), ("strides", lengths)]
    return type("Array", (ctypes.Structure,), {"_fields_": fields})


class _Text(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_char_p),
        ("length", ctypes.c_ssize_t),
        ("width", ctypes.c_int32),
        ("ascii", ctypes.c_uint32),
        ("hash", ctypes.c_ssize_t),
        ("owner", ctypes.c_void_p),
        ("parent", ctypes.c_void_p),
    )


def pack(value: Any) -> Any:
    """Return the C struct of a value; arrays stay where they are and must outlive it.

    Examples
    --------
    >>> pack((3, 0.5))._1
    0.5
    """
    form = form_of(value)
    if isinstance(form, str):
        return struct_of(form)(value)
    if form[0] == "array":
        data, (shape, strides) = value.ctypes.data, (value.shape, value.strides)
        return struct_of(form)(None, None, value.size, value.itemsize, data, shape, strides)
    if form[0] == "record":
        return struct_of(form)(*(pack(part) for part in value))
    if form[0] == "text":
        return _packed_text(value)
    return ctypes.c_void_p()


def _packed_text(text: str) -> _Text:
    """Pack a text as Python itself would store it: one, two or four bytes a character."""
    widest = max(map(ord, text), default=0)
    width = 1 if widest < 2**8 else 2 if widest < 2**16 else 4
    data = text.encode({1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[width])
    return _Text(data, len(text), width, text.isascii(), hash(text), None, None)


def unpack(form: Form, struct: Any, classes: dict[str, type], free: Any) -> Any:
    """Copy a value out of its C struct.

    Parameters
    ----------
    form : Form
    struct : ctypes object
    classes : dict
        NamedTuple classes by qualified name.
    free : callable
        Takes the owner of each array when it has been copied.
    """
    if isinstance(form, str):
        value = struct if isinstance(struct, int | float) else struct.value
        return bool(value) if form == "bool" else value
    kind, *rest = form
    if kind == "array":
        view = np.ctypeslib.as_array((ctypes.c_uint8 * (struct.size * struct.item)).from_address(
            struct.data or ctypes.addressof(struct)  # an empty array may have no data
        ))  # fmt: skip
        array = view.view(np.dtype(rest[0])).reshape(tuple(struct.shape), order=rest[2]).copy()
        if struct.owner:
            free(struct.owner)
        return array
    if kind != "record":
        raise CannotCompile(f"compiled code cannot return {kind}")
    name, parts = rest
    values = [unpack(part, getattr(struct, f"_{i}"), classes, free) for i, part in enumerate(parts)]
    return tuple(values) if name == "tuple" else classes[name](*values)
