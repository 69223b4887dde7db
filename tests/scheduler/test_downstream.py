"""What takes a run takes a scheduler: records, pictures, tables, the counterfactual, a recorder."""

import re
from pathlib import Path

import numpy as np
import pytest

from eij_core import InputError, RunError, Scheduler
from eij_core.cli.counterfactual import counterfactual
from eij_core.cli.replay import replay
from eij_core.records import Recorder, RecordError, load, save
from eij_core.records.counterfactual import reschedule
from eij_core.registry import selectors

README = Path(__file__).parents[2] / "README.md"


def made(**options):
    options = {"budget": "1 J", "meter": "model", "compiled": False, "every": 1, **options}
    return Scheduler(["a", "b"], sense="min", **options)


def go_on(scheduler, steps=10**9):
    for _, step in zip(range(steps), scheduler, strict=False):
        step.gain = 1.0 if step.operator == "a" else -1.0
        step.best, step.solution = 9.0 - step.number, [step.number, 1]
    return scheduler


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_a_record_and_back(tmp_path, suffix):
    result = go_on(made()).result()
    save(result, tmp_path / f"record.{suffix}")
    record = load(tmp_path / f"record.{suffix}")
    assert record.digest == result.digest
    assert record.rows.tobytes() == result.rows.tobytes()
    assert (record.sense, record.best.fitness) == ("min", 8.0)
    assert record.best.x.tolist() == [1, 1]
    assert record.overhead_seconds == result.overhead_seconds > 0.0
    assert record.metadata["components"]["selector"] == "eij-plus"
    assert record.trial == result.trial
    assert record.metadata["key"] == result.trial.key
    assert repr(record.result()) == repr(result)


def test_the_commands_take_its_record(tmp_path, capsys):
    save(go_on(made()).result(), tmp_path / "record.json")
    replay(tmp_path / "record.json")
    assert "own loop" in capsys.readouterr().out
    counterfactual(tmp_path / "record.json", ["ucb1"])
    assert "ucb1" in capsys.readouterr().out
    with pytest.raises(RunError, match="own loop"):
        replay(tmp_path / "record.json", verify=True)


def test_a_rule_that_is_an_object(tmp_path):
    result = go_on(made(selector=selectors.make("eij"))).result()
    assert not result.trial.is_data
    with pytest.raises(InputError, match="by name"):
        result.trial.to_dict()
    save(result, tmp_path / "record.json")
    with pytest.raises(RecordError, match="made of objects"):
        _ = load(tmp_path / "record.json").trial


def test_what_is_no_bit_string_is_not_in_the_record(tmp_path):
    scheduler = made()
    scheduler.start(best=3.0, solution=[2, 0, 1])
    assert scheduler.solution == [2, 0, 1]
    save(scheduler.result(), tmp_path / "record.json")
    assert load(tmp_path / "record.json").best.x.size == 0


def test_a_record_while_it_goes_on(tmp_path):
    scheduler = made()
    scheduler.start()
    recorder = Recorder(tmp_path / "run.parquet", scheduler.run, pause=0.0)
    go_on(scheduler, 12)
    scheduler.result()
    recorder()
    growing = load(recorder.stream)
    assert growing.rows["decision"][-1] == 12
    assert growing.sense == "min"
    go_on(scheduler)
    recorder()
    assert load(recorder.path).digest == scheduler.result().digest


def test_pictures_and_tables():
    result = go_on(made()).result()
    assert result._repr_svg_().startswith("<svg")
    assert set(result.frame["operator"]) == {"", "a", "b"}
    assert result.to_dict()["sense"] == "min"


def test_a_view_takes_its_snapshot():
    from app.views.snapshot import snapshot_of_run, tally_of

    scheduler = go_on(made(), 8)
    rows = scheduler.result().rows
    snapshot = snapshot_of_run(scheduler.run, rows, tally_of(scheduler.run))
    assert snapshot.names == ("a", "b")
    assert len(snapshot.rows) == 9


def test_what_another_rule_would_have_chosen():
    result = go_on(made(selector="uniform", budget="3 J")).result()
    other = reschedule(result.rows, ("a", "b"), "eij-plus", budget=1.0)
    assert other.shares()["a"][1] > other.shares()["a"][0]


@pytest.mark.compiled  # interpreted, the rule takes longer than the Joules last
def test_the_example_of_the_readme(capsys):
    section = README.read_text("utf-8").partition("## Your own loop")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    result = names["scheduler"].result()
    assert result.spent.joules == pytest.approx(2.0, rel=0.25)
    assert result.best.fitness < 100.0
    assert np.all(np.diff(result.rows["best"][1:]) <= 0.0)
    assert result.meter.provenance in capsys.readouterr().out
