"""Who writes a record: whether a run that has no end yet still goes on."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def this_process() -> dict[str, Any]:
    """Describe this process, for the head of a record."""
    process = os.getpid()
    return {"host": socket.gethostname(), "process": process, "born": _born(process)}


def is_alive(writer: Mapping[str, Any]) -> bool | None:
    """Tell whether the process that wrote a record is there; None: it runs on another machine."""
    if writer.get("host") != _host():
        return None
    process = int(writer["process"])
    try:
        if os.name == "posix":  # elsewhere a signal would end it
            os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return _born(process) == writer.get("born")  # numbers of processes are used again


_host = functools.cache(socket.gethostname)


def _born(process: int) -> int:
    """Return when a process began, in ticks since the start of the machine; 0: not known here."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        stat = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        return int(stat.rpartition(")")[2].split()[19])
    return 0
