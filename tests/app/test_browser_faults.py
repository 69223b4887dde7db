"""Bad days in a real browser: failures, lost lines, reloads, and a second tab."""

import itertools
import re

import pytest

from tests.app.browsing import (
    PATIENCE,
    ROOT,
    Line,
    Watched,
    await_open,
    await_points,
    columns,
    free_port,
    link,
    points,
    press,
    serving,
    stage,
)

pytestmark = pytest.mark.ui


@pytest.mark.parametrize("problem", ["not-a-number", "raises"])
def test_failures_are_told_and_nothing_leaks(visit, problem):
    page = visit(problem=problem, budget="50 J", pace="0", compare="false")
    press(page, "Run")
    stage(page, "^Failed")
    page.get_by_text("Run failed").wait_for()
    shown = page.locator("body").inner_text()
    assert str(ROOT) not in shown
    assert "Traceback" not in shown
    assert page.evaluate("window.hacked") is None
    page.get_by_role("button", name="Run again", exact=True).wait_for()


def test_reload_in_mid_run(visit):
    page = visit(pace="600", seed="9")
    press(page, "Run")
    stage(page, "^Running")
    await_points(page, "selection", "n > 2")
    page.reload()
    await_open(page)
    stage(page, "^Ready")  # nothing starts by itself
    assert points(page)["selection"][0][0] == 0
    assert page.get_by_role("textbox", name=re.compile("^Seed")).input_value() == "9"
    press(page, "Run")
    stage(page, "^Running")


def test_two_tabs_do_not_meet(visit, context, server):
    first = visit(pace="600")
    second = context.new_page()
    watched = Watched(second)
    second.goto(f"{server}{link(pace='1', seed='4')}")
    await_open(second)
    press(first, "Run")
    stage(first, "^Running")
    stage(second, "^Ready")
    press(second, "Run")
    stage(second, "^Finished")
    await_points(first, "selection", "n > 2")
    stage(first, "^Running")
    press(first, "Stop")
    stage(first, "^Stopped")
    watched.check()
    second.close()


@pytest.mark.chaos
def test_ten_seconds_without_a_line(page):
    """The run goes on, the page comes back to it by itself, and nothing is missing."""
    port = free_port()
    line = Line(port)
    try:
        with serving(f"127.0.0.1:{port}") as line.target:
            page.set_default_timeout(PATIENCE)
            page.goto(f"http://127.0.0.1:{port}/app{link(pace='25', compare='false')}")
            await_open(page)
            press(page, "Run")
            stage(page, "^Running")
            await_points(page, "selection", "n > 3")
            line.cut()
            page.wait_for_timeout(10_000)
            before = points(page)["selection"][0][0]
            line.restore()
            await_points(page, "selection", "n > arg", before)
            stage(page, "^Finished")
            page.wait_for_timeout(500)
            used = columns(page)["selection"][0][0]
            assert used[-1] > 95.0
            # An application takes about a hundredth of this budget: no row is missing.
            assert max(b - a for a, b in itertools.pairwise(used)) < 3.0
    finally:
        line.close()
