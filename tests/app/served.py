"""The dashboard's server for the browser tests, with problems that fail in it."""

import os
import sys

from tests.app import tiny


def main(port: int) -> None:
    """Serve with the settings of `eij serve`."""
    from app.server.serve import arguments, environment

    os.environ.update(environment(public=False))
    tiny.register()
    from panel.command import main as panel

    sys.argv = ["panel", *arguments("127.0.0.1", port)]
    panel()


if __name__ == "__main__":
    main(int(sys.argv[1]))
