"""Whole runs on real clocks, and on a tree that ticks: what a user gets."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from eij_core import probes as probing
from eij_core.meters.settlement.counted import Counted
from eij_core.run import Run
from eij_core.trial import Trial

FAKE = Path(__file__).with_name("fake_powercap.py")


def check(run, result):
    rows = run.rows()
    assert np.all(np.diff(rows["spent"]) >= 0)
    assert rows["spent"][-1] == pytest.approx(result.spent.joules)
    assert np.all(np.log(rows["joules"][rows["joules"] == rows["joules"]]) < 100)
    energy = result.energy
    booked = sum(energy["joules"][name] for name in (*run.names, "start"))
    assert booked + energy["imputed_joules"] == pytest.approx(result.spent.joules, rel=1e-3)


def finish(trial, compiled):
    run = Run(trial, compiled=compiled)
    for _ in run:
        pass
    return run, run.result()


def test_a_run_on_cpu_time():
    trial = Trial("nk:n=20,k=3", "ssga", meter="cputime:watts=10", budget="0.5 J", seed=1)
    run, result = finish(trial, compiled=False)
    check(run, result)
    assert result.meter.provenance == "estimated"
    assert result.spent.joules == pytest.approx(0.5, rel=0.3)
    assert result.energy["joules"]["overhead"] > 0


@pytest.fixture
def ticking(tmp_path, monkeypatch):
    """A powercap tree of 50 W that a process keeps ticking."""
    spec = [{"zone": "0", "name": "package-0", "watts": 50}]
    command = [sys.executable, FAKE, tmp_path / "tree", "--spec", json.dumps(spec)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path / "tree/class/powercap"))
        yield
        writer.kill()


def test_a_run_on_a_ticking_counter(ticking):
    trial = Trial("nk:n=20,k=3", "ssga", meter="powercap", budget="10 J", seed=1)
    run, result = finish(trial, compiled=False)
    check(run, result)
    assert result.meter.domains == ("package-0",)
    assert result.energy["imputed_share"] < 0.5
    assert result.energy["joules"]["overhead"] > 0


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiled)])
def test_probes_are_paid_for_on_a_ticking_counter(ticking, monkeypatch, compiled):
    """They spend between decisions, in the account of an operator that was not applied."""
    paid, settled = [], []
    probe, settle = probing.probe, Counted.settle

    def noted_probe(run, operator):
        paid.append(probe(run, operator))
        return paid[-1]

    def noted_settle(*arguments, **options):
        settled.append(settle(*arguments, **options))
        return settled[-1]

    monkeypatch.setattr(probing, "probe", noted_probe)
    monkeypatch.setattr(Counted, "settle", noted_settle)
    selector = "eij-plus:probe=0.1"
    trial = Trial("nk:n=20,k=3", "ils:steps=20", selector, "powercap", "10 J", seed=1)
    run, result = finish(trial, compiled)
    check(run, result)
    assert len(paid) >= len(run.names) and min(paid) > 0
    assert np.all(run.rows()["joules"][:-1] > 0)  # the last row is no application
    assert result.reason in ("joules spent", "no operator fits in the Joules left")
    assert result.spent.joules == pytest.approx(10.0, rel=0.3)
    windows = [window for window in settled if window is not None]
    assert sum(int(w.accounts_uj.sum()) for w in windows) == sum(w.counter_uj for w in windows)
    booked = run.meter.accounts
    assert booked.settled_uj.sum() > 0 and result.energy["imputed_share"] < 0.5
    np.testing.assert_allclose(
        run.ledger.operator_joules,
        booked.settled_uj[: len(run.names)] * 1e-6 + booked.imputed[:-1],
        atol=3e-6,  # whole µJ against Joules: the remainders are carried
    )


@pytest.mark.compiled
def test_a_compiled_run():
    trial = Trial("knapsack", "ssga", meter="cputime:watts=10", budget="2 J", seed=1)
    run, result = finish(trial, compiled=True)
    check(run, result)
    assert result.spent.joules == pytest.approx(2, rel=0.1)
    totals = {total.name: total for total in result.operators}
    one, five = (totals[name].joules / totals[name].applications for name in run.names)
    assert 2 < five / one < 10


def test_a_record_is_replayed_decision_by_decision(tmp_path):
    trial = Trial("nk:n=20,k=3", "ssga", "eij", "model", "5 J", seed=3, every=1)
    run, result = finish(trial, compiled=False)
    rows, path = run.rows(), tmp_path / "run.parquet"
    columns = ("decision", "operator", "joules")
    pyarrow.parquet.write_table(pa.table({name: rows[name] for name in columns}), path)
    again, repeated = finish(replace(trial, meter=f"replay:file={path}"), compiled=False)
    assert np.array_equal(again.rows()["best"], rows["best"])
    assert repeated.spent.joules == result.spent.joules
    assert repeated.meter.provenance == "replayed"
