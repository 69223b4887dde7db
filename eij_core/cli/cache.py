"""`eij cache`: the compiled code on disk."""

from __future__ import annotations

from typing import Annotated

import typer

from ..engine.compiled import cache as kernels


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete all of it.")] = False,
) -> None:
    """Say where compiled code is kept and how large it is, or delete it.

    Code is found by the digest of its source, so what is here is never out of date. What was not
    used for two months goes by itself. `EIJ_CACHE_DIR` names another folder.

    ```console
    $ eij cache
    $ eij cache --clear
    ```
    """
    found = kernels.clear() if clear else kernels.usage()
    count = "1 entry" if found.entries == 1 else f"{found.entries} entries"
    what = f"{count}, {found.bytes / 1e6:.2f} MB"
    typer.echo(f"{'deleted ' if clear else ''}{what} in {kernels.folder()}")
