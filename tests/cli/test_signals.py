import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from eij_core.cli.shared import signals as module
from eij_core.cli.shared.signals import Interrupts
from eij_core.records import load

pytestmark = pytest.mark.long

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


def test_an_interruption_while_commands_are_imported_is_one_line():
    # The first thing that the commands import from the package sends Ctrl-C.
    hook = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it
class Finder:
    def find_spec(self, name, *_):
        if name == "eij_core.cli.entry":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from eij_core.cli import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", hook], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "eij: interrupted\n")


def await_files(folder, count, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if folder.exists() and len(list(folder.glob("*.arrows"))) >= count:
            return
        time.sleep(0.05)
    pytest.fail(f"fewer than {count} records after {seconds} s")


WAYS_TO_END = pytest.mark.parametrize(
    ("number", "extra", "code"),
    [
        (signal.SIGTERM, [], 143),
        (signal.SIGINT, ["--trials", "4", "--jobs", "2"], 130),
        (signal.SIGTERM, ["--trials", "4", "--jobs", "2"], 143),
    ],
)


def end(process, number):
    """Signal a command as a terminal does (Ctrl-C to its group) or as `kill` does (to it alone)."""
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    return process.communicate(timeout=60)


@WAYS_TO_END
def test_a_real_process_ends_and_keeps_its_records(spawn, tmp_path, number, extra, code):
    process = spawn("run", *ENDLESS, "--record", tmp_path, *extra, start_new_session=True)
    await_files(tmp_path, 2 if extra else 1)
    out, err = end(process, number)
    assert (process.returncode, out, err) == (code, "", "")
    assert not list(tmp_path.glob("*.arrows"))
    for path in tmp_path.iterdir():
        assert load(path).reason == "interrupted"
    await_group_gone(process.pid)


@pytest.mark.chaos  # the promise is in seconds, and a machine that is busy with tests is late
@WAYS_TO_END
def test_a_real_process_ends_within_two_seconds(spawn, tmp_path, number, extra, code):
    process = spawn("run", *ENDLESS, "--record", tmp_path, *extra, start_new_session=True)
    await_files(tmp_path, 2 if extra else 1)
    started = time.monotonic()
    end(process, number)
    assert time.monotonic() - started < 2.0
    assert process.returncode == code


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
    options = ["--record", tmp_path, "--trials", "4", "--jobs", "2"]
    process = spawn("run", *ENDLESS, *options, start_new_session=True)
    await_files(tmp_path, 2)
    process.kill()
    process.wait()
    await_group_gone(process.pid)
    for path in tmp_path.iterdir():
        assert load(path).reason == "unfinished"
