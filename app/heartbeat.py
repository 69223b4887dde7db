"""Ask the browser whether it has drawn the last frame, so that no second one is ever pending."""

from __future__ import annotations

import time

import panel as pn
import param

__all__ = ["Heartbeat"]

LOST = 8.0
"""Seconds without an answer after which the browser may have missed frames."""


class Heartbeat(pn.custom.JSComponent):
    """A component without looks: the browser echoes each beat it receives."""

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
        self._sent = 0.0
        self._silent = False

    def may_push(self) -> bool:
        """Tell whether the last frame has arrived, or is given up for lost."""
        if self.echo < 0:
            return False
        if self.echo == self.beat:
            return True
        if time.monotonic() - self._sent > LOST:
            self._silent = True
            return True
        return False

    def push(self) -> None:
        """Note that a frame is on its way."""
        self._sent = time.monotonic()
        self.beat += 1

    def take_loss(self) -> bool:
        """Tell, once, whether frames may have been lost and all must be drawn anew."""
        lost, self._silent = self._silent, False
        return lost
