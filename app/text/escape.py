"""Strings from outside, escaped for the place where they are shown."""

from __future__ import annotations

import html
import re
import unicodedata

# These have a meaning in Markdown and maths.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]|~$^])")
_INVISIBLE = re.compile("[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def text(value: object) -> str:
    """Escape a string for HTML and Markdown alike: it is shown literally in every pane.

    Examples
    --------
    >>> text("<b>*hi*</b>")
    '&lt;b&gt;&#42;hi&#42;&lt;/b&gt;'
    """
    escaped = html.escape(_INVISIBLE.sub(" ", str(value)))
    return _MARKDOWN.sub(_entity, escaped)


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[1])};"


def label(value: object, longest: int = 80) -> str:
    """Clean a name given by a user, for places that show plain text only.

    Examples
    --------
    >>> label("a\\u202eb" + "c" * 100, longest=8)
    'a bccccc…'
    """
    cleaned = _INVISIBLE.sub(" ", unicodedata.normalize("NFC", str(value))).strip()
    return cleaned if len(cleaned) <= longest else f"{cleaned[:longest]}…"
