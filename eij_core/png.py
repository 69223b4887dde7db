"""Our own figures as PNG, without a browser: the SVG that `svg.Axes` writes, drawn by Pillow.

Not a renderer of SVG at large: it knows the elements, the paths (M, L, H, V) and the classes that
`Axes` uses, and refuses others. Pillow brings a font of its own, so it needs no fonts either.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from .errors import EijError

__all__ = ["png_of"]

SMOOTH = 3
"""Drawn so much larger, then shrunk: Pillow's shapes have hard edges."""
FONT_SIZE = 11.0
INK, FAINT_INK, GRID = "#1d2126", "#5c6570", "#e9ecef"
FILL_OPACITY = 0.45
STEP = re.compile(r"([MLHV])([-\d.]+)(?:[ ,]([-\d.]+))?")
KNOWN = {"svg", "title", "clipPath", "rect", "g", "path", "polygon", "circle", "text"}


def png_of(svg: str, colours: tuple[str, ...], scale: float = 2.0) -> bytes:
    """Draw a figure of `svg.Axes`.

    Parameters
    ----------
    svg : str
    colours : tuple of str
        Of the classes s0, s1, …
    scale : float
        Pixels of the picture for one of the figure.
    """
    try:
        from PIL import Image
    except ImportError:
        raise EijError(
            "a PNG needs Pillow (pip install pillow); .svg and .html need nothing"
        ) from None
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[key]) for key in ("width", "height"))
    size = (round(width * scale), round(height * scale))
    image = Image.new("RGB", (size[0] * SMOOTH, size[1] * SMOOTH), "#fff")
    _draw(image, root, colours, scale * SMOOTH)
    written = io.BytesIO()
    image.resize(size, Image.Resampling.LANCZOS).save(written, "PNG", optimize=True)
    return written.getvalue()


def _draw(image: Any, root: Any, colours: tuple[str, ...], scale: float) -> None:
    from PIL import ImageDraw

    brush = ImageDraw.Draw(image, "RGBA")
    for element in _elements(root):
        classes = element.attrib.get("class", "").split()
        series = [int(name[1:]) for name in classes if re.fullmatch(r"s\d+", name)]
        colour = colours[series[0] % len(colours)] if series else INK
        kind = _tag(element)
        if kind == "path":
            points = [(x * scale, y * scale) for x, y in _points(element.attrib["d"])]
            brush.line(points, fill=colour if series else GRID, width=max(1, round(scale)))
        elif kind == "polygon":
            pairs = (pair.split(",") for pair in element.attrib["points"].split())
            points = [(float(x) * scale, float(y) * scale) for x, y in pairs]
            red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
            brush.polygon(points, fill=(red, green, blue, round(255 * FILL_OPACITY)))
        elif kind == "circle":
            x, y, r = (float(element.attrib[key]) * scale for key in ("cx", "cy", "r"))
            brush.ellipse((x - r, y - r, x + r, y + r), fill=colour)
        elif kind == "text":
            _write(brush, element, classes, scale)


def _elements(root: Any) -> Iterator[Any]:
    """Yield what is drawn, in order; the clip only guards against what we do not draw."""
    for element in root:
        if _tag(element) not in KNOWN:
            raise ValueError(f"<{_tag(element)}> cannot be drawn")
        if _tag(element) == "g":
            yield from _elements(element)
        elif _tag(element) not in ("title", "clipPath"):
            yield element


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _points(path: str) -> list[tuple[float, float]]:
    x = y = 0.0
    points = []
    for letter, first, second in STEP.findall(path):
        if letter in "ML":
            x, y = float(first), float(second)
        elif letter == "H":
            x = float(first)
        else:
            y = float(first)
        points.append((x, y))
    return points


def _write(brush: Any, element: Any, classes: list[str], scale: float) -> None:
    from PIL import ImageFont

    anchor = {"start": "ls", "middle": "ms", "end": "rs"}
    place = float(element.attrib["x"]) * scale, float(element.attrib["y"]) * scale
    bold = "title" in classes
    brush.text(
        place,
        element.text or "",
        fill=INK if bold else FAINT_INK,
        font=ImageFont.load_default(FONT_SIZE * scale),
        anchor=anchor[element.attrib.get("text-anchor", "start")],
        stroke_width=round(0.2 * scale) if bold else 0,
    )
