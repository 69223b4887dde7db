"""Compiling behind the page: a process of the lowest priority, and what the server knows of it.

It is a process because the compiler holds the GIL. It compiles into the cache on disk that all
processes share, one combination after another, and reports each on its standard output.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from eij_core.engine.kernel import jit_is_off

from .lifeline import end_with_parent

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", f"{__package__}.warming")
LONG = 1.0
"""Seconds after which a combination counts as being compiled; from the disk it takes less."""
LOG_SECONDS = 5.0
"""Least time between two lines of the server's output."""


class Report(NamedTuple):
    """What the process compiles now."""

    name: str
    number: int
    """From 1."""
    total: int

    def __str__(self) -> str:
        return f"{self.name}, {self.number} of {self.total}"


class Warming:
    """The server's side of the process.

    Parameters
    ----------
    command : sequence of str
        What compiles; it writes a `Report` a line and ends with its standard input.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.command = command
        self._report: Report | None = None
        self._since = 0.0
        self._compiles = False
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process, once; do nothing where numba is set not to compile."""
        if self._process is not None or jit_is_off():
            return
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,  # its lifeline
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C reaches the server alone, and the lifeline does the rest. Not a session of its
            # own: Linux may share the processor among sessions, whatever their priorities.
            process_group=0,
            creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0),
        )
        listener = threading.Thread(
            target=self._listen, args=(self._process,), name="eij-warming", daemon=True
        )
        listener.start()

    @property
    def now(self) -> Report | None:
        """What is being compiled; None before, after, and while all comes from the disk."""
        report = self._report
        if report is not None and time.monotonic() - self._since > LONG:
            self._compiles = True
        return report if self._compiles else None

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        began = logged = time.monotonic()
        report = None
        with process:  # its pipes are closed and its code is there at the end
            for line in process.stdout:
                _ = self.now  # the one before may have taken long, with nobody looking
                report = self._report = Report(*json.loads(line))
                self._since = time.monotonic()
                if self._compiles and self._since - logged > LOG_SECONDS:
                    logged = self._since
                    print(f"Compiling in the background: {report}", flush=True)
            self._report = None
        if process.returncode:
            last = f" at {report}" if report is not None else ""
            log.warning(
                "Compiling in the background ended%s with code %d; what is missing is compiled "
                "when it is first run", last, process.returncode,
            )  # fmt: skip
        elif report is not None:
            seconds = time.monotonic() - began
            print(f"{report.total} combinations are compiled ({seconds:.0f} s)", flush=True)


shared_warming = Warming()
"""The one of this server."""


# --- the process ----------------------------------------------------------------------------------


def lock_path() -> Path:
    """Return the file that lets one such process of a host compile at a time."""
    given = os.environ.get("EIJ_WARM_LOCK")
    shared = Path("/run/lock")
    folder = shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    return Path(given) if given else folder / "eij-warm.lock"


def _step_back() -> None:
    """Take the lowest priority: below the runs of visitors, which have the lowest of `nice`."""
    if hasattr(os, "nice"):
        os.nice(19)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):  # not everywhere allowed
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main() -> None:
    """Compile what people run first, in order; report each combination before it is compiled."""
    end_with_parent()
    _step_back()
    # Here: the server, which imports this module too, needs none of these.
    from eij_core.cli.warm import compile_trial, steps_of
    from eij_core.errors import MeterUnavailable
    from eij_core.locks import Lock
    from eij_core.meters.counters.host_lock import HostLock

    with Lock(lock_path(), wait=True):
        steps = steps_of()
        total = sum(len(step.trials) for step in steps)
        number = 0
        for step in steps:
            for trial in step.trials:
                with suppress(MeterUnavailable):  # nothing can be measured here
                    HostLock(wait=True).release()  # a counter would count the compiler too
                number += 1
                print(json.dumps(Report(step.name, number, total)), flush=True)
                compile_trial(trial)


if __name__ == "__main__":
    main()
