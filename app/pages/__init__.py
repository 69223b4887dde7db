"""The pages of the dashboard: a tab each, built when it is first opened.

Each page has a folder of its own; `app.server.shell` knows of it only what is listed here.
"""

from __future__ import annotations

from collections.abc import Hashable
from pkgutil import resolve_name
from typing import Any, NamedTuple, Protocol

__all__ = ["PAGES", "Page", "PageEntry"]


class Page(Protocol):
    """What the shell asks of a page."""

    controls: Any
    """What fills the side: what a visitor chooses."""

    def main(self) -> Any:
        """Return what fills the middle."""

    def tick(self, lost: bool = False) -> bool:
        """Draw what is new; return whether there was anything.

        Called eleven times a second while the page is shown and the browser has drawn what was
        sent before. `lost`: frames may not have arrived, so all must be drawn anew.
        """

    def link(self) -> str:
        """Return the query of the address that holds the choices, "" for the defaults."""

    def close(self) -> None:
        """End what runs; the visitor has left."""


class PageEntry(NamedTuple):
    """The home of a page, imported when the page is first opened."""

    title: str
    home: str
    """`module:callable`; the callable makes the page from a link and an owner."""

    def build(self, query: str, owner: Hashable) -> Page:
        """Make the page for a link; `owner` is whose turns its jobs take."""
        page: Page = resolve_name(self.home)(query, owner)
        return page


PAGES: dict[str, PageEntry] = {
    "run": PageEntry("Run", f"{__name__}.run.page:run_page"),
    "zoo": PageEntry("Zoo", f"{__name__}.zoo.page:ZooPage"),
    "campaign": PageEntry("Campaign", f"{__name__}.campaign.page:CampaignPage"),
    "profile": PageEntry("Profile", f"{__name__}.profile.page:ProfilePage"),
}
"""By their name in the link; the first is the one that opens."""
