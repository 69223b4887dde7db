"""A folder of runs: what is in it, while it changes, whatever lies in it; and one run followed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet
import pytest

from eij_core import InputError, Run, Scheduler, Trial, solve
from eij_core.records import Following, RecordError, RunFolder, load, summary
from eij_core.records.arrow import KEY
from eij_core.records.metadata import sealed
from eij_core.records.writer import is_alive, this_process
from tests.records.made import TRIAL, same

SAMPLES = Path(__file__).parent / "samples-0.1"
ENV = {**os.environ, "NUMBA_DISABLE_JIT": "1"}


def states(folder):
    folder.look()
    return {run.name: run.state for run in folder.runs}


def begun(place, decisions=5):
    """A run after a few decisions; each is written at once."""
    run = Run(TRIAL, compiled=False, record=place)
    hasten(run)
    run.advance(decisions)
    return run


def hasten(run):
    run.recorder._pause = run.recorder._due = 0.0


def test_a_run_in_one_line(tmp_path):
    folder = RunFolder(tmp_path / "none" / "yet")
    assert not folder.look()
    run = begun(folder.path)
    assert folder.look()
    (line,) = folder.runs
    assert (line.name, line.state, line.reason) == ("nk-ils-eij-0-0", "running", "")
    assert (line.problem, line.algorithm, line.selector) == ("nk", "ils", "eij")
    assert (line.best, line.joules) == (run.result().best.fitness, run.result().spent.joules)
    assert (line.provenance, line.meter, line.sense, line.seed) == ("simulated", "model", "max", 0)
    assert line.progress == pytest.approx(run.progress)
    assert abs(line.date - time.time()) < 60
    assert line.points[-1] == (line.joules, line.best)
    assert not folder.look()
    for _ in run:
        pass
    assert folder.look()
    assert (folder.runs[0].state, folder.runs[0].reason) == ("finished", run.reason)
    assert folder.runs[0].progress == 1.0
    assert folder.runs[0].points[0][0] == run.rows()["spent"][0]
    assert folder.runs[0].joules == run.result().spent.joules


def test_only_what_is_new_is_read(tmp_path, monkeypatch):
    run = begun(tmp_path)
    folder = RunFolder(tmp_path)
    folder.look()
    starts = []

    def messages(file, start):
        starts.append(start)
        return known(file, start)

    known = summary.messages
    monkeypatch.setattr(summary, "messages", messages)
    size = run.recorder.stream.stat().st_size
    run.advance(5)
    folder.look()
    folder.look()
    assert starts == [size]


def test_the_same_trial_twice_gets_another_name(tmp_path):
    first = begun(tmp_path)
    solve(TRIAL, compiled=False, record=tmp_path)
    first.stop()
    assert states(RunFolder(tmp_path)) == {
        "nk-ils-eij-0-0": "stopped",
        "nk-ils-eij-0-0-2": "finished",
    }


def test_a_run_that_an_error_ends_says_so(tmp_path):
    run = begun(tmp_path, decisions=3)
    run.loop.advance = lambda *_, **__: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run.advance(1)
    folder = RunFolder(tmp_path)
    assert states(folder) == {"nk-ils-eij-0-0": "failed"}
    assert folder.runs[0].reason == "failed: ZeroDivisionError"
    assert load(folder.path_of("nk-ils-eij-0-0")).rows.tobytes() == run.rows().tobytes()


def test_a_record_that_was_closed_too_early_does_not_run(tmp_path):
    begun(tmp_path).recorder.close()
    assert states(RunFolder(tmp_path)) == {"nk-ils-eij-0-0": "interrupted"}


KILLED = """
import os, sys
from eij_core import Run, Trial
run = Run(Trial("nk:n=16,k=2", "ils", "eij", "model", "40 J", every=1), compiled=False, record=sys.argv[1])
run.recorder._pause = run.recorder._due = 0.0
run.advance(5)
os.kill(os.getpid(), 9)
"""  # noqa: E501


@pytest.mark.long
def test_a_run_whose_process_was_killed(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], env=ENV, check=False)
    assert ended.returncode == -signal.SIGKILL
    folder = RunFolder(tmp_path)
    assert states(folder) == {"nk-ils-eij-0-0": "interrupted"}
    again = Run(TRIAL, compiled=False)
    again.advance(5)
    assert folder.runs[0].best == again.result().best.fitness
    folder.rename("nk-ils-eij-0-0", "killed")
    assert load(folder.path_of("killed")).digest == again.result().digest


def test_another_process_of_the_same_number_is_another(monkeypatch):
    me = this_process()
    assert is_alive(me)
    assert not is_alive({**me, "born": me["born"] + 1})
    assert is_alive({**me, "host": "elsewhere"}) is None
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        assert not is_alive({**me, "process": process.pid})


def test_a_run_on_another_machine_counts_while_there_is_news(tmp_path, monkeypatch):
    monkeypatch.setattr("eij_core.records.recorder.this_process",
                        lambda: {"host": "elsewhere", "process": 1, "born": 1})  # fmt: skip
    run = begun(tmp_path)
    assert states(RunFolder(tmp_path)) == {"nk-ils-eij-0-0": "running"}
    os.utime(run.recorder.stream, (time.time() - 3600,) * 2)
    assert states(RunFolder(tmp_path)) == {"nk-ils-eij-0-0": "interrupted"}


def test_what_else_may_lie_there(tmp_path):
    for name in ("run.parquet", "grid.parquet", "run.csv", "trial.toml"):
        shutil.copy(SAMPLES / name, tmp_path)
    whole = (SAMPLES / "run.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-200])
    (tmp_path / "text.parquet").write_text("hello")
    (tmp_path / "reserved.arrows").touch()
    (tmp_path / "run.parquet.tmp").write_bytes(whole)
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "foreign.parquet")
    _change(SAMPLES / "run.parquet", tmp_path / "newer.parquet", schema=99)
    _change(SAMPLES / "run.parquet", tmp_path / "no-meter.parquet", meter=None)
    folder = RunFolder(tmp_path)
    assert states(folder) == {"run": "finished", "grid": "finished"}
    old = {run.name: run for run in folder.runs}["run"]
    assert (old.selector, old.provenance, old.best) == (
        "eij",
        "simulated",
        load(tmp_path / "run.csv").best.fitness,
    )
    assert set(folder.troubles) == {"cut", "text", "foreign", "newer", "no-meter"}
    assert folder.troubles["foreign"] == "no record of EI/J: a file of another program"
    assert "newer version" in folder.troubles["newer"]
    assert folder.look() is False


def _change(source, target, **changes):
    table = pyarrow.parquet.read_table(source)
    metadata = {**json.loads(table.schema.metadata[KEY]), **changes}
    del metadata["seal"]
    text = json.dumps(sealed(metadata))
    pyarrow.parquet.write_table(table.replace_schema_metadata({KEY: text}), target)


def test_a_stream_torn_or_damaged_anywhere(tmp_path):
    run = begun(tmp_path, decisions=2)
    ends = [run.recorder.stream.stat().st_size]
    for _ in range(2):
        run.advance(2)
        ends.append(run.recorder.stream.stat().st_size)
    data = run.recorder.stream.read_bytes()
    place = tmp_path / "cut"
    place.mkdir()
    for length in range(1, len(data), 211):
        (place / "a.arrows").write_bytes(data[:length])
        folder = RunFolder(place)
        folder.look()
        if length >= ends[0]:
            assert folder.runs[0].decisions == 2 * sum(end <= length for end in ends)
        assert len(folder.runs) + len(folder.troubles) == 1
    for at in range(0, len(data), 97):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        (place / "a.arrows").write_bytes(damaged)
        folder = RunFolder(place)
        folder.look()
        assert len(folder.runs) + len(folder.troubles) == 1


def test_a_long_record_is_read_by_its_head(tmp_path, monkeypatch):
    monkeypatch.setattr("eij_core.records.arrow.BATCH", 4)
    result = solve(TRIAL, compiled=False, record=tmp_path)
    folder = RunFolder(tmp_path)
    folder.look()
    assert len(result.rows) > 8
    assert len(folder.runs[0].points) == 5  # the first four rows, and where it ended
    assert folder.runs[0].points[-1] == (result.spent.joules, result.best.fitness)


def test_names(tmp_path):
    folder = RunFolder(tmp_path)
    run = begun(tmp_path)
    solve(TRIAL, compiled=False, record=tmp_path / "second.parquet")
    folder.look()
    with pytest.raises(InputError, match="still being written"):
        folder.rename("nk-ils-eij-0-0", "mine")
    with pytest.raises(InputError, match="still being written"):
        folder.delete(["nk-ils-eij-0-0"])
    run.stop()
    folder.look()
    folder.rename("nk-ils-eij-0-0", "  My  run, 50 % ü ")
    assert [run.name for run in folder.runs] == ["second", "My run, 50 % ü"]
    for bad in ("", "../out", "a/b", ".hidden", "a\nb", "x" * 81, "second"):
        with pytest.raises(InputError):
            folder.rename("My run, 50 % ü", bad if bad != "a\nb" else "a\x07b")
    for none in ("gone", "../second", "/etc/passwd", "second.parquet"):
        with pytest.raises(InputError, match="one of the 2 runs"):
            folder.path_of(none)


def test_deleted_and_brought_back(tmp_path):
    folder = RunFolder(tmp_path)
    for name in ("a", "b", "c"):
        solve(TRIAL, compiled=False, record=tmp_path / f"{name}.parquet")
    folder.look()
    before = folder.path_of("b").read_bytes()
    moved = folder.delete(["a", "b"])
    assert set(states(folder)) == {"c"}
    solve(TRIAL, compiled=False, record=tmp_path / "a.parquet")
    folder.restore(moved)
    assert set(states(folder)) == {"a", "a-2", "b", "c"}
    assert folder.path_of("b").read_bytes() == before


def test_expiry(tmp_path):
    folder = RunFolder(tmp_path)
    for i in range(4):
        solve(TRIAL, compiled=False, record=tmp_path / f"{i}.parquet")
    running = begun(tmp_path)
    folder.delete(["0"])
    folder.expire(3600.0, 2, 1e9)
    assert set(states(folder)) == {"2", "3", running.recorder.path.stem}
    folder.expire(3600.0, 2, folder.runs[-1].bytes * 1.5)
    assert set(states(folder)) == {"3", running.recorder.path.stem}
    os.utime(folder.path_of("3"), (time.time() - 60,) * 2)
    folder.expire(30.0, 2, 1e9)
    assert set(states(folder)) == {running.recorder.path.stem}
    folder.expire(-1.0, 2, 1e9)
    assert states(folder) == {}


def test_one_run_followed_to_its_end(tmp_path):
    run = begun(tmp_path)
    following = Following(run.recorder.path)
    read = []
    while not run.done:
        assert following.look()
        assert not following.look()
        assert following.record.rows.tobytes() == run.rows().tobytes()
        assert following.record.digest == run.result().digest
        read.append(following._end)
        run.advance(7)
    assert read == sorted(set(read))
    assert following.look()
    same(following.record.result(), run.result())
    run.recorder.path.unlink()
    with pytest.raises(RecordError, match="not there any more"):
        following.look()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"record = .*a folder to write to"):
        Run(TRIAL, compiled=False, record=tmp_path / "file" / "below")


def test_a_scheduler_writes_as_its_loop_goes(tmp_path):
    scheduler = Scheduler(
        ["a", "b"], meter="model", budget="1 J", sense="min", seed=3, record=tmp_path,
        compiled=False,
    )  # fmt: skip
    hasten(scheduler.run)
    folder = RunFolder(tmp_path)
    assert states(folder) == {"own-loop-eij-plus-3-0": "running"}
    with pytest.raises(RecordError, match="only begun"):
        load(folder.path_of("own-loop-eij-plus-3-0"))
    best = 100.0
    for count, step in enumerate(scheduler):
        best = step.best = best - 1.0
        step.gain = 1.0
        if count == 20:
            scheduler.run.settle()  # as every 40 ms
            folder.look()
            record = load(folder.path_of(folder.runs[0].name))
            assert record.rows.tobytes() == scheduler.run.rows().tobytes()
            assert record.sense == "min" and record.overhead_seconds > 0
            assert folder.runs[0].best == 100.0 - count
            assert 0 < folder.runs[0].progress < 1
    assert states(folder) == {"own-loop-eij-plus-3-0": "finished"}
    record = load(folder.path_of(folder.runs[0].name))
    assert (record.digest, record.trial) == (scheduler.result().digest, scheduler.trial)


def test_a_resumed_scheduler_has_the_rows_before(tmp_path):
    first = Scheduler(["a", "b"], meter="model", budget="1 J", compiled=False, every=1)
    for step in first:
        step.gain = 1.0
        if first.progress > 0.5:
            break
    first.save(tmp_path / "at.npz")
    second = Scheduler.resume(tmp_path / "at.npz", compiled=False, record=tmp_path / "a.parquet")
    for step in second:
        step.gain = 1.0
    record = load(tmp_path / "a.parquet")
    assert len(record.rows) == record.spent.decisions + 1 > len(first.run.rows())


@pytest.mark.parametrize("objects", [False, True])
def test_the_budget_is_known_even_of_objects(tmp_path, objects):
    made = Trial(TRIAL.make("problem") if objects else TRIAL.problem, meter="model", budget="40 J")
    run = Run(made, compiled=False, record=tmp_path)
    folder = RunFolder(tmp_path)
    folder.look()
    assert folder.runs[0].progress == pytest.approx(run.progress, abs=1e-3)
    assert folder.runs[0].seed == (None if objects else 0)
