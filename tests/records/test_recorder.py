"""Records written while a run goes on: read meanwhile, after `kill -9`, and on a full disk."""

import errno
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eij_core import InputError, Run
from eij_core.drive import Lane, drive
from eij_core.records import Recorder, RecordError, load
from tests.records.made import TRIAL, same

ENV = {**os.environ, "NUMBA_DISABLE_JIT": "1"}


def begun(folder, decisions=5, pause=0.0):
    """A run after a few decisions, and its recorder."""
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(folder / "a.parquet", run, pause=pause)
    run.advance(decisions)
    recorder()
    return run, recorder


def test_the_record_grows_with_the_run(tmp_path):
    run, recorder = begun(tmp_path)
    while not run.done:
        record = load(recorder.stream)
        assert record.rows.tobytes() == run.rows().tobytes()
        assert record.reason == "unfinished"
        assert record.notes == ()
        now = run.result()
        assert record.digest == now.digest
        assert record.spent.decisions == now.spent.decisions
        assert record.operators[0].histogram.sum() == now.operators[0].applications
        run.advance(5)
        recorder()
    assert recorder.error is None
    same(load(recorder.path).result(), run.result())
    assert list(tmp_path.iterdir()) == [recorder.path]
    before = recorder.path.stat().st_mtime_ns
    recorder.close()
    assert recorder.path.stat().st_mtime_ns == before


def test_changes_on_the_way_are_in_the_stream(tmp_path):
    run, recorder = begun(tmp_path)
    run.adjust(alpha=0.5)
    run.advance(5)
    recorder()
    assert load(recorder.stream).result().changes == run.result().changes != ()


def test_the_driver_calls_the_recorder(tmp_path):
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(tmp_path / "a.parquet", run)
    drive([Lane(TRIAL, run=run)], after=recorder)
    same(load(recorder.path).result(), run.result())


def test_the_recorder_waits_between_writes(tmp_path):
    seconds = [0.0]
    run = Run(TRIAL, compiled=False)
    recorder = Recorder(tmp_path / "a.parquet", run, pause=2.0, clock=lambda: seconds[0])
    for now, rows in ((1.9, 1), (2.0, 11), (3.9, 11), (4.0, 21)):
        run.advance(5)
        seconds[0] = now
        recorder()
        assert len(load(recorder.stream).rows) == rows


def test_closed_before_the_end(tmp_path):
    run, recorder = begun(tmp_path, pause=60.0)
    recorder.close()
    record = load(recorder.path)
    assert record.reason == "unfinished"
    assert len(record.rows) == 6
    run.stop("stopped")
    other = Recorder(tmp_path / "b.parquet", run)
    other.close()
    assert load(other.path).reason == "stopped"


def test_a_stream_without_rows(tmp_path):
    run = Run(TRIAL, compiled=False)
    # As with a real counter whose first window is open: its rows are held back.
    run.charges.held, run._recorded = run._recorded, []
    recorder = Recorder(tmp_path / "a.parquet", run)
    recorder.close()
    assert not recorder.path.exists()
    with pytest.raises(RecordError, match="only begun"):
        load(recorder.stream)


def test_a_bad_name_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.parquet"):
        Recorder(tmp_path / "a.csv", Run(TRIAL, compiled=False))


def test_a_stream_cut_anywhere(tmp_path):
    run, recorder = begun(tmp_path)
    ends = [recorder.stream.stat().st_size]
    for _ in range(3):
        run.advance(2)
        recorder()
        ends.append(recorder.stream.stat().st_size)
    data = recorder.stream.read_bytes()
    cut = tmp_path / "cut"
    for length in {*range(ends[0], len(data), 97), *ends, *(end + 1 for end in ends[:-1])}:
        cut.write_bytes(data[:length])
        record = load(cut)
        whole = sum(end <= length for end in ends)
        assert len(record.rows) == 4 + 2 * whole
        assert record.rows.tobytes() == run.rows()[: len(record.rows)].tobytes()
        assert (record.notes == ()) == (length in ends)
    cut.write_bytes(data[: ends[-2] + 50])
    assert load(cut).notes[0].startswith("the last 50 bytes are not whole")
    for length in range(1, ends[0] // 2, 101):
        cut.write_bytes(data[:length])
        with pytest.raises(RecordError):
            load(cut)


def test_flipped_bits_in_a_stream_are_noticed(tmp_path):
    run, recorder = begun(tmp_path)
    run.advance(5)
    recorder()
    truth = load(recorder.stream)
    original = recorder.stream.read_bytes()
    for at in range(3, 8 * len(original), 8 * 61 + 1):
        data = bytearray(original)
        data[at // 8] ^= 1 << (at % 8)
        recorder.stream.write_bytes(bytes(data))
        try:
            record = load(recorder.stream)
        except RecordError:
            continue
        # As tables: nan is nan, whatever its bits.
        assert record.frame.equals(truth.frame[: len(record.rows)])
        assert record.notes or record.metadata == truth.metadata


def test_a_full_disk(tmp_path, monkeypatch, caplog):
    run, recorder = begun(tmp_path)
    before = recorder.stream.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(recorder, "_write", full)
        for _ in range(3):
            run.advance(5)
            recorder()
    assert recorder.error.errno == 28
    assert caplog.text.count("the run goes on") == 1
    assert recorder.stream.read_bytes() == before
    while not run.done:
        next(run)
        recorder()
    assert recorder.error is None
    same(load(recorder.path).result(), run.result())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_from_the_start(tmp_path):
    for name in ("a.arrows", "a.parquet.tmp"):
        (tmp_path / name).symlink_to("/dev/full")
    run, recorder = begun(tmp_path)
    assert recorder.error.errno == errno.ENOSPC
    run.stop()
    recorder()
    assert recorder.error.errno == errno.ENOSPC
    (tmp_path / "a.arrows").unlink()
    recorder.close()  # there is room again
    assert recorder.error is None
    same(load(recorder.path).result(), run.result())


@pytest.mark.long
def test_a_disk_that_is_really_full(tmp_path):
    code = (
        "import resource, signal, sys; from eij_core import Run, Trial\n"
        "from eij_core.records import Recorder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "run = Run(Trial('nk:n=16,k=2', 'ils', 'eij', 'model', '300 J', every=1), compiled=False)\n"
        "recorder = Recorder(sys.argv[1], run, pause=0.0)\n"
        "run.advance(20); recorder()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "while not run.done: run.advance(10); recorder()\n"
        "recorder.close(); print(run.reason, recorder.error.errno)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.parquet")], capture_output=True, text=True,
        env=ENV, check=True,
    )  # fmt: skip
    assert ended.stdout == "joules spent 27\n"
    assert "the run goes on" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.arrows"]
    record = load(tmp_path / "a.arrows")
    assert record.notes == ()
    assert len(record.rows) > 20


ENDLESS = """
import sys
from eij_core import Run, Trial
from eij_core.records import Recorder
run = Run(Trial("nk:n=16,k=2", "ils", "uniform", "model", "1000 s", every=1), compiled=False)
recorder = Recorder(sys.argv[1], run, pause=0.0)
while True:
    next(run)
    recorder()
"""


@pytest.mark.long
def test_read_while_another_process_writes_and_after_it_was_killed(tmp_path):
    stream = tmp_path / "a.arrows"
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "a.parquet")]
    process = subprocess.Popen(command, env=ENV)
    try:
        seen = []
        deadline = time.monotonic() + 60
        while len(set(seen)) < 8:
            assert time.monotonic() < deadline and process.poll() is None
            if stream.exists() and stream.stat().st_size:
                try:
                    seen.append(len(load(stream).rows))
                except RecordError:
                    assert not seen  # its first bytes were being written
    finally:
        process.kill()
        process.wait()
    assert seen == sorted(seen)
    record = load(stream)
    assert len(record.rows) >= seen[-1]
    assert record.reason == "unfinished"
    again = Run(record.trial, compiled=False)
    again.advance(record.spent.decisions)
    assert again.result().digest == record.digest
    assert [path.name for path in tmp_path.iterdir()] == ["a.arrows"]
