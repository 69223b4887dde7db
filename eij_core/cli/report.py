"""`eij report`: from a store to a page, or to tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError, check_known

ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="[default: DIR.html, beside the folder]")
]
FORMS = ("html", "md", "tex")


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A campaign's folder.")],
    out: ReportFile = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="html, md or tex (tables).")
    ] = "html",
    control: Annotated[
        str, typer.Option(metavar="METHOD", help="The method to compare with. [default: eij]")
    ] = "",
) -> None:
    """Write the report of a campaign: one page that opens anywhere, without a network.

    ```console
    $ eij report results
    $ eij report results --format tex --out tables.tex
    ```
    """
    check_known("--format", form, FORMS)
    from ..campaigns import Reader

    Reader(folder, verify=False).close()  # refuses a folder without a store before pandas is there
    from ..paper import beside
    from ..reports import report_of

    write_report(report_of(folder, control=control, beside=beside), folder, out, form)


def write_report(made: Any, folder: Path, out: Path | None, form: str = "html") -> None:
    """Write a report to a file, by default beside the store's folder."""
    out = out or folder.with_name(f"{folder.resolve().name}.{form}")
    text = {"html": made.html, "md": made.markdown, "tex": made.latex}[form]()
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise InputError("--out", out, f"a file to write to ({error.strerror})") from None
    typer.echo(f"report: {out}")
