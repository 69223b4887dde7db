"""The load of the dashboard: `make bench-app`.

A real server process with the settings of `eij serve`, and visitors that speak its websocket
without a browser, so that none competes for the processors. Each line is a figure, its target, and
whether it is met. Wall-clock figures depend on what else the machine does, so the load is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import psutil

from app.server.serve import arguments, environment
from tests.benchmarks.visitor import Visitor

ROOT = Path(__file__).parents[2]
FAST = {"pace": "0", "compare": "false", "lesson": ""}
LONG = {**FAST, "problem": "knapsack", "algorithm": "ils", "meter": "paper"}
LONG |= {"selector": "eij", "budget": "40 MJ"}
"""Minutes of computing, of which a thousand rows are drawn."""


class Figure(NamedTuple):
    """One line of the table."""

    name: str
    value: float
    unit: str
    target: str
    met: bool


def at_most(name: str, value: float, bound: float, unit: str) -> Figure:
    """A figure that should be small."""
    return Figure(name, value, unit, f"≤ {bound:g}", value <= bound)


def at_least(name: str, value: float, bound: float, unit: str) -> Figure:
    """A figure that should be large."""
    return Figure(name, value, unit, f"≥ {bound:g}", value >= bound)


# --- the server -----------------------------------------------------------------------------------


class Served(NamedTuple):
    """A running server."""

    process: psutil.Process
    address: str

    def link(self, **settings: str) -> str:
        """Return the page's address with settings."""
        return f"{self.address}?{urlencode(settings)}" if settings else self.address

    @property
    def megabytes(self) -> float:
        """Memory that the server holds."""
        return float(self.process.memory_info().rss) / 1e6


@contextmanager
def server(*more: str, **variables: str) -> Iterator[Served]:
    """Serve the page in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "panel", *arguments("127.0.0.1", port), *more]
    env = {**os.environ, **environment(public=False), **variables}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, env=env, **quiet) as process:  # type: ignore[call-overload]
        try:
            address = f"http://127.0.0.1:{port}"
            _await_liveness(f"{address}/liveness", process)
            yield Served(psutil.Process(process.pid), f"{address}/app")
        finally:
            process.send_signal(signal.SIGTERM)


def _await_liveness(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        try:
            urllib.request.urlopen(address, timeout=1).close()
            return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("the server has ended") from None
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")


async def running(served: Served, **settings: str) -> Visitor:
    """Open a page, start its run, and wait until it is drawn."""
    visitor = await Visitor(served.link(**{**LONG, **settings})).open()
    while len(visitor.frames) < 2:
        await asyncio.sleep(0.05)
    await visitor.click("Run")
    while visitor.decisions < 1000:
        await asyncio.sleep(0.05)
    return visitor


def rate(frames: list[float], since: float, until: float) -> float:
    """Return frames per second in a stretch of time."""
    return sum(since <= moment < until for moment in frames) / (until - since)


# --- the measurements -----------------------------------------------------------------------------


async def slowdown(args: Any) -> list[Figure]:
    """What the page costs the solver's own thread, and how often it is drawn."""
    ratios, rates = [], []
    with server() as served:
        visitor = await running(served)
        for _ in range(args.repeats):
            await visitor.click_until("Pause", "Resume")
            alone = await _headless(args.seconds)
            await visitor.click_until("Resume", "Pause")
            await asyncio.sleep(0.5)
            began, before, spent = time.monotonic(), visitor.decisions, _solver_seconds(served)
            await asyncio.sleep(args.seconds)
            done, took = visitor.decisions - before, _solver_seconds(served) - spent
            rates.append(rate(visitor.frames, began, time.monotonic()))
            ratios.append(done / took / alone)
        await visitor.leave()
    loss = 100.0 * (1.0 - statistics.median(ratios))
    return [
        at_most(f"solver slowed down by its page, median of {len(ratios)}", loss, 10.0, "%"),
        at_least("one page, median", statistics.median(rates), 10.0, "frames/s"),
    ]


HEADLESS = """
import sys, time
from app.background.turns import lower_priority
from eij_core import Run, Trial
run = Run(Trial("knapsack", "ils", "eij", "paper", "40 MJ", 1))
lower_priority()
next(run)
before, since = int(run.ledger.decisions[0]), time.thread_time()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    next(run)
print((int(run.ledger.decisions[0]) - before) / (time.thread_time() - since))
"""


async def _headless(seconds: float) -> float:
    """Return decisions per CPU second of the same run without a page, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HEADLESS, str(seconds), cwd=ROOT, stdout=subprocess.PIPE
    )
    out, _ = await process.communicate()
    return float(out)


def _solver_seconds(served: Served) -> float:
    """Return the CPU time of the threads that run solvers: those that are nice."""
    total = 0.0
    for task in Path(f"/proc/{served.process.pid}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        if int(fields[16]) == 19:
            total += int((task / "schedstat").read_text().split()[0]) / 1e9
    return total


async def eight(args: Any) -> list[Figure]:
    """Eight pages with runs, two slots busy; clicks meanwhile."""
    with server(EIJ_SLOTS="2") as served:
        visitors = [await running(served) for _ in range(8)]
        began = time.monotonic()
        waits = await _clicks(visitors, args.clicks)
        ended = time.monotonic()
        slowest = min(rate(visitor.frames, began, ended) for visitor in visitors)
        for visitor in visitors:
            await visitor.leave()
    return [
        at_least("slowest of eight pages, two slots busy", slowest, 5.0, "frames/s"),
        at_most("click among eight, median", 1e3 * statistics.median(waits), 100.0, "ms"),
        at_most("click among eight, 95 %", 1e3 * _p95(waits), 100.0, "ms"),
    ]


async def clicks(args: Any) -> list[Figure]:
    """Clicks on the only page while its run is on."""
    with server() as served:
        visitor = await running(served)
        waits = await _clicks([visitor], args.clicks)
        await visitor.leave()
    return [
        at_most("click, median", 1e3 * statistics.median(waits), 100.0, "ms"),
        at_most("click, 95 %", 1e3 * _p95(waits), 100.0, "ms"),
    ]


async def _clicks(visitors: list[Visitor], count: int) -> list[float]:
    """Pause and resume one page after the other; return the seconds until each was answered."""
    waits = []
    for number in range(count):
        visitor = visitors[number // 2 % len(visitors)]
        pair = ("Pause", "Resume") if number % 2 == 0 else ("Resume", "Pause")
        waits.append(await visitor.click_until(*pair))
        await asyncio.sleep(0.05 if number % 2 == 0 else 0.4)
    return waits


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


async def first_paint(args: Any) -> list[Figure]:
    """From the request to the whole document and its first frames, on a warm server."""
    waits = []
    with server() as served:
        for _ in range(args.repeats + 1):
            visitor = await Visitor(served.link()).open()
            waits.append(visitor.opened)
            await asyncio.sleep(1.0)
            await visitor.leave()
    name = "first paint, warm: request to document"
    return [at_most(name, statistics.median(waits[1:]), 2.0, "s")]


async def sessions(args: Any) -> list[Figure]:
    """Pages opened, run and left: what stays behind."""
    quick = ("--unused-session-lifetime", "4000", "--check-unused-sessions", "500")
    waves = max(2, args.sessions // 50)
    memory, threads = [], []
    with server(*quick) as served:
        await _wave(served, 10)
        baseline = served.process.num_threads()
        for _ in range(waves + 1):  # the first is the warm-up
            await _wave(served, 50)
            memory.append(served.megabytes)
            threads.append(served.process.num_threads())
    print("    MB after each 50 pages:", ", ".join(f"{each:.1f}" for each in memory))
    growth = (memory[-1] - memory[0]) / waves
    return [
        at_most(
            f"threads above the baseline after {50 * waves} pages", threads[-1] - baseline, 0, ""
        ),
        at_most("memory per 50 pages after 60 to warm up", growth, 1.0, "MB"),
    ]


async def _wave(served: Served, count: int) -> None:
    for _ in range(count // 5):
        visitors = [await running(served, budget="10 kJ") for _ in range(5)]
        for visitor in visitors:
            await visitor.leave()
    patience = time.monotonic() + 60.0
    while _solver_threads(served) and time.monotonic() < patience:
        await asyncio.sleep(0.2)
    await asyncio.sleep(5.0)  # the last pages are let go, garbage is collected


def _solver_threads(served: Served) -> int:
    tasks = Path(f"/proc/{served.process.pid}/task").iterdir()
    return sum(
        int((task / "stat").read_text().rpartition(")")[2].split()[16]) == 19 for task in tasks
    )


async def endurance(args: Any) -> list[Figure]:
    """A run of 10¹⁰ evaluations, or of an hour: as quick at its end as at its start."""
    budget = "10000 MJ" if args.long else "10000000000 evaluations"
    with server() as served:
        visitor = await running(served, budget=budget)
        marks = []
        end = time.monotonic() + (3600.0 if args.long else 1e9)
        while time.monotonic() < end and not visitor.over:
            began = time.monotonic()
            await asyncio.sleep(10.0)
            if not visitor.over:
                frames = rate(visitor.frames, began, time.monotonic())
                marks.append((frames, served.megabytes))
        await visitor.leave()
    quarter = max(1, len(marks) // 4)
    first = statistics.median(frames for frames, _ in marks[:quarter])
    last = statistics.median(frames for frames, _ in marks[-quarter:])
    name = "an hour" if args.long else "10¹⁰ evaluations"
    return [
        at_least(f"{name}: frames at the end of those at the start", 100 * last / first, 90.0, "%"),
        at_most(f"{name}: memory from first to last", marks[-1][1] - marks[0][1], 5.0, "MB"),
    ]


MEASUREMENTS: dict[str, Callable[[Any], Awaitable[list[Figure]]]] = {
    "first-paint": first_paint,
    "slowdown": slowdown,
    "clicks": clicks,
    "eight": eight,
    "sessions": sessions,
    "endurance": endurance,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, prog="tests.benchmarks.dashboard")
    parser.add_argument("--only", choices=MEASUREMENTS, action="append")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each repeat")
    parser.add_argument("--clicks", type=int, default=96)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--long", action="store_true", help="endurance of an hour")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server ends with us
    found: list[dict[str, Any]] = []
    for name in args.only or MEASUREMENTS:
        before = os.getloadavg()[0]
        for figure in asyncio.run(MEASUREMENTS[name](args)):  # type: ignore[arg-type]
            verdict = "met" if figure.met else "MISSED"
            amount = f"{figure.value:>9.2f} {figure.unit:<9}"
            print(f"{figure.name:<56} {amount} {figure.target:>7}  {verdict}", flush=True)
            found.append({"measurement": name, **figure._asdict()})
        print(f"{'':<4}load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
