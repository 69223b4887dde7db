"""Ask the browser whether it has drawn the last frame, so that no second one is ever pending."""

from __future__ import annotations

import time

import panel as pn
import param

__all__ = ["Heartbeat"]

LOST = 8.0
"""Seconds without an answer after which the browser may have missed frames."""
REST = 0.35
"""How long nobody draws after a frame, in times of what it took: clicks are answered then."""


class Heartbeat(pn.custom.JSComponent):
    """A component without looks: the browser echoes each beat it receives.

    All pages of a server draw in one thread. After each frame that thread rests a little, so that
    a click on any page waits for one frame at most, not for those of all the others.
    """

    _busy_until = 0.0
    """The rest of all pages of this process, by `time.monotonic`."""

    beat = param.Integer(0)
    echo = param.Integer(-1)
    """The last beat that the browser has seen; -1 before it has drawn the page."""

    _esm = """
    export function render({ model }) {
      model.echo = model.beat
      model.on("beat", () => { model.echo = model.beat })
      return document.createElement("span")
    }
    """

    def __init__(self, **params: object) -> None:
        super().__init__(width=0, height=0, margin=0, **params)
        self._sent = self._began = 0.0
        self._silent = False

    def may_push(self) -> bool:
        """Tell whether the last frame has arrived, or is given up for lost."""
        now = self._began = time.monotonic()
        if self.echo < 0 or now < Heartbeat._busy_until:
            return False
        if self.echo == self.beat:
            return True
        if now - self._sent > LOST:
            self._silent = True
            return True
        return False

    def push(self) -> None:
        """Note that a frame is on its way."""
        self._sent = time.monotonic()
        Heartbeat._busy_until = self._sent + REST * (self._sent - self._began)
        self.beat += 1

    def take_loss(self) -> bool:
        """Tell, once, whether frames may have been lost and all must be drawn anew."""
        lost, self._silent = self._silent, False
        return lost
