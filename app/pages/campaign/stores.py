"""The campaigns that a server may show: folders right below one directory, by their names alone.

`EIJ_STORES` names the directory. A private server without it looks where it was started, which is
where `eij paper` and `eij campaign run` leave their stores; a public one then shows none. What a
visitor sends is a name, never a path.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from itertools import islice
from pathlib import Path

from eij_core import InputError
from eij_core.atomic_files import slug
from eij_core.campaigns.reader import FILE

from ...server.limits import is_public

MOST = 200
"""Stores that are listed."""


def stores() -> dict[str, Path]:
    """Return the stores that may be shown, by name."""
    root = _root()
    if root is None or not root.is_dir():
        return {}
    home = root.resolve()
    folders = (path for path in sorted(root.iterdir()) if (path / FILE).is_file())
    # A link may lead out of the directory; what lies outside is not shown.
    inside = (path for path in folders if (path / FILE).resolve().parent.parent == home)
    return {path.name: path for path in islice(inside, MOST)}


def _root() -> Path | None:
    named = os.environ.get("EIJ_STORES", "")
    if named:
        return Path(named)
    return None if is_public() else Path.cwd()


class Shelf:
    """Where one visitor's campaigns are kept: below `EIJ_STORES`, or until the page is closed."""

    def __init__(self) -> None:
        self._draft: Path | None = None

    @property
    def keeps(self) -> bool:
        """Whether a campaign outlives the page."""
        return bool(os.environ.get("EIJ_STORES")) and not is_public()

    def place(self, name: str, key: str) -> Path:
        """Return the folder of a campaign: the same name and key, the same folder."""
        if self.keeps:
            root = Path(os.environ["EIJ_STORES"])
        else:
            self._draft = self._draft or Path(tempfile.mkdtemp(prefix="eij-campaigns-"))
            root = self._draft
        return root / f"{slug(name, 40)}-{slug(key, 8)}"

    def find(self, name: str) -> Path:
        """Return the store of this name, or raise `InputError`."""
        found = stores()
        if name not in found:
            raise InputError("store", name, "one of the stores on this server")
        return found[name]

    def clear(self) -> None:
        """Throw away what was only for this page."""
        if self._draft is not None:
            shutil.rmtree(self._draft, ignore_errors=True)
