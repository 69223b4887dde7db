"""The histogram of Joules: bins, sparse form, quantiles and the density of a violin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError
from eij_core.engine.histogram import (
    BINS,
    CENTRES,
    EDGES,
    bin_of,
    dense,
    density,
    quantiles,
    sparse,
)

counts = st.dictionaries(st.integers(0, BINS - 1), st.integers(1, 10**6), max_size=30)


@given(st.floats(EDGES[0], EDGES[-1], exclude_max=True))
def test_a_bin_holds_the_joules_between_its_edges(joules):
    place = bin_of(joules)
    assert EDGES[place] <= joules < EDGES[place + 1]


def test_the_centre_of_a_bin_lies_in_it():
    assert [bin_of(joules) for joules in CENTRES.tolist()] == list(range(BINS))


@given(counts)
def test_sparse_and_dense_are_inverse(pairs):
    full = dense(pairs.items())
    assert full.sum() == sum(pairs.values())
    assert sparse(full) == sorted(map(list, pairs.items()))
    assert np.array_equal(dense(sparse(full)), full)


@pytest.mark.parametrize("pair", [(-1, 5), (BINS, 1), (1.5, 1), (3, -1), (3, 2**63), (3, "x")])
def test_pairs_that_no_histogram_has_are_refused(pair):
    with pytest.raises(InputError, match="of a histogram"):
        dense([pair])


@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_quantiles_are_exact_to_a_bin(values, share):
    found = quantiles(dense((bin_of(value), 1) for value in values), [share])[0]
    exact = float(np.quantile(values, share, method="inverted_cdf"))
    assert found == pytest.approx(exact, rel=0.035)


def test_nothing_counted_has_no_quantile_and_no_outline():
    assert math.isnan(quantiles(np.zeros(BINS), [0.5])[0])
    assert [part.size for part in density(np.zeros(BINS))] == [0, 0]


def test_the_density_of_a_log_normal_is_its_bell():
    values = np.exp(np.random.default_rng(3).normal(-5.0, 0.4, 20_000))
    joules, height = density(dense((bin_of(value), 1) for value in values.tolist()))
    assert height.max() == 1.0
    assert np.allclose(height, np.exp(-0.5 * ((np.log(joules) + 5.0) / 0.4) ** 2), atol=0.07)
