"""The one lock helper: who holds it is named, and a dead process holds nothing."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from eij_core.locks import Lock, LockBusy

HOLDER = """
import sys, time
from pathlib import Path
from eij_core.locks import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.lock"


@pytest.fixture
def holder(path):
    """Another process that holds the lock."""
    command = [sys.executable, "-c", HOLDER, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_holder_is_named(path, holder):
    for _ in range(2):  # a refused contender leaves the name as it is
        with pytest.raises(LockBusy, match=f"process {holder.pid} on .* holds {path}"):
            Lock(path)


def test_a_killed_process_holds_nothing(path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with Lock(path):
        assert f"process {os.getpid()} on" in path.read_text()


def test_waiting_ends_when_the_holder_releases(path):
    first, order = Lock(path), []

    def wait():
        with Lock(path, wait=True):
            order.append("second")

    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(0.05)
    order.append("first")
    first.release()
    first.release()
    waiting.join(10)
    assert order == ["first", "second"]


def test_another_users_file_is_locked_and_left_as_it_is(path, monkeypatch):
    path.write_text("process 1 on there\n")
    real = os.open

    def deny_writing(name, flags, *mode):
        if flags & os.O_RDWR:
            raise PermissionError
        return real(name, flags, *mode)

    monkeypatch.setattr(os, "open", deny_writing)
    with Lock(path):
        assert path.read_text() == "process 1 on there\n"
        with pytest.raises(LockBusy, match="process 1 on there holds"):
            Lock(path)
    with pytest.raises(PermissionError):
        Lock(path.with_name("none"))


def test_a_link_is_refused(path):
    path.symlink_to(path.with_name("elsewhere"))
    with pytest.raises(OSError, match="symbolic links"):
        Lock(path)
