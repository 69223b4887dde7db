"""The address of the page: it follows the choices, and Back and Forward lead through the pages."""

from __future__ import annotations

import param

from ..internals.panel import EchoComponent


class Address(EchoComponent):
    """An invisible component that writes the address and hears of Back and Forward.

    A choice replaces the present entry of the browser's history; another page is an entry of its
    own.
    """

    written = param.String("")
    """"+" for an entry of its own or "=" for the present one, then the query."""
    gone = param.String("")
    """A number that makes each journey differ, a blank, then the query that the browser shows."""

    _esm = """
    export function render({ model }) {
      let journeys = 0
      model.on("written", () => {
        const [way, query] = [model.written.slice(0, 1), model.written.slice(1)]
        const place = query || location.pathname
        history[way == "+" ? "pushState" : "replaceState"](null, "", place)
      })
      window.addEventListener("popstate", () => {
        journeys += 1
        model.gone = `${journeys} ${location.search}`
      })
      return document.createElement("span")
    }
    """

    def __init__(self, query: str) -> None:
        super().__init__(width=0, height=0, margin=0)
        self._query = query

    def write(self, query: str, entry: bool = False) -> None:
        """Show a query in the address; `entry`: as a new step of the history."""
        if query != self._query:
            self._query = query
            self.written = f"{'+' if entry else '='}{query}"

    def arrive(self, query: str) -> None:
        """Note that the browser has gone to a query by itself."""
        self._query = query
