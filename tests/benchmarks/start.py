"""The first second: what people wait for before the loop runs. `make bench-start`.

Each line is a figure, its target, and whether it is met. Processes are counted in CPU seconds, user
and system, of the process and of all that it starts, so that a busy machine changes little; where a
target is a multiple of `python -c "import numba"`, that is measured beside it in each round. The
server and the page are measured by the clock: the load of the machine is printed. Figures are
medians of the rounds. All but the page have caches of their own, in a new folder for each round.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.app.browsing import OPEN, free_port
from tests.benchmarks.dashboard import ROOT, server
from tests.benchmarks.measure import ratio
from tests.benchmarks.visitor import Visitor
from tests.find_browser import find

PYTHON = sys.executable
EIJ = str(Path(PYTHON).with_name("eij"))
RUN = (EIJ, "run", "--problem", "knapsack", "--algorithm", "ils", "--budget", "20J")
RELATIVE = "× numba"
PATIENCE = 600.0
"""Seconds until a server that does not answer is given up."""
CHILD_SUBREAPER = 36
"""Linux's PR_SET_CHILD_SUBREAPER: orphans become our children, and their CPU time ours to read."""

OWN = """
import sys, time
from typing import NamedTuple
from eij_core import Run, Trial, kernel

@kernel
class OneMax(NamedTuple):
    n: int

    def fitness(self, x):
        return float(x.sum())

imported = time.process_time()
trial = Trial(problem=OneMax(64), algorithm=sys.argv[1], meter="model", budget=sys.argv[2])
run = Run(trial)
while not len(next(run).rows):
    pass
print(time.process_time() - imported)
for _ in run:
    pass
assert run.result().best.fitness == 64
"""
"""README's own problem; it prints the CPU seconds from the imports to the first row."""

REGISTERED = """
from typing import NamedTuple
from eij_core.components import kernel, problems

@kernel
class OneMax(NamedTuple):
    n: int

    def fitness(self, x):
        return float(x.sum())

problems.add("own-onemax")(OneMax)
"""
CAMPAIGN = """
import sys
import registered
from eij_core.campaigns import Campaign, Processes, Store, prepare, run_campaign

if __name__ == "__main__":
    grid = {"problems": ["own-onemax:n=64"], "algorithms": ["ils"], "selectors": ["eij-plus"]}
    campaign = Campaign.from_dict({**grid, "meter": "model", "budget": "20 J", "seeds": 20})
    executor = Processes(2, prepare(campaign.trials), ["registered"])
    with Store(sys.argv[1]) as store:
        store.begin(campaign.data, "")
        rows = list(run_campaign(campaign.trials, executor, store))
    executor.shutdown()
    assert [row.state for row in rows] == ["done"] * 20, rows
"""


class Figure(NamedTuple):
    """One measured number and what it may be at most; a target of None is only shown."""

    name: str
    value: float
    target: float | None = None
    unit: str = "CPU-s"
    """RELATIVE: the value is in CPU seconds, the target a multiple of the import of numba."""


class Place(NamedTuple):
    """A new folder with the caches of one measurement."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What the processes of the measurement see."""
        ours = {
            "NUMBA_CACHE_DIR": str(self.folder / "numba"),
            "EIJ_CACHE_DIR": str(self.folder / "eij"),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{self.folder}",
        }
        kept = {name: text for name, text in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        return {**kept, **ours}

    def script(self, name: str, text: str) -> str:
        """Write a file of the user's own; return its path."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    def cpu(self, *command: str) -> tuple[float, str]:
        """Run a command; return the CPU seconds of all its processes, and what it printed."""
        _await_orphans()
        before = _spent_by_children()
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, check=True
        )
        _await_orphans()
        return _spent_by_children() - before, done.stdout.decode()


def _await_orphans() -> None:
    """Wait for what ended processes have left behind, such as a fork server."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _spent_by_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


# --- the measurements -----------------------------------------------------------------------------


def onemax(place: Place) -> Iterator[Figure]:
    """A problem of one's own: first process, second process, second algorithm."""
    script = place.script("onemax.py", OWN)
    seconds, printed = place.cpu(PYTHON, script, "ils", "20 J")
    yield Figure("README's OneMax with ils, first process", seconds, 4.0)
    yield Figure("  of which to the first row, after the imports", float(printed), 1.0)
    seconds, _ = place.cpu(PYTHON, script, "ils", "20 J")
    yield Figure("the same, second process", seconds, 1.2, RELATIVE)
    seconds, _ = place.cpu(PYTHON, script, "ssga", "20 J")
    yield Figure("second algorithm (ssga) on the same problem", seconds, 3.0)


def long_run(place: Place) -> Iterator[Figure]:
    """The same problem with a budget for which compiling pays."""
    script = place.script("onemax.py", OWN)
    for process in ("first", "second"):
        seconds, _ = place.cpu(PYTHON, script, "ils", "20 kJ")
        yield Figure(f"OneMax with ils and 20 kJ, {process} process", seconds)


def version(place: Place) -> Iterator[Figure]:
    """A command that computes nothing."""
    yield Figure("eij --version", place.cpu(EIJ, "--version")[0], 0.25, RELATIVE)
    yield Figure("eij --help", place.cpu(EIJ, "--help")[0])
    yield Figure("eij list", place.cpu(EIJ, "list")[0])


def warm_run(place: Place) -> Iterator[Figure]:
    """A short run whose code is compiled."""
    place.cpu(*RUN)
    yield Figure(f"eij {' '.join(RUN[1:])}, warm", place.cpu(*RUN)[0], 1.5, RELATIVE)


def campaign(place: Place) -> Iterator[Figure]:
    """Twenty short trials of a problem of one's own, in two processes."""
    place.script("registered.py", REGISTERED)
    script = place.script("campaign.py", CAMPAIGN)
    for time_, target in (("first", 20.0), ("second", 8.0)):
        seconds, _ = place.cpu(PYTHON, script, str(place.folder / time_))
        yield Figure(f"campaign of 20 trials, own problem, {time_} time", seconds, target)


def serve(place: Place) -> Iterator[Figure]:
    """`make serve` in a fresh clone, and the first run of its page."""
    port = free_port()
    # STAMP: without installing; BIN: with this interpreter.
    recipe = ["make", "serve", "STAMP=", f"BIN={Path(PYTHON).parent}", f"PORT={port}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    address = f"http://127.0.0.1:{port}/app"
    began = time.monotonic()
    with subprocess.Popen(  # type: ignore[call-overload]
        recipe, cwd=ROOT, env=place.environment, start_new_session=True, **quiet
    ) as process:
        try:
            _await_page(address, process)
            waited = time.monotonic() - began
            yield Figure("make serve, fresh: the page answers", waited, 10.0, "s")
            began = time.monotonic()
            asyncio.run(_await_rows(address))
            yield Figure("  then until a run of it streams", time.monotonic() - began, 15.0, "s")
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def _await_page(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=60).close()
            return
        assert process.poll() is None, "make serve has ended"
        time.sleep(0.1)
    raise TimeoutError("make serve does not answer")


async def _await_rows(address: str) -> None:
    visitor = await Visitor(address).open()
    await visitor.click("Run")
    async with asyncio.timeout(PATIENCE):
        while not visitor.decisions:
            await asyncio.sleep(0.02)
    await visitor.leave()


def page(place: Place) -> Iterator[Figure]:
    """The page in a real browser, until Run can be pressed; all that it runs is compiled."""
    from playwright.sync_api import sync_playwright

    # The caches of whoever measures: filling new ones would take minutes of each round.
    subprocess.run([EIJ, "warm", "--quiet"], cwd=ROOT, check=True)
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with server() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=sandbox)
        for _ in range(2):  # the first visit is the server's first
            visit = browser.new_context().new_page()
            began = time.monotonic()
            visit.goto(served.address)
            visit.wait_for_function(OPEN, timeout=1000 * PATIENCE)
            visit.get_by_role("button", name="Run", exact=True).first.click(trial=True)
            waited = time.monotonic() - began
            visit.close()
        browser.close()
    yield Figure("page opened warm, interactive", waited, 2.5, "s")


MEASUREMENTS: dict[str, Callable[[Place], Iterator[Figure]]] = {
    "onemax": onemax,
    "version": version,
    "run": warm_run,
    "campaign": campaign,
    "serve": serve,
    "page": page,
    "long": long_run,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, prog="tests.benchmarks.start")
    parser.add_argument("--only", metavar="ROW", choices=MEASUREMENTS, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    Place(ROOT).cpu(PYTHON, "-c", "import numba, eij_core.run")  # writes byte code
    bases: list[float] = []
    missed = 0
    for name in options.only or MEASUREMENTS:
        rounds = [measured(name) for _ in range(options.rounds)]
        bases += [base for base, _ in rounds]
        for same in zip(*(figures for _, figures in rounds), strict=True):
            missed += show(same, [base for base, _ in rounds])
    base = statistics.median(bases)
    print(f'{missed} missed; python -c "import numba": {base:.2f} CPU-s, median of {len(bases)}')


def measured(name: str) -> tuple[float, list[Figure]]:
    """Return the CPU seconds of importing numba, and the figures measured right after it."""
    with tempfile.TemporaryDirectory(prefix="eij-start-", ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder))
        base, _ = place.cpu(PYTHON, "-c", "import numba")
        return base, list(MEASUREMENTS[name](place))


def show(rounds: Sequence[Figure], bases: list[float]) -> bool:
    """Print one line: the medians of a figure's rounds; return whether its target is missed."""
    name, _, target, unit = rounds[0]
    values = [figure.value for figure in rounds]
    value, times = statistics.median(values), ratio(values, bases)
    relative = unit == RELATIVE
    missed = target is not None and (times if relative else value) > target
    aim = "" if target is None else f"≤ {target:g} {unit}"
    verdict = "" if target is None else "MISSED" if missed else "met"
    amount = f"{value:8.2f} s" if unit == "s" else f"{value:8.2f} CPU-s {times:7.2f} {RELATIVE}"
    print(f"{name:<66} {amount:<32}{aim:<16}{verdict}".rstrip(), flush=True)
    return missed


if __name__ == "__main__":
    main()
