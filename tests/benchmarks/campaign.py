"""How quick campaigns are: trials per second, parallel efficiency, the store's share.

`python -m tests.benchmarks.campaign [--trials N]`. Kernels are compiled and workers are started
before the clock runs; every executor does the same trials, which must come out the same.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eij_core.campaigns import Campaign, Dask, Inline, Processes, Store, prepare, run_campaign

EFFICIENCY, STORE = 0.85, 0.02


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


def timed(campaign, executor, folder, warm):
    """Run all trials; return seconds, digests, and the seconds that the store took."""
    # The first tasks start the workers.
    started = [executor.submit(os.getpid) for _ in range(4)]
    for future in started:
        future.result()
    with Store(folder / "warm") as store:
        store.begin(warm.data, "")
        list(run_campaign(warm.trials, executor, store))
    with Store(folder / "timed") as store:
        store.begin(campaign.data, "")
        begun, cpu = time.perf_counter(), os.times()
        rows = list(run_campaign(campaign.trials, executor, store))
        seconds = time.perf_counter() - begun
        after = os.times()
        digests = {row.key: row.result["digest"] for row in rows}
        busy = sum(row.result["spent"]["seconds"] for row in rows)
        return seconds, digests, store.seconds, busy, after.user - cpu.user


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=60, help="repetitions of each cell")
    seeds = parser.parse_args().trials
    campaign, warm = plan(seeds), plan(2)
    kernels = prepare(campaign.trials)
    table = Table(title=f"{len(campaign.trials)} trials, {os.cpu_count()} cores, load "
                        f"{os.getloadavg()[0]:.1f}")  # fmt: skip
    for heading in ("executor", "trials/s", "against", "efficiency", "target", "store", "target"):
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
            ("here", Inline(), "", 1.0),
            ("1 process", Processes(1, kernels), "", 1.0),
            ("2 processes", Processes(2, kernels), "1 process", 2.0),
            ("Dask, 2 workers", Dask(cluster.scheduler_address), "2 processes", 1.0),
        )
        for name, executor, base, factor in executors:
            found = timed(campaign, executor, Path(folder) / name, warm)
            results[name] = found
            executor.shutdown()
            assert found[1] == results["here"][1], f"{name} gave other results"
            speed = results[base][0] / found[0] / factor if base else None
            table.add_row(
                name,
                f"{len(found[1]) / found[0]:.1f}",
                base,
                "" if speed is None else f"{speed:.2f}",
                "" if speed is None else f"≥ {EFFICIENCY}",
                f"{found[2] / (found[0] * (2 if '2' in name else 1)):.1%}",
                f"≤ {STORE:.0%}",
            )
    console = Console()
    console.print(table)
    console.print("All executors gave the same results. On a busy machine trust ratios only.")


if __name__ == "__main__":
    main()
