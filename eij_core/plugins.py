"""Importing this module fills the registries with the owner's components.

`Registry` does it when a name is first looked up, in every process: what `EIJ_IMPORT` names, and
the modules that installed packages name as entry points in the group `eij.components`. Installing a
package is the owner's consent to its code, as for any library that is imported. A public server
leaves even these out and says so: what they cost, its limits do not know.
"""

from __future__ import annotations

import importlib.metadata
import logging

from .imports import VARIABLE, import_components, is_public, named_by_variable

log = logging.getLogger(__name__)

GROUP = "eij.components"

import_components(named_by_variable(), VARIABLE)

for _entry in importlib.metadata.entry_points(group=GROUP):
    if is_public():
        log.warning("a public server leaves out the components of %s", _entry.value)
        continue
    try:
        _entry.load()
    except Exception as error:  # a package that is broken must not take the others along
        log.warning("%s, an entry point in %s, cannot be imported: %r", _entry.value, GROUP, error)
