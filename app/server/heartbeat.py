"""Ask the browser whether it has drawn the last frame, so that no second one is ever pending."""

from __future__ import annotations

import time
import weakref
from typing import Any

import param

from ..internals.panel import EchoComponent

LOST = 8.0
"""Seconds without an answer after which the browser may have missed frames."""
REST = 0.35
"""The rest after a frame, as a multiple of its drawing time; clicks are answered in it."""
KEPT = 0.3
"""Seconds for which a turn is kept for the page that waited first."""


class Heartbeat(EchoComponent):
    """An invisible component: the browser echoes each beat that it receives.

    All pages of a server draw in one thread. After each frame that thread rests a little, so that
    a click on any page waits for one frame at most, not for those of all the others.
    """

    _busy_until = 0.0
    """The rest of all pages of this process, by `time.monotonic`."""
    _next: tuple[weakref.ref[Heartbeat] | None, float] = (None, 0.0)
    """The first page that came during the rest, and until when the turn is kept for it."""

    beat = param.Integer(0)
    echo = param.Integer(-1)
    """How the browser answers; see `heard`."""

    _esm = """
    export function render({ model }) {
      model.echo = model.beat
      model.on("beat", () => { model.echo = model.beat })
      return document.createElement("span")
    }
    """

    def __init__(self, **params: object) -> None:
        super().__init__(width=0, height=0, margin=0, **params)
        self.heard = -1
        """The last beat that the browser has seen; -1 before it has drawn the page."""
        self._sent = self._began = 0.0
        self._silent = False

    def hear(self, name: str, value: Any) -> bool:
        """Take the browser's answer at once."""
        if name == "echo":
            self.heard = value
        return name == "echo"

    def may_push(self) -> bool:
        """Return whether the last frame has arrived or counts as lost."""
        now = self._began = time.monotonic()
        if self.heard < 0:
            return False
        if self.heard != self.beat:
            if now - self._sent <= LOST:
                return False
            self._silent = True
        return self._has_turn(now)

    def _has_turn(self, now: float) -> bool:
        known, until = Heartbeat._next
        if known is not None and known() is not self and now < until:
            return False
        if now < Heartbeat._busy_until:
            Heartbeat._next = (weakref.ref(self), now + KEPT)
            return False
        Heartbeat._next = (None, 0.0)
        return True

    def push(self) -> None:
        """Note that a frame is on its way."""
        self._sent = time.monotonic()
        Heartbeat._busy_until = self._sent + REST * (self._sent - self._began)
        self.beat += 1

    def take_loss(self) -> bool:
        """Return, once, whether frames may have been lost and all must be drawn anew."""
        lost, self._silent = self._silent, False
        return lost
