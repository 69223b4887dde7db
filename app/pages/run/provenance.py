"""The card behind the energy badge: where a run's Joules come from, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...text.escape import text
from ...text.labels import PROVENANCE
from ...text.numbers import number
from ...text.tables import table
from ...views.snapshot import Snapshot

SCOPES = {
    "package": "the whole processor package, other programs included",
    "process": "this process",
    "thread": "the thread of the search alone",
    "model": "a model: what was done, times its price",
}


def energy_card(snapshot: Snapshot, energy: Mapping[str, Any] | None = None) -> str:
    """Return what is known of a run's Joules as HTML.

    Parameters
    ----------
    snapshot : Snapshot
    energy : mapping, optional
        `Result.energy` of the finished run: how a counter was settled.
    """
    facts = {"meter": text(snapshot.meter), "kind": text(snapshot.provenance)}
    info, settled = snapshot.info, _settled(energy or {})
    if info is None:
        facts |= settled
    else:
        facts |= {
            "covers": SCOPES.get(info.scope, text(info.scope)),
            "domains": text(", ".join(info.domains)),
            "counter moves every": _quantity(info.tick_ns / 1e6, "ms"),
            "smallest step": _quantity(info.unit_uj, "µJ"),
            "one reading takes": _quantity(info.read_cost_ns / 1e3, "µs"),
            "systematic uncertainty": _band(info.rel_uncertainty),
            **settled,
            "notes": text("; ".join(info.notes)),
        }
    lines = [
        f"<tr><td>{key}</td><td class='long'>{value}</td></tr>"
        for key, value in facts.items()
        if value
    ]
    words = PROVENANCE.get(snapshot.provenance, "")
    return f"<p class='words'>{words}</p>{table(('energy', 'what is known'), lines, 'facts')}"


def _band(uncertainty: float) -> str:
    if not uncertainty:
        return "none: the price list is the definition"
    return f"a factor of {number(1.0 + uncertainty, 3)} either way"


def _quantity(value: float, unit: str) -> str:
    return f"{number(value, 3)} {unit}" if value else ""


def _settled(energy: Mapping[str, Any]) -> dict[str, str]:
    """Return how the counter's readings were divided between the applications."""
    facts = {}
    if "imputed_share" in energy:
        share = 100.0 * float(energy["imputed_share"])
        facts["imputed, not counted"] = f"{number(share, 3)} % of the Joules"
    windows = dict(energy.get("quality") or {}).items()
    facts["windows by quality"] = ", ".join(f"{text(name)} {count}" for name, count in windows)
    facts["counter"] = text(energy.get("sharing") or "")
    facts["other programs at work"] = text(energy.get("contention") or "")
    if energy.get("band"):
        low, high = energy["band"]
        facts["operators' Joules lie within"] = f"{number(low)} to {number(high)} J"
    refused = {f"not {text(name)}": text(why) for name, why in energy.get("refusals", ())}
    return {**facts, **refused}
