"""The compiler behind the page: its order, its end, its words; on real processes."""

import json
import subprocess
import sys
import threading

import psutil
import pytest

from app.background import warming
from app.background.warming import Warming
from app.pages.run.page import RunPage
from app.pages.run.settings import Settings
from eij_core.cli.warm import steps_of
from eij_core.locks import Lock
from tests.app import tiny
from tests.app.browsing import Watched, await_open, link, press, stage
from tests.app.browsing import serving as serving_tests
from tests.app.processes import ROOT, get, serving, until

SCRIPT = """
import json, os, pathlib, sys, time
for number, name in enumerate(("ils on knapsack", "pso on nk"), 1):
    print(json.dumps([name, number, 2]), flush=True)
    while not (pathlib.Path(__file__).parent / name).exists():
        time.sleep(0.02)
sys.exit(pathlib.Path(__file__).with_name("code").exists() and 3)
"""
"""Says what the compiler says; each step ends when a file of its name appears."""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def made(script, monkeypatch):
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(warming, "LONG", 0.0)
    monkeypatch.setattr(warming, "LOG_SECONDS", 0.0)
    started = Warming([sys.executable, str(script)])
    yield started
    if started._process is not None:
        started._process.kill()
        until(lambda: started._process.stdout.closed)


def end_step(script, name):
    (script.parent / name).touch()


def test_it_tells_what_is_being_compiled_and_when_it_is_done(made, script, capfd):
    assert made.now is None
    made.start()
    assert until(lambda: made.now) == ("ils on knapsack", 1, 2)
    end_step(script, "ils on knapsack")
    until(lambda: str(made.now) == "pso on nk, 2 of 2")
    end_step(script, "pso on nk")
    until(lambda: made.now is None)
    until(lambda: made._process.stdout.closed)
    said = []
    until(lambda: said.extend(capfd.readouterr().out.splitlines()) or len(said) == 2)
    assert said[0] == "Compiling in the background: pso on nk, 2 of 2"
    assert said[1].startswith("2 combinations are compiled")


def test_what_comes_from_the_disk_is_not_worth_a_word(made, script, monkeypatch):
    monkeypatch.setattr(warming, "LONG", 1000.0)
    made.start()
    until(lambda: made._report)
    assert made.now is None
    monkeypatch.setattr(warming, "LONG", 0.0)
    assert until(lambda: made.now).number == 1


def test_a_failure_is_said_once_and_nothing_is_started_again(made, script, caplog):
    for name in ("code", "ils on knapsack", "pso on nk"):
        end_step(script, name)
    made.start()
    process = made._process
    until(lambda: "ended at pso on nk, 2 of 2 with code 3" in caplog.text)
    made.start()
    assert made._process is process
    assert made.now is None
    assert caplog.text.count("ended") == 1


def test_where_nothing_can_be_compiled_it_is_not_started(made, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    made.start()
    assert made._process is None


def test_the_page_says_it_and_then_nothing(made, script, monkeypatch, tiny_problems):
    monkeypatch.setattr("app.pages.run.transport.shared_warming", made)
    page = RunPage(Settings(**tiny.TINY, lesson=""))
    words = page.bar._sentence
    before = words.object
    made.start()
    until(page.bar.show_warming)
    assert "Compiling in the background: ils on knapsack, 1 of 2." in words.object
    assert not page.bar.show_warming()  # it is no news any more
    for name in ("ils on knapsack", "pso on nk"):
        end_step(script, name)
    until(lambda: page.tick() and words.object == before)
    page.close()


def test_the_process_waits_for_another_and_then_reports_the_list_in_order(
    tmp_path, monkeypatch, capfd
):
    """In a thread and without its priority: the lowest gets no turn beside other tests."""
    compiled = []
    monkeypatch.setenv("EIJ_WARM_LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(warming, "end_with_parent", lambda: None)
    monkeypatch.setattr(warming, "_step_back", lambda: None)
    monkeypatch.setattr("eij_core.cli.warm.compile_trial", compiled.append)
    with Lock(tmp_path / "lock") as other:
        thread = threading.Thread(target=warming.main)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        assert capfd.readouterr().out == ""
        other.release()
        thread.join()
    steps = steps_of()
    names = [step.name for step in steps for _ in step.trials]
    reports = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert reports == [[name, i, len(names)] for i, name in enumerate(names, 1)]
    assert compiled == [trial for step in steps for trial in step.trials]


@pytest.mark.long
def test_the_process_has_the_lowest_priority():
    code = (
        "import os; from app.background.warming import _step_back as s; s(); "
        "print(os.nice(0), os.sched_getscheduler(0) == os.SCHED_IDLE)"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "19 True\n"


def warmers_of(process):
    """The compilers that a server has started."""
    below = psutil.Process(process.pid).children(recursive=True)
    return [child for child in below if "app.background.warming" in child.cmdline()]


def is_gone(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE  # its new parent may not care
    except psutil.NoSuchProcess:
        return True


@pytest.mark.long
@pytest.mark.compiled
def test_the_server_answers_first_and_its_compiler_ends_with_it(tmp_path):
    """The server is killed with -9, then the process that would start it anew."""
    cache, lock = tmp_path / "cache", tmp_path / "lock"
    env = {"NUMBA_CACHE_DIR": str(cache), "EIJ_WARM_LOCK": str(lock), "NUMBA_DISABLE_JIT": "0"}
    with Lock(lock) as held, serving("--warm", **env) as (process, port):
        assert get(port, "/app")[0] == 200
        assert not list(cache.rglob("*.*"))  # nothing is compiled
        (warmer,) = until(lambda: warmers_of(process))
        held.release()  # now it may begin
        warmer.parent().kill()
        until(lambda: is_gone(warmer))
        until(lambda: warmers_of(process))  # that of the server which was started anew
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        until(lambda: all(map(is_gone, family)))
    assert get(port, "/liveness") is None


@pytest.mark.long
@pytest.mark.parametrize(("option", "jit_off"), [("--no-warm", "0"), ("--warm", "1")])
def test_it_can_be_switched_off(option, jit_off):
    with serving(option, NUMBA_DISABLE_JIT=jit_off) as (process, port):
        assert get(port, "/app")[0] == 200
        assert warmers_of(process) == []


@pytest.mark.ui
def test_the_page_works_meanwhile(page, script):
    watched = Watched(page)
    with serving_tests(warmer=str(script)) as port:
        page.goto(f"http://127.0.0.1:{port}/app{link(pace='0')}")
        await_open(page)
        words = page.get_by_text("Compiling in the background:")
        page.get_by_text("Compiling in the background: ils on knapsack, 1 of 2.").wait_for()
        press(page, "Run")
        stage(page, "^Finished")
        end_step(script, "ils on knapsack")
        page.get_by_text("Compiling in the background: pso on nk, 2 of 2.").wait_for()
        end_step(script, "pso on nk")
        words.wait_for(state="hidden")
    watched.check()
