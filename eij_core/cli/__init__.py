"""The command line, `eij`: what people type, and what they read when something is wrong."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from ..errors import EijError, MeterUnavailable
from ..run import RunError
from .campaigns import campaign
from .counterfactuals import counterfactual
from .energy import calibrate, meters, profile
from .listing import list_components
from .replaying import replay
from .reporting import paper, report
from .running import run
from .serving import serve
from .signals import interrupts
from .warming import warm
from .zoo import zoo

__all__ = ["app", "call", "main"]

app = typer.Typer(
    name="eij",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"eij {__version__}")
        raise typer.Exit


@app.callback(epilog="Every command has examples: eij run --help")
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Optimise under a budget in Joules, with operators that earn their energy.

    ```console
    $ eij run --problem nk:n=50,k=4 --algorithm ils --budget 200J
    $ eij list selectors
    ```
    """


app.command("run")(run)
app.command("list")(list_components)
app.command("warm")(warm)
app.command("serve")(serve)
app.command("replay")(replay)
app.command("zoo")(zoo)
app.command("counterfactual")(counterfactual)
app.command("meters")(meters)
app.command("calibrate")(calibrate)
app.command("profile")(profile)
app.add_typer(campaign, name="campaign")
app.command("report")(report)
app.command("paper")(paper)
# More commands go here, one line each: app.command("name")(function), or, for a group of them,
# app.add_typer(group, name="name").


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 well, 1 failed, 2 bad input, 130 Ctrl-C, 143 SIGTERM."""
    code = call(sys.argv[1:] if arguments is None else arguments)
    if interrupts.code:
        # Taking numba and LLVM down would need a good part of the two seconds that Ctrl-C may take.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def call(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit code. Faults of the user end in one line."""
    logging.basicConfig(format="eij: %(message)s", level=logging.WARNING)
    try:
        with interrupts.installed():
            code = app(list(arguments), prog_name="eij", standalone_mode=False)
    except MeterUnavailable as error:
        return _say(str(error), 2)  # may take several lines: it says what to do about it
    except EijError as error:
        return _say(_one_line(str(error)), getattr(error, "code", 1 + _is_input(error)))
    except typer.Abort:
        return 1
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        text = _one_line(error.format_message())  # what typer found wrong
        return _say(text, 2) if text else 2  # none: it has printed the help
    return interrupts.code or int(code or 0)


def _is_input(error: EijError) -> bool:
    return not isinstance(error, RunError)


def _say(text: str, code: int) -> int:
    print(f"eij: {text}", file=sys.stderr)
    return code


def _one_line(text: str) -> str:
    """Return the text as one printable line: it may hold what the user typed."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in joined)
