"""A run whose record is written, damaged and read."""

import pytest

from eij_core import Run
from tests.records.made import SUFFIXES, TRIAL


@pytest.fixture(scope="module")
def result():
    run = Run(TRIAL, compiled=False)
    run.advance(10)
    run.adjust(alpha=0.5)
    for _ in run:
        pass
    return run.result()


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"record{request.param}"
