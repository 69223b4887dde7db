"""A clock that tests drive, in the place of the module `time`."""


class Clock:
    """Time that passes when somebody sleeps, and a little with every look.

    Parameters
    ----------
    look_ns : int
        How long a look at the clock takes; a loop that waits for a moment needs more than 0.
    """

    def __init__(self, look_ns: int = 0) -> None:
        self.now_ns, self.look_ns = 1_000_000_000_000, look_ns

    def monotonic_ns(self) -> int:
        self.now_ns += self.look_ns
        return self.now_ns

    def monotonic(self) -> float:
        return self.monotonic_ns() * 1e-9

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)

    def sleep_until(self, moment: float) -> None:
        self.now_ns = max(self.now_ns, round(moment * 1e9))
