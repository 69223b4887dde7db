"""The pages of the dashboard: a tab each, built when it is first opened.

A page is a class of its own file, named here. The shell (`app.shell`) knows nothing else of it.
"""

from __future__ import annotations

from collections.abc import Hashable
from importlib import import_module
from typing import Any, NamedTuple, Protocol

__all__ = ["PAGES", "Page", "PageEntry"]


class Page(Protocol):
    """What the shell asks of a page."""

    controls: Any
    """What fills the side: what a visitor chooses."""

    def main(self) -> Any:
        """Return what fills the middle."""

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new; tell whether there was anything.

        Called eleven times a second while the page is shown and the browser has drawn what was
        sent before. `lost`: frames may not have arrived, so all must be drawn anew.
        """

    def link(self) -> str:
        """Return the query of the address that holds the choices, "" for the defaults."""

    def close(self) -> None:
        """End what runs; the visitor is gone."""


class PageEntry(NamedTuple):
    """Where a page is found; its module is imported when the page is opened."""

    title: str
    home: str
    """The module, and in it what makes the page from a link and an owner."""

    def build(self, query: str, owner: Hashable) -> Page:
        """Make the page as the link asks; `owner` is whose turns its work takes."""
        module, _, name = self.home.partition(":")
        page: Page = getattr(import_module(module), name)(query, owner)
        return page


PAGES: dict[str, PageEntry] = {
    "run": PageEntry("Run", "app.page:run_page"),
    "zoo": PageEntry("Zoo", "app.pages.zoo:ZooPage"),
    "campaign": PageEntry("Campaign", "app.pages.campaign:CampaignPage"),
    "profile": PageEntry("Profile", "app.pages.profile:ProfilePage"),
}
"""By their name in the link; the first is the one that opens."""
