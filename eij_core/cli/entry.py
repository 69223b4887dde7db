"""The command line, `eij`: its commands, its exit codes, and errors in one line."""

from __future__ import annotations

import atexit
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import EijError, MeterUnavailable, RunError
from .shared.signals import interrupts
from .shared.typer_internals import without_pydantic

COMMANDS = (
    *("run", "list", "check", "warm", "cache", "serve", "watch", "replay", "zoo", "counterfactual"),
    *("meters", "calibrate", "profile", "report", "paper", "campaign"),
)
"""Each is a function, or a group, of the same name in a file of the same name."""
FUNCTIONS = {"list": "list_components"}
"""But for a name that Python has."""


class Commands(TyperGroup):
    """The commands; the file of each is imported when it is called or listed by --help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)  # names, for "did you mean"
        without_pydantic(self)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name}", __package__)
        found = getattr(module, FUNCTIONS.get(cmd_name, cmd_name))
        if not isinstance(found, typer.Typer):
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            alone.command(cmd_name)(found)
            found = alone
        return without_pydantic(typer.main.get_command(found))


app = typer.Typer(
    name="eij",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 well, 1 failed, 2 bad input, 130 Ctrl-C, 143 SIGTERM."""
    atexit.register(_leave_at_once)
    try:
        sys.exit(call(sys.argv[1:] if arguments is None else arguments))
    finally:
        if not interrupts.code:
            atexit.unregister(_leave_at_once)


def _leave_at_once() -> None:
    """Skip the end of the interpreter after Ctrl-C: taking LLVM down would need a second of two.

    What `multiprocessing` does at exit removes semaphores, so it must come before. It has no public
    name, and the order of the two depends on who imported it first; a second call does nothing.
    """
    if util := sys.modules.get("multiprocessing.util"):
        util._exit_function()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(interrupts.code)


def call(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit code. A fault of the input ends in one line."""
    logging.basicConfig(format="eij: %(message)s", level=logging.WARNING)
    try:
        with interrupts.installed():
            code = app(list(arguments), prog_name="eij", standalone_mode=False)
    except MeterUnavailable as error:
        return _say(str(error), 2)  # several lines: with the remedy
    except EijError as error:
        default = 1 if isinstance(error, RunError) else 2
        return _say(_one_line(str(error)), getattr(error, "code", default))
    except typer.Abort:
        return 1
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        text = _one_line(error.format_message())  # what typer found wrong
        return _say(text, 2) if text else 2  # none: it has printed the help
    return interrupts.code or int(code or 0)


def _say(text: str, code: int) -> int:
    print(f"eij: {text}", file=sys.stderr)
    return code


def _one_line(text: str) -> str:
    """Return the text as one printable line: it may hold what the user typed."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in joined)
