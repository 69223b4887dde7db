"""Setting parameters that may not have changed: the page does it ten times a second."""

from __future__ import annotations

from typing import Any

__all__ = ["put"]


def put(widget: Any, **values: Any) -> None:
    """Set the parameters of a widget that differ; Panel's own way looks at all it has each time."""
    changed = {name: value for name, value in values.items() if getattr(widget, name) != value}
    if len(changed) == 1:
        setattr(widget, *changed.popitem())
    elif changed:
        widget.param.update(**changed)
