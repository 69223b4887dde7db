"""A run of the dashboard as a moving picture: `make film` writes tests/screenshots/run.gif."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tests.screenshots import FOLDER, PATIENCE, ROOT, visiting

SIZE = {"width": 1280, "height": 1000}
WIDTH = 800
"""Pixels of the film."""
FRAMES = 24
LARGEST = 1_500_000
"""Bytes; a README should not be heavier."""


def main() -> None:
    """Serve the dashboard, play a run, keep what is seen."""
    with visiting() as (visit, _):
        frames = _play(visit("?pace=30&compare=false", viewport=SIZE))
    path = FOLDER / "run.gif"
    size = _write(frames, path)
    print(f"{path.relative_to(ROOT)}: {len(frames)} pictures, {size / 1e6:.2f} MB")
    if size > LARGEST:
        sys.exit(f"that is more than {LARGEST / 1e6:g} MB")


def _play(page: Page) -> list[Image.Image]:
    """One picture at each step of the progress, however fast the machine plays."""
    frames = [_picture(page)]
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text(re.compile("^(Running|Finished)")).first.wait_for()  # a first run compiles
    bar = page.get_by_role("progressbar").first
    finished = page.get_by_text(re.compile("^Finished"))
    end = time.monotonic() + PATIENCE / 1000
    while len(frames) < FRAMES and not finished.count() and time.monotonic() < end:
        if float(bar.get_attribute("aria-valuenow") or 0) >= 100 * len(frames) / FRAMES:
            frames.append(_picture(page))
        page.wait_for_timeout(50)
    finished.first.wait_for()
    return [*frames, _picture(page)]


def _picture(page: Page) -> Image.Image:
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return seen.resize((WIDTH, round(WIDTH * seen.height / seen.width)), Image.Resampling.LANCZOS)


def _write(frames: list[Image.Image], path: Path) -> int:
    """Write with one palette for all: colours that change by themselves flicker and weigh."""
    palette = frames[-1].quantize(128, dither=Image.Dither.NONE)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    # The last picture stays, so that it can be read.
    times = [250] * (len(drawn) - 1) + [3000]
    drawn[0].save(
        path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True
    )
    return path.stat().st_size


if __name__ == "__main__":
    main()
