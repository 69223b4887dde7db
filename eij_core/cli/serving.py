"""`eij serve`: the dashboard, if it is installed."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from ..errors import EijError
from .options import whole

__all__ = ["serve"]


class DashboardMissing(EijError, ImportError):
    """The packages that the dashboard needs are not there."""


def serve(
    address: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(parser=whole(0), metavar="N")] = 5006,
    public: Annotated[
        bool, typer.Option("--public", help="With the limits that a server for strangers needs.")
    ] = False,
) -> None:
    """Serve the dashboard to browsers.

    ```console
    $ eij serve
    $ eij serve --port 8080 --public
    ```
    """
    try:
        # By name: the core never imports the dashboard, not even when it starts it.
        dashboard = importlib.import_module("app.serve")
    except ImportError as error:
        raise DashboardMissing(
            f"the dashboard is not installed ({error}): pip install 'eij[app]'"
        ) from None
    dashboard.serve(address=address, port=port, public=public)
