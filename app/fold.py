"""Folded parts are built when they are opened: few visitors do, and the page opens faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["fill_when_opened"]


def fill_when_opened(fold: Any, content: Callable[[], list[Any]]) -> None:
    """Give a `pmui.Details` its content the first time it is opened."""

    def fill(event: Any) -> None:
        if not event.new and not fold.objects:
            fold.objects = content()

    fold.param.watch(fill, "collapsed")
