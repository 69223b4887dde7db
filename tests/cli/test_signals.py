import os
import signal
import threading
import time

import pytest

from eij_core.cli import signals as module
from eij_core.cli.signals import Interrupts
from eij_core.recorder import load

ENDLESS = ["--problem", "nk:n=16,k=2", "--meter", "model", "--seconds", "100", "--json"]


def hit(number=signal.SIGINT):
    os.kill(os.getpid(), number)


def test_at_once_where_nothing_is_held():
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt), interrupts.installed():
        hit()
        pytest.fail("not interrupted")
    assert interrupts.code == 130


def test_after_the_block_that_is_held():
    interrupts = Interrupts()
    finished = []
    with pytest.raises(KeyboardInterrupt), interrupts.installed():
        with interrupts.held():
            hit(signal.SIGTERM)
            finished.append(True)
        pytest.fail("not interrupted")
    assert finished
    assert interrupts.code == 143


def test_a_block_that_takes_too_long_is_cut_off(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt), interrupts.installed(), interrupts.held():
        hit()
        time.sleep(30)
        pytest.fail("not cut off")


def test_the_second_signal_does_not_wait():
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt), interrupts.installed(), interrupts.held():
        hit()
        hit()
        pytest.fail("not interrupted")


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts().installed():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_other_threads_are_left_alone():
    seen = []

    def work():
        with Interrupts().installed():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_where_there_is_no_alarm(monkeypatch):
    monkeypatch.delattr(signal, "SIGALRM")
    with Interrupts().installed():
        pass


def await_files(folder, count, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if folder.exists() and len(list(folder.glob("*.parquet"))) >= count:
            return
        time.sleep(0.05)
    pytest.fail(f"fewer than {count} records after {seconds} s")


@pytest.mark.parametrize(
    ("number", "extra", "code"),
    [
        (signal.SIGTERM, [], 143),
        (signal.SIGINT, ["--trials", "4", "--jobs", "2"], 130),
        (signal.SIGTERM, ["--trials", "4", "--jobs", "2"], 143),
    ],
)
def test_a_real_process_ends_in_time(spawn, tmp_path, number, extra, code):
    process = spawn("run", *ENDLESS, "--out", tmp_path, *extra, start_new_session=True)
    await_files(tmp_path, 2 if extra else 1)
    started = time.monotonic()
    # The terminal sends Ctrl-C to all processes of the group, SIGTERM goes to one of them.
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=20)
    # Two seconds are the promise; other tests run at the same time.
    assert time.monotonic() - started < 6
    assert (process.returncode, out, err) == (code, "", "")
    for path in tmp_path.glob("*.parquet"):
        assert load(path).metadata["reason"] == "interrupted"
    await_group_gone(process.pid)


def await_group_gone(group, seconds=10):
    """Make sure that no worker outlives the command."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("processes are left over")


@pytest.mark.chaos
def test_workers_do_not_outlive_a_killed_parent(spawn, tmp_path):
    options = ["--out", tmp_path, "--trials", "4", "--jobs", "2"]
    process = spawn("run", *ENDLESS, *options, start_new_session=True)
    await_files(tmp_path, 2)
    process.kill()
    process.wait()
    await_group_gone(process.pid)
    for path in tmp_path.glob("*.parquet"):
        assert load(path).metadata["reason"] == "running"
