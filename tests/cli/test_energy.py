"""The commands about energy and the zoo, in process: tiny trials, real output."""

import json

import pytest

from eij_core.cli import call
from tests.meters.fake_powercap import DEFAULT, build

SMALL = ["--problem", "nk:n=16,k=2", "--algorithm", "ils:steps=5", "--batches", "2"]


def test_meters_says_of_every_source_whether_it_is_alive(capsys):
    assert call(["meters", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["sources"]
    assert [row["name"] for row in rows] == ["powercap", "perf", "pyrapl", "cputime"]
    assert rows[-1]["alive"] and rows[-1]["provenance"] == "estimated"
    assert all(row["alive"] or row["notes"] for row in rows)


def test_meters_check_compares_live_sources(capsys):
    assert call(["meters", "--check", "--seconds", "0.1"]) == 0
    out = capsys.readouterr().out
    assert "cputime" in out and "yardstick" in out
    assert "--meter auto takes" in out
    assert call(["meters", "--check", "--seconds", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["check"][-1]["joules"] > 0


@pytest.mark.parametrize("zones", [[], DEFAULT], ids=["no counter", "a counter that stands"])
def test_several_measured_trials_at_a_time_are_refused(capsys, monkeypatch, tmp_path, zones):
    """Whether the counter works or not: they would be charged for each other's Joules."""
    if zones:
        build(tmp_path / "tree", zones)
    monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path / "tree/class/powercap"))
    small = ["--problem", "nk:n=16,k=2", "--algorithm", "ils:steps=5", "--budget", "1J"]
    command = ["run", *small, "--trials", "4", "--jobs", "4", "--meter", "powercap"]
    assert call(command) == 2
    said = capsys.readouterr().err
    assert "--jobs = 4: expected 1 with measured energy" in said
    assert "charged for the others" in said


def test_calibrate_needs_a_counter(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path))
    assert call(["calibrate", "--meter", "powercap"]) == 2
    assert "no RAPL zone" in capsys.readouterr().err
    for bad in (["--meter", "powercp"], ["--seconds", "0"]):
        assert call(["calibrate", *bad]) == 2
        assert "expected" in capsys.readouterr().err


def test_a_profile_is_a_table_and_data(capsys):
    assert call(["profile", *SMALL, "--meter", "model"]) == 0
    out = capsys.readouterr().out
    assert "simulated Joules" in out and "flip-5" in out
    assert call(["profile", *SMALL, "--meter", "model", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["operators"][0]["name"] == "flip-1"


@pytest.mark.parametrize(
    ("name", "start"), [("p.svg", "<svg"), ("p.html", "<!doctype"), ("p.json", "{")]
)
def test_a_profile_goes_to_a_file(tmp_path, name, start):
    path = tmp_path / name
    assert call(["profile", *SMALL, "--meter", "model", "--out", str(path)]) == 0
    text = path.read_text("utf-8")
    assert text.startswith(start)
    assert "flip-1" in text


def test_a_profile_refuses_an_unknown_ending(capsys, tmp_path):
    assert call(["profile", *SMALL, "--out", str(tmp_path / "p.doc")]) == 2
    assert ".parquet" in capsys.readouterr().err


ZOO = ["--problem", "nk:n=16,k=2", "--trials", "2", "--budget", "40J"]


def test_the_zoo_as_json(capsys):
    assert call(["zoo", *ZOO, "--case", "twin-10", "--selector", "uniform", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["rule"] == "uniform" and row["case"] == "twin-10"
    assert 0.0 <= row["wasted_share"] <= 1.0
    assert row["final"] <= row["static_best"] * 1.2


def test_the_zoo_as_table_and_picture(capsys, tmp_path):
    picture = tmp_path / "zoo.svg"
    cases = ["--case", "null", "--case", "single", "--selector", "uniform", "--selector", "greedy"]
    assert call(["zoo", *ZOO, *cases, "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "uniform" in out and "greedy" in out and "simulated Joules" in out
    drawn = picture.read_text("utf-8")
    assert drawn.startswith("<svg") and "greedy" in drawn and "null" in drawn


@pytest.mark.parametrize(
    "bad",
    [
        ["--case", "twin-11"],
        ["--budget", "5 s"],
        ["--picture", "zoo.png"],
        ["--selector", "ucb"],
        ["--trials", "0"],
    ],
)
def test_the_zoo_refuses_what_it_cannot_do(capsys, bad):
    assert call(["zoo", *bad]) == 2
    assert "expected" in capsys.readouterr().err
