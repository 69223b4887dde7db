"""Pictures of the dashboard for the README: `make screenshots` writes tests/screenshots/*.png."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.find_browser import find

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "screenshots"
FIGURES = (
    "Array.from((window.Bokeh?.documents?.[0]?._all_models ?? new Map()).values())"
    ".filter(m => m.type == 'Figure').length == 6"
)
PATIENCE = 240_000
"""Milliseconds; a first run compiles."""


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = f"from app.serve import serve; serve(port={port})"
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        _wait_for(port)
        with sync_playwright() as playwright:
            sandbox = [] if os.geteuid() else ["--no-sandbox"]
            browser = playwright.chromium.launch(executable_path=find(), args=sandbox)
            for scheme in ("light", "dark"):
                _desk(browser.new_page(viewport={"width": 1360, "height": 1560}), port, scheme)
            phone = browser.new_context(**playwright.devices["Pixel 5"]).new_page()
            _phone(phone, port)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _desk(page: Page, port: int, scheme: str) -> None:
    """A comparison in mid-run, paused, so that the decision can be read."""
    _open(page, port, "?pace=60")
    if scheme == "dark":
        page.get_by_role("button", name=re.compile("theme", re.I)).click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text(re.compile("^Running")).first.wait_for()
    for _ in range(600):  # to about the middle of the budget, however busy the machine
        page.wait_for_timeout(100)
        if int(page.locator(".stat b").nth(3).inner_text().replace(" ", "")) > 350:
            break
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_text(re.compile("^Paused")).first.wait_for()
    page.mouse.move(0, 0)
    page.wait_for_timeout(2500)
    page.screenshot(path=FOLDER / f"dashboard-{scheme}.png")
    page.close()


def _phone(page: Page, port: int) -> None:
    _open(page, port, "")
    page.wait_for_timeout(2500)
    page.screenshot(path=FOLDER / "phone.png", scale="css")


def _open(page: Page, port: int, query: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"http://127.0.0.1:{port}/app{query}")
    page.wait_for_function(FIGURES, timeout=PATIENCE)


def _wait_for(port: int) -> None:
    for _ in range(1200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/liveness", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server did not start")


if __name__ == "__main__":
    main()
