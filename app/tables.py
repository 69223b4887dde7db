"""Tables and sentences of the views, as HTML; every name in them is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from app.escape import text
from app.frame import Frame
from app.plots.selection import probability_of_first
from app.rules import rule_of
from app.theme import RULE, UNIFORM, colour_of

__all__ = ["decision_table", "lanes_table", "number", "reason_of", "table"]


def number(value: float, digits: int = 4) -> str:
    """Write a number for people.

    Examples
    --------
    >>> number(-16510536.0), number(0.000123), number(float("nan")), number(9147.0)
    ('−1.651×10⁷', '1.23×10⁻⁴', '–', '9147')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{mantissa}×10{raised}".replace("-", "−")
    shown = f"{value:.0f}" if size >= 10 ** (digits - 1) else f"{value:.{digits}g}"
    return shown.replace("-", "−")


def reason_of(frame: Frame) -> str:
    """Say in one sentence who wins the next decision, and why."""
    tally = frame.tally
    if not len(frame.rows):
        return "<p class='words quiet'>Nothing is known of the operators yet.</p>"
    if tally is None:
        return "<p class='words quiet'>Beliefs at this moment of the recording.</p>"
    if tally.next is None:
        count = f"{tally.decisions:,}".replace(",", " ")
        return f"<p class='words quiet'>The run is over, after {count} decisions.</p>"
    chosen = tally.next.operator
    reason = text(tally.next.reason)
    which = f"Decision {tally.decisions + 1}"
    if chosen < 0:
        return f"<p class='words'><b>{which}</b>: nothing is applied; {reason}.</p>"
    name = text(frame.names[chosen])
    return (
        f"<p class='words'><b>{which}</b>: {_swatch(colour_of(chosen))}<b>{name}</b> {reason}."
        f"{_chance(frame)}</p>"
    )


def _chance(frame: Frame) -> str:
    if not rule_of(frame.selector).chance or len(frame.names) != 2 or frame.tally is None:
        return ""
    chance = float(probability_of_first(frame.tally.tip["beliefs"])[0])
    applications = frame.tally.tip["applications"][0]
    recent = frame.rows["applications"]
    if len(recent) > 20:
        applications = applications - recent[-max(20, len(recent) // 20)]
    if not math.isfinite(chance) or applications.sum() == 0:
        return ""
    seen = applications[0] / applications.sum()
    return (
        f" <span class='quiet'>By Eq. (15), {text(frame.names[0])} wins with probability "
        f"{chance:.2f}; lately it won {seen:.2f} of the time.</span>"
    )


def decision_table(frame: Frame) -> str:
    """Lay the draws out, one line per operator, in the rule's own terms."""
    decision = getattr(frame.tally, "next", None)
    draws = getattr(decision, "draws", ())
    if not draws:
        return _belief_table(frame)
    heads = rule_of(frame.selector).heads
    words = (heads.get(field, text(field.replace("_", " "))) for field in draws[0]._fields)
    lines = []
    for o, draw in enumerate(draws):
        kind = " class='winner'" if decision is not None and o == decision.operator else ""
        cells = "".join(f"<td>{number(float(value))}</td>" for value in draw)
        lines.append(f"<tr{kind}><td>{_name(frame, o)}</td>{cells}</tr>")
    return table(("operator", *words), lines)


def _belief_table(frame: Frame) -> str:
    beliefs = frame.rows["beliefs"][-1] if len(frame.rows) else None
    if frame.tally is not None:
        beliefs = frame.tally.tip["beliefs"][0]
    if beliefs is None:
        return ""
    credits = rule_of(frame.selector).credits
    gain, score = ("credit", "credit per J") if credits else ("E[Δf]", "EI/J (1/J)")
    lines = [
        f"<tr><td>{_name(frame, o)}</td><td>{number(float(b[0]))}</td>"
        f"<td>{number(float(b[2]))}</td><td>{number(float(b[4]))}</td></tr>"
        for o, b in enumerate(beliefs)
    ]
    return table(("operator", gain, "E[E] (J)", score), lines)


def lanes_table(frame: Frame) -> str:
    """Compare the runs where they stand, on the same Joules."""
    lanes = [(frame.selector, frame.rows, RULE)]
    for lane in frame.others:
        operator = next((o for o, n in enumerate(frame.names) if lane.label.endswith(n)), 0)
        colour = colour_of(operator) if lane.kind == "static" else UNIFORM
        lanes.append((lane.label, lane.rows, colour))
    if len(lanes) < 2 or not len(frame.rows):
        return ""
    best = max(float(rows["best"][-1]) for _, rows, _ in lanes if len(rows))
    gap = ("gap to optimum",) if math.isfinite(frame.optimum) else ()
    lines = [_lane(frame, *lane, best) for lane in lanes if len(lane[1])]
    return table(("run", "best fitness", *gap, "Joules spent", "decisions"), lines)


def _lane(frame: Frame, label: str, rows: Any, colour: str, best: float) -> str:
    last = rows[-1]
    kind = " class='winner'" if float(last["best"]) == best else ""
    gap = ""
    if math.isfinite(frame.optimum):
        share = (frame.optimum - float(last["best"])) / abs(frame.optimum or 1.0)
        gap = "<td>over 1000 %</td>" if share > 10.0 else f"<td>{number(100 * share, 3)} %</td>"
    return (
        f"<tr{kind}><td>{_swatch(colour)}{text(label)}</td>"
        f"<td>{number(float(last['best']), 5)}</td>{gap}"
        f"<td>{number(float(last['spent']))} J</td><td>{int(last['decision'])}</td></tr>"
    )


def _name(frame: Frame, operator: int) -> str:
    return f"{_swatch(colour_of(operator))}{text(frame.names[operator])}"


def _swatch(colour: str) -> str:
    return f"<span class='swatch' style='background:{colour}'></span>"


def table(heads: Iterable[str], lines: Iterable[str], kind: str = "") -> str:
    """Return a table as HTML; a narrow screen scrolls it.

    It holds numbers after the first column, after the second if its `kind` is "named", or "facts".
    """
    head = "".join(f"<th scope='col'>{word}</th>" for word in heads)
    return (
        f"<div class='scroll'><table class='draws {kind}'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
