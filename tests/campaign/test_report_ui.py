"""The report in a real browser: it draws, logs no error and fetches nothing."""

import pytest

from eij_core.reports import report_of
from tests.campaign.small import campaign, run

pytestmark = pytest.mark.ui


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    plan = campaign(problems=["nk:n=16,k=2", "nk:n=16,k=3"], budget="6 J")
    run(folder / "store", plan)
    path = folder / "report.html"
    path.write_text(report_of(folder / "store").html(), "utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_offline(page, file, scheme):
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.emulate_media(color_scheme=scheme)
    page.goto(file.as_uri())
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    figures = page.locator("main svg[role=img]")
    assert figures.count() > 8
    assert all(box["width"] > 100 for box in (f.bounding_box() for f in figures.all()))
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(253, 253, 252)") == (scheme == "light")
    strokes = page.evaluate(
        "[...document.querySelectorAll('main path[stroke]')].map(e => getComputedStyle(e).stroke)"
    )
    # The first series has the colour of the page's scheme, not of the picture's file.
    assert strokes.count("rgb(0, 114, 178)" if scheme == "light" else "rgb(93, 180, 236)") > 4
    assert strokes.count("rgb(0, 114, 178)" if scheme == "dark" else "rgb(93, 180, 236)") == 0
    page.get_by_role("link", name="Comparisons").click()
    assert page.get_by_role("heading", name="Comparisons").is_visible()


def test_the_report_fits_a_phone(page, file):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
