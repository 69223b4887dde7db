"""Values on the command line, read without pydantic: importing it takes typer 0.2 s of CPU time.

Typer (known: 0.29) describes each parameter in `type_descriptor` and reads its value in
`process_value`. Where it has no such attribute, or a value is neither text nor a path and has no
parser, typer reads it as it always does. `tests/cli/test_imports.py` notices when that happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

READERS = {str: str, Path: Path}


def without_pydantic(command: Any) -> Any:
    """Return a command of typer, or a group of them, whose values are read right here."""
    usual = command.get_params  # with --help, which a command makes when it is called

    def get_params(ctx: Any) -> list[Any]:
        return [_quick(parameter) for parameter in usual(ctx)]

    command.get_params = get_params
    for each in filter(None, getattr(command, "commands", {}).values()):
        without_pydantic(each)
    return command


def _quick(parameter: Any) -> Any:
    described = getattr(parameter, "type_descriptor", None)
    if described is None or "process_value" in vars(parameter):
        return parameter
    usual = parameter.process_value
    if parameter.multiple:
        # Given values are read as usual; most commands are called without them.
        parameter.process_value = lambda ctx, value: usual(ctx, value) if value else None
        return parameter
    read: Any = described.parameter_info.parser or READERS.get(described.annotation)

    def process_value(ctx: Any, value: Any) -> Any:
        if parameter.required if value is None else not read:
            return usual(ctx, value)
        value = value if value is None else read(value)
        return parameter.callback(ctx, parameter, value) if parameter.callback else value

    parameter.process_value = process_value
    return parameter
