"""Bits of a word, and strings of bits packed into words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eij_core.engine.bits import differences, invert, low_bits, ones, pack, unpack, words_for

bits = st.integers(0, 1)
strings = st.lists(bits, min_size=1, max_size=150)


def packed(string):
    words = np.full(words_for(len(string)), 99, np.uint64)
    pack(np.array(string, np.uint8), words)
    return words


@given(st.integers(-(2**63), 2**63 - 1))
def test_ones_are_counted(word):
    assert ones(word) == ones(np.int64(word)) == (word % 2**64).bit_count()


def test_low_bits():
    assert [int(low_bits(k)) for k in (-5, 0, 1, 63, 64, 200)] == [
        0, 0, 1, 2**63 - 1, 2**64 - 1, 2**64 - 1,
    ]  # fmt: skip


@given(strings, st.data())
def test_packed_strings(string, data):
    words = packed(string)
    assert sum(int(word) << (64 * w) for w, word in enumerate(words)) == sum(
        bit << i for i, bit in enumerate(string)
    )
    i = data.draw(st.integers(0, len(string) - 1))
    invert(words, i)
    string[i] ^= 1
    x = np.full(len(string), 9, np.uint8)
    unpack(words, x)
    assert x.tolist() == string


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=150), st.data()
)
def test_differences_are_listed_in_order_up_to_the_most(pairs, data):
    a, b = ([pair[k] for pair in pairs] for k in (0, 1))
    most = data.draw(st.integers(0, len(pairs)))
    places = np.full(most + 1, -1)
    count = differences(packed(a), packed(b), places, most)
    unlike = [i for i, (one, other) in enumerate(pairs) if one != other]
    assert count == min(len(unlike), most + 1)
    listed = unlike[:most]
    assert places.tolist() == listed + [-1] * (most + 1 - len(listed))
