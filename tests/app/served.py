"""The dashboard's server for the browser tests, with problems that fail in it."""

import os
import sys

from tests.app import tiny


def main(port: int, warmer: str = "") -> None:
    """Serve with the settings of `eij serve`; `warmer` is a script that stands for the compiler."""
    from app.background.warming import shared_warming
    from app.server.serve import arguments, environment

    shared_warming.command = [sys.executable, warmer]
    os.environ.update(environment(public=False, warm=bool(warmer)))
    tiny.register()
    from panel.command import main as panel

    sys.argv = ["panel", *arguments("127.0.0.1", port)]
    panel()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
