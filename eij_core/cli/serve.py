"""`eij serve`: the dashboard, if it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import EijError
from .shared.options import whole

NEEDED = ("panel", "holoviews", "bokeh", "param", "panel_material_ui")
"""What `pip install 'eij[app]'` adds."""


class DashboardMissing(EijError, ImportError):
    """The packages that the dashboard needs are not installed."""


def serve(
    address: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(parser=whole(1, 65535), metavar="N")] = 5006,
    public: Annotated[
        bool, typer.Option("--public", help="With the limits that a server for strangers needs.")
    ] = False,
    warm: Annotated[
        bool,
        typer.Option("--warm/--no-warm", help="Compile in the background what people run first."),
    ] = True,
    runs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep runs here, and show those that are here."),
    ] = None,
) -> None:
    """Serve the dashboard to browsers.

    The address is printed when the server listens. The server then compiles in the background, at
    the lowest priority, what `eij warm` compiles; the page works meanwhile.

    ```console
    $ eij serve
    $ eij serve --port 8080 --public
    $ eij serve --no-warm --runs results/runs
    ```
    """
    dashboard().serve(address=address, port=port, public=public, warm=warm, runs=runs)


def dashboard() -> Any:
    """Return the module that serves the dashboard, or say that it is not installed."""
    needed = (*NEEDED, "app.server.serve")
    if missing := [name for name in needed if not _is_installed(name)]:
        raise DashboardMissing(
            f"the dashboard is not installed (no {', '.join(missing)}): pip install 'eij[app]'"
        )
    # By name: the core never imports the dashboard, not even when it starts it.
    return importlib.import_module("app.server.serve")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
