"""Ctrl-C and SIGTERM: at once, or, while rows are on their way to disk, right after."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

PATIENCE = 1.0
"""Seconds that work under way may take to end, before it is cut off."""


class Interrupts:
    """Turns both signals into KeyboardInterrupt, at a moment when nothing is half done.

    Examples
    --------
    >>> interrupts = Interrupts()
    >>> with interrupts.installed(), interrupts.held():
    ...     pass
    >>> interrupts.code
    0
    """

    def __init__(self) -> None:
        self._signal = 0
        self._held = False

    @property
    def code(self) -> int:
        """The exit code that says which signal came; 0: none."""
        return 128 + self._signal if self._signal else 0

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Handle the signals; only in the main thread, as Python requires."""
        self._signal, self._held = 0, False
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [signal.SIGINT, signal.SIGTERM, *_alarm()]
        before = {number: signal.signal(number, self._caught) for number in numbers}
        try:
            yield
        finally:
            self._set_alarm(0.0)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Delay a signal until this block ends, but at most for `PATIENCE`."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._signal:
            raise KeyboardInterrupt

    def _caught(self, number: int, frame: FrameType | None) -> Any:
        first = not self._signal
        if first:
            self._signal = number
        if self._held and first:
            self._set_alarm(PATIENCE)
            return
        raise KeyboardInterrupt

    @staticmethod
    def _set_alarm(seconds: float) -> None:
        if _alarm():
            signal.setitimer(signal.ITIMER_REAL, seconds)


def _alarm() -> list[signal.Signals]:
    return [signal.SIGALRM] if hasattr(signal, "SIGALRM") else []  # not on Windows


interrupts = Interrupts()
"""The interrupts of this process."""
