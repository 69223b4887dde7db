"""Files with safe names, whole or absent whatever interrupts the writing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a draft beside `path`; when the block ends it is synced to the disk and renamed.

    If the block raises, the draft is deleted and a file that stood under the name stays.
    """
    draft = path.with_name(f"{path.name}.tmp")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file of these bytes, see `open_atomically`."""
    with open_atomically(path) as file:
        file.write(data)


def slug(text: str, longest: int = 80) -> str:
    r"""Return a file name that is safe in shells, headers and file systems.

    Examples
    --------
    >>> slug("../../x y\r\n")
    'x-y'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:longest] or "run"


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
