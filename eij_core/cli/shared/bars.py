"""A progress bar on stderr, where that is a terminal; it vanishes when the work is done."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def progress_bar(label: str, quiet: bool = False) -> Iterator[Callable[..., Any]]:
    """Give a function that shows which share of the work, 0 to 1, is done, under a new label.

    It shows nothing where stderr is not a terminal.

    Examples
    --------
    >>> with progress_bar("running", quiet=True) as bar:
    ...     bar(0.5)
    """
    if quiet or not sys.stderr.isatty():
        yield lambda done, text="": None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=1.0)
        yield lambda done, text=label: progress.update(task, completed=done, description=text)
