"""Who may use a scheduler: threads, tasks, forked processes."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from eij_core import RunError, Scheduler
from eij_core.meters.counters.cputime import CpuTimeCounter
from eij_core.meters.settlement.counted import Counted
from tests.meters.virtual import Machine, Scripted


def test_threads_share_a_price_list():
    scheduler = Scheduler(
        ["a", "b", "c"], budget="400 evaluations", meter="model", compiled=False, every=1
    )

    def work(_):
        steps = 0
        for step in scheduler:
            step.gain = 1.0
            steps += 1
        return steps

    with ThreadPoolExecutor(6) as pool:
        steps = sum(pool.map(work, range(6)))
    result = scheduler.result()
    # Steps that were open when the last evaluation was spent are booked, too.
    assert 400 <= steps <= 405
    assert result.spent.decisions == result.spent.evaluations == steps
    assert result.rows["decision"].tolist() == list(range(steps + 1))
    assert result.rows["applications"][-1].sum() == steps
    assert result.reason == "evaluations spent"


@pytest.mark.compiled
def test_threads_share_machine_code():
    scheduler = Scheduler(["a", "b"], budget="20000 evaluations", meter="model", compiled=True)

    def work():
        for step in scheduler:
            step.gain = 1.0

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = scheduler.result()
    assert 20_000 <= result.spent.decisions <= 20_003
    assert sum(total.applications for total in result.operators) == result.spent.decisions


def test_tasks_have_steps_open_at_once():
    scheduler = Scheduler(["a", "b"], budget="30 evaluations", meter="told", compiled=False)
    most = 0

    async def work():
        nonlocal most
        while step := scheduler.ask():
            most = max(most, len(scheduler._open))
            await asyncio.sleep(0)
            scheduler.tell(step, 1.0, joules=0.5)

    async def main():
        await asyncio.gather(*(work() for _ in range(4)))

    asyncio.run(main())
    assert most == 4
    assert scheduler.result().spent.joules == 0.5 * scheduler.result().spent.decisions


def test_a_counter_takes_one_step_at_a_time_in_one_thread():
    scheduler = Scheduler(["a", "b"], budget="1 kJ", meter=CpuTimeCounter(10.0), compiled=False)
    step = scheduler.ask()
    with pytest.raises(RunError, match="still open"):
        scheduler.ask()
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(RunError, match="another thread"):
            pool.submit(scheduler.tell, step, 1.0).result()
        with pytest.raises(RunError, match="another thread"):
            pool.submit(scheduler.ask).result()
        assert pool.submit(scheduler.result).result().reason == "running"
        assert pool.submit(scheduler.belief).result().keys() == {"a", "b"}
    scheduler.tell(step, 1.0)
    assert scheduler.result().spent.decisions == 1
    scheduler.stop()


def test_the_thread_is_that_of_the_first_step():
    machine = Machine()
    meter = Counted(Scripted(machine), clocks=machine)
    scheduler = Scheduler(["a"], budget="1 kJ", meter=meter, compiled=False)
    scheduler.result()
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(scheduler.ask).result()
        pool.submit(scheduler.tell, step, 1.0).result()
    with pytest.raises(RunError, match="another thread"):
        scheduler.ask()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_refused():
    scheduler = Scheduler(["a", "b"], budget="1 J", meter="model", compiled=False)
    step = scheduler.ask()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        refused = []
        for call in (scheduler.ask, lambda: scheduler.tell(step, 1.0), scheduler.result):
            try:
                call()
            except RunError as error:
                refused.append("fork" in str(error))
        os.write(writer, bytes(refused))
        os._exit(0)
    os.close(writer)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 10) == bytes([True] * 3)
    os.close(reader)
    scheduler.tell(step, 1.0)
    assert scheduler.result().spent.decisions == 1
