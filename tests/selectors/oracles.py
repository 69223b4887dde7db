"""Slow and obvious versions of the rules: from the whole history, every time anew."""

import math
import statistics

import numpy as np
from scipy.stats import norm


def rewards(history, cost):
    """List (operator, reward in [0, 1])."""
    peak, out = 0.0, []
    for operator, deltas, joules in history:
        value = sum(max(0.0, d) for d in deltas) / (joules if cost else 1.0)
        peak = max(0.995 * peak, value)
        out.append((operator, value / peak if peak > 0 else 0.0))
    return out


def of(operator, history):
    return [r for o, r in history if o == operator]


def means(history, k):
    return np.array([np.mean(of(o, history)) if of(o, history) else 0.0 for o in range(k)])


def normalised(weights):
    return np.asarray(weights) / np.sum(weights)


# --- rules that choose by chance: the chances ---


def epsilon_greedy(rule, history, k):
    chance = np.full(k, rule.epsilon / k)
    chance[np.argmax(means(rewards(history, rule.cost), k))] += 1 - rule.epsilon
    return chance


def softmax(rule, history, k):
    return normalised(np.exp(means(rewards(history, rule.cost), k) / rule.tau))


def fading(rule, history, k):
    q = np.zeros(k)
    for o, r in rewards(history, rule.cost):
        q[o] = (1 - rule.alpha) * q[o] + rule.alpha * r
    return q


def probability_matching(rule, history, k):
    q = fading(rule, history, k)
    least = min(rule.p_min, 1 / (2 * k))
    return least + (1 - k * least) * (q / q.sum() if q.sum() else 1 / k)


def adaptive_pursuit(rule, history, k):
    least = min(rule.p_min, 1 / (2 * k))
    p = np.full(k, 1 / k)
    for t in range(len(history)):
        goal = np.full(k, least)
        goal[np.argmax(fading(rule, history[: t + 1], k))] = 1 - (k - 1) * least
        p = p + rule.beta * (goal - p)
    return p


def exp3(rule, history, k):
    w = np.ones(k)
    p = np.full(k, 1 / k)
    for o, r in rewards(history, rule.cost):
        w[o] *= math.exp(rule.gamma * (r / p[o]) / k)
        p = (1 - rule.gamma) * w / w.sum() + rule.gamma / k
    return p


def roulette(rule, history, k):
    w = np.ones(k)
    scored = rewards(history, rule.cost)
    for start in range(0, len(scored) - rule.segment + 1, rule.segment):
        segment = scored[start : start + rule.segment]
        for o in range(k):
            if of(o, segment):
                w[o] = (1 - rule.reaction) * w[o] + rule.reaction * np.mean(of(o, segment))
    return normalised(w)


# --- rules that choose by score: the scores; draws are given as standard normals or betas ---


def ucb1(rule, history, k):
    scored = rewards(history, rule.cost)
    n = np.array([len(of(o, scored)) for o in range(k)])
    return means(scored, k) + rule.bonus * np.sqrt(2 * np.log(len(history)) / n)


def dmab(rule, history, k):
    """Return the scores and the number of restarts."""
    recent, m, top, restarts = [], np.zeros(k), np.zeros(k), 0
    for o, r in rewards(history, rule.cost):
        recent.append((o, r))
        m[o] += r - np.mean(of(o, recent)) + rule.delta
        top[o] = max(top[o], abs(m[o]))
        if top[o] - abs(m[o]) > rule.threshold:
            recent, m, top, restarts = [], np.zeros(k), np.zeros(k), restarts + 1
    n = [len(of(o, recent)) for o in range(k)]
    scores = [
        math.inf
        if n[o] == 0
        else np.mean(of(o, recent)) + rule.bonus * math.sqrt(2 * math.log(len(recent)) / n[o])
        for o in range(k)
    ]
    return np.array(scores), restarts


def d_ucb(rule, history, k):
    scored = rewards(history, rule.cost)
    ages = range(len(scored) - 1, -1, -1)
    weights = [rule.discount**age for age in ages]
    aged = list(zip(weights, scored, strict=True))
    pulls = np.array([sum(w for w, (a, _) in aged if a == o) for o in range(k)])
    sums = np.array([sum(w * r for w, (a, r) in aged if a == o) for o in range(k)])
    log = math.log(max(sum(weights), 1))
    return sums / pulls + 2 * rule.bound * np.sqrt(rule.xi * log / pulls)


def sw_ucb(rule, history, k):
    recent = rewards(history, rule.cost)[-rule.window :]
    n = [len(of(o, recent)) for o in range(k)]
    log = math.log(min(len(history), rule.window))
    return np.array(
        [
            np.mean(of(o, recent)) + rule.bound * math.sqrt(rule.xi * log / n[o])
            if n[o]
            else math.inf
            for o in range(k)
        ]
    )


def kube(rule, history, k, left):
    scored = rewards(history, False)
    scores = []
    for o in range(k):
        n = len(of(o, scored))
        joules = np.mean([step.joules for step in history if step.operator == o])
        density = np.mean(of(o, scored)) + rule.bonus * math.sqrt(2 * math.log(len(scored)) / n)
        scores.append(density / (joules if rule.cost else 1) if joules <= left else -math.inf)
    return np.array(scores)


def thompson(rule, history, k):
    """Return mean and standard deviation of the draws."""
    scored = rewards(history, rule.cost)
    n = np.array([len(of(o, scored)) for o in range(k)])
    totals = np.array([sum(of(o, scored)) for o in range(k)])
    return totals / (n + 1), rule.sigma / np.sqrt(n + 1)


def dynamic_thompson(rule, history, k):
    """Return a and b of the posteriors."""
    a, b = np.full(k, 2.0), np.full(k, 2.0)
    for o, r in rewards(history, rule.cost):
        full = a[o] + b[o] >= rule.cap
        a[o] += r
        b[o] += 1 - r
        if full:
            a[o] *= rule.cap / (rule.cap + 1)
            b[o] *= rule.cap / (rule.cap + 1)
    return a, b


def budgeted_thompson(rule, history, k):
    """Return a and b of the reward, then of the cost."""
    scored = rewards(history, False)
    costs, peak = [], 0.0
    for o, _, joules in history:
        peak = max(0.995 * peak, joules)
        costs.append((o, joules / peak))
    out = []
    for series in (scored, costs):
        sums = np.array([sum(of(o, series)) for o in range(k)])
        n = np.array([len(of(o, series)) for o in range(k)])
        out += [1 + sums, 1 + n - sums]
    return out


def log_ei(rule, history, k, budget, left, lucks):
    """Follow the note on the rule: every sum anew, weighted by the Joules spent since."""
    seen, scale, refreshed, squashed = [], 1.0, 0, []
    for operator, deltas, _ in history:
        seen += [abs(d) for d in deltas if d != 0]
        if seen and (refreshed == 0 or len(seen) - refreshed >= 10):
            scale, refreshed = max(statistics.median(seen[-101:]), 1e-12), len(seen)
        squashed.append((operator, [math.asinh(d / scale) for d in deltas]))
    since = [sum(step.joules for step in history[t + 1 :]) for t in range(len(history))]
    W, Y, Q, G, A = np.zeros((5, k))
    for (o, ys), step, spent in zip(squashed, history, since, strict=True):
        weight = 0.5 ** (spent / (rule.memory_share * budget))
        W[o] += weight * len(ys)
        Y[o] += weight * sum(ys)
        Q[o] += weight * sum(y * y for y in ys)
        G[o] += weight * step.joules
        A[o] += weight
    m_p = Y.sum() / W.sum()
    v_p = max(Q.sum() / W.sum() - m_p**2, 1e-6)
    u = np.maximum(Q / W - (Y / W) ** 2, 0)
    sigma = np.sqrt(np.maximum((W * u + 0.02 * v_p) / (W + 1), 1e-12))
    joules = G / A
    rho = 1.0 if left == math.inf else (left / joules) / (left / joules + A)
    spread = np.sqrt(rho * (W * u + v_p) / (W + 1) / (A + 1))
    z = ((Y + m_p) / (W + 1) + spread * lucks) / sigma
    score = np.log(sigma * (norm.pdf(z) + z * norm.cdf(z))) + np.log(W / A)
    if rule.cost:
        score -= np.log(joules)
    return score - 1000.0 * (joules > left)


# --- rules without rewards: the choice after the first tries ---


def greedy(rule, history, k):
    scores = []
    for o in range(k):
        mine = [step for step in history if step.operator == o]
        joules = sum(step.joules for step in mine) if rule.cost else len(mine)
        scores.append(sum(sum(step.deltas) for step in mine) / joules)
    return int(np.argmax(scores))


def round_robin(rule, history, k):
    had = [sum(s.joules if rule.cost else 1 for s in history if s.operator == o) for o in range(k)]
    return int(np.argmin(had))


# --- EI/J+, with lists and logarithms ---


class FollowedMedian:
    """A median followed in the logarithm: steps of 0.05, doubled while the direction stays."""

    def __init__(self):
        self.value, self.step = None, 0.0

    def see(self, value):
        if self.value is None:
            self.value = math.log(value)
            return
        direction = np.sign(math.log(value) - self.value)
        same = direction * self.step > 0
        self.step = direction * (min(2 * abs(self.step), 0.8) if same else 0.05)
        self.value += self.step


class EijPlusOracle:
    """The rule as its documentation tells it; everything anew at each decision."""

    def __init__(self, k, budget, known, H=0.10, tau=0.7, kappa=0.5, n0=1.0, eps=0.05, phi=0.10):
        self.k, self.B0 = k, budget
        self.H, self.tau, self.kappa, self.n0, self.eps, self.phi = H, tau, kappa, n0, eps, phi
        self.N, self.wins, self.Y, self.Y2 = ([0.0] * k for _ in range(4))
        self.E = list(known)
        self.nE = [0] * k
        self.idle = [0.0] * k
        self.C = [1.0] * k
        self.heights = [FollowedMedian() for _ in range(k)]
        self.nonzero = [[] for _ in range(k)]
        self.variety = [0.0] * k
        self.scale = None

    def credit(self, o, d):
        if d == 0:
            return 0.0
        h = self.scale or abs(d)
        seen = self.nonzero[o]
        b = h
        if len(seen) >= 3:
            b = min(h, math.exp(self.heights[o].value) * (self.variety[o] / 0.45) ** 3)
        y = 1 + math.log1p(d / h) if d > 0 else self.kappa * math.exp(max(d / b, -700))
        self.heights[o].see(abs(d))
        if seen:
            ratio = abs(d - seen[-1]) / max(abs(d), abs(seen[-1]))
            self.variety[o] += max(1 / len(seen), 0.1) * (ratio - self.variety[o])
        seen.append(d)
        return y

    def pooled(self):
        N, Y, Y2 = sum(self.N), sum(self.Y), sum(self.Y2)
        cv2 = (Y2 + 1e-12) * (N + 1e-12) / (Y + 1e-9) ** 2 - 1
        return (Y + 0.01) / (N + 0.01), min(max(cv2, 0.1), 50.0)

    def learn(self, o, deltas, joules):
        y = sum(self.credit(o, d) for d in deltas) / max(len(deltas), 1)
        self.C[o] = max(len(deltas), 1)
        fade = 0.5 ** (joules / (self.H * self.B0) if math.isfinite(self.B0) else 1 / 100)
        for sums in (self.N, self.wins, self.Y, self.Y2):
            sums[:] = [fade * value for value in sums]
        self.idle = [waited + joules for waited in self.idle]
        self.idle[o] = 0.0
        self.N[o] += 1
        self.wins[o] += any(d > 0 for d in deltas)
        self.Y[o] += y
        self.Y2[o] += y * y
        votes = [self.wins[i] + 1e-3 * self.N[i] if self.nonzero[i] else 0.0 for i in range(self.k)]
        if sum(votes) > 0:
            logs = [median.value or 0.0 for median in self.heights]
            self.scale = math.exp(np.dot(votes, logs) / sum(votes))
        if self.nE[o] == 0 or joules > 2 * self.E[o] or joules < self.E[o] / 2:
            self.E[o], self.nE[o] = joules, 1
        else:
            self.nE[o] += 1
            self.E[o] += max(1 / self.nE[o], 0.1) * (joules - self.E[o])

    def owed(self, B):
        improving = [o for o in range(self.k) if self.wins[o] > 0]
        least = min((self.E[o] / self.C[o] for o in improving), default=math.inf)
        debts = [-1.0] * self.k
        for o in range(self.k):
            if self.E[o] <= self.phi * B:
                wait = min(self.k * self.E[o] / self.eps, 2 * self.H * self.B0)
                debts[o] = self.idle[o] / (wait * max(1, self.E[o] / self.C[o] / least))
        return int(np.argmax(debts)) if max(debts) >= 1 else -1

    def may_start(self, o, B):
        new_and_dear = self.nE[o] < 2 and self.E[o] > self.phi * B and self.E[o] > min(self.E)
        return self.E[o] <= B and not new_and_dear

    def terms(self, o, B):
        """Return ln(gain per Joule) and the standard deviation of its draw."""
        mean, cv2 = self.pooled()
        above = self.Y[o] > self.N[o] * mean
        n0 = max(self.n0, cv2 / 2 if above else min(cv2 / 3, 2 * self.n0))
        gain = (self.Y[o] + n0 * mean) / (self.N[o] + n0) * self.C[o]
        draws = math.log(max(self.k, 2)) / math.log(2)
        s = math.sqrt(1 / (draws / self.tau**2 + self.N[o] / cv2))
        if math.isfinite(B):
            s *= math.sqrt(B / (B + (1 + self.N[o]) * self.E[o]))
        return math.log(gain / self.E[o]), s

    def choose(self, B, lucks):
        """Return the choice for given standard normals, one per operator that may start."""
        owed = self.owed(B)
        if owed >= 0:
            return owed
        best, winner = -math.inf, -1
        for o in range(self.k):
            if self.may_start(o, B):
                level, s = self.terms(o, B)
                if (score := level + s * next(lucks)) > best:
                    best, winner = score, o
        return winner
