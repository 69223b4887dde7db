"""`eij list`: the components, with parameters, defaults and ranges."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ..errors import check_known
from ..registry import Parameter, Registry
from ..trial import FAMILIES
from .shared.options import AsJson, Imports

SPACED = ("problem", "algorithm")
PLURALS: dict[str, Registry[Any]] = {f"{family}s": known for family, known in FAMILIES.items()}


def list_components(
    family: Annotated[
        str, typer.Argument(metavar="[problems|algorithms|selectors|meters]", show_default=False)
    ] = "",
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """List components with their parameters, defaults and ranges.

    ```console
    $ eij list
    $ eij list selectors
    $ eij list problems --json
    ```
    """
    if family:
        check_known("family", family, PLURALS)
    chosen = {family: PLURALS[family]} if family else PLURALS
    if as_json:
        found = {
            plural: [_component(known, name) for name in known] for plural, known in chosen.items()
        }
        typer.echo(json.dumps(found, allow_nan=False, ensure_ascii=False))
    else:
        _print(chosen)


def _component(known: Registry[Any], name: str) -> dict[str, Any]:
    return {
        "name": name,
        "about": known.about(name),
        "private": known.is_private(name),
        **({"space": known.space(name)} if known.family in SPACED else {}),
        "parameters": [_parameter(parameter) for parameter in known.parameters(name)],
        **({"operators": list(found)} if (found := known.portfolio(name)) is not None else {}),
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


def _print(chosen: dict[str, Registry[Any]]) -> None:
    from .shared.tables import print_table

    for plural, known in chosen.items():
        print_table(plural, ("name", "key", "default", "accepted"), (), _rows(known))


def _rows(known: Registry[Any]) -> Iterator[tuple[Any, ...]]:
    from ..engine.spaces import WORDS

    for name in known:
        about = known.about(name)
        if known.family in SPACED:
            about = f"{about} [on {WORDS[known.space(name)]}]"
        yield (name, "bold"), "", "", (about, "italic")
        for parameter in known.parameters(name):
            default, accepted, about = parameter.default, parameter.expected, parameter.range.about
            if default is inspect.Parameter.empty:
                default = "(required)"
            elif isinstance(default, bool):
                default = str(default).lower()
            accepted = accepted if about in accepted else f"{accepted}; {about}"
            yield "", parameter.name, str(default), accepted
        if own := _own_operators(known, name):
            yield "", "", "", f"operators of your own: {', '.join(own)}"


def _own_operators(known: Registry[Any], name: str) -> list[str]:
    portfolio = known.portfolio(name)
    return [] if portfolio is None else [each for each in portfolio if portfolio.origin(each)]
