"""`eij watch`: the runs of a folder in the browser, while other processes write them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..imports import variable
from .shared.dashboard import dashboard_module
from .shared.options import whole


def watch(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where runs are recorded; need not exist yet.")
    ],
    address: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(parser=whole(1, 65535), metavar="N")] = 5006,
) -> None:
    """Show the runs of a folder in the browser, live while your own program writes them.

    A run gets there by Scheduler(…, record=DIR), solve(trial, record=DIR) or eij run --record DIR.

    ```console
    $ eij watch runs
    $ eij watch runs --port 8080
    ```
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("DIR", folder, "a folder")
    dashboard = importlib.import_module(dashboard_module("server.serve"))
    dashboard.serve(
        address=address, port=port, warm=False, imports=variable(), runs=folder, query="?page=runs"
    )
