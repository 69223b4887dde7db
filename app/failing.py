"""What a visitor is told of an error: what can be mended is said, the rest is in the log."""

from __future__ import annotations

import logging
import secrets

from app.pool import Crowded
from eij_core import EijError

__all__ = ["told"]

log = logging.getLogger(__name__)


def told(error: Exception, what: str = "run") -> str:
    """Return the words for the page: no path, no traceback; these go to the log under a number.

    Parameters
    ----------
    error : Exception
    what : str
        What has failed.

    Examples
    --------
    >>> told(Crowded("50 runs are waiting already"))
    '50 runs are waiting already'
    """
    if isinstance(error, EijError | Crowded):
        return str(error)
    number = secrets.token_hex(4)
    log.error("%s %s failed", what, number, exc_info=error)
    return f"an unexpected error; the server's log has it as {what} {number}"
