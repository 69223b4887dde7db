"""Admission of visitors, loaded by `panel serve --plugins` before it listens.

A page beyond the limit is refused before any code of the page runs; websockets send small messages
at once; imported objects are exempt from garbage collection. A server that listens compiles behind
its page, and ends with the process that started it.
"""

from __future__ import annotations

import gc
import os
from typing import Any

from bokeh.server.urls import per_app_patterns
from panel.io.server import AutoloadJsHandler, DocHandler, WSHandler
from tornado.ioloop import IOLoop
from tornado.web import RequestHandler

from ..background.lifeline import end_with_parent
from ..background.warming import shared_warming
from ..internals.bokeh import session_count
from . import shell
from .limits import limits
from .opening import STARTED
from .visitors import know_visitor

FULL = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport"
content="width=device-width"><title>EI/J: server full</title><body style="font:16px/1.5 sans-serif;
max-width:34em;margin:15vh auto;padding:0 1em"><h1>This server is full</h1><p>As many pages are
open as this server allows. Please come back in a minute: places become free when visitors
leave.</p></body></html>"""


class Limited:
    """Answers 503 while as many pages are open as the limits allow."""

    async def prepare(self: Any) -> None:
        """Refuse the request if the server is full."""
        if session_count(self.application_context) >= limits().sessions:
            self.set_status(503)
            self.set_header("Retry-After", "60")
            self.finish(FULL)
            return
        know_visitor(self)
        await super().prepare()  # type: ignore[misc]


class PageHandler(Limited, DocHandler):
    """The page."""


class EmbeddingHandler(Limited, AutoloadJsHandler):
    """The page embedded in another one."""


class WebSocketHandler(WSHandler):
    """A websocket that does not hold a message back until the one before is acknowledged."""

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Send small messages at once."""
        self.set_nodelay(True)
        return super().open(*args, **kwargs)


ours: dict[Any, Any] = {
    DocHandler: PageHandler,
    AutoloadJsHandler: EmbeddingHandler,
    WSHandler: WebSocketHandler,
}
per_app_patterns[:] = [
    (path, ours.get(kind, kind), *more) for path, kind, *more in per_app_patterns
]


class Started(RequestHandler):
    """Answers which start of the server this is; pages that have lost their line ask."""

    def get(self) -> None:
        """Answer with the name of this start."""
        self.set_header("Content-Type", "text/plain")
        self.set_header("Cache-Control", "no-store")
        self.finish(STARTED)


ROUTES: list[Any] = [("/eij-server", Started, {})]
"""Beyond what Panel serves."""

if os.environ.get("EIJ_SUPERVISED") == "1":
    end_with_parent()
if os.environ.get("EIJ_WARM") == "1":
    IOLoop.current().add_callback(shared_warming.start)  # the loop begins when the server listens

# A full collection walks through all imported objects for half a second: exempt them.
_ = shell
gc.collect()
gc.freeze()
