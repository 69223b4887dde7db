"""A progress bar: on a terminal, on stderr, and gone when the work is done."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["Bar"]


class Bar:
    """Shows how much of some work is done; silent where nobody would see it.

    Examples
    --------
    >>> with Bar("running", quiet=True) as bar:
    ...     bar(0.5)
    """

    def __init__(self, label: str, quiet: bool = False) -> None:
        self._label = label
        self._progress: Any = None
        self._visible = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Bar:
        if self._visible:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task(self._label, total=1.0)
            self._progress.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, done: float, label: str = "") -> None:
        """Show that this share, 0 to 1, is done."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done, description=label or self._label)
