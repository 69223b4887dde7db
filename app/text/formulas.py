"""Formulas as MathML, which browsers draw without a script, a font or the network."""

from __future__ import annotations

import functools

from latex2mathml.converter import convert


@functools.cache
def formula(latex: str) -> str:
    """Return a formula on a line of its own.

    Examples
    --------
    >>> formula("x")
    '<math class="formula" display="block"><mrow><mi>x</mi></mrow></math>'
    """
    namespace = 'xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML needs none
    return convert(latex.strip(), display="block").replace(namespace, 'class="formula"', 1)
