"""`eij serve` as a process, for the tests that look at it from outside."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0


def until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
    return found


def get(port, path, **headers):
    """Return status, headers and body; None while nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(connection), contextlib.suppress(ConnectionError):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    return None


@contextlib.contextmanager
def serving(*options, sessions=None, **env):
    """`eij serve` in a process of its own, and its port; it compiles nothing unless asked to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from eij_core.cli import main; main()"
    if sessions is not None:  # the same door, for a smaller house
        code = (
            "import sys, dataclasses, os, runpy; import app.server.limits as l; "
            f"l.PUBLIC = dataclasses.replace(l.PUBLIC, sessions={sessions}); "
            "from app.server.serve import arguments, environment; "
            "os.environ.update(environment(public=True)); "
            f"sys.argv = ['panel', *arguments('127.0.0.1', {port}), "
            "'--unused-session-lifetime', '1000', '--check-unused-sessions', '500']; "
            "from panel.command import main; main()"
        )
        options = ()
    else:
        options = ("serve", "--port", str(port), *(options or ["--no-warm"]))
    with subprocess.Popen(
        [sys.executable, "-c", code, *options],
        cwd=ROOT, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            until(lambda: get(port, "/liveness") or process.poll() is not None)
            assert process.poll() is None, process.stdout.read().decode()
            yield process, port
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
