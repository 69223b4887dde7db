"""Random numbers: the published vectors, the oracle, and the distributions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eij_core.engine.rng import (
    all_miss_of,
    below,
    draw_distinct,
    fill_bits,
    normal,
    normals,
    skip,
    streams_for,
    uniform,
    word,
)
from tests.oracles import XOSHIRO_VECTORS, Xoshiro

states = st.lists(st.integers(0, 2**64 - 1), min_size=4, max_size=4).filter(any)


def stream(seed=1):
    return streams_for(seed).moves


def p_value(counts, expected):
    """Chi-square of counts against expected shares."""
    counts = np.asarray(counts)
    return stats.chisquare(counts, np.asarray(expected) * counts.sum()).pvalue


def test_the_published_vectors():
    rng = np.array([1, 2, 3, 4], np.uint64)
    assert [int(word(rng)) for _ in XOSHIRO_VECTORS] == list(XOSHIRO_VECTORS)
    oracle = Xoshiro([1, 2, 3, 4])
    assert [oracle.word() for _ in XOSHIRO_VECTORS] == list(XOSHIRO_VECTORS)


DRAWS = {
    "word": (lambda rng: int(word(rng)), Xoshiro.word),
    "uniform": (uniform, Xoshiro.uniform),
    "below 1": (lambda rng: below(rng, 1), lambda oracle: oracle.below(1)),
    "below 7": (lambda rng: below(rng, 7), lambda oracle: oracle.below(7)),
    "below 3·2³⁰": (lambda rng: below(rng, 3 << 30), lambda oracle: oracle.below(3 << 30)),
    "normals": (normals, Xoshiro.normals),
    "normal": (normal, lambda oracle: oracle.normals()[0]),
    "skip": (lambda rng: skip(rng, -0.01), lambda oracle: oracle.skip(-0.01)),
    "skip far": (lambda rng: skip(rng, -1e-300), lambda oracle: oracle.skip(-1e-300)),
}


@pytest.mark.parametrize("name", DRAWS)
@given(state=states)
def test_draws_equal_the_oracle(name, state):
    ours, theirs = DRAWS[name]
    rng, oracle = np.array(state, np.uint64), Xoshiro(list(state))
    for _ in range(3):
        assert ours(rng) == theirs(oracle)
    assert rng.tolist() == oracle.state


@given(state=states, n=st.integers(1, 500), hit=st.sampled_from([1e-15, 1e-4, 0.01, 0.5, 0.999]))
def test_skips_that_leave_the_string_need_no_length(state, n, hit):
    log_miss = math.log(1.0 - hit)
    rng, other = np.array(state, np.uint64), np.array(state, np.uint64)
    short, exact = skip(rng, log_miss, all_miss_of(n, log_miss)), skip(other, log_miss)
    assert short == exact or (short >= n and exact >= n)
    assert rng.tolist() == other.tolist()


@given(state=states, n=st.integers(0, 200))
def test_bits_equal_the_oracle(state, n):
    rng, oracle = np.array(state, np.uint64), Xoshiro(list(state))
    x = np.full(n, 9, np.uint8)
    fill_bits(rng, x)
    assert x.tolist() == oracle.bits(n)
    assert rng.tolist() == oracle.state


@given(state=states, n=st.integers(1, 300), data=st.data())
def test_distinct_numbers_equal_the_oracle(state, n, data):
    """Few numbers to choose from: repeats are frequent, and drawn anew."""
    count = data.draw(st.integers(1, min(n, 70)))
    rng, oracle = np.array(state, np.uint64), Xoshiro(list(state))
    numbers = np.full(count + 1, -1)
    draw_distinct(rng, n, numbers, count)
    assert numbers.tolist() == [*oracle.distinct(n, count), -1]
    assert rng.tolist() == oracle.state


@given(state=states, n=st.integers(1, 2**32 - 1))
def test_ranges(state, n):
    rng = np.array(state, np.uint64)
    assert 0.0 <= uniform(rng) < 1.0
    assert 0 <= below(rng, n) < n
    assert skip(rng, -1.0) >= 0
    assert all(math.isfinite(z) for z in normals(rng))


def test_uniform_is_uniform():
    rng = stream()
    counts = np.bincount([int(32 * uniform(rng)) for _ in range(8000)], minlength=32)
    assert p_value(counts, np.full(32, 1 / 32)) > 0.001


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_below_is_uniform(n):
    rng = stream(n)
    counts = np.bincount([below(rng, n) for _ in range(8000)], minlength=n)
    assert p_value(counts, np.full(n, 1 / n)) > 0.001


def test_below_has_no_bias_where_words_do_not_divide_evenly():
    """Thirds of 3·2³⁰: without redrawing, every third number would come up twice as often."""
    rng = stream()
    drawn = np.array([below(rng, 3 << 30) for _ in range(6000)])
    assert p_value(np.bincount(drawn % 3, minlength=3), np.full(3, 1 / 3)) > 0.001
    assert p_value(np.bincount(drawn >> 30, minlength=3), np.full(3, 1 / 3)) > 0.001


def test_normals_are_normal_and_independent():
    rng = stream()
    pairs = np.array([normals(rng) for _ in range(4000)])
    for column in pairs.T:
        assert stats.kstest(column, "norm").pvalue > 0.001
    assert stats.pearsonr(*pairs.T).pvalue > 0.001
    assert stats.pearsonr(*np.abs(pairs.T)).pvalue > 0.001


@pytest.mark.parametrize("hit", [0.9, 0.3, 0.05])
def test_skips_are_geometric(hit):
    rng = stream()
    drawn = np.array([skip(rng, math.log1p(-hit)) for _ in range(6000)])
    last = int(stats.geom.ppf(0.99, hit))
    counts = np.bincount(np.minimum(drawn, last), minlength=last + 1)
    shares = stats.geom.pmf(np.arange(1, last + 2), hit)
    shares[-1] = 1.0 - shares[:-1].sum()
    assert p_value(counts, shares) > 0.001


def test_walking_by_skips_hits_every_place_alike():
    rng, n, hit = stream(), 20, 0.1
    hits = np.zeros(n, int)
    for _ in range(4000):
        i = skip(rng, math.log1p(-hit))
        while i < n:
            hits[i] += 1
            i += 1 + skip(rng, math.log1p(-hit))
    assert p_value(hits, np.full(n, 1 / n)) > 0.001
    assert abs(hits.sum() - 4000 * n * hit) < 4 * math.sqrt(4000 * n * hit * (1 - hit))


def test_streams_follow_seed_and_repetition():
    names = ("moves", "picks", "noise")
    words = {
        (seed, repetition, name): tuple(getattr(streams_for(seed, repetition), name).tolist())
        for seed in (0, 1, 2**127)
        for repetition in (0, 1)
        for name in names
    }
    assert len(set(words.values())) == len(words)
    again = streams_for(1, 1)
    assert all(words[1, 1, name] == tuple(getattr(again, name).tolist()) for name in names)


def test_seeding_never_changes():
    """SeedSequence is promised to last; recorded seeds must."""
    assert [int(w) for w in streams_for(7, 3).moves] == [
        int(w) for w in np.random.SeedSequence(7, spawn_key=(3,)).generate_state(12, np.uint64)[:4]
    ]
    assert int(streams_for(0).moves[0]) == 8668861027912758289


def test_streams_do_not_share_memory():
    streams = streams_for(1)
    before = streams.picks.copy()
    word(streams.moves)
    assert (streams.picks == before).all()
