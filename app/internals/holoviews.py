"""What `app` knows of HoloViews 1.23 that it does not promise: what it imports."""

from __future__ import annotations

import importlib
import sys
from typing import Any

__all__ = ["bokeh_backend"]


def bokeh_backend() -> Any:
    """Return HoloViews' Bokeh backend, imported without matplotlib.

    The backend imports matplotlib for names of colours, if it is there; then Panel imports its
    figures too, to recognise them. Both together are a quarter of a server's start. A module that
    is None in `sys.modules` counts as not installed.
    """
    hidden = "matplotlib" not in sys.modules
    if hidden:
        sys.modules["matplotlib"] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("holoviews.plotting.bokeh")
    finally:
        if hidden:
            del sys.modules["matplotlib"]
