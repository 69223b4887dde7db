"""The zoo's operators, which waste energy in a known way; no portfolio names them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.kernel import kernel
from ..engine.rng import uniform
from ..protocols import Forecast, Outcome

# Roles are values, not classes: all portfolios of a size compile to the same loop.
ROLES = ("worker", "null", "almost", "almost-noisy", "dud", "shock")
WORKER, NULL, ALMOST, ALMOST_NOISY, DUD, SHOCK = range(len(ROLES))

NEARLY = 1e-4
"""The loss that a decoy reports, relative to the incumbent."""
HOPELESS = 0.1
"""The same of a dud."""
SPREAD = 0.5
"""Up to which share of it the loss of a noisy role varies."""
SHOCK_CHANCE, SHOCK_LOSS = 0.01, -1e6


@kernel
class Actor(NamedTuple):
    """An operator that works, or reports work that it does not do.

    A worker is the operator inside. Null, the decoys and the dud do not change the search; they
    report what their role says, at the operator's price. A shocked worker works, but in one
    application of a hundred each of its candidates reports a loss of a million.
    """

    role: int
    number: int
    """Tells twins apart."""
    effort: Forecast
    """What one application takes, worked or pretended."""
    inner: Any

    @property
    def name(self) -> str:
        """The name used everywhere: flip-1, flip-1 (2), null, …"""
        name = self.inner.name if self.role in (WORKER, SHOCK) else ROLES[self.role]
        return f"{name} ({self.number})" if self.number > 1 else name

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        return self.effort

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for one candidate, to learn the cost cheaply."""
        inner, reduced = self.inner.probe(algorithm)
        one = Forecast(1, 1, self.effort.touches // max(self.effort.evaluations, 1))
        return self._replace(inner=inner, effort=one), reduced

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Work, or report what the role says."""
        if self.role == WORKER or self.role == SHOCK:
            outcome = self.inner.apply(algorithm, problem, state, rng)
            if self.role == SHOCK and uniform(rng) < SHOCK_CHANCE:
                return pretend(state, outcome, outcome.deltas.size, SHOCK_LOSS, 0.0, rng)
            return outcome
        effort = self.effort
        nothing = Outcome(0.0, effort.evaluations, effort.touches, state.deltas[:0])
        size = abs(state.best_f[0])
        loss = 0.0
        if self.role == ALMOST or self.role == ALMOST_NOISY:
            loss = -NEARLY * size
        if self.role == DUD:
            loss = -HOPELESS * size
        spread = SPREAD if self.role == ALMOST_NOISY or self.role == DUD else 0.0
        return pretend(state, nothing, effort.candidates, loss, spread, rng)


@kernel
def pretend(state: Any, outcome: Any, candidates: int, loss: float, spread: float, rng: Any) -> Any:
    """Report `loss` for every candidate, up to `spread` more or less of it."""
    gain = 0.0
    for c in range(candidates):
        factor = 1.0 + spread * (2.0 * uniform(rng) - 1.0) if spread > 0.0 else 1.0
        state.deltas[c] = factor * loss
        gain += state.deltas[c]
    return Outcome(gain, outcome.evaluations, outcome.touches, state.deltas[:candidates])
