"""Long runs: other threads stay alive, chunks are short, memory stays flat."""

import threading
import time

import numpy as np
import psutil
import pytest

from eij_core import Run, Trial

pytestmark = pytest.mark.compiled


def endless(algorithm="ils", **changes):
    return Run(Trial("knapsack", algorithm, "eij", "paper", "1e15 J", **changes))


def test_the_loop_runs_without_the_gil():
    """While one thread is inside a single call of the loop, another one goes on."""
    run = endless()
    run.advance(1000)
    ticks = []
    thread = threading.Thread(target=run.advance, args=(2_000_000,))
    thread.start()
    while thread.is_alive():
        ticks.append(time.monotonic())
        time.sleep(0.002)
    assert run.ledger.decisions[0] == 2_001_000
    inside = ticks[-1] - ticks[0]
    assert inside > 0.1, "too short a call to tell"
    assert np.median(np.diff(ticks)) < inside / 4
    assert len(ticks) > 10


@pytest.mark.parametrize("algorithm", ["ssga", "ils"])
def test_chunks_are_short(algorithm):
    """In time on the CPU, which a busy machine does not stretch."""
    run = endless(algorithm)
    taken = []
    for _ in range(12):
        began = time.thread_time()
        block = next(run)
        taken.append(time.thread_time() - began)
    assert block.decisions > 100
    assert np.median(taken[3:]) < 0.1


def test_memory_is_flat_in_the_length_of_a_run():
    run = endless("ssga", points=1000)
    run.advance(50_000)
    process = psutil.Process()
    before, rows = process.memory_info().rss, len(run.rows())
    for _ in range(20):
        run.advance(100_000)
    assert run.ledger.decisions[0] == 2_050_000
    assert len(run.rows()) - rows <= 1002
    assert process.memory_info().rss - before < 8_000_000
