import json
import os
import threading
from signal import SIGINT, SIGTERM

import pytest

from eij_core import Trial, solve
from eij_core.cli.shared import summaries
from eij_core.cli.shared import trials as trials_module
from eij_core.cli.shared.bars import progress_bar
from eij_core.cli.shared.options import budget_of
from eij_core.cli.shared.trials import RecordingFailed, carry_out, record_path
from eij_core.records import load
from tests.cli.conftest import TINY

KEYS = {
    "trial": None,
    "best": {"fitness", "feasible", "gap"},
    "spent": {"joules", "evaluations", "decisions", "seconds", "overshoot"},
    "operators": None,
    "meter": {"name", "provenance"},
}


def strict(line):
    def refuse(word):
        raise AssertionError(word)

    return json.loads(line, parse_constant=refuse)


def without_time(line):
    data = strict(line)
    del data["spent"]["seconds"]
    return data


def test_json_has_exactly_the_promised_keys(eij):
    code, out, err = eij("run", *TINY, "--json", "--trials", 2)
    assert (code, err) == (0, "")
    first, second = map(strict, out.splitlines())
    for key, inner in KEYS.items():
        assert inner is None or set(first[key]) == inner
    assert list(first) == list(KEYS)
    assert {"name", "applications", "evaluations", "joules"} <= set(first["operators"][0])
    assert first["best"]["gap"] is None
    assert [first["trial"]["repetition"], second["trial"]["repetition"]] == [0, 1]
    assert first["meter"] == {"name": "model", "provenance": "simulated"}


def test_json_is_the_result_of_the_trial(eij):
    code, out, _ = eij("run", *TINY, "--json", "--seed", 7, "--alpha", ".5", "--every", 1)
    data = strict(out)
    trial = Trial.from_dict(data["trial"])
    assert code == 0
    assert trial == Trial("nk:n=16,k=2", "ils", "eij:alpha=.5", "model", "3 J", seed=7, every=1)
    again = solve(trial, compiled=False)
    assert data["best"]["fitness"] == again.best.fitness
    assert data["spent"]["joules"] == again.spent.joules
    for shown, whole in zip(data["operators"], again.to_dict()["operators"], strict=True):
        assert shown == {key: whole[key] for key in shown}


def test_the_default_trial_is_the_default_trial(eij, monkeypatch):
    asked = []

    def carried_out(trial, *rest):
        asked.append(trial)
        return []

    monkeypatch.setattr("eij_core.cli.run._carried_out", carried_out)
    assert eij("run")[0] == 0
    assert asked == [Trial()] == [Trial(selector="eij-plus")]


def test_alpha_alone_asks_for_the_papers_rule(eij):
    code, out, _ = eij("run", *TINY, "--json", "--alpha", ".5")
    assert code == 0
    assert strict(out)["trial"]["selector"].startswith("eij:")


def test_tables_name_the_provenance_of_the_energy(eij):
    code, out, err = eij("run", *TINY)
    assert (code, err) == (0, "")
    for word in ("best fitness", "flip-1", "flip-5", "EI/J", "simulated, by meter model"):
        assert word in out


@pytest.mark.parametrize("trials", [3, summaries.MOST + 1])
def test_tables_of_several_trials(eij, trials):
    code, out, _ = eij("run", *TINY, "--trials", trials)
    assert code == 0
    assert f"{trials} trials" in out
    assert "±" in out
    assert "mean of the trials" in out


def test_a_known_optimum_has_a_gap(eij):
    code, out, _ = eij("run", "--problem", "knapsack:n=12", "--evaluations", 300)
    assert code == 0
    assert "gap to the optimum" in out


def test_a_trial_of_objects_has_a_table_too(capfd):
    summary = solve(Trial("nk:n=16,k=2", meter="model", budget="3 J"), compiled=False).to_dict()
    summary["trial"] = None
    summary["best"]["gap"] = None
    summaries.show([summary])
    assert "a trial of objects" in capfd.readouterr().out


def test_quiet_says_nothing(eij, tmp_path):
    assert eij("run", *TINY, "--quiet", "--out", tmp_path) == (0, "", "")
    assert len(list(tmp_path.iterdir())) == 1


def test_limits_join():
    assert str(budget_of(None, None, None)) == "1000 J"
    assert str(budget_of(None, 500, None)) == "500 evaluations"
    assert str(budget_of("2 J", 500, 3.5)) == "2 J, 500 evaluations, 3.5 s"


def test_out_keeps_the_records(eij, tmp_path):
    code, out, _ = eij(
        "run", *TINY, "--trials", 2, "--record", tmp_path / "new" / "folder", "--json"
    )
    assert code == 0
    for line in out.splitlines():
        trial = Trial.from_dict(strict(line)["trial"])
        record = load(record_path(trial, tmp_path / "new" / "folder"))
        assert record.trial == trial
        assert record.digest == solve(trial, compiled=False).digest


def test_names_of_records_are_plain(tmp_path):
    trial = Trial("nk:n=16,k=2", meter="model", budget="3 J", seed=2**127)
    path = record_path(trial, tmp_path)
    assert path.parent == tmp_path
    assert set(path.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert len(path.name) < 100


@pytest.mark.parametrize("signal", [SIGINT, SIGTERM])
def test_a_signal_keeps_what_was_recorded(eij, tmp_path, signal):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal))
    timer.start()
    endless = ["--problem", "nk:n=16,k=2", "--meter", "model", "--seconds", 60]
    code, out, err = eij("run", *endless, "--record", tmp_path, "--json")
    assert (code, out, err) == (128 + signal, "", "")
    (path,) = tmp_path.iterdir()
    record = load(path)
    assert record.reason == "interrupted"
    assert record.spent.decisions == record.rows["decision"][-1] > 0


def test_a_worker_stops_when_asked(tmp_path, monkeypatch):
    trial = Trial("nk:n=16,k=2", meter="model", budget="60 s")
    monkeypatch.setattr(trials_module, "stop_asked", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        carry_out(trial, tmp_path)
    (path,) = tmp_path.iterdir()
    assert load(path).reason == "interrupted"


def test_a_full_disk_does_not_end_the_run(eij, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eij_core.records.recorder.open_atomically", full)
    code, _, err = eij("run", *TINY, "--record", tmp_path)
    assert code == RecordingFailed.code == 74
    assert "No space left" in err


def test_progress_is_shown_on_a_terminal_alone(monkeypatch, capfd):
    with progress_bar("running") as bar:
        bar(0.5)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_bar("running") as bar:
        bar(0.5)
        bar(1.0, "almost there")
    assert capfd.readouterr().out == ""


@pytest.mark.long
def test_processes_change_nothing(eij, spawn, tmp_path):
    lines, digests = [], []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        command = ["run", *TINY, "--trials", 5, "--jobs", jobs, "--json", "--record", folder]
        out, err = eij(*command)[1:] if jobs == 1 else spawn(*command).communicate(timeout=120)
        assert err == ""
        lines.append([without_time(line) for line in out.splitlines()])
        digests.append({path.name: load(path).digest for path in folder.iterdir()})
    assert lines[0] == lines[1]
    assert [line["trial"]["repetition"] for line in lines[0]] == list(range(5))
    assert digests[0] == digests[1]
    assert len(set(digests[0].values())) == 5
