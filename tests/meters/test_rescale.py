"""The arithmetic of settlement: whole µJ divided exactly, rows and ledger rescaled together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.engine.histogram import EDGES
from eij_core.engine.rows import new_ledger, row_dtype
from eij_core.meters.settlement.window import Base, apportion, rescale_ledger, rescale_rows


@given(
    st.integers(0, 10**15),
    st.lists(st.floats(0, 1e12), min_size=1, max_size=8),
)
def test_apportion_is_exact(total, parts):
    whole = apportion(total, np.array(parts))
    assert whole.sum() == total
    assert np.all(whole >= -1)


@given(st.integers(0, 10**9), st.lists(st.floats(0.001, 1e3), min_size=1, max_size=8))
def test_apportion_is_within_one(total, parts):
    exact = total * np.array(parts) / sum(parts)
    assert np.all(np.abs(apportion(total, np.array(parts)) - exact) < 1 + 1e-6)


def test_the_start_is_rescaled_with_the_first_window():
    rows = np.zeros(2, row_dtype(2))
    rows["operator"] = [-1, 1]
    rows["joules"] = [2.0, 3.0]
    rows["spent"] = [2.0, 5.0]
    rows["operator_joules"] = [[0, 0], [0, 3.0]]
    base = Base(0.0, np.zeros(2), np.zeros((2, 2048), np.int64))
    out = rescale_rows(rows, base, np.array([9.0, 2.0, 0.5]))
    assert out["joules"].tolist() == [1.0, 6.0]
    assert out["spent"].tolist() == [1.0, 7.0]
    assert rows["spent"].tolist() == [2.0, 5.0]


@pytest.mark.parametrize("by_joules", [True, False])
def test_the_ledger_moves_with_its_rows(by_joules):
    ledger = new_ledger(2)
    ledger.histogram[0, 1000] = 5
    base = Base.of(ledger)
    ledger.joules[0], ledger.mark[0] = 4.0, 4.5
    ledger.operator_joules[:] = [3.0, 1.0]
    ledger.histogram[0, 1000] += 3
    rescale_ledger(ledger, base, np.array([2.0, 1.0, 1.0]), by_joules)
    assert ledger.joules[0] == 7.0
    assert ledger.mark[0] == (7.5 if by_joules else 4.5)
    assert ledger.operator_joules.tolist() == [6.0, 1.0]
    assert ledger.histogram[0, 1000] == 5
    assert ledger.histogram[0, 1032] == 3
    assert EDGES[1032] == 2 * EDGES[1000]
