"""`eij serve`: the dashboard, if it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Annotated

import typer

from ..errors import EijError
from ..imports import refuse_on_public, variable
from .shared.options import Imports, whole

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
    imports: Imports = None,
) -> None:
    """Serve the dashboard to browsers, with your own components if you import them.

    The address is printed when the server listens. The server then compiles in the background, at
    the lowest priority, what `eij warm` compiles; the page works meanwhile.

    ```console
    $ eij serve
    $ eij serve --port 8080 --public
    $ eij serve --no-warm
    $ eij serve --import mymodule.py
    ```
    """
    needed = (*NEEDED, "app.server.serve")
    if missing := [name for name in needed if not _is_installed(name)]:
        raise DashboardMissing(
            f"the dashboard is not installed (no {', '.join(missing)}): pip install 'eij[app]'"
        )
    if public:
        refuse_on_public()
    # By name: the core never imports the dashboard, not even when it starts it.
    dashboard = importlib.import_module("app.server.serve")
    dashboard.serve(address=address, port=port, public=public, warm=warm, imports=variable())


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
