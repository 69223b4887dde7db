"""Campaigns that are killed, stopped, starved of disk, or started twice."""

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from eij_core.campaigns import Reader, Store, StoreFull
from eij_core.campaigns.reader import FILE
from tests.campaign.small import GRID, campaign, essence, run

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
# Interpreted: the trials are tiny, and no process waits for a compiler.
ENVIRONMENT = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
SEEDS = 100
MANY = 1500


started = []


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    while started:
        process = started.pop()
        process.kill()
        process.communicate()


def start(*arguments, **options):
    process = subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    started.append(process)
    return process


def command(*arguments, **options):
    return start("-c", "from eij_core.cli import main; main()", "campaign", *arguments, **options)


@pytest.fixture
def grid(tmp_path):
    return written(tmp_path, SEEDS)


def written(folder, seeds):
    path = folder / "grid.toml"
    path.write_text(GRID.replace("seeds = 6", f"seeds = {seeds}"))
    return path


def kill_and_resume(folder, grid, kills, jobs, dice):
    """Kill the coordinator at random moments; return the keys it had acknowledged."""
    acknowledged = []
    for _ in range(kills):
        process = start(ROOT / "tests/campaign/driver.py", folder, grid, jobs)
        line = process.stdout.readline()  # it has begun, or there is nothing left
        time.sleep(dice.uniform(0, 0.08))
        assert process.poll() is None, "it was through before it could be killed"
        process.kill()
        rest, errors = process.communicate()
        assert "Error" not in errors
        acknowledged += [key for key in [line, *rest.splitlines(True)] if key.endswith("\n")]
        with Reader(folder) as reader:
            assert {key.strip() for key in acknowledged} <= set(reader.states())
    return [key.strip() for key in acknowledged]


@pytest.mark.parametrize(
    ("kills", "jobs", "seeds"),
    [(5, 0, SEEDS), pytest.param(50, 2, MANY, marks=[pytest.mark.chaos, pytest.mark.slow])],
)
def test_kill_dash_nine(tmp_path, kills, jobs, seeds):
    """F29: after resuming each trial is there once, and all is as if nothing had happened."""
    folder, grid = tmp_path / "store", written(tmp_path, seeds)
    acknowledged = kill_and_resume(folder, grid, kills, jobs, random.Random(jobs))
    assert len(acknowledged) == len(set(acknowledged))  # none is run again
    rest = [row.key for row in run(folder, campaign(seeds=seeds))]
    assert not set(rest) & set(acknowledged)
    run(tmp_path / "undisturbed", campaign(seeds=seeds))
    with Reader(folder) as reader, Reader(tmp_path / "undisturbed") as undisturbed:
        assert essence(reader) == essence(undisturbed)


def test_workers_die_with_their_coordinator(tmp_path, grid):
    process = start(ROOT / "tests/campaign/driver.py", tmp_path / "store", grid, 2)
    process.stdout.readline()
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive


@pytest.mark.parametrize(
    ("number", "code", "jobs"), [(signal.SIGTERM, 143, 1), (signal.SIGINT, 130, 2)]
)
def test_asked_to_stop(tmp_path, number, code, jobs):
    """F30: soon, the store closed, no process or semaphore left, the command to go on printed."""
    path, folder = written(tmp_path, 3000), tmp_path / "store"
    process = command(
        "run", path, "--store", folder, "--jobs", jobs, "--quiet", start_new_session=True
    )
    deadline = time.monotonic() + 90
    while not (folder / FILE).exists() or not _count(folder):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    # The terminal sends Ctrl-C to all processes of the group, SIGTERM goes to one of them.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    # 2 s is the promise on a machine that has time; here it shares its cores with other tests.
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    (line,) = errors.splitlines()
    assert line.endswith(f"go on with: eij campaign resume --store {folder}")
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
    assert not (folder / f"{FILE}-wal").exists()
    Store(folder).close()


def _count(folder):
    with contextlib.suppress(Exception), Reader(folder) as reader:
        return len(reader.states())
    return 0


def test_the_second_campaign_in_a_folder_steps_back(tmp_path, grid):
    """F36: it exits with 75, names the first and writes nothing; a death frees the folder."""
    folder = tmp_path / "store"
    first = start(ROOT / "tests/campaign/driver.py", folder, grid)
    first.stdout.readline()
    first.send_signal(signal.SIGSTOP)
    before = sorted(path.name for path in folder.rglob("*"))
    second = command("run", grid, "--store", folder, "--jobs", 1)
    _, errors = second.communicate()
    assert second.returncode == 75
    assert f"process {first.pid} on" in errors
    assert sorted(path.name for path in folder.rglob("*")) == before
    first.kill()
    first.communicate()
    Store(folder).close()


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, 80_000))


def test_a_full_disk_stops_the_campaign(tmp_path, grid):
    """F28: exit 74, what was acknowledged is whole, and with room it goes on."""
    folder = tmp_path / "store"
    process = command("run", grid, "--store", folder, "--jobs", 1, preexec_fn=limit_file_size)
    _, errors = process.communicate()
    assert process.returncode == 74, errors
    assert "eij campaign resume" in errors
    with Reader(folder) as reader:
        done = len(reader.rows())
        assert reader.check_parts() == []
    assert StoreFull.code == 74
    assert len(run(folder, campaign(seeds=SEEDS))) == 2 * SEEDS - done
