"""A campaign that takes moments, also interpreted."""

import json

from eij_core.campaigns import Campaign, Inline, Store, run_campaign

GRID = """
name = "small"
problems = ["nk:n=16,k=2"]
algorithms = ["ils:steps=10"]
selectors = ["eij", "uniform"]
meter = "model"
budget = "2 J"
seeds = 6
points = 20
"""


def campaign(**changes):
    text = GRID
    for key, value in changes.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{key} =")]
        text = "\n".join([f"{key} = {json.dumps(value)}", *lines])
    return Campaign.from_toml(text)


def run(folder, plan=None, executor=None, **options):
    """Run a campaign into a folder; return the rows as they were acknowledged."""
    plan = plan or campaign()
    with Store(folder) as store:
        if not store.spec():
            store.begin(plan.data, "test")
        return list(run_campaign(plan.trials, executor or Inline(), store, **options))


def essence(reader):
    """All that must be equal however a campaign was run: results and traces, not wall clocks."""
    found = {}
    for row in reader.rows():
        result = row.result
        if result:
            result["spent"].pop("seconds")
        found[row.key] = (row.state, row.spec_json, row.energy_source, json.dumps(result))
    traces = {key: rows.tobytes() for key, rows in reader.traces()}
    return found, traces
