"""What a problem on permutations does not write itself: every hook by full evaluation."""

from __future__ import annotations

import numpy as np

from .orders import exchange_places, move_segment, reverse_segment


def exchange(self, x, memo, i, j):  # type: ignore[no-untyped-def]
    """Exchange two places in x, and describe x anew."""
    exchange_places(x, i, j)
    memo[:] = self.prepare(x)


def reverse(self, x, memo, i, j):  # type: ignore[no-untyped-def]
    """Reverse a segment of x, and describe x anew."""
    reverse_segment(x, i, j)
    memo[:] = self.prepare(x)


def move(self, x, memo, i, j, k):  # type: ignore[no-untyped-def]
    """Move a segment of x, and describe x anew."""
    move_segment(x, i, j, k)
    memo[:] = self.prepare(x)


def preview_exchange(self, x, memo, i, j):  # type: ignore[no-untyped-def]
    """Exchange two places, evaluate, and exchange them back."""
    exchange_places(x, i, j)
    f = self.fitness(x)
    exchange_places(x, i, j)
    return f


def preview_reverse(self, x, memo, i, j):  # type: ignore[no-untyped-def]
    """Reverse a segment, evaluate, and reverse it back."""
    reverse_segment(x, i, j)
    f = self.fitness(x)
    reverse_segment(x, i, j)
    return f


def preview_move(self, x, memo, i, j, k):  # type: ignore[no-untyped-def]
    """Move a segment, evaluate, and move it back."""
    move_segment(x, i, j, k)
    f = self.fitness(x)
    move_segment(x, i, i + k - j, k)
    return f


def near(self):  # type: ignore[no-untyped-def]
    """Return rows without entries: which elements belong together is not known."""
    return np.zeros((self.n, 0), np.int64)


def link(self, a, b):  # type: ignore[no-untyped-def]
    """Return 0: what it costs that a and b are neighbours is not known."""
    return 0.0


HOOKS = {
    hook.__name__: hook
    for hook in (
        *(exchange, reverse, move, preview_exchange, preview_reverse, preview_move),
        *(near, link),
    )
}
