"""Runs a campaign in a process that tests may kill: `python driver.py DIR GRID [jobs]`.

Commits often, and prints each key when it is acknowledged.
"""

import sys
from pathlib import Path

from eij_core.campaigns import Campaign, Inline, Processes, Store, runner


def main(folder, grid, jobs="0"):
    runner.TASK_SECONDS = 0.02
    plan = Campaign.from_toml(Path(grid).read_text("utf-8"))
    executor = Processes(int(jobs)) if int(jobs) else Inline()
    with Store(folder) as store:
        if not store.spec():
            store.begin(plan.data, "test")
        for row in runner.run_campaign(plan.trials, executor, store):
            print(row.key, flush=True)
    executor.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
