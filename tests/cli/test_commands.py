import dataclasses
import json
import os
import re

import pytest

import eij_core
from eij_core import Trial, solve
from eij_core.cli.entry import COMMANDS
from eij_core.cli.replay import run_again
from eij_core.cli.shared import summaries
from eij_core.protocols import Provenance
from eij_core.records import Record, load, save
from eij_core.run import Run
from eij_core.trial import FAMILIES
from tests.cli.conftest import TINY

TRIAL = Trial("nk:n=16,k=2", meter="model", budget="3 J")


def test_version(eij):
    assert eij("--version") == (0, f"eij {eij_core.__version__}\n", "")


def test_alone_it_shows_the_help(eij):
    code, out, err = eij()
    assert code == 2
    assert "Usage: eij" in out + err
    assert "eij: " not in err


@pytest.mark.parametrize("command", [c if c != "campaign" else "campaign run" for c in COMMANDS])
def test_help_has_examples(eij, command):
    code, out, err = eij(*command.split(), "--help")
    assert (code, err) == (0, "")
    assert f"$ eij {command}" in out


def test_help_lists_the_commands(eij):
    code, out, _ = eij("--help")
    assert code == 0
    assert all(re.search(rf"\b{command}\b", out) for command in COMMANDS)


@pytest.mark.parametrize("family", FAMILIES)
def test_list_shows_everything(eij, family):
    code, out, err = eij("list", f"{family}s")
    assert (code, err) == (0, "")
    for name in FAMILIES[family]:
        assert name in out


def test_list_as_json(eij):
    code, out, _ = eij("list", "--json")
    found = json.loads(out, parse_constant=pytest.fail)
    assert code == 0
    assert list(found) == [f"{family}s" for family in FAMILIES]
    for family, known in FAMILIES.items():
        assert [each["name"] for each in found[f"{family}s"]] == list(known)
    nk = next(each for each in found["problems"] if each["name"] == "nk")
    n = next(each for each in nk["parameters"] if each["name"] == "n")
    assert n["kind"] == "int"
    assert n["low"] == 1
    assert n["about"]
    assert any(each["private"] for each in found["problems"])


def test_list_of_one_family_as_json(eij):
    _, out, _ = eij("list", "meters", "--json")
    assert list(json.loads(out)) == ["meters"]


@pytest.fixture
def record(eij, tmp_path):
    eij("run", *TINY, "--record", tmp_path)
    (path,) = tmp_path.iterdir()
    return path


def test_replay_shows_the_record(eij, record):
    code, out, err = eij("replay", record)
    assert (code, err) == (0, "")
    assert f"digest {load(record).digest}" in out
    assert "simulated, by meter model" in out


def test_replay_verifies(eij, record):
    code, out, _ = eij("replay", record, "--verify")
    assert code == 0
    assert out.endswith("verified: a new run gives the same digest\n")
    code, out, err = eij("replay", record, "--verify", "--json")
    assert json.loads(out)["trial"] == load(record).metadata["trial"]
    assert err.startswith("verified")


def test_replay_notices_a_difference(eij, tmp_path):
    result = solve(TRIAL, compiled=False)
    rows = result.rows.copy()
    rows["gain"][1] += 1.0
    save(dataclasses.replace(result, rows=rows), tmp_path / "a.csv")
    code, _, err = eij("replay", tmp_path / "a.csv", "--verify")
    assert code == 1
    assert "differs" in err
    assert err.count("\n") == 1


def test_only_simulated_energy_can_be_verified(eij, tmp_path):
    result = solve(TRIAL, compiled=False)
    info = type(result.meter)("powercap", Provenance.MEASURED, scope="package")
    save(dataclasses.replace(result, meter=info), tmp_path / "a.json")
    code, _, err = eij("replay", tmp_path / "a.json", "--verify")
    assert code == 2
    assert "--verify = measured" in err


def test_stopped_and_adjusted_runs_can_be_had_again():
    run = Run(Trial("nk:n=16,k=2", "ils", "eij", "model", "300 J, 60 s"), compiled=False)
    run.advance(20)
    run.adjust(alpha=0.2)
    run.advance(30)
    run.stop()
    record = Record.of(run.result())
    assert run_again(record).digest == record.digest


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"]])
def test_nobody_reads_the_output(spawn, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    process = spawn(*arguments, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, "")


def test_tables_show_what_is_unknown_as_a_dash():
    assert summaries._number(None) == "–"
    assert summaries._spread([None]) == "–"
