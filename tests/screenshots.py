"""Pictures of the dashboard for the README: `make screenshots` writes tests/screenshots/*.png."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.app.browsing import OPEN, count, free_port, press, stage
from tests.find_browser import find

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "screenshots"
PATIENCE = 240_000
"""Milliseconds; a first run compiles."""
MOST_BYTES = 300_000
DESK = {"width": 1360, "height": 1500}


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with visiting() as (visit, devices):
        for scheme in ("light", "dark"):
            page = visit("?pace=60", viewport=DESK, color_scheme=scheme)
            _to_the_middle(page)
            _take(page, f"dashboard-{scheme}")
        page = visit("?lesson=dear-twin&pace=5", viewport=DESK)
        page.get_by_label("less than a tenth").first.click()
        press(page, "Run")
        stage(page, "^Finished")
        page.get_by_text("Why, and what to try next").click()
        _take(page, "lesson")
        _take(visit("", **{**devices["Pixel 5"], "device_scale_factor": 1}), "phone")


@contextmanager
def visiting() -> Iterator[tuple[Callable[..., Page], Any]]:
    """Serve the dashboard; give what opens it in a browser, and the devices there are."""
    port = free_port()
    code = f"from app.server.serve import serve; serve(port={port})"
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        with sync_playwright() as playwright:
            sandbox = [] if os.geteuid() else ["--no-sandbox"]
            browser = playwright.chromium.launch(executable_path=find(), args=sandbox)
            yield partial(_open, browser, port), playwright.devices
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _open(browser: Browser, port: int, query: str, **looks: object) -> Page:
    page = browser.new_context(**looks).new_page()
    page.set_default_timeout(PATIENCE)
    for _ in range(600):  # until the server is up
        try:
            page.goto(f"http://127.0.0.1:{port}/app{query}")
            break
        except Exception:
            page.wait_for_timeout(200)
    page.wait_for_function(OPEN, timeout=PATIENCE)
    return page


def _to_the_middle(page: Page) -> None:
    """Run to about a third of the budget, and pause there, so that the decision can be read."""
    press(page, "Run")
    stage(page, "^Running")
    while count(page, "decisions") < 280:
        page.wait_for_timeout(100)
    page.get_by_role("button", name=re.compile("^Pause")).click()
    stage(page, "^Paused")


def _take(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    page.wait_for_timeout(2500)  # animations end
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, scale="css")
    # Flat colours: a palette holds them all, in a third of the bytes.
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{path.name} has {size} bytes, more than {MOST_BYTES}")
    page.context.close()


if __name__ == "__main__":
    main()
