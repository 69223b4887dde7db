"""Random numbers: xoshiro256++ in an array of four words, passed explicitly to every kernel.

One draw costs about a nanosecond in compiled code and needs no object, so a stream can be copied,
stored and replayed as plain data. Seeds come from numpy's `SeedSequence`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .bits import ones
from .kernel import kernel
from .rows import Streams

# uint64 mixed with int64 becomes float64 in numba: every constant is a uint64.
_ONE = np.uint64(1)
_11, _17, _19, _23, _32, _41, _45 = (np.uint64(k) for k in (11, 17, 19, 23, 32, 41, 45))
_LOW = np.uint64(0xFFFFFFFF)
FAR = 10**15
_2_TO_MINUS_32, _2_TO_MINUS_53 = 2.0**-32, 2.0**-53


def streams_for(seed: int, repetition: int = 0) -> Streams:
    """Make the three streams of one trial: moves, picks and noise.

    The repetition, not the method, is in the seed: trials of two methods with the same seed and
    repetition start alike and are paired.

    Examples
    --------
    >>> bool((streams_for(7).moves == streams_for(7).moves).all())
    True
    """
    words: Any = np.random.SeedSequence(seed, spawn_key=(repetition,)).generate_state(12, np.uint64)
    return Streams(words[0:4].copy(), words[4:8].copy(), words[8:12].copy())


@kernel
def word(rng: Any) -> Any:
    """Draw 64 random bits (xoshiro256++ of Blackman and Vigna)."""
    drawn, rng[0], rng[1], rng[2], rng[3] = step(rng[0], rng[1], rng[2], rng[3])
    return drawn


@kernel
def step(s0: Any, s1: Any, s2: Any, s3: Any) -> Any:
    """Return the word that a state gives, and the next state."""
    total = s0 + s3
    drawn = ((total << _23) | (total >> _41)) + s0
    s2 ^= s0
    s3 ^= s1
    return drawn, s0 ^ s3, s1 ^ s2, s2 ^ (s1 << _17), (s3 << _45) | (s3 >> _19)


@kernel
def uniform(rng: Any) -> float:
    """Draw a float in [0, 1)."""
    return np.int64(word(rng) >> _11) * _2_TO_MINUS_53


@kernel
def below(rng: Any, n: int) -> int:
    """Draw an integer in 0..n-1, without bias (Lemire's method on 32 bits; n < 2**32)."""
    drawn, rng[0], rng[1], rng[2], rng[3] = step_below(rng[0], rng[1], rng[2], rng[3], n)
    return drawn


@kernel
def step_below(s0: Any, s1: Any, s2: Any, s3: Any, n: int) -> Any:
    """Return the integer in 0..n-1 that a state gives, and the next state."""
    bound = np.uint64(n)
    drawn, s0, s1, s2, s3 = step(s0, s1, s2, s3)
    product = (drawn >> _32) * bound
    low = product & _LOW
    if low < bound:
        threshold = ((_LOW - bound) + _ONE) % bound
        while low < threshold:
            drawn, s0, s1, s2, s3 = step(s0, s1, s2, s3)
            product = (drawn >> _32) * bound
            low = product & _LOW
    return np.int64(product >> _32), s0, s1, s2, s3


@kernel
def draw_distinct(rng: Any, n: int, numbers: Any, count: int) -> None:
    """Draw `count` distinct integers in 0..n-1 into `numbers`; a repeated one is drawn anew."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]  # in registers, unlike an array's
    remainders: Any = np.int64(0)
    for j in range(count):
        drawn, s0, s1, s2, s3 = step_below(s0, s1, s2, s3, n)
        numbers[j] = drawn
        remainders |= np.int64(1) << (drawn & 63)
    if ones(remainders) < count:  # else all differ, by 64 even
        kept = 1
        for j in range(1, count):
            kept += keep_new(numbers, kept, numbers[j])
        while kept < count:
            drawn, s0, s1, s2, s3 = step_below(s0, s1, s2, s3, n)
            kept += keep_new(numbers, kept, drawn)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3


@kernel
def keep_new(numbers: Any, kept: int, number: int) -> int:
    """Append a number to the first `kept` ones unless it is among them; return how many joined."""
    for k in range(kept):
        if numbers[k] == number:
            return 0
    numbers[kept] = number
    return 1


@kernel
def normals(rng: Any) -> tuple[float, float]:
    """Draw two independent standard normals (Marsaglia's polar method)."""
    while True:
        u = 2.0 * uniform(rng) - 1.0
        v = 2.0 * uniform(rng) - 1.0
        s = u * u + v * v
        if 0.0 < s < 1.0:
            break
    factor = math.sqrt(-2.0 * math.log(s) / s)
    return u * factor, v * factor


@kernel
def normal(rng: Any) -> float:
    """Draw one standard normal."""
    return normals(rng)[0]


@kernel
def skip(rng: Any, log_miss: float, all_miss: float = 0.0) -> int:
    """Draw how many trials miss before the first hit, log_miss = ln(1 - hit probability).

    A walk by skips visits the hits among n independent trials in the time of the hits, not of n.
    A walk that ends at n may pass the probability `all_miss_of(n, log_miss)`: a skip beyond n then
    has no exact length, which saves the logarithm.
    """
    chance = 1.0 - uniform(rng)
    if chance < all_miss:
        return FAR
    gap = math.log(chance) / log_miss
    return int(min(gap, 1e15))


@kernel
def all_miss_of(n: int, log_miss: float) -> float:
    """Return the probability that n trials miss, less what rounding might add."""
    return math.exp(n * log_miss) * (1.0 - 1e-9)


@kernel
def fill_bits(rng: Any, x: Any) -> None:
    """Fill x with random bits, 64 to a draw."""
    bits = np.uint64(0)
    for i in range(x.size):
        if i % 64 == 0:
            bits = word(rng)
        x[i] = np.uint8(bits & _ONE)
        bits >>= _ONE


@kernel
def fill_uniforms(rng: Any, x: Any, draws: int) -> None:
    """Fill x with floats in [0, 1) of 32 bits each, two to a draw."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]  # in registers, unlike an array's
    for i in range(draws):
        drawn, s0, s1, s2, s3 = step(s0, s1, s2, s3)
        x[2 * i] = np.int64(drawn >> _32) * _2_TO_MINUS_32
        x[2 * i + 1] = np.int64(drawn & _LOW) * _2_TO_MINUS_32
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
