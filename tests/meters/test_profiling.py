"""Profiles: what each operator costs by itself, and what later runs make of it."""

import math
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eij_core import profiling
from eij_core.meters.settle import Counted
from eij_core.profiling import Profile, Profiler, profile
from eij_core.records import Hints
from eij_core.registry import algorithms
from tests.meters.virtual import Machine, Scripted

NK = "nk:n=20,k=3"


@pytest.fixture(scope="module")
def priced():
    return profile(
        NK, "ssga", "model:application=1,evaluation=2,noise=0", batches=2, compiled=False
    )


def test_a_models_prices_come_back(priced):
    table = priced.table().set_index("operator")
    assert list(table.index) == ["replace-1", "replace-5"]
    assert table.loc["replace-1", "mean"] == pytest.approx(3)
    assert table.loc["replace-5", "mean"] == pytest.approx(11)
    assert table.loc["replace-5", "per_evaluation"] == pytest.approx(2.2)
    assert table.loc["replace-1", "applications"] == 2 * profiling.PRICED_DECISIONS
    for column in ("median", "p5", "p95"):
        assert table.loc["replace-1", column] == pytest.approx(3, rel=0.02)
    assert set(table["provenance"]) == {"simulated"}
    assert {batch.quality for batch in priced.batches} == {"simulated"}


def test_quantiles_of_noise():
    found = profile(NK, "ssga:operators=replace-1", "model:noise=0.5", batches=5, compiled=False)
    (operator,) = found.operators
    assert operator.p95 / operator.median == pytest.approx(math.exp(1.645 * 0.5), rel=0.15)
    assert operator.p5 < operator.median < operator.mean < operator.p95
    assert operator.batch_sd > 0


def test_files(priced, tmp_path):
    priced.write(tmp_path / "p.json")
    assert Profile.from_json((tmp_path / "p.json").read_text()) == priced
    priced.write(tmp_path / "p.parquet")
    frame = pd.read_parquet(tmp_path / "p.parquet")
    assert set(frame.columns) == {"operator", "joules", "applications", "provenance"}
    assert frame["applications"].sum() == 4 * profiling.PRICED_DECISIONS


def test_hints_and_priors(priced):
    names = ("replace-5", "unknown", "replace-1")
    hints = Hints(names, np.ones(3), np.array([0.0, 7.0, 9.0]))
    assert priced.hints(hints).joules == pytest.approx([11.0, 7.0, 3.0])
    prior = priced.prior(names)
    assert prior.ratio.tolist() == [1.0] * 6  # a model knows no power
    operators = (replace(priced.operators[0], ratio=0.8), priced.operators[1])
    prior = replace(priced, operators=operators).prior(names)
    assert prior.ratio[2] == 0.8
    assert prior.spread[2] < prior.spread[0]


def test_nothing_yet():
    profiler = Profiler(NK, "ssga", "model", batches=1, compiled=False)
    empty = profiler.profile()
    assert empty.joules(("replace-1",)).tolist() == [0.0]
    assert math.isnan(empty.operators[0].mean)
    assert math.isnan(empty.operators[0].per_evaluation)
    assert math.isnan(empty.operators[0].median)
    assert empty.distribution().empty
    assert profiler.progress == 0
    next(profiler)
    assert profiler.progress == 0.5
    assert len(list(profiler)) == 1
    profiler.close()


def test_batches_are_measured_by_the_clock(monkeypatch):
    """A real clock; whole batches of one operator; Joules that add up."""
    monkeypatch.setattr(profiling, "BATCH_NS", 5_000_000)
    started = time.thread_time()
    found = profile(NK, "ssga", "cputime:watts=10", batches=3, compiled=False)
    spent = 10 * (time.thread_time() - started)
    assert {batch.quality for batch in found.batches} <= {"measured"}
    total = sum(operator.joules for operator in found.operators)
    assert 0 < total < spent
    assert sum(batch.joules for batch in found.batches) == pytest.approx(total)
    means = {operator.name: operator.mean for operator in found.operators}
    assert means["replace-5"] > 2 * means["replace-1"]
    assert all(operator.ratio > 0.3 for operator in found.operators)
    assert found.meter.provenance == "estimated"


def test_a_profile_feeds_a_counted_run(priced):
    machine = Machine()
    counted = Counted(Scripted(machine), clocks=machine, sharing="shared")
    counted.prior = priced.prior(("replace-1", "replace-5"))
    meter = counted.attach("nk", "ssga", algorithms.make("ssga").operators)
    assert meter.rate.size == 3
    counted.close()
