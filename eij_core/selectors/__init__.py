"""Selectors: which operator next, one rule a file; a file put here is imported and registered."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
