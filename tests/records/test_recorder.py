"""Records written while a run goes on, on disks that are full, too."""

import logging
import os
import subprocess
import sys

import pytest

from eij_core import InputError, Run
from eij_core.recorder import Recorder, load
from tests.records.made import TRIAL, same


def test_the_recorder_writes_while_the_run_goes_on(path):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(path, run, pause=0.0)
    for block in run:
        recorder(block)
        recorder._due = 0.0
        record = load(path)
        assert record.spent.decisions == run.ledger.decisions[0]
    assert recorder.error is None
    same(load(path).result(), run.result())
    before = path.stat().st_mtime_ns
    recorder.close()
    assert path.stat().st_mtime_ns == before


def test_the_recorder_waits_between_writings(tmp_path):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(tmp_path / "a.csv", run, pause=60.0)
    recorder(run.advance(1))
    assert not recorder.path.exists()
    run.stop("stopped")
    recorder.close()
    assert load(recorder.path).metadata["reason"] == "stopped"


def test_nothing_is_written_before_there_are_rows(tmp_path, monkeypatch):
    run = Run(TRIAL, compiled=False)
    monkeypatch.setattr(run, "rows", lambda: run.trace.rows(0))
    recorder = Recorder(tmp_path / "a.csv", run)
    recorder.close()
    assert not recorder.path.exists()


def test_a_bad_name_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="record"):
        Recorder(tmp_path / "a.txt", Run(TRIAL, compiled=False))


def test_a_full_disk(tmp_path, monkeypatch, caplog):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(tmp_path / "a.parquet", run, pause=0.0)
    recorder(run.advance(5))
    prefix = load(recorder.path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr("eij_core.record_data.write_durably", full)
        for _ in range(3):
            recorder._due = 0.0
            recorder(run.advance(5))
    assert recorder.error.errno == 28
    assert caplog.text.count("the run goes on") == 1
    assert load(recorder.path).digest == prefix.digest
    for block in run:
        recorder(block)
    assert recorder.error is None
    same(load(recorder.path).result(), run.result())


def test_a_disk_that_is_really_full(tmp_path):
    code = (
        "import resource, signal, sys; from eij_core import Run, Trial\n"
        "from eij_core.recorder import Recorder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "run = Run(Trial('nk:n=16,k=2', 'ils', 'eij', 'model', '300 J', every=1), compiled=False)\n"
        "recorder = Recorder(sys.argv[1], run, pause=0.0)\n"
        "recorder(run.advance(20))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "for block in run: recorder(block)\n"
        "recorder.close(); print(run.reason, recorder.error.errno)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.csv")], capture_output=True, text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=True,
    )  # fmt: skip
    assert ended.stdout == "joules spent 27\n"
    assert "the run goes on" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert load(tmp_path / "a.csv").metadata["reason"] == "running"
