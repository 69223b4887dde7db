"""What the browser tests share: a real server, a page that is watched, and ways to look at it."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.app import tiny

ROOT = Path(__file__).parents[2]
PATIENCE = 120_000
"""Milliseconds; the machine may be busy."""

MODELS = "Array.from((window.Bokeh?.documents?.[0]?._all_models ?? new Map()).values())"
FIGURES = f"{MODELS}.filter(m => m.type == 'Figure')"
OPEN = f"() => {FIGURES}.length == 7 && document.getElementById('loader') == null"
COLUMNS = f"""() => Object.fromEntries({FIGURES}.map(f => [f.name, f.renderers.map(r => {{
    const data = r.data_source.data
    const plain = v => Array.isArray(v) || ArrayBuffer.isView(v) ? Array.from(v, plain) : v
    return [...(data instanceof Map ? data.values() : Object.values(data))].map(plain)
}})]))"""
POINTS = f"""() => Object.fromEntries(Object.entries(({COLUMNS})())
    .map(([name, lines]) => [name, lines.map(columns => columns.map(c => c.length))]))"""
DARK = """(() => {
    const walk = root => [...root.querySelectorAll('*')].flatMap(
        e => [e, ...(e.shadowRoot ? walk(e.shadowRoot) : [])])
    const papers = walk(document).filter(e => e.classList?.contains('MuiPaper-root'))
    const dark = e => getComputedStyle(e).backgroundColor.match(/\\d+/g).slice(0, 3)
        .every(c => Number(c) < 80)
    return papers.length > 3 && papers.every(dark)
})()"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def serving(*hosts, warmer=""):
    """Start the server of the tests; `hosts` are other names under which it may be reached.

    `warmer` is a script that stands for the compiler in the background.
    """
    port = free_port()
    command = [sys.executable, "-m", "tests.app.served", str(port), *([warmer] if warmer else [])]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    if hosts:
        env["EIJ_HOSTS"] = " ".join(hosts)
    with subprocess.Popen(command, cwd=ROOT, env=env) as process:
        try:
            for _ in range(1200):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/liveness", timeout=1).close()
                    break
                except OSError:
                    assert process.poll() is None, "the server has ended"
                    time.sleep(0.1)
            yield port
        finally:
            process.terminate()


def link(**settings):
    known = {**tiny.TINY, "budget": "4 J", "pace": "6", "compare": "true", "seed": "3"}
    return "?" + urlencode({**known, **settings})


class Watched:
    """Notes what a page complains of, and whom it calls."""

    def __init__(self, page):
        self.complaints, self.strangers = [], []
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._on_request)
        page.set_default_timeout(PATIENCE)

    def _on_console(self, message):
        if message.type == "error" or "could not" in message.text:
            self.complaints.append(message.text)

    def _on_request(self, request):
        host = urlsplit(request.url).hostname
        if request.url.startswith("http") and host != "127.0.0.1":
            self.strangers.append(request.url)

    def check(self):
        assert self.complaints == [], self.complaints
        assert self.strangers == []


def await_open(page):
    page.wait_for_function(OPEN, timeout=PATIENCE)


def points(page):
    """The lengths of the columns of each line of each figure, as the browser has them."""
    return page.evaluate(POINTS)


def columns(page):
    """The columns themselves."""
    return page.evaluate(COLUMNS)


def await_points(page, figure, condition, arg=None):
    """Wait until the number n of points of a figure's first line fulfils a condition."""
    page.wait_for_function(
        f"arg => {{ const n = ({POINTS})()['{figure}'][0][0]; return {condition} }}", arg=arg
    )


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def stage(page, words):
    page.get_by_text(re.compile(words)).first.wait_for()


def count(page, name):
    """A number of the numbers' row."""
    card = page.locator(".stat", has_text=re.compile(f"{name}$")).locator("b")
    return int(re.sub(r"\D", "", card.inner_text()))


def await_count(page, name, condition):
    """Wait until a number of the numbers' row fulfils a condition."""
    for _ in range(PATIENCE // 200):
        if condition(count(page, name)):
            return
        page.wait_for_timeout(200)
    raise AssertionError(f"{name} stayed at {count(page, name)}")


def settled(page):
    """The number of decisions, once the last chunk before a pause is drawn."""
    last = -1
    while (now := count(page, "decisions")) != last:
        last = now
        page.wait_for_timeout(1500)
    return now


class Line:
    """A line to the server that can be cut: what a train in a tunnel does to a websocket."""

    def __init__(self, port):
        self.target = 0
        self.up = True
        self._open = set()
        self._listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if not self.up:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self.target))
                self._open |= {near, far}
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source, sink):
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            self._open.discard(end)
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()  # the other direction closes the other end

    def cut(self):
        """Lose every connection, and refuse new ones."""
        self.up = False
        for end in tuple(self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def restore(self):
        self.up = True

    def close(self):
        self._listener.close()
        self.cut()
