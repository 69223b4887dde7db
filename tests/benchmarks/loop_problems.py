"""Three problems as a user of ALNS writes them: states, destroy and repair operators in Python.

Each function draws an instance and returns its `Case`. A destroy operator takes a state and returns
a copy with something missing; a repair operator completes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from alns.accept import RecordToRecordTravel


class Case(NamedTuple):
    """What ALNS needs for one instance."""

    start: Any
    destroy: list[Callable[..., Any]]
    repair: list[Callable[..., Any]]
    accept: Callable[[], Any]


def within(threshold):
    """Accept what is not worse than the best by more, which is half a per cent or one."""
    return RecordToRecordTravel(threshold, threshold, 0.0)


# --- a round trip ---------------------------------------------------------------------------------

CITIES, SHARE = 100, 0.12


class Tour:
    """A round trip, with the cities that are not in it."""

    def __init__(self, order, lengths):
        self.order, self.lengths, self.missing = order, lengths, []

    def objective(self):
        return float(self.lengths[self.order, np.roll(self.order, -1)].sum())

    def without(self, places):
        left = Tour(np.delete(self.order, places), self.lengths)
        left.missing = self.order[places].tolist()
        return left

    def added(self, city):
        """What each place would add to the length."""
        after = np.roll(self.order, -1)
        into = self.lengths[self.order, city] + self.lengths[city, after]
        return into - self.lengths[self.order, after]

    def insert(self, city, place):
        self.order = np.insert(self.order, place + 1, city)


def random_cities(tour, rng):
    return tour.without(rng.choice(tour.order.size, int(SHARE * tour.order.size), replace=False))


def dear_cities(tour, rng):
    """Those whose absence saves most, with some noise."""
    before, order, after = np.roll(tour.order, 1), tour.order, np.roll(tour.order, -1)
    d = tour.lengths
    saved = d[before, order] + d[order, after] - d[before, after]
    saved *= rng.uniform(0.5, 1.0, order.size)
    return tour.without(np.argsort(-saved)[: int(SHARE * order.size)])


def path_of_cities(tour, rng):
    start, count = rng.integers(tour.order.size), int(SHARE * tour.order.size)
    return tour.without((start + np.arange(count)) % tour.order.size)


def nearest_place(tour, rng):
    for city in rng.permutation(tour.missing):
        tour.insert(city, int(np.argmin(tour.added(city))))
    tour.missing = []
    return tour


def random_place(tour, rng):
    for city in rng.permutation(tour.missing):
        tour.insert(city, int(rng.integers(tour.order.size)))
    tour.missing = []
    return tour


def least_regret(tour, rng):
    """First the city that loses most if it does not get its best place: dear, and often better."""
    left = list(tour.missing)
    while left:
        added = np.array([tour.added(city) for city in left])
        two = np.partition(added, 1, axis=1)
        chosen = int(np.argmax(two[:, 1] - two[:, 0]))
        tour.insert(left.pop(chosen), int(np.argmin(added[chosen])))
    tour.missing = []
    return tour


def round_trip(rng):
    places = rng.random((CITIES, 2))
    lengths = np.linalg.norm(places[:, None] - places[None], axis=2)
    start = Tour(rng.permutation(CITIES), lengths)
    return Case(
        start,
        [random_cities, dear_cities, path_of_cities],
        [nearest_place, random_place, least_regret],
        lambda: within(0.05),
    )


# --- cutting stock --------------------------------------------------------------------------------

BEAM, ORDERS = 1000, 400


class Beams:
    """Beams of one length, each with what is cut from it, and the orders not cut yet."""

    def __init__(self, beams, missing):
        self.beams, self.missing = beams, missing

    def objective(self):
        """The number of beams; of equal numbers, fewer with much waste in one place."""
        filled = sum((sum(beam) / BEAM) ** 2 for beam in self.beams)
        return len(self.beams) - filled / max(len(self.beams), 1)

    def without(self, places):
        places = set(places)
        kept = [list(beam) for i, beam in enumerate(self.beams) if i not in places]
        return Beams(kept, [cut for i in places for cut in self.beams[i]])


def random_beams(beams, rng):
    count = len(beams.beams)
    return beams.without(rng.choice(count, max(2, count // 10), replace=False).tolist())


def wasteful_beams(beams, rng):
    waste = np.array([BEAM - sum(beam) for beam in beams.beams]) + rng.random(len(beams.beams))
    return beams.without(np.argsort(-waste)[: max(2, waste.size // 10)].tolist())


def first_fit(beams, rng):
    """In random order, into the first beam that has room."""
    room = [BEAM - sum(beam) for beam in beams.beams]
    for cut in rng.permutation(beams.missing).tolist():
        place = next((i for i, free in enumerate(room) if free >= cut), None)
        place = _into(beams.beams, room, place)
        beams.beams[place].append(cut)
        room[place] -= cut
    beams.missing = []
    return beams


def best_fit(beams, rng):
    """The longest first, into the beam with the least room that is enough."""
    room = [BEAM - sum(beam) for beam in beams.beams]
    for cut in sorted(beams.missing, reverse=True):
        fits = [(free, i) for i, free in enumerate(room) if free >= cut]
        place = _into(beams.beams, room, min(fits)[1] if fits else None)
        beams.beams[place].append(cut)
        room[place] -= cut
    beams.missing = []
    return beams


def least_waste(beams, rng):
    """Fill one new beam after the other as full as can be: dear."""
    left = rng.permutation(beams.missing).tolist()
    while left:
        reach = {0: ()}
        for i, cut in enumerate(left):
            for total, chosen in list(reach.items()):
                if total + cut <= BEAM and total + cut not in reach:
                    reach[total + cut] = (*chosen, i)
            if BEAM in reach:
                break
        chosen = set(reach[max(reach)])
        beams.beams.append([cut for i, cut in enumerate(left) if i in chosen])
        left = [cut for i, cut in enumerate(left) if i not in chosen]
    beams.missing = []
    return beams


def _into(beams, room, place):
    if place is None:
        beams.append([])
        room.append(BEAM)
        place = len(beams) - 1
    return place


def cutting_stock(rng):
    cuts = rng.integers(80, 550, ORDERS).tolist()
    start = first_fit(Beams([], cuts), rng)
    return Case(
        start,
        [random_beams, wasteful_beams],
        [first_fit, best_fit, least_waste],
        lambda: within(0.5),
    )


# --- scheduling under scarce resources ------------------------------------------------------------

JOBS, RESOURCES, CAPACITY = 40, 3, 10


class Plan:
    """An order of jobs that respects who waits for whom, scheduled as early as it allows."""

    def __init__(self, order, instance):
        self.order, self.instance, self.missing = order, instance, []
        self._starts = None

    @property
    def starts(self):
        if self._starts is None:
            self._starts = scheduled(self.order, self.instance)
        return self._starts

    def objective(self):
        return float((self.starts + self.instance.lengths).max())

    def without(self, jobs):
        jobs = set(jobs)
        left = Plan([job for job in self.order if job not in jobs], self.instance)
        left.missing = [job for job in self.order if job in jobs]
        return left


class Jobs(NamedTuple):
    lengths: Any
    needs: Any
    before: list[list[int]]
    """The jobs that each waits for, without those that these wait for."""
    all_before: list[set[int]]
    all_after: list[set[int]]


def scheduled(order, jobs):
    """Start each job as early as its predecessors and the free resources allow."""
    horizon = int(jobs.lengths.sum())
    free = np.full((horizon, RESOURCES), CAPACITY)
    starts = np.zeros(len(jobs.lengths), int)
    for job in order:
        length, need = jobs.lengths[job], jobs.needs[job]
        start = max((starts[each] + jobs.lengths[each] for each in jobs.before[job]), default=0)
        while True:
            short = (free[start : start + length] < need).any(axis=1)
            if not short.any():
                break
            start += int(np.flatnonzero(short)[-1]) + 1
        free[start : start + length] -= need
        starts[job] = start
    return starts


def random_jobs(plan, rng):
    return plan.without(rng.choice(JOBS, JOBS // 5, replace=False).tolist())


def mobile_jobs(plan, rng):
    """Those with most room between the last they wait for and the first that waits for them."""
    place = {job: i for i, job in enumerate(plan.order)}
    room = [
        min((place[each] for each in plan.instance.all_after[job]), default=JOBS)
        - max((place[each] for each in plan.instance.all_before[job]), default=-1)
        for job in range(JOBS)
    ]
    return plan.without(np.argsort(-np.array(room) - rng.random(JOBS))[: JOBS // 5].tolist())


def jobs_of_a_stretch(plan, rng):
    start = int(rng.integers(JOBS - JOBS // 5))
    return plan.without(plan.order[start : start + JOBS // 5])


def _places(plan, job):
    """From where to where a job may stand in the order."""
    before, after = plan.instance.all_before[job], plan.instance.all_after[job]
    low = max((i + 1 for i, each in enumerate(plan.order) if each in before), default=0)
    high = min((i for i, each in enumerate(plan.order) if each in after), default=len(plan.order))
    return low, high


def anywhere(plan, rng):
    for job in plan.missing:
        low, high = _places(plan, job)
        plan.order.insert(int(rng.integers(low, high + 1)), job)
    plan.missing = []
    return plan


def as_early(plan, rng):
    for job in plan.missing:
        plan.order.insert(_places(plan, job)[0], job)
    plan.missing = []
    return plan


def best_of_three(plan, rng):
    """Of three places for each job, that with the shortest plan so far: dear."""
    for job in plan.missing:
        low, high = _places(plan, job)
        tried = []
        for place in {int(rng.integers(low, high + 1)) for _ in range(3)}:
            order = [*plan.order[:place], job, *plan.order[place:]]
            starts = scheduled(order, plan.instance)
            tried.append(((starts[order] + plan.instance.lengths[order]).max(), order))
        plan.order = min(tried)[1]
    plan.missing = []
    return plan


def scarce_resources(rng):
    before = [
        sorted(
            {int(each) for each in rng.integers(0, max(job, 1), 2) if rng.random() < 0.6 and job}
        )
        for job in range(JOBS)
    ]
    all_before: list[set[int]] = []
    for each in before:
        all_before.append(set(each).union(*(all_before[other] for other in each)))
    all_after = [
        {other for other in range(JOBS) if job in all_before[other]} for job in range(JOBS)
    ]
    lengths = rng.integers(1, 11, JOBS)
    needs = rng.integers(0, 7, (JOBS, RESOURCES))
    start = Plan(list(range(JOBS)), Jobs(lengths, needs, before, all_before, all_after))
    return Case(
        start,
        [random_jobs, mobile_jobs, jobs_of_a_stretch],
        [anywhere, as_early, best_of_three],
        lambda: within(1.0),
    )


PROBLEMS = {
    "round trip": round_trip,
    "cutting stock": cutting_stock,
    "scarce resources": scarce_resources,
}
