"""The page in a real browser: what a visitor sees and does.

Each test opens one page and goes through one story; every page must stay free of console errors
and of requests to other hosts.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.app import tiny

pytestmark = pytest.mark.ui
ROOT = Path(__file__).parents[2]
PATIENCE = 60_000
"""Milliseconds; the machine may be busy."""


@pytest.fixture(scope="module")
def server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.app.served", str(port)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=env) as process:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/liveness", timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "the server has ended"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/app"
        process.terminate()


@pytest.fixture
def visit(page, server):
    """Open the page; at the end, check that it complained of nothing and called nobody."""
    complaints, strangers = [], []

    def on_console(message):
        if message.type == "error" or "could not" in message.text:
            complaints.append(message.text)

    def on_request(request):
        host = urlsplit(request.url).hostname
        if request.url.startswith("http") and host != "127.0.0.1":
            strangers.append(request.url)

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", on_request)
    page.set_default_timeout(PATIENCE)

    def visit(query=None, **settings):
        page.goto(f"{server}{query if query is not None else link(**settings)}")
        page.wait_for_function(f"{FIGURES}.length == 6", timeout=PATIENCE)
        return page

    yield visit
    assert complaints == []
    assert strangers == []


def link(**settings):
    known = {**tiny.TINY, "budget": "4 J", "pace": "6", "compare": "true", "seed": "3"}
    return "?" + urlencode({**known, **settings})


MODELS = "Array.from((window.Bokeh?.documents?.[0]?._all_models ?? new Map()).values())"
FIGURES = f"{MODELS}.filter(m => m.type == 'Figure')"
POINTS = f"""() => Object.fromEntries({FIGURES}.map(f => [f.name, f.renderers.map(r => {{
    const data = r.data_source.data
    const columns = data instanceof Map ? [...data.values()] : Object.values(data)
    return columns.map(c => c.length)
}})]))"""


def points(page):
    """The lengths of the columns of each line of each figure, as the browser has them."""
    return page.evaluate(POINTS)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def stage(page, words):
    page.get_by_text(re.compile(words)).first.wait_for()


def count(page, name):
    """A number of the numbers' row."""
    card = page.locator(".stat", has_text=re.compile(f"{name}$")).locator("b")
    return int(re.sub(r"\D", "", card.inner_text()))


def settled(page):
    """The number of decisions, once the last chunk before a pause is drawn."""
    last = -1
    while (now := count(page, "decisions")) != last:
        last = now
        page.wait_for_timeout(1500)
    return now


def test_choose_run_pause_step_stop_reset(visit):
    page = visit(pace="20")
    assert points(page)["fitness"][0][0] == 0  # a link never starts a run
    press(page, "Run")
    stage(page, "^Running")
    page.wait_for_function(f"() => ({POINTS})()['selection'][0][0] > 8")
    early = points(page)
    page.wait_for_function(
        f"n => ({POINTS})()['selection'][0][0] > n", arg=early["selection"][0][0]
    )
    press(page, "Pause")
    stage(page, "^Paused")
    later = points(page)
    for name in ("fitness", "estimates", "selection"):
        assert max(map(max, later[name])) > 5, name
    for name in ("posterior-gain", "posterior-joules"):
        assert later[name][0][0] == 81, name
    for lines in later.values():
        assert all(len(set(columns)) == 1 for columns in lines)  # columns never come apart
    before = settled(page)
    press(page, "Step")
    page.get_by_text(f"Decision {before + 2}").wait_for()
    assert count(page, "decisions") == before + 1
    press(page, "Stop")
    stage(page, "^Stopped")
    press(page, "Reset")
    stage(page, "^Ready")
    page.wait_for_function(f"() => ({POINTS})()['selection'][0][0] == 0")


def test_compare_finish_replay_dark(visit):
    page = visit(pace="2")
    press(page, "Run")
    stage(page, "^Finished")
    table = page.locator("table.draws").first
    table.get_by_text("uniform").wait_for()
    table.get_by_text("only flip-5").wait_for()
    whole = points(page)["selection"][0][0]
    slider = page.get_by_role("slider", name=re.compile("Replay"))
    slider.focus()
    for _ in range(20):
        slider.press("ArrowLeft")
    page.wait_for_function(f"n => ({POINTS})()['selection'][0][0] < n", arg=whole)
    page.get_by_role("button", name=re.compile("theme", re.I)).click()
    page.wait_for_function(f"() => {DARK}")


DARK = """(() => {
    const walk = root => [...root.querySelectorAll('*')].flatMap(
        e => [e, ...(e.shadowRoot ? walk(e.shadowRoot) : [])])
    const papers = walk(document).filter(e => e.classList?.contains('MuiPaper-root'))
    const dark = e => getComputedStyle(e).backgroundColor.match(/\\d+/g).slice(0, 3)
        .every(c => Number(c) < 80)
    return papers.length > 3 && papers.every(dark)
})()"""


def test_the_first_visit_opens_alive(visit):
    page = visit("")
    assert points(page)["fitness"][0][0] > 100
    page.get_by_text("After 810 decisions, flip-1").wait_for()
    page.get_by_text("Guess first").wait_for()
    page.get_by_role("button", name=re.compile("What am I seeing.*worth")).click()
    page.get_by_text("one more Joule").wait_for()
    assert page.locator("math").count() > 3


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


def test_payloads_stay_text(visit):
    page = visit(selector=tiny.PAYLOAD, lesson=f"{tiny.PAYLOAD}", budget="$$x$$</script>")
    page.get_by_text("This link held values").wait_for()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_files_out_and_in(visit, tmp_path):
    page = visit(pace="0", compare="false")
    press(page, "Run")
    stage(page, "^Finished")
    page.get_by_text("Share and keep").click()
    page.get_by_text("eij run").first.wait_for()
    with page.expect_download() as download:
        press(page, "JSON")
    file = tmp_path / "run.json"
    download.value.save_as(file)
    assert re.fullmatch(r"[A-Za-z0-9._-]+\.json", download.value.suggested_filename)
    assert json.loads(file.read_text("utf-8"))
    bad = tmp_path / "bad.json"
    bad.write_text(f'{{"names": ["{tiny.PAYLOAD}"]}}')
    chooser = page.locator("input[type=file]")
    chooser.set_input_files(bad)
    page.get_by_text("no record").wait_for()
    press(page, "Reset")
    page.wait_for_function(f"() => ({POINTS})()['selection'][0][0] == 0")
    chooser.set_input_files(file)
    page.wait_for_function(f"() => ({POINTS})()['selection'][0][0] > 10")
    assert page.evaluate("window.hacked") is None


def test_a_phone_shows_the_views_first(browser, server):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, user_agent="Mozilla/5.0 (Linux; Android) Mobile"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server}{link()}")
    page.wait_for_function(f"{FIGURES}.length == 6", timeout=PATIENCE)
    press(page, "Run")
    stage(page, "^(Running|Finished)")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    context.close()
