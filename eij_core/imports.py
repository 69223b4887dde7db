"""Code of the user's own that registers components: imported for the owner of the machine alone.

To import is to execute. So a module or a file is imported only where the owner of the machine names
it (`--import`, `EIJ_IMPORT`, `import` in a file that is named on the command line) or has installed
a package with an entry point. A link, an upload, a store or a record may name the modules that it
was made with; nothing imports those. A public server imports nothing at all, because its limits
know only the parameters of our own components.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from .errors import EijError, InputError, RunError

VARIABLE = "EIJ_IMPORT"
"""Holds modules and files for every process, separated like the folders of PATH."""
PUBLIC = "EIJ_PUBLIC"
"""Is 1 in a server for strangers."""
NOWHERE = ("__main__", "__mp_main__")
"""Modules that have no name by which another process could import them."""
NOT_IN_PUBLIC = (
    "nothing to import on a public server: strangers would start code whose size and time no "
    "limit knows"
)
imported: dict[str, str] = {}
"""By module: what its owner has named, in this process."""
_known: dict[str, Import] = {}
"""Modules of this process with their files as they were when they were first asked for."""


class Import(NamedTuple):
    """A module that registers components, with what another process needs to import it."""

    name: str
    file: str = ""
    sha256: str = ""
    """Of the file."""
    source: bytes = b""
    """The file itself, if the module is that file alone."""

    @classmethod
    def of(cls, name: str) -> Import:
        """Describe a module of this process, or one that is only known by name."""
        file = str(getattr(sys.modules.get(name), "__file__", None) or "")
        if name not in _known and file.endswith(".py"):
            source = Path(file).read_bytes()
            alone = "." not in name and Path(file).stem == name
            digest = hashlib.sha256(source).hexdigest()
            _known[name] = cls(name, file, digest, source if alone else b"")
        return _known.get(name, cls(name))


def is_public() -> bool:
    """Tell whether this process serves strangers."""
    return os.environ.get(PUBLIC) == "1"


def refuse_on_public() -> None:
    """Raise `InputError` if a server that is to become public would import something."""
    for field, names in (("--import", list(imported.values())), (VARIABLE, named_by_variable())):
        if names:
            raise InputError(field, names[0], NOT_IN_PUBLIC)


def named_by_variable() -> list[str]:
    """Return what `EIJ_IMPORT` names."""
    return [text for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]


def options_of(modules: Iterable[str]) -> list[str]:
    """Return the options of a command that imports these modules, as their owner has named them.

    Examples
    --------
    >>> options_of(["mine"])
    ['--import', 'mine']
    """
    return [part for name in modules for part in ("--import", imported.get(name, name))]


def variable() -> str:
    """Return an `EIJ_IMPORT` with which another process imports what this one was asked to."""
    return os.pathsep.join(dict.fromkeys([*named_by_variable(), *imported.values()]))


def import_components(names: Iterable[str], field: str = "import", folder: str | Path = "") -> None:
    """Import modules, and files whose name ends in .py, so that they register their components.

    Parameters
    ----------
    names : iterable of str
    field : str
        Where the owner has named them, for errors.
    folder : path
        Files are looked up from here, modules here as well; by default in the current folder.
    """
    for text in names:
        if is_public():
            raise InputError(field, text, NOT_IN_PUBLIC)
        if not text.strip():
            raise InputError(field, text, "the name of a module, or of a file that ends in .py")
        module = _guarded(field, text, Path(folder).absolute())
        imported[module.__name__] = text if module.__name__ == text else str(module.__file__)


def _guarded(field: str, text: str, folder: Path) -> ModuleType:
    """Import a module or a file; whatever its code raises becomes an error in one line."""
    try:
        return _import_file(field, text, folder) if text.endswith(".py") else _import(text, folder)
    except EijError:
        raise
    except (Exception, SystemExit) as error:  # the code is the user's: it may raise anything
        said = f"{type(error).__name__}: {error}"
        wanted = f"a module or a file that can be imported ({said})"
        raise InputError(field, text, wanted) from error


def import_from_here(name: str) -> ModuleType:
    """Import a module; the current folder is searched, too."""
    return _import(name, Path.cwd())


def import_in_worker(wanted: Iterable[Import]) -> None:
    """Import in this process what another one has imported, on this machine or on a cluster's."""
    for each in wanted:
        if each.name in NOWHERE:
            continue
        if each.name not in sys.modules:
            _import_again(each)
        found = Import.of(each.name)
        if each.sha256 and found.sha256 and found.sha256 != each.sha256:
            raise RunError(
                f"this worker has another version of {each.name} ({found.file}): bring the file "
                f"up to date and start the worker anew"
            )


def _import_again(wanted: Import) -> None:
    """Import a module by name, else from the file where it lies, else from its source."""
    if wanted.source and Path(wanted.file).is_file():
        _search(Path(wanted.file).parent)
    try:
        importlib.import_module(wanted.name)
    except ModuleNotFoundError as error:
        if error.name != wanted.name or not wanted.source:
            raise RunError(
                f"this worker has no module {wanted.name}: install it there, or name a single "
                f"file with --import, which is sent along"
            ) from error
        module = ModuleType(wanted.name)
        module.__file__ = wanted.file
        _known[wanted.name] = wanted
        sys.modules[wanted.name] = module
        try:
            exec(compile(wanted.source, wanted.file, "exec"), vars(module))
        except BaseException:
            del sys.modules[wanted.name]
            raise


def _import(name: str, folder: Path) -> ModuleType:
    _search(folder)
    module = importlib.import_module(name)
    Import.of(name)
    return module


def _import_file(field: str, text: str, folder: Path) -> ModuleType:
    """Import a file as the module that it is called after, so that other processes can, too."""
    path = (folder / Path(text).expanduser()).resolve()
    if not path.is_file():
        raise InputError(field, text, "a file that exists")
    module = sys.modules.get(path.stem)
    if module is None and path.stem.isidentifier():
        _search(path.parent)
        spec = importlib.util.find_spec(path.stem)
        if spec is not None and spec.origin and Path(spec.origin).resolve() == path:
            return _import(path.stem, path.parent)
    elif Path(getattr(module, "__file__", None) or "").resolve() == path:
        return module  # type: ignore[return-value]
    wanted = f"a file with another name: {path.stem} is no name for a module, or has one already"
    raise InputError(field, text, wanted)


def _search(folder: Path) -> None:
    """Search a folder for modules, the last of all: none there takes the place of another."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        importlib.invalidate_caches()
