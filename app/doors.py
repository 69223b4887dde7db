"""The server's doors, loaded by `panel serve --plugins app.doors` before it listens.

A page that would be one too many is refused before any code of the page runs; websockets send what
they have at once; and what was imported is set aside from garbage collection.
"""

from __future__ import annotations

import gc
from typing import Any

from bokeh.server.urls import per_app_patterns
from panel.io.server import AutoloadJsHandler, DocHandler, WSHandler

from app import shell
from app.limits import limits

__all__ = ["ROUTES"]

FULL = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport"
content="width=device-width"><title>EI/J: full house</title><body style="font:16px/1.5 sans-serif;
max-width:34em;margin:15vh auto;padding:0 1em"><h1>Full house</h1><p>As many people as this server
can hold are watching runs just now. Please come back in a minute: places are freed when others
leave.</p></body></html>"""


class Guarded:
    """Lets visitors in while there is room."""

    async def prepare(self: Any) -> None:
        """Answer with a page of its own when the house is full."""
        inside = self.application_context
        if len(inside._sessions) + len(inside._pending_sessions) >= limits().sessions:
            self.set_status(503)
            self.set_header("Retry-After", "60")
            self.finish(FULL)
            return
        await super().prepare()  # type: ignore[misc]


class Door(Guarded, DocHandler):
    """The page, while there is room."""


class SideDoor(Guarded, AutoloadJsHandler):
    """The page for embedding, while there is room."""


class Line(WSHandler):
    """A websocket on which a frame does not wait for the answer to the one before."""

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Send small messages at once."""
        self.set_nodelay(True)
        return super().open(*args, **kwargs)


ours: dict[Any, Any] = {DocHandler: Door, AutoloadJsHandler: SideDoor, WSHandler: Line}
per_app_patterns[:] = [
    (path, ours.get(kind, kind), *more) for path, kind, *more in per_app_patterns
]

ROUTES: list[Any] = []
"""Nothing beyond what Panel serves."""

# A full collection looks at all that was ever imported, and takes half a second: set it aside.
_ = shell
gc.collect()
gc.freeze()
