"""`eij serve`: the dashboard, if it is installed."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from ..imports import refuse_on_public, variable
from .shared.dashboard import dashboard_module
from .shared.options import Imports, whole


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
    if public:
        refuse_on_public()
    else:
        importlib.import_module("..plugins", __package__)  # a fault in them is one line here
    # By name: the core never imports the dashboard, not even when it starts it.
    dashboard = importlib.import_module(dashboard_module("server.serve"))
    dashboard.serve(address=address, port=port, public=public, warm=warm, imports=variable())
