"""First tries: operators that were applied too seldom go first, in random order."""

# Paper: UCB1, its relatives and KUBE play each arm once first, the rules that choose by chance or
# by posterior draws do not; here: all do, because then rules differ by what they learn alone.

from __future__ import annotations

from typing import Any

from ...engine.kernel import kernel
from ...engine.rng import below

NOT_TRIED = "has not been tried yet, so it goes first"


@kernel
def untried(counts: Any, tries: float, rng: Any) -> int:
    """Return a random operator with fewer than `tries` applications, or -1."""
    waiting = 0
    for o in range(counts.size):
        if counts[o] < tries:
            waiting += 1
    if waiting == 0:
        return -1
    turn = below(rng, waiting)
    for o in range(counts.size):
        if counts[o] < tries:
            if turn == 0:
                return o
            turn -= 1
    return -1
