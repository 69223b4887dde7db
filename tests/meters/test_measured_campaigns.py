"""Campaign, paper and profile on a counter that ticks: all trials done, every µJ accounted for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eij_core.campaigns import Reader
from eij_core.cli import call
from eij_core.meters.counters.host_lock import HostLock
from eij_core.paper import METHODS, PROBLEMS, experiment

FAKE = Path(__file__).with_name("fake_powercap.py")
SPEC = [{"zone": "0", "name": "package-0", "watts": 50.0, "start_uj": 123_456_789}]

GRID = """
name = "measured"
problems = ["nk:n=20,k=3"]
algorithms = ["ssga"]
selectors = ["eij-plus", "uniform"]
meter = "powercap"
budgets = ["5 J"]
seeds = 2
"""


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Return what the counter of a ticking powercap tree shows, in µJ."""
    command = [sys.executable, FAKE, tmp_path / "tree", "--spec", json.dumps(SPEC)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        root = tmp_path / "tree/class/powercap"
        monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(root))
        monkeypatch.chdir(tmp_path)
        yield lambda: int((root / "intel-rapl:0/energy_uj").read_text())
        writer.kill()


def check_conservation(before, settlements, after):
    """Runs and what lies between them add up to the counter's change, to the µJ."""
    at, inside, between = before, 0, 0
    for settlement in settlements:
        first, last = settlement["readings_uj"]
        assert at <= first <= last  # runs do not overlap
        booked = sum(settlement["joules"].values()) + settlement["unsettled_joules"]
        assert round(booked * 1e6) == last - first
        inside, between, at = inside + round(booked * 1e6), between + first - at, last
    assert after >= at
    assert inside + between + (after - at) == after - before
    assert inside > 0


def settlements_of(store):
    with Reader(store) as reader:
        rows = sorted(reader.rows(), key=lambda row: row.started)
    assert [row.error for row in rows if row.state != "done"] == []
    results = [json.loads(row.result_json) for row in rows]
    for row, result in zip(rows, results, strict=True):
        assert row.energy_source.startswith("powercap (")
        settled = result["meter"]["settlement"]
        names = (*(each["name"] for each in result["operators"]), "start")
        charged = sum(settled["joules"][name] for name in names) + settled["imputed_joules"]
        assert charged == pytest.approx(result["spent"]["joules"], rel=1e-3, abs=1e-5)
    return [result["meter"]["settlement"] for result in results]


def test_a_measured_campaign(shown, tmp_path, capsys):
    (tmp_path / "grid.toml").write_text(GRID)
    before = shown()
    assert call(["campaign", "run", "grid.toml", "--store", "results"]) == 0
    after = shown()
    assert "4 of 4 trials are done" in capsys.readouterr().out
    settlements = settlements_of("results")
    assert len(settlements) == 4
    check_conservation(before, settlements, after)
    HostLock().release()  # the campaign has given it back


def test_the_paper_measured(shown, monkeypatch, capsys):
    """`eij paper --quick` with one algorithm, small budgets and two trials a method."""
    small = {"knapsack": PROBLEMS["knapsack"]._replace(joules=4.0, evaluations=100)}
    monkeypatch.setattr(experiment, "PROBLEMS", small)
    monkeypatch.setattr(experiment, "METHODS", {"ils": METHODS["ils"]})
    monkeypatch.setattr(experiment, "SAMPLE", 100)
    before = shown()
    arguments = ["--quick", "--trials", "2", "--meter", "powercap", "--store", "paper"]
    assert call(["paper", *arguments]) == 0
    after = shown()
    said = capsys.readouterr().out
    assert "budgets that buy the paper's evaluations here: knapsack " in said
    assert "12 of 12 trials are done" in said
    check_conservation(before, settlements_of("paper"), after)


def test_a_measured_profile(shown):
    before = shown()
    arguments = ["--problem", "nk:n=20,k=3", "--algorithm", "ssga", "--meter", "powercap"]
    assert call(["profile", *arguments, "--batches", "2", "--out", "p.json"]) == 0
    after = shown()
    found = json.loads(Path("p.json").read_text())
    assert len(found["batches"]) == 4
    check_conservation(before, [found["settlement"]], after)
    batches = sum(batch[3] for batch in found["batches"])
    charged = found["settlement"]
    operators = sum(charged["joules"][each["name"]] for each in found["operators"])
    assert batches == pytest.approx(operators + charged["imputed_joules"], rel=1e-3)
