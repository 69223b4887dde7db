"""How quick campaigns are: trials per second, parallel efficiency, the store's share.

`python -m tests.benchmarks.campaign [--trials N]`. Kernels are compiled and workers are started
before the clock runs; every executor does the same trials, which must come out the same.

Two kinds of efficiency are printed. By the clock: what one has to wait, tails and idle workers
included; it means something on a machine that does nothing else. By the processor: the processor
seconds of the same trials, coordinator and workers together; other people's load hardly moves it.
The store's share is counted in both ways too; by the clock it includes waiting for the disk, during
which workers go on.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from rich.console import Console
from rich.table import Table

from eij_core.campaigns import Campaign, Dask, Inline, Processes, Store, run_campaign
from eij_core.campaigns.preparation import prepare

EFFICIENCY, STORE = 0.85, 0.02


class Measured(NamedTuple):
    """One executor's way through all trials."""

    workers: int
    digests: dict
    seconds: float
    cpu: float
    """Processor seconds of this process and all below it."""
    store_seconds: float
    store_cpu: float

    @property
    def shares(self):
        """The store's, by the clock and by the processor."""
        return self.store_seconds / (self.seconds * self.workers), self.store_cpu / self.cpu


class Timed(Store):
    """Also counts the processor seconds of writing."""

    cpu = 0.0

    def put(self, rows, part=b""):
        started = time.thread_time()
        super().put(rows, part)
        self.cpu += time.thread_time() - started


def plan(seeds):
    """A third of the paper's experiment, at its budgets."""
    grid = {
        "problems": ["knapsack", "nk"],
        "algorithms": ["ssga", "pso", "ils"],
        "selectors": ["eij"],
        "meter": "paper",
        "budget": "1 kJ",
        "points": 100,
    }
    return Campaign.from_dict({**grid, "seeds": seeds})


def processor_seconds():
    """Of this process and all that it has started, also through others."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def measured(campaign, executor, workers, folder, warm):
    """Run all trials once to wake the workers, and once with the clock."""
    with Store(folder / "warm") as store:
        store.begin(warm.data, "")
        list(run_campaign(warm.trials, executor, store))
    with Timed(folder / "timed") as store:
        store.begin(campaign.data, "")
        cpu, begun = processor_seconds(), time.perf_counter()
        rows = list(run_campaign(campaign.trials, executor, store))
        seconds, cpu = time.perf_counter() - begun, processor_seconds() - cpu
        digests = {row.key: row.result["digest"] for row in rows}
        return Measured(workers, digests, seconds, cpu, store.seconds, store.cpu)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200, help="repetitions of each cell")
    seeds = parser.parse_args().trials
    campaign, warm = plan(seeds), plan(20)
    kernels = prepare(campaign.trials)
    table = Table(
        title=f"{len(campaign.trials)} trials, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} at the start",
        caption=f"Targets: efficiency ≥ {EFFICIENCY} by the clock, store ≤ {STORE:.0%}. "
        "c: by the clock, p: by the processor.",
    )
    for heading in ("executor", "trials/s", "against", "efficiency c", "p", "store c", "p"):
        table.add_column(heading, justify="right")
    import distributed

    results = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
    ):
        executors = (
            ("here", 1, Inline, ""),
            ("1 process", 1, lambda: Processes(1, kernels), ""),
            ("2 processes", 2, lambda: Processes(2, kernels), "1 process"),
            ("Dask, 2 workers", 2, lambda: Dask(cluster.scheduler_address), "2 processes"),
        )
        for name, workers, make, base in executors:
            executor = make()
            found = measured(campaign, executor, workers, Path(folder) / name, warm)
            executor.shutdown()
            results[name] = found
            assert found.digests == results["here"].digests, f"{name} gave other results"
            speeds = ["", ""]
            if base:
                before = results[base]
                clock = before.seconds * before.workers / (found.seconds * found.workers)
                speeds = [_held(clock, clock >= EFFICIENCY, ".2f"), f"{before.cpu / found.cpu:.2f}"]
            shares = found.shares
            table.add_row(
                name,
                f"{len(found.digests) / found.seconds:.1f}",
                base,
                *speeds,
                _held(shares[0], shares[0] <= STORE, ".1%"),
                f"{shares[1]:.1%}",
            )
    console = Console()
    console.print(table)
    console.print("All executors gave the same results. On a busy machine trust column p.")


def _held(value, good, form):
    return f"[{'green' if good else 'red'}]{value:{form}} {'✓' if good else '✗'}"


if __name__ == "__main__":
    main()
