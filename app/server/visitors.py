"""Who a visitor of a public server is: a random name in a cookie, for the runs that are theirs."""

from __future__ import annotations

import re
import secrets
from typing import Any

from ..background.kept_runs import VISITOR_SECONDS
from .limits import is_public

COOKIE = "eij-visitor"


def know_visitor(handler: Any) -> None:
    """Give the browser a name, if it has none; the page that it asks for knows it already."""
    if not is_public() or visitor_of(handler.request):
        return
    name = secrets.token_hex(16)
    handler.set_cookie(
        COOKIE, name, max_age=int(VISITOR_SECONDS), httponly=True, samesite="Lax",
        secure=handler.request.protocol == "https",
    )  # fmt: skip
    handler.request.cookies[COOKIE] = name


def visitor_of(request: Any) -> str:
    """Return the name of who asks; "" if there is none, or not one that we gave."""
    found = (getattr(request, "cookies", None) or {}).get(COOKIE, "")
    name = str(getattr(found, "value", found))
    return name if re.fullmatch("[0-9a-f]{32}", name) else ""
