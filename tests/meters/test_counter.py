"""Raw counters made cumulative: wraps, resets, late ticks, and whether a counter lives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.errors import MeterUnavailable
from eij_core.meters.counters.counter import (
    SLACK_UJ,
    CumulativeCounter,
    Domain,
    Register,
    alive,
    watch,
)
from tests.meters.virtual import domains_uj

MS = 1_000_000


@given(
    st.integers(SLACK_UJ * 4, 2**36),
    st.integers(0, 2**36),
    st.lists(st.tuples(st.floats(0, 900), st.integers(1, 100 * MS)), max_size=40),
)
def test_wraps_are_undone_exactly(range_uj, start, steps):
    """Any load below the limit, any range that a step cannot fill: the sum is the truth."""
    register = Register(Domain("package-0", range_uj, 1000.0), start % (range_uj + 1), 0)
    true, now = 0, 0
    for watts, ns in steps:
        now += ns
        step = int(watts * ns / 1000.0)
        if 1000.0 * ns / 1000.0 > range_uj:
            break
        true += step
        assert register.advance((start + true) % (range_uj + 1), now) == true
    assert register.breaks == 0


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 10**10)), max_size=40))
def test_whatever_is_read_the_total_never_falls(readings):
    register = Register(Domain("package-0", 2**32, 100.0), 5, 0)
    now = last = 0
    for raw, ns in readings:
        now += ns
        total = register.advance(raw, now)
        assert total >= last
        # Never phantom Joules: no more than the limit allows.
        assert total - last <= 100.0 * now / 1000.0 + SLACK_UJ
        last = total


@pytest.mark.parametrize("range_uj", [None, 2**40])
def test_a_fall_that_is_no_wrap_is_a_reset(range_uj):
    register = Register(Domain("package-0", range_uj, 100.0), 10**9, 0)
    assert register.advance(10**9 + 50, MS) == 50
    assert register.advance(0, 2 * MS) == 50
    assert register.breaks == 1
    assert register.advance(70, 3 * MS) == 120


def test_a_leap_is_a_break():
    register = Register(Domain("package-0", None, 100.0), 0, 0)
    assert register.advance(10**12, MS) == 0
    assert register.breaks == 1


def test_a_late_tick_brings_what_gathered():
    register = Register(Domain("package-0", 2**36, 1000.0), 0, 0)
    for ms in range(1, 1000):
        register.advance(0, ms * MS)
    assert register.advance(900_000_000, 1000 * MS) == 900_000_000
    assert register.breaks == 0


def test_after_too_long_nothing_is_known():
    register = Register(Domain("package-0", 10**6, 1000.0), 0, 0)
    assert register.advance(10, 10**10) == 0
    assert register.breaks == 1


def test_after_too_long_it_counts_on_from_where_it_is():
    """That it is a little lower then, and soon as high again, is chance."""
    register = Register(Domain("package-0", 10**6, 1000.0), 5000, 0)
    assert register.advance(4000, 10**10) == 0
    assert register.advance(6000, 10**10 + MS) == 2000
    assert register.breaks == 1


def test_two_sockets_wrap_at_their_own_time():
    raws = iter([[95, 5], [5, 50], [60, 3]])
    domains = [Domain("package-0", 99), Domain("package-1", 99)]
    tally = CumulativeCounter(lambda: next(raws), domains, clock=lambda: 0)
    assert tally.read_uj() == 10 + 45
    assert domains_uj(tally) == {"package-0": 65, "package-1": 98}
    assert tally.breaks == 0


def virtual_counter(watts, tick_ns=MS):
    now = [0]

    def clock():
        now[0] += 10_000
        return now[0]

    return lambda: int(now[0] // tick_ns * tick_ns * watts / 1000), clock


def test_watching_tells_watts_and_tick():
    seen = watch(*reversed_pair(virtual_counter(50.0)))
    assert seen.watts == pytest.approx(50, rel=0.05)
    assert seen.tick_ns == pytest.approx(MS, rel=0.05)
    assert 0 < seen.read_cost_ns <= 20_000
    alive("it", seen, 1000.0)


def reversed_pair(pair):
    read, clock = pair
    return read, 0.05, clock


@pytest.mark.parametrize(("watts", "text"), [(0.0, "does not move"), (5000.0, "implies 5e\\+03")])
def test_present_is_not_alive(watts, text):
    seen = watch(*reversed_pair(virtual_counter(watts)))
    with pytest.raises(MeterUnavailable, match=text):
        alive("it", seen, 1000.0)


def test_a_reading_that_falls_and_comes_back_brings_no_phantom_joules():
    register = Register(Domain("package-0", 10**9, 150.0), 10**8, 0)
    raws = [100_500_000, 96_000_000, 101_500_000, 102_000_000]
    totals = [register.advance(raw, (k + 1) * 40_000_000) for k, raw in enumerate(raws)]
    assert totals == [500_000, 500_000, 1_500_000, 2_000_000]
    assert register.breaks == 2


def test_a_counter_that_goes_on_while_it_is_low_brings_none_either():
    register = Register(Domain("package-0", 10**9, 150.0), 10**8, 0)
    raws = [100_500_000, 96_000_000, 97_000_000, 102_500_000]  # 5 J too low for a while
    totals = [register.advance(raw, (k + 1) * 40_000_000) for k, raw in enumerate(raws)]
    assert totals == [500_000, 500_000, 1_500_000, 3_500_000]
    assert register.breaks == 2


def test_a_reset_counter_that_passes_its_old_value_loses_nothing():
    register = Register(Domain("package-0", None, 150.0), 1_000_000, 0)
    raws = [0, 600_000, 1_200_000, 1_800_000]
    totals = [register.advance(raw, (k + 1) * 40_000_000) for k, raw in enumerate(raws)]
    assert totals == [0, 600_000, 1_200_000, 1_800_000]
    assert register.breaks == 1


def test_a_reader_that_lost_the_cpu_sees_no_reset():
    """The value is of 1 ms, the reading was over at 500 ms; then 25 J come within 2 ms."""
    register = Register(Domain("package-0", 10**9, 150.0), 0, 0)
    register.advance(50_000, 500 * MS, began_ns=MS)
    assert register.advance(25_100_000, 502 * MS, began_ns=502 * MS) == 25_100_000
    assert register.breaks == 0
