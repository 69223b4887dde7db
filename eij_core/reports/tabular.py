"""A table of text, and its three forms: HTML, Markdown, LaTeX."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Cell", "Table", "mean_sd", "p_value"]

LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "·": r"$\cdot$",
    "≥": r"$\ge$",
    "<": "$<$",
    ">": "$>$",
    "Δ": r"$\Delta$",
    "∞": r"$\infty$",
    "²": r"$^2$",
    "χ": r"$\chi$",
    "✓": r"\checkmark{}",
    "→": r"$\to$",
    "…": r"\dots{}",
}


class Cell(NamedTuple):
    """One entry; `bold` as in the paper's tables, `mark` for a remark in colour."""

    text: str
    bold: bool = False
    mark: str = ""


class Table(NamedTuple):
    """A table with a title, and a caption that says what the numbers are."""

    title: str
    caption: str
    headings: list[str]
    rows: list[list[Cell]]
    text_columns: int = 1
    """How many columns, from the left, are text; the others are numbers."""

    def html(self) -> str:
        """Return the table for the page."""
        head = "".join(
            f'<th scope="col"{_align(i, self)}>{html.escape(h)}</th>'
            for i, h in enumerate(self.headings)
        )
        body = []
        before = [""] * self.text_columns
        for row in self.rows:
            cells = []
            for i, cell in enumerate(row):
                text = html.escape(cell.text)
                # A name that the line above has too would only be noise.
                same = (
                    i < self.text_columns - 1 and [c.text for c in row[: i + 1]] == before[: i + 1]
                )
                text = f'<span class="same">{text}</span>' if same else text
                text = f"<b>{text}</b>" if cell.bold else text
                cells.append(f"<td{_align(i, self, cell.mark)}>{text}</td>")
            first = ' class="first"' if row[0].text != before[0] else ""
            body.append(f"<tr{first}>{''.join(cells)}</tr>")
            before = [cell.text for cell in row[: self.text_columns]]
        dense = " dense" if len(self.headings) > 14 else ""
        return (
            f'<div class="wide{dense}"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )

    def markdown(self) -> str:
        """Return the table for a README or an issue."""
        lines = [
            "| " + " | ".join(map(_markdown, self.headings)) + " |",
            "|"
            + "|".join(
                "---" if i < self.text_columns else "--:" for i, _ in enumerate(self.headings)
            )
            + "|",
        ]
        for row in self.rows:
            texts = (_markdown(cell.text) for cell in row)
            shown = (f"**{t}**" if c.bold and t else t for t, c in zip(texts, row, strict=True))
            lines.append("| " + " | ".join(shown) + " |")
        return f"### {self.title}\n\n" + "\n".join(lines) + f"\n\n{self.caption}\n"

    def latex(self) -> str:
        """Return the table for an article; it needs the package booktabs."""
        columns = "l" * self.text_columns + "r" * (len(self.headings) - self.text_columns)
        rows = []
        for row in self.rows:
            texts = (_latex(cell.text) for cell in row)
            rows.append(
                " & ".join(
                    f"\\textbf{{{t}}}" if c.bold and t else t
                    for t, c in zip(texts, row, strict=True)
                )
            )
        body = " \\\\\n".join(rows)
        head = " & ".join(map(_latex, self.headings))
        return (
            f"\\begin{{table}}[tb]\n\\centering\n\\caption{{{_latex(self.title)}. "
            f"{_latex(self.caption)}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n"
            f"\\midrule\n{body} \\\\\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )


def mean_sd(mean: float, sd: float) -> str:
    """Write mean ± sd with the digits that the sd allows.

    Examples
    --------
    >>> mean_sd(8818.56, 261.56), mean_sd(0.06293, 0.00031), mean_sd(math.nan, 1)
    ('8818.6 ± 261.6', '0.06293 ± 0.00031', '–')
    """
    if math.isnan(mean):
        return "–"
    if math.isnan(sd) or sd == 0:
        return f"{mean:.6g}".replace("-", "−")
    digits = max(0, 1 - math.floor(math.log10(sd)))
    digits = max(digits, 1) if abs(mean) < 1e5 else digits
    return f"{mean:.{digits}f} ± {sd:.{digits}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.0003), p_value(0.041), p_value(math.nan)
    ('<0.001', '0.041', '–')
    """
    if math.isnan(p):
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def cells(texts: Iterable[str]) -> list[Cell]:
    """Return plain entries."""
    return [Cell(text) for text in texts]


def _align(i: int, table: Table, mark: str = "") -> str:
    names = ("n " if i >= table.text_columns else "") + mark
    return f' class="{names.strip()}"' if names else ""


def _markdown(text: str) -> str:
    # Names are other people's: no table, no link and no HTML may come of them.
    for character in "\\`*_[]<>|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in " ".join(text.split()))
