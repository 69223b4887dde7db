"""Profiles: what each operator costs by itself, and what later runs make of it."""

import math
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from eij_core.errors import InputError
from eij_core.figures.charts import profile_picture
from eij_core.meters.settlement.counted import Counted
from eij_core.profiles import measure as profiling
from eij_core.profiles.measure import Profiler
from eij_core.profiles.profile import Profile
from eij_core.protocols import Hints
from eij_core.registry import algorithms
from eij_core.run import Run
from eij_core.trial import Trial
from tests.meters.virtual import Machine, Scripted

NK = "nk:n=20,k=3"


@pytest.fixture(scope="module")
def priced():
    return Profiler(
        NK, "ssga", "model:application=1,evaluation=2,noise=0", batches=2, compiled=False
    ).finish()


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
    found = Profiler(
        NK, "ssga:operators=replace-1", "model:noise=0.5", batches=5, compiled=False
    ).finish()
    (operator,) = found.operators
    assert operator.p95 / operator.median == pytest.approx(math.exp(1.645 * 0.5), rel=0.15)
    assert operator.p5 < operator.median < operator.mean < operator.p95
    assert operator.batch_sd > 0


def test_files(priced, tmp_path):
    priced.write(tmp_path / "p.json")
    assert Profile.from_json((tmp_path / "p.json").read_text()) == priced
    priced.write(tmp_path / "p.parquet")
    frame = pd.read_parquet(tmp_path / "p.parquet")
    assert set(frame.columns) == {"operator", "joules", "applications", "provenance", "meter"}
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
    found = Profiler(NK, "ssga", "cputime:watts=10", batches=3, compiled=False).finish()
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


# --- seeds of a run ---


@pytest.fixture
def seeds(tmp_path):
    """A profile in which replace-5 is dear, far from what the model says."""
    found = Profiler(NK, "ssga", "model:noise=0.2", batches=3, compiled=False).finish()
    dear = replace(found.operators[1], joules=found.operators[1].joules * 100)
    path = tmp_path / "p.json"
    replace(found, operators=(found.operators[0], dear)).write(path)
    return path


def test_a_profile_seeds_the_papers_rule(seeds):
    trial = Trial(NK, "ssga", "eij", "model:noise=0.2", "5 J", seed=1, profile=str(seeds))
    run = Run(trial, compiled=False)
    found = Profile.read(seeds)
    assert run.stats.joules == pytest.approx([each.mean for each in found.operators])
    means = np.exp(run.stats.log_joules + 0.5 * run.stats.log_joules_var)
    assert means == pytest.approx(run.stats.joules)
    assert np.sqrt(run.stats.log_joules_var) == pytest.approx([0.2, 0.2], rel=0.2)
    blind = Run(replace(trial, profile=""), compiled=False)
    assert blind.stats.joules.tolist() == [0.0, 0.0]
    for each in (run, blind):
        each.advance(4)  # two tries of each
    assert run.stats.joules[1] > 5 * blind.stats.joules[1]


def test_a_profile_seeds_the_newer_rule(seeds):
    trial = Trial(NK, "ssga", "eij-plus", "model:noise=0.2", "5 J", seed=1, profile=str(seeds))
    joules = Run(trial, compiled=False).stats.arms.joules
    assert joules[1] / joules[0] > 200


def test_a_profile_seeds_the_powers_of_a_counter(tmp_path, monkeypatch):
    monkeypatch.setattr(profiling, "BATCH_NS", 5_000_000)
    found = Profiler(NK, "ssga", "cputime:watts=10", batches=2, compiled=False).finish()
    path = tmp_path / "p.json"
    first = replace(found.operators[0], ratio=0.7, ratio_sd=0.02)
    replace(found, operators=(first, found.operators[1]), overhead=(0.5, 0.1)).write(path)
    trial = Trial(NK, "ssga", "eij", "cputime:watts=10", "0.3 J", profile=str(path))
    run = Run(trial, compiled=False)
    prior = run.meter.powers.prior
    assert prior.ratio[0] == 0.7 and prior.spread[0] == 0.02
    assert prior.ratio[-2] == 0.5
    for _ in run:
        pass
    assert run.result().spent.joules >= 0.3


def test_a_trial_with_a_profile_is_data(seeds, tmp_path):
    trial = Trial(NK, "ssga", meter="model:noise=0.2", budget="5 J", profile=str(seeds))
    assert Trial.from_json(trial.to_json()) == trial
    assert "profile" not in replace(trial, profile="").to_dict()
    moved = tmp_path / "moved.json"
    moved.write_bytes(seeds.read_bytes())
    assert replace(trial, profile=str(moved)).key == trial.key
    assert replace(trial, profile="").key != trial.key
    moved.write_text(seeds.read_text() + " ")
    assert replace(trial, profile=str(moved)).key != trial.key


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"problem": "nk:n=21,k=3"}, "not nk:n=21"),
        ({"algorithm": "ils"}, "not ils"),
        ({"meter": "cputime"}, "simulated by model, not estimated by cputime"),
        ({"profile": "nowhere.json"}, "can be read"),
        ({"profile": __file__}, "as `eij profile"),
    ],
)
def test_a_profile_of_something_else_is_refused(seeds, changes, told):
    trial = Trial(NK, "ssga", meter="model:noise=0.2", budget="5 J", profile=str(seeds))
    with pytest.raises(InputError, match=told):
        Run(replace(trial, **changes), compiled=False)


def test_joules_of_another_cpu_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(profiling, "BATCH_NS", 2_000_000)
    found = Profiler(NK, "ssga", "cputime:watts=10", batches=1, compiled=False).finish()
    path = tmp_path / "p.json"
    replace(found, cpu="another CPU").write(path)
    with pytest.raises(InputError, match="CPU another CPU, not"):
        Run(Trial(NK, "ssga", meter="cputime:watts=10", profile=str(path)), compiled=False)


# --- pictures ---


@pytest.mark.parametrize("name", ["p.svg", "p.html", "p.png"])
def test_violins_go_to_a_file(priced, tmp_path, name):
    path = tmp_path / name
    profile_picture(priced).save(path)
    if path.suffix != ".png":
        drawn = path.read_text("utf-8")
        assert "simulated Joules" in drawn
        # Sanitizers drop style sheets, and classes then look like nothing.
        assert "<style" not in drawn and "class=" not in drawn
        assert 'fill="#0072b2"' in drawn and 'fill-opacity="0.45"' in drawn
        return
    with Image.open(path) as image:
        assert image.format == "PNG" and image.width == 1120
        colours = {colour for _, colour in image.convert("RGB").getcolors(2**20)}
    assert (0x00, 0x72, 0xB2) in colours and (0xD5, 0x5E, 0x00) in colours  # both medians
    assert (255, 255, 255) in colours
