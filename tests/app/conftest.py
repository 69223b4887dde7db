"""What the tests of the page share."""

import pytest

from tests.app import tiny


@pytest.fixture(autouse=True)
def served_screen(monkeypatch):
    """The screen of the served page, even if another test has imported `app.notebook`."""
    from app.views.view import Screen, View

    monkeypatch.setattr(View, "screen", Screen())


@pytest.fixture
def tiny_problems():
    tiny.register()
    yield
    tiny.forget()


@pytest.fixture
def tiny_trial(tiny_problems):
    from eij_core import Trial

    return Trial(**tiny.TINY, selector="eij", budget="4 J", seed=3)


@pytest.fixture(scope="session")
def server():
    """A server for all stories that a browser goes through."""
    from tests.app.browsing import serving

    with serving() as port:
        yield f"http://127.0.0.1:{port}/app"


@pytest.fixture
def visit(page, server):
    """Open the page; at the end, check that it complained of nothing and called nobody."""
    from tests.app.browsing import Watched, await_open, link

    watched = Watched(page)

    def visit(query=None, **settings):
        page.goto(f"{server}{query if query is not None else link(**settings)}")
        await_open(page)
        return page

    yield visit
    watched.check()
