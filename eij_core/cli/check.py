"""`eij check`: does a component keep its contract?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import EijError, InputError, nearest
from ..imports import import_from_here
from ..registry import Registry, Spec
from ..trial import FAMILIES
from .shared.options import Imports

NAMED = "module.name of an object, class or factory, or a registered name such as nk:n=20"


def check(
    component: Annotated[
        str, typer.Argument(metavar="MODULE.NAME", help=f"{NAMED}.", show_default=False)
    ],
    imports: Imports = None,
) -> None:
    """Check a problem, algorithm, selector or meter against its contract.

    The current folder is searched for modules. Exit code 0: the contract is kept; 1: it is not, and
    each fault is one line; 2: there is no such component.

    ```console
    $ eij check mymodule.problem
    $ eij check mymodule.OneMax:n=20
    $ eij check nk:n=20
    ```
    """
    from ..contracts import check_component, family_of

    made = find_component(component)
    findings = check_component(made)
    for finding in findings:
        typer.echo(finding)
    if findings:
        raise typer.Exit(1)
    typer.echo(f"{component}: this {family_of(made)} keeps its contract")


def find_component(text: str) -> Any:
    """Return the component that a registered name, or `module.name` with parameters, stands for."""
    from ..contracts import family_of

    spec = Spec.parse(text)
    for family in FAMILIES.values():
        if spec.name in family:
            return family.make(spec)
    module, dot, name = spec.name.rpartition(".")
    if not dot:
        known = [known for family in FAMILIES.values() for known in family]
        raise InputError("component", text, f"module.name, or {nearest(spec.name, known)}")
    try:
        found = getattr(import_from_here(module), name)
        if not isinstance(found, type) and (family_of(found) or not callable(found)):
            return found
        factories: Registry[Any] = Registry("component")
        factories.add(spec.name)(found)
        return factories.make(spec)
    except EijError:
        raise
    except Exception as error:  # the module is the user's: it may raise anything
        said = f"{type(error).__name__}: {error}"
        raise InputError("component", text, f"{NAMED} ({said})") from error
