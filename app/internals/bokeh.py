"""What `app` uses of Bokeh 3.9's server that it does not promise."""

from __future__ import annotations

from typing import Any


def session_count(context: Any) -> int:
    """Return how many sessions an application has, those that are being opened included."""
    return len(context.sessions) + len(context._pending_sessions)
