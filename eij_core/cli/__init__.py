"""The command line, `eij`: one file a command, called like the command."""

import sys

try:
    from .entry import call, main
except KeyboardInterrupt:  # Ctrl-C while the compiler is imported, which takes a second
    print("eij: interrupted", file=sys.stderr)
    sys.exit(130)

__all__ = ["call", "main"]
