"""The trial whose record is tested, and when two results are the same."""

import numpy as np

from eij_core import Trial
from eij_core.records.formats import WRITERS

SUFFIXES = sorted(WRITERS)
TRIAL = Trial("nk:n=16,k=2", selector="eij", meter="model", budget="40 J", every=1)


def same(a, b):
    """Whether two results are equal to the last bit."""
    assert a.rows.dtype == b.rows.dtype
    assert a.rows.tobytes() == b.rows.tobytes()
    assert a.digest == b.digest
    assert np.array_equal(a.best.x, b.best.x)
    assert a.best.x.dtype == b.best.x.dtype
    assert repr(a.best[1:]) == repr(b.best[1:])
    assert a.spent == b.spent
    for one, other in zip(a.operators, b.operators, strict=True):
        assert repr(one[:-2]) == repr(other[:-2])
        assert repr(tuple(map(float, one.belief))) == repr(tuple(map(float, other.belief)))
        assert np.array_equal(one.histogram, other.histogram)
    assert (a.trial, a.meter, a.reason) == (b.trial, b.meter, b.reason)
    assert (a.changes, a.energy) == (b.changes, b.energy)
