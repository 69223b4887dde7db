"""The page in a real browser: what a visitor sees and does.

Each test opens a page and goes through one story; every page must stay free of console errors
and of requests to other hosts.
"""

import re

import pytest

from tests.app.browsing import (
    DARK,
    FIGURES,
    Watched,
    await_count,
    await_open,
    await_points,
    columns,
    count,
    link,
    points,
    press,
    settled,
    stage,
)

pytestmark = pytest.mark.ui


def test_choose_run_pause_step_stop_reset(visit):
    page = visit(pace="30", selector="eij")
    assert max(line[0] for line in points(page)["fitness"]) < 5  # a link never starts a run
    press(page, "Run")
    stage(page, "^Running")
    await_points(page, "selection", "n > 8")
    early = columns(page)
    await_points(page, "selection", "n > arg + 3", len(early["selection"][0][0]))
    press(page, "Pause")
    stage(page, "^Paused")
    later = columns(page)
    for name in ("fitness", "estimates", "selection", "posterior-gain", "posterior-joules"):
        assert later[name] != early[name], f"{name} did not change"
    for name in ("posterior-gain", "posterior-joules"):
        assert len(later[name][0][0]) == 81, name
    for lines in later.values():
        for line in lines:
            assert len({len(column) for column in line}) == 1  # columns never come apart
    before = settled(page)
    press(page, "Step")
    page.get_by_text(f"Decision {before + 2}").wait_for()
    assert count(page, "decisions") == before + 1
    press(page, "Stop")
    stage(page, "^Stopped")
    press(page, "Reset")
    stage(page, "^Ready")
    await_points(page, "selection", "n == 0")


def test_violins_grow_and_energy_explains_itself(visit):
    page = visit(pace="0", compare="false", selector="eij-plus")
    press(page, "Run")
    stage(page, "^Finished")
    table = page.get_by_role("button", name=re.compile("words and numbers.*costs"))
    table.click()
    page.get_by_text("Median energy of one application").wait_for()
    page.get_by_text(re.compile("^simulated energy")).click()
    page.get_by_text("From a price list").wait_for()
    page.get_by_text("systematic uncertainty").wait_for()
    page.get_by_role("button", name=re.compile("What am I seeing.*decision")).click()
    page.locator(".view-decision").get_by_text("EI/J+ in five sentences").wait_for()
    page.get_by_text("Which meters are alive here?").click()
    page.get_by_text("alive, estimated").wait_for()  # the processor's time is always there


def test_compare_finish_replay_toggle_the_theme(visit):
    page = visit(pace="2")
    press(page, "Run")
    stage(page, "^Finished")
    table = page.locator("table.draws", has_text="gap to optimum").first
    table.get_by_text("uniform").wait_for()
    table.get_by_text("only flip-5").wait_for()
    whole = points(page)["selection"][0][0]
    decisions = count(page, "decisions")
    slider = page.get_by_role("slider", name=re.compile("Replay"))
    slider.focus()
    for _ in range(20):
        slider.press("ArrowLeft")
    await_points(page, "selection", "n < arg", whole)
    await_count(page, "decisions", lambda shown: shown < decisions)
    page.get_by_role("button", name=re.compile("theme", re.I)).click()
    page.wait_for_function(f"() => {DARK}")
    page.reload()
    await_open(page)
    page.wait_for_function(f"() => {DARK}")  # the choice is kept


def test_the_first_visit_opens_alive(visit):
    page = visit("")
    assert max(line[0] for line in points(page)["fitness"]) > 100
    page.get_by_text(re.compile(r"After \d+ decisions, flip-1")).wait_for()
    page.get_by_role("button", name=re.compile("What am I seeing.*worth")).click()
    page.get_by_text("one more Joule").wait_for()
    assert page.locator("math").count() >= 1


def test_it_is_drawn_before_it_is_there(browser, server):
    """The sketch comes with the first bytes, in the system's colours, and makes room in the end."""
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    watched = Watched(page)
    page.goto(f"{server}{link()}", wait_until="commit")
    page.locator("#loader.dark svg path").first.wait_for(state="attached")
    await_open(page)
    page.wait_for_function(f"() => {DARK}")
    watched.check()
    context.close()


def test_links_are_read_and_written(visit):
    page = visit(seed="x", budget="2 J", selector="eij:alpha=0.25", problem="tiny")
    page.get_by_text("This link held values that cannot be used").wait_for()
    seed = page.get_by_role("textbox", name=re.compile("^Seed"))
    assert seed.input_value() == "1"
    seed.fill("77")
    seed.press("Enter")
    page.wait_for_url(re.compile("seed=77"))
    assert "alpha=0.25" in page.url
    stage(page, "^Ready")
    page.goto(page.url)
    await_open(page)
    assert page.get_by_role("textbox", name=re.compile("^Seed")).input_value() == "77"
    page.get_by_text("alpha: 0.25").wait_for()
    stage(page, "^Ready")


def test_the_paper_s_rule_and_a_portfolio_are_chosen(visit):
    page = visit(compare="false", pace="0")
    page.get_by_role("button", name="the paper's EI/J").click()
    page.get_by_text(re.compile("^alpha")).wait_for()
    page.wait_for_url(re.compile("selector=eij(&|$)"))
    page.wait_for_function(f"() => {FIGURES}.some(f => / eij\\n/.test(f.title?.text))")
    field = page.get_by_role("combobox", name=re.compile("portfolio"))
    size = field.bounding_box()
    # At its arrow: in its middle are the crosses that take operators away.
    field.click(position={"x": size["width"] - 12, "y": size["height"] / 2})
    page.get_by_role("menuitem", name="flip-3", exact=True).click()
    page.mouse.click(700, 20)  # beside the menu, which stays open for more
    page.wait_for_url(re.compile(r"flip-1(\+|%2B)flip-5(\+|%2B)flip-3"))
    press(page, "Run")
    stage(page, "^Finished")
    assert len(points(page)["selection"]) == 3


@pytest.mark.parametrize("width", [390, 760])
def test_a_narrow_window_shows_the_views_first(browser, server, width):
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    watched = Watched(page)
    page.goto(f"{server}{link()}")
    await_open(page)
    press(page, "Run")
    stage(page, "^(Running|Finished)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.get_by_role("heading", name="What the Joules bought").bounding_box()
    assert 0 <= box["x"] < 60 and box["x"] + box["width"] <= width
    problem = page.get_by_role("combobox", name="Problem")
    assert not problem.is_visible()
    page.get_by_role("banner").get_by_role("button").first.click()
    problem.wait_for()
    watched.check()
    context.close()


def test_the_keyboard_is_enough(visit):
    page = visit(pace="0", compare="false")
    run = page.get_by_role("button", name="Run", exact=True)
    run.focus()
    page.keyboard.press("Enter")
    stage(page, "^Finished")
    for role, name in (
        ("button", "Step"), ("button", "Reset"), ("combobox", "Problem"), ("combobox", "Algorithm"),
        ("combobox", "Rule"), ("combobox", "Energy meter"), ("textbox", "Seed"),
        ("textbox", "Energy budget"), ("slider", "Replay"),
    ):  # fmt: skip
        assert page.get_by_role(role, name=re.compile(name)).count() >= 1, (role, name)
