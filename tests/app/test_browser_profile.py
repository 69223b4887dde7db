"""The page of profiles in a real browser: chosen, running, finished, waiting, failed."""

import re

import pytest

from eij_core.profiles.profile import Profile
from tests.app.browsing import FIGURES, PATIENCE, Watched, columns, press, serving, stage

pytestmark = pytest.mark.ui

LINK = "?page=profile&problem=tiny&algorithm=ils:steps=4&meter={}&batches={}"
OPEN = f"() => {FIGURES}.length == 1 && document.getElementById('loader') == null"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server on a machine without a counter, wherever the tests run."""
    nowhere = tmp_path_factory.mktemp("profile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EIJ_POWERCAP_ROOT", str(nowhere / "powercap"))
        patch.setenv("EIJ_RAPL_LOCK", str(nowhere / "lock"))
        with serving() as port:
            yield f"http://127.0.0.1:{port}/app"


@pytest.fixture
def profile_page(browser, address):
    """Open pages, each a visitor of its own; in the end none may have complained."""
    opened = []

    def visit(meter, batches, **looks):
        page = browser.new_context(**looks).new_page()
        opened.append((page, Watched(page)))
        page.goto(f"{address}{LINK.format(meter, batches)}")
        page.wait_for_function(OPEN)
        return page

    yield visit
    for page, watched in opened:
        watched.check()
        page.context.close()


def batches(page):
    """How many the page tells of; 0 before the first."""
    told = page.get_by_text(re.compile(r"\d+ batches\.")).all_inner_texts()
    return int(re.search(r"(\d+) batches\.", told[0])[1]) if told else 0


def await_batches(page, least):
    for _ in range(PATIENCE // 100):
        if batches(page) >= least:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{batches(page)} batches, not {least}")


def applications(page):
    """The second column of the table, operator by operator."""
    cells = page.locator("table.draws td:nth-child(2)").all_inner_texts()
    return [int(re.sub(r"\D", "", cell)) for cell in cells]


def test_a_profile_grows_while_its_batches_run(profile_page):
    page = profile_page("cputime", 200)
    stage(page, "^Ready")
    page.get_by_text("What does one application of an operator cost?").wait_for()
    assert page.get_by_role("button", name="JSON").is_disabled()
    empty = columns(page)["energy"]
    press(page, "Profile")
    stage(page, "^Running")
    page.get_by_text("tiny · ils: estimated Joules, meter cputime").wait_for()
    await_batches(page, 2)
    early, drawn, listed = batches(page), columns(page)["energy"], applications(page)
    assert drawn != empty and len(listed) == 2
    await_batches(page, early + 4)
    assert sum(applications(page)) > sum(listed)
    assert columns(page)["energy"] != drawn
    press(page, "Stop")
    stage(page, "^Stopped")
    # What was found stays, and can be taken away.
    assert early + 4 <= batches(page) < 400
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    assert download.value.suggested_filename == "profile-tiny-ils-cputime.json"
    taken = Profile.read(download.value.path())
    assert [operator.applications for operator in taken.operators] == applications(page)


def test_a_choice_is_profiled_to_its_end(profile_page):
    page = profile_page("model", 3)
    page.get_by_role("textbox", name=re.compile("^batches of each")).fill("2")
    page.get_by_role("textbox", name=re.compile("^batches of each")).press("Enter")
    page.wait_for_url(re.compile("batches=2"))
    press(page, "Profile")
    stage(page, "^Finished")
    await_batches(page, 4)
    assert applications(page) == [400, 400]
    page.get_by_text("Few batches so far").wait_for()
    assert page.get_by_role("button", name="Profile", exact=True).is_enabled()


def test_another_algorithm_is_drawn(profile_page):
    """Its figure is built anew on the open page; the fixture hears if the browser complains."""
    page = profile_page("model", 1)
    press(page, "Profile")
    stage(page, "^Finished")
    page.get_by_role("combobox", name="Algorithm").click()
    page.get_by_role("menuitem", name=re.compile("^Steady-state")).click()
    press(page, "Profile")
    page.get_by_text("tiny · ssga: simulated Joules").wait_for()
    stage(page, "^Finished")
    named = page.locator("table.draws td:first-child").all_inner_texts()
    assert named == ["replace-1", "replace-5"]


def test_two_visitors_take_turns(profile_page):
    """Two at once would count each other's Joules."""
    first, second = profile_page("cputime", 200), profile_page("cputime", 1)
    press(first, "Profile")
    stage(first, "^Running")
    press(second, "Profile")
    stage(second, "^Waiting for a turn")
    press(first, "Stop")
    stage(first, "^Stopped")
    stage(second, "^Finished")
    assert batches(second) == 2


def test_a_meter_that_is_not_alive_is_told(profile_page):
    page = profile_page("powercap", 2)
    press(page, "Profile")
    stage(page, "^Failed")
    page.get_by_text("kernel without powercap/RAPL, a VM, a container").wait_for()
    page.get_by_text("Which meters are alive here?").first.click()
    page.get_by_text("alive, estimated").wait_for()
    assert batches(page) == 0 and page.get_by_role("button", name="JSON").is_disabled()


def test_a_phone_has_room_for_it(profile_page):
    page = profile_page("model", 2, viewport={"width": 390, "height": 844})
    press(page, "Profile")
    stage(page, "^Finished")
    await_batches(page, 4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_text("per evaluation").scroll_into_view_if_needed()
