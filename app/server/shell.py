"""The shell around the pages: a tab for each, one heartbeat, and the address of the page."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.core.property.descriptors import UnsetValueError
from panel.util.parameters import edit_readonly
from panel_material_ui.template.base import Page as Template

from ..background.kept_runs import runs_of
from ..pages import PAGES, Page
from ..pages.common.links import page_of
from ..text.escape import text
from ..text.failures import failure_message
from ..text.theme import THEME
from ..views.panes import html_pane
from .address import Address
from .heartbeat import Heartbeat
from .limits import is_public
from .opening import opening_template
from .visitors import visitor_of

log = logging.getLogger(__name__)

SORRY = """
<main style="font: 17px/1.5 system-ui, sans-serif; max-width: 34em; margin: 12vh auto">
<h1 style="font-size: 1.4em">This page could not be opened</h1>
<p>There was {}. Try again; if that does not help, the link may ask for what this server does not
have: <a href="{}">open the page without it</a>.</p></main>
"""

PURPOSE = (
    "Give a search a budget in Joules. While it runs, a rule learns which operator buys the most "
    "improvement per Joule."
)
STAYING = """
:host { position: sticky; top: 0; z-index: 30; }
:host .MuiTabsPanel, .MuiTabsPanel { background: var(--mui-palette-background-paper); }
"""
WIDE = """
p { margin: 0 24px; font-size: 0.9rem; color: #FFF; }
@media (max-width: 1099px) { p { display: none } }
"""
AWAY = {"height": "0", "overflow": "hidden", "visibility": "hidden"}
"""Of a page that is not shown: it keeps its width, without which figures cannot be laid out."""
HERE = {"height": "auto", "overflow": "visible", "visibility": "visible"}
"""Of the page that is shown; said in full, because Bokeh lets a style stand that is left out."""
NARROW = "@media (min-width: 1100px) { :host { display: none } }"
"""Where there is room the purpose stands in the header, elsewhere above the page."""
PERIOD = 90
"""Milliseconds between two looks at the page that is shown."""
REMEMBER = 400
"""Milliseconds between two looks at what the address should be."""


class Shell:
    """The pages of one visitor; each is built when its tab is first opened.

    Parameters
    ----------
    query : str
        The link with which the visitor came: it names the page and holds its choices.
    user : hashable, optional
        The visitor's address; without one, each shell counts as a user of its own.
    runs : path, optional
        The folder of the visitor's runs; without one, none are kept.
    """

    def __init__(self, query: str = "", user: Hashable = None, runs: Path | None = None) -> None:
        self.user, self.runs = self if user is None else user, runs
        self.heart = Heartbeat()
        self.pages: dict[str, Page] = {}
        self.address = Address(query)
        self._middles = {
            key: pn.Column(sizing_mode="stretch_width", margin=0, styles=AWAY) for key in PAGES
        }
        self.side = pmui.Column(sizing_mode="stretch_width", margin=0)
        # The tabs are empty, and the pages stand below them: what a tab holds cannot stay in sight.
        self.tabs = pmui.Tabs(
            *((entry.title, pmui.Column(margin=0)) for entry in PAGES.values()),
            sizing_mode="stretch_width", margin=0, stylesheets=[STAYING],
        )  # fmt: skip
        purpose = html_pane((8, 16, 0, 16), f"<p class='words'>{PURPOSE}</p>", stylesheets=[NARROW])
        self.main = [self.tabs, purpose, *self._middles.values(), self.heart, self.address]
        self._lost = False
        self.open(page_of(query, PAGES), query)
        self.tabs.active = list(PAGES).index(self.shown)
        self.tabs.param.watch(self._on_tab, "active")
        self.address.param.watch(self._on_journey, "gone")

    def open(self, key: str, query: str = "") -> None:
        """Show a page, and build it if it is not there yet."""
        with pn.io.hold():
            # Made visible first: a figure is not measured before it is laid out.
            for other, middle in self._middles.items():
                middle.styles = HERE if other == key else AWAY
            if key not in self.pages:
                page = self.pages[key] = PAGES[key].build(query, self)
                self._middles[key].objects = [page.main()]
                self.side.append(pmui.Column(page.controls, sizing_mode="stretch_width", margin=0))
            for shown, controls in zip(self.pages, self.side, strict=True):
                controls.visible = shown == key
        self.shown = key  # only now: a page that could not be built is not drawn

    def _on_tab(self, event: Any) -> None:
        key = list(PAGES)[event.new]
        if key != self.shown:
            self.open(key)
            self.address.write(self.link(), entry=True)

    def _on_journey(self, event: Any) -> None:
        """Show the page that Back or Forward leads to, with the choices that it has now."""
        query = event.new.partition(" ")[2]
        self.address.arrive(query)
        self.open(page_of(query, PAGES), query)
        self.tabs.active = list(PAGES).index(self.shown)

    def remember(self) -> None:
        """Keep the address up to what is chosen."""
        self.address.write(self.link())

    def tick(self) -> None:
        """Let the shown page draw what is new, if the browser has drawn the frame before."""
        # Before the page is loaded Panel puts changes off, the beat among them: the frame after it
        # would wait until the beat counts as lost, eight seconds.
        if not pn.state.loaded or not self.heart.may_push():
            return
        self._lost |= self.heart.take_loss()
        with pn.io.hold():  # the frame and its beat are one message
            if self.pages[self.shown].tick(self._lost):
                self._lost = False
                self.heart.push()

    def link(self) -> str:
        """Return the query that leads back here."""
        return self.pages[self.shown].link()

    def close(self) -> None:
        """End what runs on all pages; the visitor has left."""
        for page in self.pages.values():
            page.close()


def _log_error(error: Exception) -> None:
    """Keep errors of callbacks out of the page and in the log."""
    log.error("a callback of the page failed", exc_info=error)


def serve_page() -> None:
    """Build the pages for a visitor, and put them into the document."""
    try:
        _serve_page()
    except Exception as error:  # without a page, the visitor would wait for ever
        words = SORRY.format(text(failure_message(error, "page")), Path(__file__).parents[1].name)
        sorry = pn.pane.HTML(words, sizing_mode="stretch_width")
        sorry.server_doc(pn.state.curdoc, title="EI/J")


def _serve_page() -> None:
    # The page itself looks for its server and reconnects, see `connection.js`.
    pn.extension(reconnect=False, notifications=False, exception_handler=_log_error)
    location = pn.state.location
    request = getattr(getattr(pn.state.curdoc, "session_context", None), "request", None)
    query = location.search if location is not None else ""
    user = getattr(request, "remote_ip", None) if is_public() else None
    shell = Shell(query, user, runs_of(visitor_of(request)))
    page = Template(
        title="EI/J: what a Joule buys",
        main=shell.main,
        sidebar=[shell.side],
        header=[html_pane(0, f"<p>{PURPOSE}</p>", stylesheets=[WIDE])],
        sidebar_width=330,
        busy_indicator=None,
        theme_config=THEME,
        template=opening_template(),
    )
    # The page follows the server's busy state, and each change of the page walks through all its
    # models: about a second of CPU for every tick. We show our own state, so let it go; a reference
    # in place of the old one, since with a plain value the server would hold on to the page.
    with edit_readonly(page):
        page.busy = pn.rx(False)

    def leave(_: Any) -> None:
        shell.close()
        # pmui.Page keeps a session's objects alive through its sidebar. Without a connection
        # there are no models yet, hence the error.
        with suppress(UnsetValueError):
            page.param.update(sidebar=[], main=[])

    # Not Panel's periodic callbacks, whose busy counters take longer than a look at the run.
    document: Any = pn.state.curdoc
    document.add_periodic_callback(shell.tick, PERIOD)
    document.add_periodic_callback(shell.remember, REMEMBER)
    pn.state.on_session_destroyed(leave)
    page.servable()
