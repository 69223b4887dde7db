"""F16: a visitor who leaves takes the run, its thread and the page's objects along."""

import gc
import socket
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import panel as pn
import pytest
from bokeh.client import pull_session

from app.pages.run import page
from app.server import shell
from tests.app import tiny

pytestmark = pytest.mark.long


def until(condition, seconds=180.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
        gc.collect()


def threads():
    return sum(thread.name == "eij-run" for thread in threading.enumerate())


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def server(tiny_problems, monkeypatch):
    """A server of this process that forgets visitors soon; what it makes for them is noted."""
    dashboards, templates = [], []
    settings = {**tiny.TINY, "budget": "1 MJ", "pace": 0.0, "compare": False, "lesson": ""}

    class Noted(page.RunPage):
        def __init__(self, *_, **__):
            super().__init__(page.Settings(**settings))
            dashboards.append(weakref.ref(self))
            self.controller.start()

    class NotedTemplate(shell.Template):
        def __init__(self, **params):
            super().__init__(**params)
            templates.append(weakref.ref(self))

    monkeypatch.setattr(page, "RunPage", Noted)
    monkeypatch.setattr(shell, "Template", NotedTemplate)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = pn.serve(
        {"app": shell.serve_page},
        port=port,
        threaded=True,
        show=False,
        verbose=False,
        unused_session_lifetime_milliseconds=500,
        check_unused_sessions_milliseconds=200,
    )
    until(lambda: listens(port))
    yield f"http://localhost:{port}/app", (dashboards, templates)
    running.stop()


def test_leaving_ends_the_run_and_frees_the_page(server):
    url, noted = server
    before = threads()
    for _ in range(2):
        # On a thread of its own: a browser's loop may be running on this one.
        with ThreadPoolExecutor(1) as thread:
            visitor = thread.submit(pull_session, url=url).result()
            until(lambda: threads() > before)
            thread.submit(visitor.close).result()
    until(lambda: threads() == before)
    for refs in noted:
        assert len(refs) >= 2
        until(lambda refs=refs: sum(ref() is not None for ref in refs) <= 1)  # the last waits
