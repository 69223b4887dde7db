"""What the page hands out makes the same run again; what it takes in is read strictly."""

import dataclasses
import json
import shlex
import subprocess
import sys

import pytest

from app.pages.common.meters_table import meter_labels, meters_table
from app.pages.run import uploads
from app.pages.run.instance_file import read_instance
from app.pages.run.provenance import energy_card
from app.pages.run.settings import Settings
from app.pages.run.share import command, snippet
from app.server.limits import PUBLIC, UPLOAD_BYTES, check_trial
from app.views.energy import EnergyView
from app.views.estimates import EijView
from app.views.fitness import FitnessView
from app.views.selection import SelectionView
from app.views.snapshot import snapshot_of_result
from eij_core import InputError, InstanceError, solve
from eij_core.meters.counters.detect import CounterRow
from eij_core.records import load, write
from tests.app.tiny import PAYLOAD

KNAPSACK = b"6 10\n10 5\n7 4\n3 3\n1 9\n5 2\n4 6\n"
SMALL = {"problem": "knapsack:n=20", "budget": "20 J", "lesson": "", "seed": 5}


def run_python(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_command(words, folder):
    code = f"import sys; sys.argv = {words!r}; from eij_core.cli import main; main()"
    return run_python(code, folder)


@pytest.mark.long
@pytest.mark.parametrize("file", [None, KNAPSACK], ids=["by number", "by file"])
def test_command_and_snippet_make_the_same_run(tmp_path, file):
    settings = Settings(**SMALL)
    problem = ""
    if file is not None:
        found = read_instance(file, "../../my items.kp")
        settings.param.update(instance_file=found, meter="model", problem="knapsack")
        problem = found.spec
        (tmp_path / "my-items.kp").write_bytes(file)
    trial = settings.trial()
    ours = solve(trial)
    words = shlex.split(command(trial, problem))
    run_command([*words, "--json", "--quiet", "--out", "kept"], tmp_path)
    (record,) = tmp_path.glob("kept/*.parquet")
    assert load(record).rows.tobytes() == ours.rows.tobytes()
    printed = run_python(f"{snippet(trial, problem)}\nprint(result.digest)", tmp_path)
    assert printed.strip() == ours.digest


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"4 10\n10 5\n7 x\n3 3\n1 9\n", 3, 3),
        (b"4 10\n10 5\n", 3, 1),
        (b"1000000000000 5\n1 1\n", 1, 1),
        (b"1 5\nnan 1\n", 2, 1),
        (b"PK\x03\x04\0\0", 1, 5),
    ],
)
def test_a_bad_instance_is_refused_with_its_place(data, line, column):
    with pytest.raises(InstanceError) as caught:
        read_instance(data, "x.kp")
    assert (caught.value.line, caught.value.column) == (line, column)


def test_instances_have_a_size_limit():
    head = b"1 5\n1 1\n"
    read_instance(head + b" " * 1000 + b"\n", "x")
    with pytest.raises(InputError, match="5 MB"):
        read_instance(head + b"\n" * UPLOAD_BYTES, "x")


def test_a_public_server_limits_the_size_of_a_file_s_instance():
    many = b"10001 5\n" + b"1 1\n" * 10_001
    trial = Settings(lesson="", meter="model", instance_file=read_instance(many, "x")).trial()
    with pytest.raises(InputError, match="10000"):
        check_trial(trial, PUBLIC)


def test_a_file_s_name_is_only_a_label():
    found = read_instance(KNAPSACK, f"../{PAYLOAD}\u202e\0,x=1")
    assert "\u202e" not in found.name
    assert not set("/<>,") & set(found.spec.removeprefix("knapsack-file:file=").split(",")[0])


def test_a_file_replaces_the_numbered_knapsack_only(tiny_problems):
    settings = Settings(lesson="", meter="model", instance_file=read_instance(KNAPSACK, "x"))
    assert settings.trial().problem.n == 6
    settings.problem = "nk"
    assert settings.trial().is_data


def test_energy_explains_itself(tiny_trial):
    result = solve(tiny_trial)
    card = energy_card(snapshot_of_result(result))
    assert "price list" in card
    settled = {
        "imputed_share": 0.031,
        "quality": {"attributed": 7, f"imputed: {PAYLOAD}": 1},
        "band": [1.0, 9.0],
        "refusals": [["powercap", PAYLOAD]],
    }
    info = dataclasses.replace(
        result.meter, tick_ns=1_000_000, unit_uj=61.0, rel_uncertainty=2.0, domains=("package-0",)
    )
    card = energy_card(snapshot_of_result(dataclasses.replace(result, meter=info)), settled)
    for words in ("package-0", "1 ms", "61 µJ", "factor of 3", "3.1 %", "attributed 7", "1 to 9"):
        assert words in card, words
    assert "<img" not in card


def test_meters_say_why_they_are_not_alive():
    dead = CounterRow("powercap", False, "", "", 0.0, 0.0, 0.0, "", f"no such thing {PAYLOAD}")
    alive = CounterRow("cputime", True, "estimated", "cpu", 0.0, 0.0, 0.0, "×/÷ 3", "a guess")
    table = meters_table([dead, alive])
    assert "no such thing" in table
    assert "estimated" in table
    assert "<img" not in table
    shown = meter_labels(["powercap", "cputime", "model"], [dead, alive])
    assert list(shown.values()) == ["powercap", "cputime", "model"]
    assert "powercap (not alive here)" in shown


@pytest.mark.parametrize("view", [FitnessView, EijView, SelectionView, EnergyView])
def test_every_view_has_words_and_a_table(view, tiny_trial):
    snapshot = snapshot_of_result(solve(tiny_trial))
    shown = view().data(snapshot._replace(names=(PAYLOAD, "flip-5")))
    assert shown.count("<tr") >= 3
    assert "<img" not in shown
    assert "Nothing" in view().data(snapshot._replace(rows=snapshot.rows[:0]))


def test_a_downloaded_json_is_the_run(tiny_trial):
    result = solve(dataclasses.replace(tiny_trial, problem="knapsack:n=20", meter="paper"))
    data = write(result, ".json")
    assert json.loads(data)
    snapshot = uploads.read(data, "run.json")
    assert snapshot.rows.tobytes() == result.rows.tobytes()
    assert snapshot.info == result.meter
