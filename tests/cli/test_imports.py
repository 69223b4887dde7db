"""What commands import: nothing that they do not use, in a process of their own."""

import json
import os
import subprocess
import sys

import pytest

from eij_core.campaigns import Campaign, Conductor
from eij_core.cli.entry import COMMANDS

HEAVY = {"numba", "pandas", "scipy", "matplotlib", "pyarrow", "jinja2", "distributed", "panel"}
LIGHT = HEAVY | {"numpy"}
ENGINE: set[str] = set()
"""What the engine imports with `@kernel` (numba imports scipy); empty, once it does so later."""

WATCHED = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted({n.partition(".")[0] for n in sys.modules}))))
from eij_core.cli import main
main(sys.argv[1:])
"""


def imported(*arguments, code=0):
    """Run `eij` in a new process; return the packages that it has imported when it ends."""
    command = [sys.executable, "-c", WATCHED, *map(str, arguments)]
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    return set(json.loads(ended.stdout.splitlines()[-1]))


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_eij_alone_imports_nothing_to_compute_with(option):
    assert imported(option) & LIGHT == set()


@pytest.mark.long
@pytest.mark.parametrize("command", [*COMMANDS, "campaign status"])
def test_the_help_of_a_command_imports_nothing_to_compute_with(command):
    assert imported(*command.split(), "--help") & LIGHT == set()


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["list"], ["list", "selectors", "--json"]])
def test_lists_import_components_alone(arguments):
    assert imported(*arguments) & (HEAVY - ENGINE) == set()


@pytest.mark.long
def test_a_run_imports_no_tables_and_no_pictures():
    tiny = ("run", "--problem", "nk:n=16,k=2", "--meter", "model", "--budget", "3J")
    found = imported(*tiny)
    assert found & (HEAVY - {"numba", "scipy"}) == set()
    assert "pydantic" not in found, "see eij_core/cli/shared/typer_internals.py"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The folder of a campaign of two trials."""
    grid = {"problems": ["nk:n=16,k=2"], "algorithms": ["ils"], "selectors": ["eij", "uniform"]}
    campaign = Campaign.from_dict({**grid, "meter": "model", "budget": "3 J", "seeds": 1})
    folder = tmp_path_factory.mktemp("imports") / "store"
    assert [event.done for event in Conductor(campaign, folder, jobs=1)][-1] == 2
    return folder


@pytest.mark.long
def test_the_state_of_a_campaign_needs_no_tables(store):
    found = imported("campaign", "status", "--store", store)
    assert found & (HEAVY - ENGINE) == set()


@pytest.mark.long
def test_a_folder_without_a_store_is_refused_before_anything_is_computed(tmp_path):
    assert imported("report", tmp_path, code=65) & (HEAVY - ENGINE) == set()


@pytest.mark.long
def test_a_report_imports_what_statistics_and_pictures_need_but_no_compiler(store):
    found = imported("report", store, "--out", store.with_name("report.html"))
    assert found & HEAVY >= {"pandas", "scipy", "jinja2"}
    assert found & ({"numba", "distributed", "panel"} - ENGINE) == set()
