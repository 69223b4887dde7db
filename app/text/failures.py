"""The message that a page shows for an error; unexpected errors go to the log."""

from __future__ import annotations

import logging
import secrets

from eij_core import EijError

log = logging.getLogger(__name__)


def failure_message(error: Exception, what: str = "run") -> str:
    """Return the message for the page, without path or traceback.

    The message of an `EijError` is shown as it is. Any other error is logged under a number, and
    the message names the number.

    Parameters
    ----------
    error : Exception
    what : str
        What has failed.

    Examples
    --------
    >>> failure_message(EijError("50 runs are waiting already"))
    '50 runs are waiting already'
    """
    if isinstance(error, EijError):
        return str(error)
    number = secrets.token_hex(4)
    log.error("%s %s failed", what, number, exc_info=error)
    return f"an unexpected error; the server's log has it as {what} {number}"
