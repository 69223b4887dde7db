"""A renderer of matplotlib that writes SVG without style sheet, classes and references.

What matplotlib calls the gid of an artist becomes the hint that a pointer over it shows.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

FAR = 1e4
"""Pixels: a point further away is moved here, which shortens the path and changes no picture."""
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
ANCHORS = {"left": "start", "center": "middle", "right": "end"}


class Renderer(RendererBase):
    """Collects the elements that `Figure.draw` asks for.

    Parameters
    ----------
    size : (width, height)
        In pixels.
    named : mapping
        What is written in place of a colour.
    name : str
        Begins the identifiers of clips.
    """

    def __init__(self, size: tuple[float, float], named: Mapping[str, str], name: str) -> None:
        super().__init__()
        self._size, self._named, self._name = size, named, name
        self._parts: list[str] = []
        self._groups: list[bool] = []
        self._clips: dict[tuple[float, ...], str] = {}

    def body(self) -> str:
        """Return the elements drawn so far."""
        clips = "".join(
            # No fill: a sanitizer that does not know clipPath leaves the bare rectangle.
            f'<clipPath id="{name}"><rect x="{_short(x)}" y="{_short(y)}" width="{_short(w)}" '
            f'height="{_short(h)}" fill="none"/></clipPath>'
            for (x, y, w, h), name in self._clips.items()
        )
        return clips + "".join(self._parts)

    def get_canvas_width_height(self) -> tuple[float, float]:
        """Return the size in pixels."""
        return self._size

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Begin an artist; with a hint it becomes a group."""
        self._groups.append(bool(gid))
        if gid:
            self._parts.append(f"<g><title>{html.escape(gid)}</title>")

    def close_group(self, s: str) -> None:
        """End an artist."""
        if self._groups.pop():
            self._parts.append("</g>")

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        """Write a line or a filled shape."""
        flipped = transform + Affine2D().scale(1, -1).translate(0, self._size[1])
        steps = _steps(path, flipped, filled=rgbFace is not None)
        forced = gc.get_alpha() if gc.get_forced_alpha() else None
        looks = self._fill(rgbFace, forced)
        width = gc.get_linewidth()
        red, green, blue, alpha = gc.get_rgb()
        if width > 0 and alpha > 0:
            looks["stroke"] = self._colour((red, green, blue))
            looks["stroke-width"] = _short(width)
            looks |= _opacity("stroke", alpha if forced is None else forced)
            _, dashes = gc.get_dashes()
            if dashes is not None:
                looks["stroke-dasharray"] = " ".join(map(_short, dashes))
            if gc.get_capstyle() == "round":
                looks["stroke-linecap"] = "round"
        elif rgbFace is None:
            return
        looks |= self._clip(gc.get_clip_rectangle(), path, transform)
        if steps:
            self._parts.append(f'<path d="{steps}" {_attributes(looks)}/>')

    def draw_text(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float,
        ismath: Any = False, mtext: Any = None,
    ) -> None:  # fmt: skip
        """Write text as text: the reader's own font may be wider or narrower than matplotlib's."""
        anchor = "start"
        if mtext is not None and angle in (0.0, 90.0):
            anchor = ANCHORS[mtext.get_horizontalalignment()]
            at = mtext.get_transform().transform(mtext.get_unitless_position())
            x, y = (at[0], y) if angle == 0.0 else (x, self._size[1] - at[1])
        looks = {"x": _short(x), "y": _short(y), **self._fill(gc.get_rgb(), None)}
        looks["font-size"] = _short(prop.get_size_in_points())
        if anchor != "start":
            looks["text-anchor"] = anchor
        if prop.get_weight() == "bold":
            looks["font-weight"] = "600"
        if angle:
            looks["transform"] = f"rotate({_short(-angle)} {looks['x']} {looks['y']})"
        self._parts.append(f"<text {_attributes(looks)}>{html.escape(s, quote=False)}</text>")

    def _colour(self, rgb: Iterable[float]) -> str:
        red, green, blue, *_ = rgb
        colour = to_hex((red, green, blue))
        return self._named.get(colour, colour)

    def _fill(self, rgb: Any, forced: float | None) -> dict[str, str]:
        if rgb is None:
            return {"fill": "none"}
        alpha = rgb[3] if len(rgb) > 3 else 1.0
        return {"fill": self._colour(rgb), **_opacity("fill", alpha if forced is None else forced)}

    def _clip(self, box: Any, path: Any, transform: Any) -> dict[str, str]:
        """Return the clip of a path, if it reaches beyond the box at all."""
        if box is None:
            return {}
        reach = path.get_extents(transform)
        inside = Bbox.from_extents(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
        if inside.contains(*reach.min) and inside.contains(*reach.max):
            return {}
        place = (box.x0, self._size[1] - box.y1, box.width, box.height)
        name = self._clips.setdefault(place, f"{self._name}-{len(self._clips)}")
        return {"clip-path": f"url(#{name})"}


def _steps(path: Any, transform: Any, *, filled: bool) -> str:
    """Return the d of a path, in tenths of a pixel; it breaks where a value is missing."""
    parts = []
    simplify = None if filled else path.should_simplify
    for points, code in path.iter_segments(transform, remove_nans=True, simplify=simplify):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
        elif code in LETTERS:
            parts.append(LETTERS[code] + " ".join(map(_short, points.clip(-FAR, FAR).tolist())))
    return "".join(parts)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _opacity(kind: str, alpha: float) -> dict[str, str]:
    return {} if alpha >= 1.0 else {f"{kind}-opacity": f"{alpha:.3g}"}


def _attributes(looks: Mapping[str, str]) -> str:
    return " ".join(f'{name}="{value}"' for name, value in looks.items())
