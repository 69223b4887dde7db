"""Bits of a word, and strings of bits packed 64 to a word, the first bit lowest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel import kernel

# uint64 mixed with int64 becomes float64 in numba: every constant is a uint64.
_ONE, _63 = np.uint64(1), np.uint64(63)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def ones(word: int) -> int:
    """Count the bits set, in sums of 2, 4 and 8 bits (compiled: one instruction)."""
    word = int(word)
    word -= (word >> 1) & 0x5555555555555555
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((word * 0x0101010101010101) >> 56) & 0x7F


@kernel
def low_bits(count: int) -> Any:
    """Return a word with its lowest `count` bits set: none below 0, all from 64 on."""
    kept = np.uint64(min(max(count, 0), 64))
    half = kept >> _ONE  # in two steps: a shift by 64 is not defined
    return ~((_ALL << half) << (kept - half))


@kernel
def words_for(n: int) -> int:
    """Return how many words a string of n bits takes."""
    return (n + 63) // 64


@kernel
def pack(x: Any, words: Any) -> None:
    """Write a string of bits into words."""
    for w in range(words.size):
        words[w] = 0
    for i in range(x.size):
        words[i // 64] |= np.uint64(x[i]) << (np.uint64(i) & _63)


@kernel
def unpack(words: Any, x: Any) -> None:
    """Read a string of bits from words."""
    for i in range(x.size):
        x[i] = np.uint8((words[i // 64] >> (np.uint64(i) & _63)) & _ONE)


@kernel
def invert(words: Any, i: int) -> None:
    """Flip bit `i`."""
    words[i // 64] ^= _ONE << (np.uint64(i) & _63)


@kernel
def differences(a: Any, b: Any, places: Any, most: int) -> int:
    """List in `places` where two packed strings differ; return in how many places they do.

    The list breaks off after `most`, and the count is then more than that.
    """
    count = 0
    for w in range(a.size):
        unlike = a[w] ^ b[w]
        while unlike != 0:
            if count == most:
                return most + 1
            before = (unlike - _ONE) & ~unlike  # the zeros below the lowest one
            places[count] = 64 * w + ones(np.int64(before))  # type: ignore[arg-type]
            count += 1
            unlike &= unlike - _ONE
    return count
