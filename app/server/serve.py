"""Start the dashboard's server with safe settings: `eij serve`."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from eij_core.errors import InputError

FOLDER = Path(__file__).parents[1]
"""What is served; its name, `app` in a checkout, is the page's in the address."""


def arguments(address: str, port: int) -> list[str]:
    """Return the arguments of `panel serve`.

    Examples
    --------
    >>> "--session-ids" in arguments("127.0.0.1", 5006)
    True
    """
    hosts = {f"{host}:{port}" for host in (address, "127.0.0.1", "localhost")}
    hosts |= {*os.environ.get("EIJ_HOSTS", "").split()}  # the public names behind a proxy
    allowed = [part for host in sorted(hosts) for part in ("--allow-websocket-origin", host)]
    return [
        *("serve", str(FOLDER), "--address", address, "--port", str(port), "--num-procs", "1"),
        *allowed,
        *("--session-ids", "signed", "--session-token-expiration", "28800"),
        *("--unused-session-lifetime", "30000", "--check-unused-sessions", "5000"),
        *("--keep-alive", "20000", "--websocket-max-message-size", "8388608"),
        *("--exclude-headers", "Authorization", "Cookie"),
        *("--liveness", "--plugins", f"{__package__}.admission"),
        *(["--use-xheaders"] if "EIJ_HOSTS" in os.environ else []),
    ]


def environment(public: bool, warm: bool = False, imports: str = "") -> dict[str, str]:
    """Return what the server needs in its environment; secrets never go on a command line."""
    cores = max(1, (os.cpu_count() or 2) - 1)
    wanted = {
        "BOKEH_SECRET_KEY": secrets.token_urlsafe(48),
        "BOKEH_SIGN_SESSIONS": "true",
        "PANEL_COOKIE_SECRET": secrets.token_urlsafe(48),
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": str(cores),
        "MALLOC_ARENA_MAX": "2",
    }
    found = {name: os.environ.get(name, value) for name, value in wanted.items()}
    ours = {"EIJ_PUBLIC": str(int(public)), "EIJ_WARM": str(int(warm)), "EIJ_IMPORT": imports}
    return {**found, **ours}


def serve(
    address: str = "127.0.0.1",
    port: int = 5006,
    public: bool = False,
    warm: bool = True,
    imports: str = "",
) -> None:
    """Serve the dashboard until interrupted; a server that crashes is started anew.

    Parameters
    ----------
    address, port
        Where to listen.
    public : bool
        Whether strangers may come: their runs are then limited, see `app.server.limits`. Set the
        names under which a proxy is reached in `EIJ_HOSTS`.
    warm : bool
        Whether to compile what people run first, behind the page and at the lowest priority.
    imports : str
        What the server imports of its owner's own, as in `EIJ_IMPORT`.
    """
    check_free(address, port)
    # -P: a module in the folder where the server is started takes the place of none of ours.
    command = [sys.executable, "-P", "-m", f"{__package__}.launch", *arguments(address, port)]
    over = threading.Event()
    threading.Thread(target=_announce, args=(address, port, over), daemon=True).start()
    try:
        env = {**os.environ, **environment(public, warm, imports), "EIJ_SUPERVISED": "1"}
        raise SystemExit(supervise(command, env))
    finally:
        over.set()


def check_free(address: str, port: int) -> None:
    """Raise `InputError` unless a server can listen there."""
    try:
        family, *_, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            if os.name == "posix":  # as the server itself: a port that was just left is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        raise InputError(
            "address", f"{address}:{port}",
            f"an address to listen on ({error.strerror}); choose another with --port or --address",
        ) from None  # fmt: skip


def _announce(address: str, port: int, over: threading.Event) -> None:
    """Print the address as soon as the server listens there."""
    while not over.wait(0.2):
        with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1.0):
            print(f"The dashboard: http://{address}:{port}/{FOLDER.name}", flush=True)
            return


def supervise(command: list[str], env: dict[str, str], patience: int = 3) -> int:
    """Keep a process alive, and return the exit code that ends it.

    A process that a signal has killed (a fault in compiled code, a lack of memory) is started
    again, unless it does not live for ten seconds `patience` times in a row. What it ends by
    itself, or what we are asked to end, stays ended. Its standard input is a pipe that closes with
    this process, see `app.background.lifeline`.
    """
    asked: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def end(number: int, _: Any) -> None:
        asked.append(number)
        if child is not None:
            child.terminate()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    short = 0
    try:
        while not asked:
            began = time.monotonic()
            with subprocess.Popen(command, env=env, stdin=subprocess.PIPE) as child:
                if asked:  # between the question and the start
                    child.terminate()
                code = child.wait()
            if asked or code >= 0:
                break
            short = short + 1 if time.monotonic() - began < 10.0 else 0
            name = signal.Signals(-code).name
            if short >= patience:
                print(f"The server was killed by {name} again and again; giving up.", flush=True)
                return 1
            print(f"The server was killed by {name}; starting it anew.", flush=True)
        return 128 + asked[0] if asked else code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
