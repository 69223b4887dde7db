"""The zoo's page in a real browser: its map grows cell by cell, and a click explains a cell."""

import re

import pytest

from tests.app.browsing import FIGURES, Watched, press, serving, stage

pytestmark = pytest.mark.ui

LINK = "?page=zoo&cases=twin-10,null&rules=uniform&trials=2"
LABELS = f"""() => {FIGURES}.flatMap(f => f.renderers).flatMap(r => {{
    const data = r.data_source.data
    return Array.from((data instanceof Map ? data.get('label') : data.label) ?? [])
}})"""


@pytest.fixture(scope="module")
def address():
    """A server that interprets: two cells are computed before the compiler would be done."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        with serving() as port:
            yield f"http://127.0.0.1:{port}/app"


@pytest.mark.parametrize("looks", [{}, {"viewport": {"width": 390, "height": 844}}])
def test_the_map_grows_and_is_explained(browser, address, looks):
    page = browser.new_context(**looks).new_page()
    watched = Watched(page)
    page.goto(f"{address}{LINK}")
    stage(page, "^Ready")
    page.get_by_text("In each case one operator works at a fair price").wait_for()
    press(page, "Run")
    stage(page, "^Running: 1 of 2 cells")
    stage(page, "^Finished")
    page.wait_for_function(f"() => ({LABELS})().length == 2")
    labels = page.evaluate(LABELS)
    assert all(re.fullmatch(r"\d+(\.\d)?%", label) for label in labels), labels
    canvas = page.locator(".bk-Canvas").first
    canvas.click(position={"x": 0.7 * canvas.bounding_box()["width"], "y": 53})  # in the one row
    page.get_by_text("Waste counts after").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    watched.check()
    page.context.close()
