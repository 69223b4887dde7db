"""What the views say about themselves: words first, then the paper's equation.

Equations are MathML, which browsers draw by themselves: no script, no font, no network.
"""

from __future__ import annotations

__all__ = ["PROVENANCE", "WORDS"]


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
    "selection": (
        "<p>How the choices, or the Joules, divide between the operators. A cheap operator can "
        "have most of the choices and still few of the Joules.</p>"
        "<p>For two operators the paper gives the probability that the first one wins the next "
        "decision, with R the ratio of their energies. The dotted line follows it; where the "
        "choices do not, the budget's penalty has a say.</p>" + _CHANCE
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

PROVENANCE: dict[str, str] = {
    "measured": "Read from a hardware counter of this machine.",
    "attributed": "A share of a hardware counter, attributed to this run.",
    "estimated": "Estimated from processor time and an assumed power; not a counter's reading.",
    "simulated": "From a price list, the same on every machine; no counter is read.",
    "replayed": "Taken from a recording.",
}
