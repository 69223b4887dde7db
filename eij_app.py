"""The dashboard's parts under the name that they have where the package is installed.

In a checkout their folder is `app`, which `panel serve app` serves. A wheel has it as `eij_app`,
because a top-level package `app` would stand in the way of other people's.
"""

import importlib
from typing import Any

import app
from app import __all__ as __all__


def __getattr__(name: str) -> Any:
    return importlib.import_module("app.notebook") if name == "notebook" else getattr(app, name)
