"""axe-core finds no serious violation on any page, light and dark."""

import re

import pytest

from tests.app.browsing import Watched, await_open, link

pytestmark = pytest.mark.ui
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_violation(browser, server, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    watched = Watched(page)
    page.goto(f"{server}{link()}")
    await_open(page)
    page.locator("[role=heading][aria-level='1']").wait_for()  # Playwright goes by the tag
    page.get_by_role("button", name="Seed: less").wait_for()
    found = {"run": violations(axe, page)}
    for title, sign in (("Zoo", "Costs are"), ("Campaign", "Energy meter"), ("Profile", "Problem")):
        page.get_by_role("tab", name=title).click()
        page.get_by_role("combobox", name=re.compile(f"^{sign}")).first.wait_for()
        page.wait_for_timeout(2000)  # the names of −/+ come within a second and a half
        found[title] = violations(axe, page)
    assert not any(found.values()), found
    watched.check()
    context.close()


def violations(axe, page):
    """The serious violations of a page: the rule, and where."""
    answer = axe.run(page).response["violations"]
    return [
        (violation["id"], node["target"], node["html"][:160], node["failureSummary"][:160])
        for violation in answer
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]
