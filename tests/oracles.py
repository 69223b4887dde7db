"""Slow, obvious versions of every formula, from the paper and the published generators.

Nothing here imports eij_core: numbers are plain ints, floats and Fractions, bit strings are lists.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import special

MASK = (1 << 64) - 1
Bits = Sequence[int]
Fitness = Callable[[Bits], float]


# --- random numbers -------------------------------------------------------------------------------

# First outputs of the reference C code of xoshiro256++ from the state 1, 2, 3, 4.
XOSHIRO_VECTORS = (
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
)


def _rotated(word: int, left: int) -> int:
    return ((word << left) | (word >> (64 - left))) & MASK


@dataclass
class Xoshiro:
    """xoshiro256++ of Blackman and Vigna in unbounded integers."""

    state: list[int]

    def word(self) -> int:
        s = self.state
        drawn = (_rotated((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = _rotated(s[3], 45)
        return drawn

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def below(self, n: int) -> int:
        """Lemire: the top half of a 32-bit word times n, redrawn where the bottom half is short."""
        while True:
            product = (self.word() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def normals(self) -> tuple[float, float]:
        """Marsaglia's polar method."""
        while True:
            u, v = 2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0
            s = u * u + v * v
            if 0.0 < s < 1.0:
                factor = math.sqrt(-2.0 * math.log(s) / s)
                return u * factor, v * factor

    def skip(self, log_miss: float) -> int:
        """Misses before the first hit, by inversion of the geometric distribution."""
        return int(min(math.log(1.0 - self.uniform()) / log_miss, 1e15))

    def halves(self, words: int) -> list[float]:
        """Two floats of 32 bits from each word, the upper half first."""
        drawn = [self.word() for _ in range(words)]
        return [half / 2**32 for word in drawn for half in (word >> 32, word % 2**32)]

    def bits(self, n: int) -> list[int]:
        """n random bits, the lowest of each word first."""
        words = [self.word() for _ in range(-(-n // 64))]
        return [words[i // 64] >> (i % 64) & 1 for i in range(n)]

    def distinct(self, n: int, count: int) -> list[int]:
        """`count` distinct numbers below n, by redrawing repeats."""
        chosen: list[int] = []
        while len(chosen) < count:
            drawn = self.below(n)
            if drawn not in chosen:
                chosen.append(drawn)
        return chosen


# --- problems -------------------------------------------------------------------------------------


def knapsack(profits: Bits, weights: Bits, capacity: int, x: Bits) -> Fraction:
    """Σp − K·ρ·max(0, Σw − C) with K = n, ρ = max p/w; exact."""
    packed = [i for i, bit in enumerate(x) if bit]
    worth = max(Fraction(int(p), int(w)) for p, w in zip(profits, weights, strict=True))
    excess = sum(int(weights[i]) for i in packed) - int(capacity)
    return sum(int(profits[i]) for i in packed) - len(x) * worth * max(0, excess)


def knapsack_optimum(profits: Bits, weights: Bits, capacity: int) -> int:
    """Try every selection."""
    n = len(profits)
    fitting = (x for x in itertools.product((0, 1), repeat=n) if np.dot(x, weights) <= capacity)
    return max(int(np.dot(x, profits)) for x in fitting)


def lrand48(seed: int):
    """The POSIX generator: 48-bit linear congruences, the top 31 bits are given out."""
    state = (seed << 16) + 0x330E
    while True:
        state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        yield state >> 17


def pisinger(family: str, n: int, r: int, instance: int) -> tuple[list[int], list[int], int]:
    """Profits, weights and capacity as Pisinger's generator makes them, series of 1000."""
    draws = lrand48(instance)
    tenth = r // 10

    def draw(low: int, high: int) -> int:
        return low + next(draws) % (high - low + 1)

    items = []
    for _ in range(n):
        a = draw(1, r)
        items.append(
            {
                "uncorrelated": lambda a: (draw(1, r), a),
                "weakly-correlated": lambda a: (max(1, draw(a - tenth, a + tenth)), a),
                "strongly-correlated": lambda a: (a + tenth, a),
                "inverse-strongly-correlated": lambda a: (a, a + tenth),
                "almost-strongly-correlated": lambda a: (
                    a + tenth + draw(0, 2 * r // 1000) - r // 1000,
                    a,
                ),
                "subset-sum": lambda a: (a, a),
            }[family](a)
        )
    profits, weights = ([item[k] for item in items] for k in (0, 1))
    return profits, weights, max(instance * sum(weights) // 1001, max(weights))


def nk(neighbours, tables, x: Bits) -> Fraction:
    """The mean of one table entry per bit; tables hold multiples of 2⁻³²."""
    total = 0
    for bits, table in zip(neighbours, tables, strict=True):
        address = "".join(str(int(x[b])) for b in bits)
        total += int(table[int(address, 2)])
    return Fraction(total, len(x) * 2**32)


def ecc(words: Sequence[Bits]) -> Fraction:
    """1 / Σ_{i≠j} 1/d², and 0 where two words coincide."""
    total = Fraction(0)
    for a, b in itertools.permutations(words, 2):
        distance = sum(p != q for p, q in zip(a, b, strict=True))
        if distance == 0:
            return Fraction(0)
        total += Fraction(1, distance**2)
    return 1 / total


def maxcut(edges: Sequence[tuple[int, int, int]], x: Bits) -> int:
    """The weight of the edges between the sides."""
    return sum(w for i, j, w in edges if x[i] != x[j])


def qubo(entries: Sequence[tuple[int, int, int]], x: Bits) -> int:
    """xᵀQx, where entries off the diagonal stand for two."""
    return sum(q * (1 if i == j else 2) for i, j, q in entries if x[i] and x[j])


def maxsat(clauses: Sequence[Sequence[int]], weights: Sequence[int], x: Bits) -> int:
    """The weight of the satisfied clauses; a hard one, weight 0, costs all and one if broken."""
    broken = sum(weights) + 1
    satisfied = [any(x[abs(v) - 1] == (v > 0) for v in clause) for clause in clauses]
    return sum(
        (w if true else 0) if w else (0 if true else -broken)
        for w, true in zip(weights, satisfied, strict=True)
    )


def mkp(profits: Bits, rows: Sequence[Bits], capacities: Bits, x: Bits) -> int:
    """Profit less (1 + the largest profit) for each unit that a row of weights exceeds."""
    loads = [sum(w for w, bit in zip(row, x, strict=True) if bit) for row in rows]
    excess = sum(max(0, load - limit) for load, limit in zip(loads, capacities, strict=True))
    profit = sum(p for p, bit in zip(profits, x, strict=True) if bit)
    return profit - (1 + max(profits)) * excess


def leading_ones(x: Bits) -> int:
    """The ones before the first zero."""
    return len(list(itertools.takewhile(bool, x)))


def trap(k: int, x: Bits) -> int:
    """Blocks of k: k for all ones, else the zeros but one."""
    ones = [sum(x[start : start + k]) for start in range(0, len(x), k)]
    return sum(k if u == k else k - 1 - u for u in ones)


def energy(x: Bits) -> int:
    """Σ C_k² of a binary sequence."""
    s = [1 - 2 * bit for bit in x]
    return sum(sum(map(int.__mul__, s, s[k:])) ** 2 for k in range(1, len(s)))


def best(n: int, fitness: Fitness) -> float:
    """Try every string."""
    return max(map(fitness, itertools.product((0, 1), repeat=n)))


def hadamard_code() -> list[list[int]]:
    """24 words of 12 bits, pairwise 6 or 12 apart: Paley's matrix for 11, and its complement."""
    squares = {i * i % 11 for i in range(1, 11)}
    rows = [[0] * 12]
    rows += [[0] + [int((j - i) % 11 not in squares) for j in range(11)] for i in range(11)]
    return rows + [[1 - bit for bit in row] for row in rows]


# --- the paper's selector -------------------------------------------------------------------------


@dataclass
class Moving:
    """Mean and variance that forget: Eqs. mu_f_update and sigma_f_update."""

    alpha: float
    mean: float = math.nan
    variance: float = 0.0

    def see(self, value: float) -> None:
        if math.isnan(self.mean):
            self.mean = value
            return
        self.mean = self.alpha * self.mean + (1 - self.alpha) * value
        self.variance = self.alpha * self.variance + (1 - self.alpha) * (value - self.mean) ** 2


@dataclass
class Scheduler:
    """Algorithm 1 for operators 0, 1, …, with its statistics."""

    operators: int
    alpha: float = 0.9
    tries: int = 2
    counts: list[int] = field(default_factory=list)
    gain: list[Moving] = field(default_factory=list)
    log_joules: list[Moving] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = [0] * self.operators
        self.gain = [Moving(self.alpha) for _ in range(self.operators)]
        self.log_joules = [Moving(self.alpha) for _ in range(self.operators)]

    def learn(self, o: int, gain: float, joules: float) -> None:
        self.counts[o] += 1
        self.gain[o].see(gain)
        self.log_joules[o].see(math.log(joules))

    def expected_joules(self, o: int) -> float:
        return math.exp(self.log_joules[o].mean + self.log_joules[o].variance / 2)

    def penalty(self, o: int, left: float) -> float:
        """π of Eq. budget."""
        return 1.0 if math.isinf(left) else left / (left + self.expected_joules(o))

    def priority(self, o: int, left: float, random: Xoshiro) -> float:
        """Eqs. sample_f, sample_E, EI/J_robust, priority."""
        z_gain, z_joules = random.normals()
        gain = self.gain[o].mean + math.sqrt(self.gain[o].variance) * z_gain
        spread = math.sqrt(self.log_joules[o].variance)
        joules = math.exp(self.log_joules[o].mean + spread * z_joules)
        return gain / joules * self.penalty(o, left)

    def select(self, left: float, random: Xoshiro) -> int:
        waiting = [o for o in range(self.operators) if self.counts[o] < self.tries]
        if waiting:
            return waiting[random.below(len(waiting))]
        priorities = [self.priority(o, left, random) for o in range(self.operators)]
        return priorities.index(max(priorities))


def probability_of_first(
    gains: Sequence[tuple[float, float]],
    log_joules: Sequence[tuple[float, float]],
    points: int = 601,
) -> float:
    """P(Δf₁/E₁ > Δf₂/E₂) by adding up a grid of draws of R = E₁/E₂ and of Δf₂.

    Each argument: (mean, variance) of both operators. Given R and Δf₂, the chance that
    Δf₁ > R·Δf₂ is a normal tail; a tie counts half.
    """
    z = np.linspace(-8.0, 8.0, points)
    weight = np.exp(-z * z / 2)
    weight /= weight.sum()
    second = gains[1][0] + math.sqrt(gains[1][1]) * z
    mean = log_joules[0][0] - log_joules[1][0]
    spread = math.sqrt(log_joules[0][1] + log_joules[1][1])
    hurdle = np.exp(mean + spread * z)[:, None] * second[None, :]
    if gains[0][1] > 0.0:
        tail = special.ndtr((gains[0][0] - hurdle) / math.sqrt(gains[0][1]))
    else:
        tail = (1.0 + np.sign(gains[0][0] - hurdle)) / 2
    return float(weight @ tail @ weight)


# --- one application of each algorithm ------------------------------------------------------------


def delta(new: float, old: float) -> float:
    """new − old, where a share of 1e-12 is rounding."""
    return 0.0 if abs(new - old) <= 1e-12 * abs(old) else new - old


@dataclass
class Local:
    """Algorithm 4: the incumbent of an iterated local search."""

    x: list[int]
    f: float

    def apply(self, flips: int, steps: int, fitness: Fitness, random: Xoshiro) -> float:
        """Perturb by the move, improve by the same move; return Δf."""

        def moved(x: list[int]) -> list[int]:
            chosen = random.distinct(len(x), flips)
            return [bit ^ (i in chosen) for i, bit in enumerate(x)]

        x = moved(self.x)
        f = fitness(x)
        for _ in range(steps):
            candidate = moved(x)
            if fitness(candidate) > f:
                x, f = candidate, fitness(candidate)
        change = delta(f, self.f)
        if f > self.f:
            self.x, self.f = x, f
        return change


@dataclass
class Particle:
    place: list[float]
    velocity: list[float]
    f: float
    own_place: list[float]
    own_f: float

    @property
    def bits(self) -> list[int]:
        return [int(p) for p in self.place]


@dataclass
class Swarm:
    """Algorithm 3 on positions in [0, 2) whose whole part is the bit."""

    particles: list[Particle]
    best_place: list[float]
    best_x: list[int]
    best_f: float

    def apply(
        self,
        social: bool,
        weights: tuple[float, float, float, float],
        fitness: Fitness,
        random: Xoshiro,
    ) -> list[float]:
        """Move every particle; return the Δf of each."""
        w, c1, c2, vmax = weights
        changes = []
        for particle in self.particles:
            here, n = particle.place, len(particle.place)
            draws = random.halves(n if social else -(-n // 2))
            for i in range(n):
                v = w * particle.velocity[i] + c1 * draws[i] * (particle.own_place[i] - here[i])
                if social:
                    v += c2 * draws[n + i] * (self.best_place[i] - here[i])
                particle.velocity[i] = min(max(v, -vmax), vmax)
            there = [p + v for p, v in zip(here, particle.velocity, strict=True)]
            particle.place = [p if 0.0 <= p < 2.0 else 2.0 * random.uniform() for p in there]
            f = fitness(particle.bits)
            changes.append(delta(f, particle.f))
            particle.f = f
            if f > particle.own_f:
                particle.own_f, particle.own_place = f, list(particle.place)
            if f > self.best_f:
                self.best_f, self.best_x = f, particle.bits
        leader = max(self.particles, key=lambda particle: particle.own_f)
        self.best_place = list(leader.own_place)
        return changes


@dataclass
class Population:
    """Algorithm 2: members with their fitness."""

    members: list[tuple[list[int], float]]

    def tournament(self, random: Xoshiro) -> int:
        a, b = random.below(len(self.members)), random.below(len(self.members))
        return a if self.members[a][1] >= self.members[b][1] else b

    def child(
        self, crossover: float, flips: float, fitness: Fitness, random: Xoshiro
    ) -> tuple[list[int], float, float]:
        """One child: its bits, its fitness, and its Δf to the better parent."""
        mother, father = (self.members[self.tournament(random)] for _ in range(2))
        n = len(mother[0])
        cut = n
        if n > 1 and random.uniform() < crossover:
            cut = 1 + random.below(n - 1)
        x = mother[0][:cut] + father[0][cut:]
        log_keep = math.log(1.0 - min(max(flips / n, 1e-15), 1.0 - 1e-9))
        i = random.skip(log_keep)
        while i < n:
            x[i] ^= 1
            i += 1 + random.skip(log_keep)
        f = fitness(x)
        return x, f, delta(f, max(mother[1], father[1]))


# --- permutations ---------------------------------------------------------------------------------


def tour(distances: Sequence[Sequence[int]], x: Sequence[int]) -> int:
    """Return the length of the round trip."""
    return sum(distances[a][b] for a, b in zip(x, [*x[1:], x[0]], strict=True))


def tsplib_distance(rule: str, a: Sequence[float], b: Sequence[float]) -> int:
    """Return the distance of two places as the manual of TSPLIB 95 computes it."""
    if rule == "GEO":
        (lat_a, lon_a), (lat_b, lon_b) = (
            [3.141592 * (int(c) + 5 * (c - int(c)) / 3) / 180 for c in place] for place in (a, b)
        )
        q1, q2, q3 = math.cos(lon_a - lon_b), math.cos(lat_a - lat_b), math.cos(lat_a + lat_b)
        return int(6378.388 * math.acos(0.5 * ((1 + q1) * q2 - (1 - q1) * q3)) + 1.0)
    square = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    if rule == "ATT":
        r = math.sqrt(square / 10.0)
        return int(r + 0.5) + (int(r + 0.5) < r)
    return math.ceil(math.sqrt(square)) if rule == "CEIL_2D" else int(math.sqrt(square) + 0.5)


def assignment(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]], x: Sequence[int]) -> int:
    """Return the cost of facility i at place x[i]."""
    n = range(len(x))
    return sum(a[i][j] * b[x[i]][x[j]] for i in n for j in n)


def makespan(times: Sequence[Sequence[int]], x: Sequence[int]) -> int:
    """Return when the last job leaves the last machine."""
    free = [0] * len(times[0])
    for job in x:
        done = 0
        for k, time in enumerate(times[job]):
            done = free[k] = max(done, free[k]) + time
    return free[-1]


# --- real numbers ---------------------------------------------------------------------------------


def classics(name: str, z: Sequence[float]) -> float:
    """Return a test function at z, whose minimum is 0; Rosenbrock's is at the ones."""
    n, turn = len(z), 2 * math.pi
    if name == "sphere":
        return sum(v * v for v in z)
    if name == "ellipsoid":
        return sum(10 ** (6 * i / max(n - 1, 1)) * v * v for i, v in enumerate(z))
    if name == "rastrigin":
        return 10 * n + sum(v * v - 10 * math.cos(turn * v) for v in z)
    if name == "ackley":
        root = math.sqrt(sum(v * v for v in z) / n)
        waves = sum(math.cos(turn * v) for v in z) / n
        return -20 * math.exp(-0.2 * root) - math.exp(waves) + 20 + math.e
    if name == "rosenbrock":
        return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(z))
    product = math.prod(math.cos(v / math.sqrt(i)) for i, v in enumerate(z, 1))
    return sum(v * v for v in z) / 4000 - product + 1
