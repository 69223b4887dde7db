"""Records as C structs: what is packed is what compiled code reads, and back."""

import ctypes
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.engine.compiled.layout import CannotCompile, form_of, pack, struct_of, unpack


class Pair(NamedTuple):
    first: object
    second: object


NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.sampled_from([np.int32(-5), np.uint8(200), np.float32(0.5)]),
)
ARRAYS = st.sampled_from(
    [np.arange(6.0), np.arange(6).reshape(2, 3), np.zeros(0), np.zeros((0, 4), np.uint8)]
)
RECORDS = st.recursive(
    NUMBERS | ARRAYS, lambda parts: st.builds(Pair, parts, parts) | st.tuples(parts), max_leaves=6
)


def same(one, other):
    if isinstance(one, tuple):
        return type(one) is type(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and (one == other).all()
    return one == other


@given(RECORDS)
def test_what_is_packed_can_be_unpacked(record):
    struct = pack((record,))
    (back,) = unpack(form_of((record,)), struct, {"Pair": Pair}, free=None)
    assert same(record, back)


def test_arrays_stay_where_they_are():
    array = np.zeros(3)
    struct = pack((array,))._0
    assert struct.data == array.ctypes.data
    assert (struct.size, struct.item, list(struct.shape), list(struct.strides)) == (3, 8, [3], [8])


def test_what_is_freed_was_copied():
    freed = []
    struct = pack((np.arange(3),))
    struct._0.owner = 77
    (copy,) = unpack(form_of((np.arange(3),)), struct, {}, freed.append)
    assert (freed, copy.tolist()) == ([77], [0, 1, 2])


@pytest.mark.parametrize(("text", "width"), [("", 1), ("plain", 1), ("Ä", 1), ("α", 2), ("𝛼", 4)])
def test_texts_have_one_width_a_character(text, width):
    struct = pack((text,))._0
    assert (struct.length, struct.width, struct.ascii) == (len(text), width, text.isascii())
    data = ctypes.string_at(struct.data, width * len(text))
    coding = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[width]
    assert data.decode(coding) == text


def test_forms_tell_apart_what_compiled_code_tells_apart():
    flags = np.zeros(4)
    flags.flags.writeable = False
    rows = np.zeros(2, [("a", float), ("b", np.int64)])
    values = [
        True, 1, 1.0, 2**63, np.float32(1), None, "text", (1,), (1, 1), Pair(1, 1),
        np.zeros(4), np.zeros(4, np.int64), np.zeros((2, 2)), np.zeros(8)[::2], flags, rows,
        np.asfortranarray(np.zeros((2, 3))),
    ]  # fmt: skip
    forms = [repr(form_of(value)) for value in values]
    assert len(set(forms)) == len(values)
    assert all(struct_of(form_of(value)) for value in values)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, {}, object(), 1j])
def test_what_compiled_code_cannot_take(value):
    with pytest.raises(CannotCompile, match="numbers, arrays, texts and tuples"):
        form_of((value,))
