"""What the views say about themselves: words first, then the paper's equation.

Equations are MathML, which browsers draw by themselves: no script, no font, no network.
"""

from __future__ import annotations

from app.rules import PAPER, PLUS, rule_of

__all__ = ["PROVENANCE", "words_for"]


def _formula(*parts: str) -> str:
    return f'<math class="formula" display="block"><mrow>{"".join(parts)}</mrow></math>'


def _fraction(above: str, below: str) -> str:
    return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def _i(name: str) -> str:
    return f"<mi>{name}</mi>"


def _o(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def _of(name: str, sub: str = "", sup: str = "") -> str:
    base = _i(name)
    if sub and sup:
        base = f"<msubsup>{base}<mi>{sub}</mi><mn>{sup}</mn></msubsup>"
    elif sub:
        base = f"<msub>{base}<mi>{sub}</mi></msub>"
    return f"{base}<mo>(</mo><mi>o</mi><mo>)</mo>"


_EIJ = "<mtext>EI/J</mtext><mo>(</mo><mi>o</mi><mo>)</mo>"
_DEFINITION = _formula(_EIJ, _o("="), _fraction(_of("μ", "Δf"), _of("μ", "E")))
_UPDATE = _formula(
    _of("μ", "Δf"), _o("←"), _i("α"), _of("μ", "Δf"), _o("+"),
    "<mo>(</mo><mn>1</mn><mo>−</mo><mi>α</mi><mo>)</mo>", "<mi>Δf</mi>",
)  # fmt: skip
_DRAWS = _formula(
    "<mover><mi>Δf</mi><mo>~</mo></mover>", _o("∼"), "<mi>N</mi><mo>(</mo>", _of("μ", "Δf"),
    _o(","), _of("σ", "Δf", "2"), "<mo>)</mo>", _o(","), "<mspace width='1em'/>",
    "<mover><mi>E</mi><mo>~</mo></mover>", _o("∼"), "<mtext>LN</mtext><mo>(</mo>", _of("μ", "E"),
    _o(","), _of("σ", "E", "2"), "<mo>)</mo>",
)  # fmt: skip
_PRIORITY = _formula(
    _of("Φ"), _o("="), _fraction("<mover><mi>Δf</mi><mo>~</mo></mover>",
    "<mover><mi>E</mi><mo>~</mo></mover>"), _o("·"), _i("π"), _o(","), "<mspace width='1em'/>",
    _i("π"), _o("="), _fraction("<msub><mi>B</mi><mi>t</mi></msub>",
    "<msub><mi>B</mi><mi>t</mi></msub><mo>+</mo><mi>E</mi><mo>[</mo>" + _of("E") + "<mo>]</mo>"),
)  # fmt: skip
_CREDIT = _formula(
    "<mi>c</mi><mo>(</mo><mi>Δ</mi><mo>)</mo>", _o("="), "<mo>{</mo><mtable columnalign='left'>"
    "<mtr><mtd><mn>1</mn><mo>+</mo><mi>ln</mi><mo>(</mo><mn>1</mn><mo>+</mo><mi>Δ</mi><mo>/</mo>"
    "<mi>h</mi><mo>)</mo></mtd><mtd><mi>Δ</mi><mo>&gt;</mo><mn>0</mn></mtd></mtr>"
    "<mtr><mtd><mi>κ</mi><msup><mi>e</mi><mrow><mi>Δ</mi><mo>/</mo><mi>b</mi></mrow></msup></mtd>"
    "<mtd><mi>Δ</mi><mo>&lt;</mo><mn>0</mn></mtd></mtr>"
    "<mtr><mtd><mn>0</mn></mtd><mtd><mi>Δ</mi><mo>=</mo><mn>0</mn></mtd></mtr></mtable>",
)  # fmt: skip
_PLUS = _formula(
    "<mi>ln</mi>", _fraction("<mi>m</mi><mo>(</mo><mi>o</mi><mo>)</mo>",
    "<mi>E</mi><mo>(</mo><mi>o</mi><mo>)</mo>"), _o("+"), "<mi>s</mi><mo>(</mo><mi>o</mi>"
    "<mo>)</mo><mo>·</mo><mi>ξ</mi>", _o(","), "<mspace width='1em'/>", _i("ξ"), _o("∼"),
    "<mi>N</mi><mo>(</mo><mn>0</mn><mo>,</mo><mn>1</mn><mo>)</mo>",
)  # fmt: skip
_CHANCE = _formula(
    "<mi>P</mi><mo>(</mo><msub><mi>o</mi><mn>1</mn></msub><mo>)</mo>", _o("="),
    "<msub><mi>E</mi><mi>R</mi></msub><mo>[</mo><mi>Φ</mi><mo>(</mo>",
    _fraction(
        "<msub><mi>μ</mi><mn>1</mn></msub><mo>−</mo><mi>R</mi><msub><mi>μ</mi><mn>2</mn></msub>",
        "<msqrt><msubsup><mi>σ</mi><mn>1</mn><mn>2</mn></msubsup><mo>+</mo><msup><mi>R</mi>"
        "<mn>2</mn></msup><msubsup><mi>σ</mi><mn>2</mn><mn>2</mn></msubsup></msqrt>",
    ),
    "<mo>)</mo><mo>]</mo>",
)  # fmt: skip
_FIT = _formula(
    "<mi>f</mi><mo>(</mo><mi>E</mi><mo>)</mo>", _o("="),
    "<msub><mi>f</mi><mi>∞</mi></msub><mo>(</mo><mn>1</mn><mo>−</mo><mi>A</mi>",
    "<msup><mi>e</mi><mrow><mo>−</mo><mi>k</mi><mi>B</mi><mo>/</mo>",
    "<msub><mi>B</mi><mtext>max</mtext></msub></mrow></msup><mo>)</mo>",
)  # fmt: skip

# The rule in five sentences, see `eij_core.selectors.eij_plus`.
_FIVE = (
    "<p><b>EI/J+ in five sentences.</b> A candidate earns credit for an improvement, a little for "
    "a near miss, and nothing for doing nothing. Operators start out equal per candidate, so at "
    "first the cheap ones go; what is learned fades with the Joules spent since. The operator with "
    "the largest credit per Joule is applied, after a draw that says how unsure its estimate is. "
    "Who has waited long is tried again, a dear operator later than a cheap one. What does not fit "
    "into the rest of the budget is never started.</p>"
)

_SHARES = (
    "<p>How the choices, or the Joules, divide between the operators. A cheap operator can "
    "have most of the choices and still few of the Joules.</p>"
)

WORDS: dict[str, str] = {
    "fitness": (
        "<p>How good is the best solution, after how many Joules? The thick line is the scheduler "
        "you chose. The thin ones spend the same Joules without thinking: uniform choice, and each "
        "operator alone. A line further up and to the left bought more for its energy.</p>"
        "<p class='quiet'>The paper's fit, on demand:</p>" + _FIT
    ),
    "estimates": (
        "<p>What the scheduler believes an operator is worth: the improvement that one more Joule "
        "spent on it would bring. The band is one standard deviation of the draws: where bands "
        "overlap, the scheduler is still in doubt, and keeps trying both.</p>"
        + _DEFINITION
        + "<p>Each application moves the estimate a little. α is the weight of the old "
        "one: large is calm and slow, small is quick and nervous.</p>" + _UPDATE
    ),
    "estimates+": (
        "<p>What the scheduler believes an operator is worth: the credit that one more Joule spent "
        "on it would bring. The band is one standard deviation of its doubt: where bands overlap, "
        "it keeps trying both.</p><p>Credit c of a candidate, with h the usual size of a change "
        "and b the loss that still is a near miss:</p>" + _CREDIT + _FIVE
    ),
    "estimates*": (
        "<p>What the scheduler believes an operator is worth, in the rule's own score. The band "
        "is one standard deviation. Its help, beside the choice of the scheduler, has the "
        "formula.</p>"
    ),
    "selection": _SHARES
    + (
        "<p>For two operators the paper gives the probability that the first one wins the next "
        "decision, with R the ratio of their energies. The dotted line follows it; where the "
        "choices do not, the budget's penalty has a say.</p>" + _CHANCE
    ),
    "selection+": _SHARES,
    "selection*": _SHARES,
    "decision+": (
        "<p>The next decision, before it is made. On the left, what the scheduler believes one "
        "application earns, and the value m·exp(s·ξ) that it drew (the mark); on the right, what "
        "it costs, and the mean that the rule reckons with. Credit drawn, divided by Joules: the "
        "largest wins. Pause, look, press Step, and see it happen.</p>" + _PLUS + _FIVE
    ),
    "decision*": (
        "<p>The next decision, before it is made, in the rule's own terms: what it believes of "
        "each operator, and who is next. Pause, look, press Step, and see it happen.</p>"
    ),
    "decision": (
        "<p>The next decision, before it is made. Each operator has two beliefs: what it improves "
        "and what it costs. From each curve one value is drawn (the marks): these very draws "
        "decide. Pause, look, press Step, and see it happen.</p>"
        + _DRAWS
        + "<p>Improvement is divided by energy, and weighed by π, which disfavours what is dear "
        "when little is left of the budget B. The largest priority Φ wins.</p>" + _PRIORITY
    ),
    "energy": (
        "<p>What one application costs, over all applications of this run: the wider the shape, "
        "the more often that energy. The marks are the quartiles. Energy is positive and skewed, "
        "hence the log-normal belief.</p>"
    ),
}


def words_for(view: str, selector: str) -> str:
    """Return what a view says of itself; schedulers differ in what they believe.

    Examples
    --------
    >>> words_for("decision", "eij-plus") == words_for("decision", "eij")
    False
    """
    rule = rule_of(selector)
    kind = "" if rule is PAPER else "+" if rule is PLUS else "*"
    return WORDS.get(view + kind, WORDS[view])


PROVENANCE: dict[str, str] = {
    "measured": "Read from a hardware counter of this machine.",
    "attributed": "A share of a hardware counter, attributed to this run.",
    "estimated": "Estimated from processor time and an assumed power; not a counter's reading.",
    "simulated": "From a price list, the same on every machine; no counter is read.",
    "replayed": "Taken from a recording.",
}
