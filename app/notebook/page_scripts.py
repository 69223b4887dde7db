"""Scripts and styles for the page of a notebook: icons, and repairs of messages and focus."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOCUS", "ICONS", "MESSAGES"]

FOCUS, ICONS, MESSAGES = (
    Path(__file__).with_name(name).read_text("utf-8")
    for name in ("focus.js", "icons.css", "messages.js")
)
