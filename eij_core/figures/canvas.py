"""A picture: a matplotlib figure that is drawn on request, as SVG or as PNG.

matplotlib's own SVG needs a style sheet and references between elements. Notebook viewers remove
both, and two pictures in one page would share their identifiers. The renderer here writes the looks
as attributes instead, and leaves the colours to the page where a page surrounds the picture.
"""

from __future__ import annotations

import contextlib
import html
import io
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = (".svg", ".html", ".png")
"""The file names that `Picture.save` knows."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
DPI = 72.0
"""With this resolution a point is a pixel of the SVG."""
PNG_SCALE = 2

# Names come from users: a dollar sign must not begin a formula. Nor may the user's style matter.
SETTINGS: dict[Any, Any] = {
    "text.usetex": False,
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],  # the one that matplotlib brings along
    "path.simplify": True,
}
_settings = threading.Lock()
"""matplotlib's settings belong to the process: one picture at a time."""


class Picture:
    """A picture of a given size.

    Parameters
    ----------
    words : str
        What a screen reader says.
    size : (width, height)
        In pixels; a narrower page shrinks it.
    paint : callable
        Draws into the figure that it gets.
    """

    def __init__(
        self, words: str, size: tuple[float, float], paint: Callable[[Figure], None]
    ) -> None:
        self.words, self.size, self._paint = words, size, paint

    def svg(self, *, themed: bool = False) -> str:
        """Return the picture as SVG.

        Parameters
        ----------
        themed : bool
            Whether the colours are those of the page around it (`colours.variables`). A picture
            that stands alone is drawn on a white card.
        """
        from .svg import Renderer

        colours = LIGHT.items() if themed else ()
        named = {colour: f"var(--{name}, {colour})" for name, colour in colours}
        # Pictures of one page must not share identifiers.
        name = f"p{zlib.crc32(repr((self.words, self.size)).encode()):x}"
        renderer = Renderer(self.size, named, name)
        with self._drawn() as figure:
            figure.draw(renderer)
        width, height = self.size
        space = "" if themed else ' xmlns="http://www.w3.org/2000/svg"'  # HTML needs none
        card = "" if themed else '<rect width="100%" height="100%" rx="8" fill="#fff"/>'
        return (
            f'<svg{space} viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" style="max-width: 100%; height: auto" '
            f'role="img" font-family="{FONT}" stroke-linejoin="round" '
            f'aria-label="{html.escape(self.words)}">{card}{renderer.body()}</svg>'
        )

    def page(self) -> str:
        """Return a page with nothing but the picture."""
        head = f'<meta charset="utf-8"><title>{html.escape(self.words)}</title>'
        return f'<!doctype html><html lang="en">{head}<body>{self.svg()}</body></html>\n'

    def png(self) -> bytes:
        """Return the picture as PNG, on white."""
        written = io.BytesIO()
        with self._drawn() as figure:
            figure.savefig(written, format="png", dpi=DPI * PNG_SCALE, facecolor="#fff",
                           metadata={"Software": None})  # fmt: skip
        return written.getvalue()

    def save(self, path: Path) -> None:
        """Write the picture to a file: .svg, .html or .png."""
        if path.suffix == ".png":
            path.write_bytes(self.png())
        else:
            path.write_text(self.page() if path.suffix == ".html" else self.svg() + "\n", "utf-8")

    @contextlib.contextmanager
    def _drawn(self) -> Iterator[Figure]:
        """Yield the figure, painted; matplotlib's settings hold inside the block."""
        import matplotlib
        from matplotlib.figure import Figure

        with _settings, matplotlib.rc_context(SETTINGS):
            width, height = self.size
            figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="none")
            self._paint(figure)
            yield figure
