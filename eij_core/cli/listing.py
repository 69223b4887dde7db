"""`eij list`: what there is, with parameters, defaults and ranges."""

from __future__ import annotations

import inspect
import json
import math
from typing import Annotated, Any

import typer

from ..errors import InputError, nearest
from ..registry import Parameter, Registry
from ..trial import FAMILIES

__all__ = ["list_components"]

PLURALS: dict[str, Registry] = {f"{family}s": known for family, known in FAMILIES.items()}


def list_components(
    family: Annotated[
        str, typer.Argument(metavar="[problems|algorithms|selectors|meters]", show_default=False)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """List components with their parameters, defaults and ranges.

    ```console
    $ eij list
    $ eij list selectors
    $ eij list problems --json
    ```
    """
    if family and family not in PLURALS:
        raise InputError("family", family, nearest(family, PLURALS))
    chosen = {family: PLURALS[family]} if family else PLURALS
    if as_json:
        found = {
            plural: [_component(known, name) for name in known] for plural, known in chosen.items()
        }
        typer.echo(json.dumps(found, allow_nan=False, ensure_ascii=False))
    else:
        _print(chosen)


def _component(known: Registry, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "about": known.about(name),
        "private": known.is_private(name),
        "parameters": [_parameter(parameter) for parameter in known.parameters(name)],
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    required = parameter.default is inspect.Parameter.empty
    bounded = parameter.kind in (int, float)
    return {
        "name": parameter.name,
        "kind": parameter.kind.__name__,
        "default": None if required else parameter.default,
        "required": required,
        "low": _finite(parameter.range.low) if bounded else None,
        "high": _finite(parameter.range.high) if bounded else None,
        "choices": list(parameter.choices),
        "about": parameter.range.about,
        "expected": parameter.expected,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _print(chosen: dict[str, Registry]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for plural, known in chosen.items():
        table = Table(title=plural, title_justify="left", box=None, pad_edge=False, expand=False)
        for heading in ("name", "key", "default", "accepted"):
            table.add_column(heading, overflow="fold")
        for name in known:
            table.add_row(Text(name, style="bold"), "", "", Text(known.about(name), style="italic"))
            for parameter in known.parameters(name):
                data = _parameter(parameter)
                default = "(required)" if data["required"] else _shown(data["default"])
                table.add_row("", Text(parameter.name), Text(default), Text(_accepted(data)))
        console.print(table)
        console.print()


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _accepted(data: dict[str, Any]) -> str:
    about = data["about"] if data["about"] not in data["expected"] else ""
    return f"{data['expected']}; {about}" if about else str(data["expected"])
