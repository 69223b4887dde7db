"""A run begins interpreted and goes on compiled; what it gives is the same to the last bit."""

import os
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

from eij_core import Run, Trial, solve
from eij_core.engine import execution
from eij_core.engine.compiled import background, entries
from eij_core.engine.compiled.layout import CannotCompile
from eij_core.engine.kernel import kernel
from tests.core.components import OneMax, Sleepy
from tests.core.processes import ROOT, python

TRIAL = Trial("knapsack:n=12,r=50", "ils:steps=3", "eij", "paper", "400 evaluations", seed=5)
MINE = Trial(OneMax(12), "ils:steps=3", "eij", "model", "400 evaluations", seed=5)


@pytest.fixture
def impatient(compiler, monkeypatch):
    """The compiler is asked for after the first chunk, of one decision."""
    monkeypatch.setattr(execution, "PATIENCE", 0.0)
    monkeypatch.setattr(execution, "COMPILING", 0.0)
    monkeypatch.setattr(execution, "_interpreted_seconds", execution.defaultdict(float))


def to_the_end(run):
    for _ in run:
        pass
    return run.result()


def test_a_run_begins_interpreted_and_goes_on_compiled(impatient):
    run = Run(MINE, compiled=None)
    assert not run.loop.compiled
    run.advance(1)
    assert run.compiling
    while run.compiling:
        time.sleep(0.01)
    assert run.loop.compiled
    taken = int(run.ledger.decisions[0])
    assert 0 < taken < 100
    assert to_the_end(run).digest == solve(MINE, compiled=False).digest
    assert run.ledger.decisions[0] > taken


def test_what_was_compiled_before_is_used_from_the_first_decision(impatient):
    first = Run(TRIAL, compiled=True)
    assert first.loop.compiled
    again = Run(TRIAL, compiled=None)
    assert again.loop.compiled
    assert to_the_end(first).digest == to_the_end(again).digest


def test_a_short_run_never_asks_for_the_compiler(compiler, monkeypatch):
    monkeypatch.setattr(execution, "compile_later", None)  # would be an error
    result = solve(Trial("nk:n=12,k=2", "ils:steps=3", "eij", "model", "30 evaluations"))
    assert result.spent.evaluations >= 30


def test_a_run_that_is_nearly_over_does_not_ask_for_it(compiler, monkeypatch):
    """Compiling takes seconds: what would be over sooner is not compiled, however long it took."""
    asked = []
    monkeypatch.setattr(execution, "compile_later", lambda task, **_: asked.append(task))
    monkeypatch.setattr(execution, "PATIENCE", 0.0)
    run = Run(TRIAL, compiled=None)
    limits = (run.selector, run.limits, 1)
    run.loop.advance(*limits, chunk=1, seconds_left=execution.COMPILING / 2)
    assert asked == []
    run.loop.advance(*limits, chunk=1, seconds_left=execution.COMPILING)
    assert len(asked) == 1


def test_many_short_runs_of_the_same_ask_for_it_together(compiler, monkeypatch):
    asked = []
    monkeypatch.setattr(execution, "compile_later", lambda task, **_: asked.append(task))
    monkeypatch.setattr(execution, "_interpreted_seconds", execution.defaultdict(float))
    monkeypatch.setattr(execution, "PATIENCE", 0.02)
    monkeypatch.setattr(execution, "COMPILING", 0.0)
    runs = 0
    while not asked and runs < 500:
        Run(TRIAL, compiled=None).advance(5)
        runs += 1
    assert 1 < runs < 500


def test_an_interpreted_run_looks_up_between_chunks_of_a_long_call(impatient):
    """`advance(10**9)` goes over too, without waiting for its end."""
    trial = Trial(OneMax(10), "ils:steps=3", "uniform", "model", "2000000 evaluations")
    run = Run(trial, compiled=None)
    run.advance(10**9)
    assert run.done
    assert run.loop.compiled


@pytest.mark.parametrize("compiled", [None, True])
def test_what_numba_refuses_runs_interpreted(impatient, caplog, compiled):
    trial = Trial(Sleepy(10), "ils:steps=3", "uniform", "model", "1000000 evaluations")
    run = Run(trial, compiled=compiled)
    while "runs interpreted" not in caplog.text:
        assert not run.advance(1).done
    run.advance(3)
    assert not run.loop.compiled
    assert not run.compiling
    expected = Run(trial, compiled=False)
    expected.advance(int(run.ledger.decisions[0]))
    assert run.ledger.joules[0] == expected.ledger.joules[0]


@kernel
class Listed(NamedTuple):
    """A problem with a field that compiled code does not take."""

    n: int
    weights: list

    def fitness(self, x):
        return float(sum(w * v for w, v in zip(self.weights, x, strict=True)))


@pytest.mark.parametrize("compiled", [None, True])
def test_a_field_that_compiled_code_does_not_take(impatient, caplog, compiled):
    trial = Trial(Listed(6, [1] * 6), "ils:steps=3", "uniform", "model", "60 evaluations")
    run = Run(trial, compiled=compiled)
    assert "not [1, 1, 1, 1, 1, 1]: this trial runs interpreted" in caplog.text
    assert to_the_end(run).best.fitness == 6.0


def test_a_refusal_of_our_own_components_is_an_error(impatient, monkeypatch):
    def refuse(function, frame):
        raise CannotCompile("cannot")

    monkeypatch.setattr("eij_core.engine.compiled.compiler.compile_function", refuse)
    with pytest.raises(CannotCompile):
        Run(TRIAL, compiled=True)


def test_a_parameter_of_another_type_is_compiled_for(impatient):
    run = Run(TRIAL, compiled=True)
    run.advance(3)
    run.selector = run.selector._replace(alpha=1)  # was a float
    assert run.advance(3).decisions == 3


def test_a_slow_start_is_compiled_for_the_next_run(impatient, monkeypatch):
    monkeypatch.setattr(execution, "SLOW_START", 0.0)
    monkeypatch.setattr(execution, "PATIENCE", 1e9)
    trial = Trial(OneMax(12), "ssga:population=6", "static", "model", "10 evaluations")
    first = Run(trial, compiled=None)
    frame = execution.Start(first.algorithm, first.problem, first.streams.moves)
    background.compile_later(lambda: None, urgent=False).result(timeout=60)  # comes after it
    assert entries.find_entry(execution.start, frame)
    again = Run(trial, compiled=None)
    assert all(map(np.array_equal, first.state, again.state))


def test_urgent_tasks_come_first():
    gate, order = threading.Event(), []
    background.compile_later(gate.wait)
    background.compile_later(lambda: order.append("later"), urgent=False)
    last = background.compile_later(lambda: order.append("urgent"))
    end = background.compile_later(lambda: order.append("last"), urgent=False)
    gate.set()
    end.result(10)
    assert last.done()
    assert order == ["urgent", "later", "last"]


def test_an_error_of_a_task_is_its_own():
    failed = background.compile_later(lambda: 1 / 0)
    assert isinstance(failed.exception(10), ZeroDivisionError)
    assert background.compile_later(lambda: 7).result(10) == 7


LEAVE = """
import time
from eij_core import Run, Trial
from eij_core.engine import execution
execution.PATIENCE = execution.COMPILING = 0.0
run = Run(Trial("nk:n=30,k=4", "ssga", "eij-plus", "model", "1 MJ"))
next(run)
assert run.compiling
time.sleep({seconds})
"""


@pytest.mark.compiled
@pytest.mark.parametrize("seconds", [0.0, 1.6, 2.2, 3.0])
def test_a_process_ends_while_the_compiler_is_at_work(tmp_path, seconds):
    """Whatever the compiler was doing, in Python or in LLVM, the process ends, and well."""
    code = LEAVE.format(seconds=seconds)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, timeout=60, capture_output=True, check=False,
        env={**os.environ, "EIJ_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.compiled
def test_a_warm_run_imports_no_compiler(tmp_path):
    code = """
import json, sys
from eij_core import Trial, solve
digests = [solve(Trial("nk:n=20,k=2", a, "eij-plus", "model", "5 J"), compiled={compiled}).digest
           for a in ("ils", "ssga:population=9", "pso:swarm=5")]
print(json.dumps([digests, "numba" in sys.modules]))
"""
    here = {"EIJ_CACHE_DIR": str(tmp_path)}
    cold, with_numba = python(code.format(compiled=True), **here)
    warm, without_numba = python(code.format(compiled=None), **here)
    assert warm == cold
    assert (with_numba, without_numba) == (True, False)
