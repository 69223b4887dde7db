"""The badge that explains itself: where a run's Joules come from, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.escape import text
from app.frame import Frame
from app.tables import number, table
from app.words import PROVENANCE

__all__ = ["energy_card"]

SCOPES = {
    "package": "the whole processor package, other programs included",
    "process": "this process",
    "thread": "the thread of the search alone",
    "model": "a model: what was done, times its price",
}


def energy_card(frame: Frame, energy: Mapping[str, Any] | None = None) -> str:
    """Return what is known of a run's Joules as HTML.

    Parameters
    ----------
    frame : Frame
    energy : mapping, optional
        `Result.energy` of the finished run: how a counter was settled.
    """
    info = frame.source
    facts = [("meter", text(frame.meter)), ("kind", text(frame.provenance))]
    if info is not None:
        facts.append(("covers", SCOPES.get(info.scope, text(info.scope))))
        if info.domains:
            facts.append(("domains", text(", ".join(info.domains))))
        if info.tick_ns:
            facts.append(("counter moves every", f"{number(info.tick_ns / 1e6, 3)} ms"))
        if info.unit_uj:
            facts.append(("smallest step", f"{number(info.unit_uj, 3)} µJ"))
        if info.read_cost_ns:
            facts.append(("one reading takes", f"{number(info.read_cost_ns / 1e3, 3)} µs"))
        facts.append(("systematic uncertainty", _band(info.rel_uncertainty)))
    facts += _settled(energy or {})
    if info is not None and info.notes:
        facts.append(("notes", text("; ".join(info.notes))))
    lines = [f"<tr><td>{key}</td><td class='long'>{value}</td></tr>" for key, value in facts]
    words = PROVENANCE.get(frame.provenance, "")
    return f"<p class='words'>{words}</p>{table(('energy', 'what is known'), lines, 'facts')}"


def _band(uncertainty: float) -> str:
    if not uncertainty:
        return "none: the price list is the definition"
    return f"a factor of {number(1.0 + uncertainty, 3)} either way"


def _settled(energy: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Tell how the counter's readings were divided between the applications."""
    facts = []
    if "imputed_share" in energy:
        share = 100.0 * float(energy["imputed_share"])
        facts.append(("imputed, not counted", f"{number(share, 3)} % of the Joules"))
    if energy.get("quality"):
        windows = (f"{text(name)} {count}" for name, count in dict(energy["quality"]).items())
        facts.append(("windows by quality", ", ".join(windows)))
    if energy.get("sharing"):
        facts.append(("counter", text(energy["sharing"])))
    if energy.get("contention"):
        facts.append(("other programs at work", text(energy["contention"])))
    if energy.get("band"):
        low, high = energy["band"]
        facts.append(("operators' Joules lie within", f"{number(low)} to {number(high)} J"))
    refused = ((f"not {text(name)}", text(why)) for name, why in energy.get("refusals", ()))
    return [*facts, *refused]
