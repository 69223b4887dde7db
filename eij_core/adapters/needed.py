"""What an adapter says where its library is not installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def needed(extra: str, package: str = "") -> Iterator[None]:
    """Import a library in the body; if it is missing, the error says how to install it.

    Examples
    --------
    >>> with needed("alns", "no_such_package"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: no_such_package is not installed: pip install 'eij[alns]'
    """
    package = package or extra
    try:
        yield
    except ModuleNotFoundError as error:
        lacking = (error.name or "").partition(".")[0]
        if lacking != package:  # the library itself needs it
            raise
        remedy = f"{package} is not installed: pip install 'eij[{extra}]'"
        raise ModuleNotFoundError(remedy, name=package) from None
