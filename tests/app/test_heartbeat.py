"""Who may draw, and when: pages take turns, and none is sent a second frame before it has drawn."""

import pytest

from app.server.heartbeat import KEPT, LOST, REST, Heartbeat


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets; no page rests or waits at first."""
    now = [100.0]
    monkeypatch.setattr("app.server.heartbeat.time.monotonic", lambda: now[0])
    monkeypatch.setattr(Heartbeat, "_busy_until", 0.0)
    monkeypatch.setattr(Heartbeat, "_next", (None, 0.0))
    return now


def heart():
    made = Heartbeat()
    made.heard = made.beat
    return made


def draw(page, clock, seconds):
    assert page.may_push()
    clock[0] += seconds
    page.push()


def test_a_page_that_is_not_drawn_yet_is_sent_nothing(clock):
    assert not Heartbeat().may_push()


def test_an_echo_is_taken_as_it_comes():
    page = heart()
    page.push()
    page._server_change(None, "ref", None, "echo", -1, page.beat)
    assert page.heard == page.beat


def test_after_a_frame_all_rest(clock):
    one, other = heart(), heart()
    draw(one, clock, 0.1)
    assert not other.may_push()
    clock[0] += 1.01 * REST * 0.1
    assert other.may_push()


def test_who_was_told_to_wait_is_next(clock):
    one, other = heart(), heart()
    draw(one, clock, 0.1)
    one.heard = one.beat
    assert not other.may_push()  # in the rest: its turn is kept
    clock[0] += 0.1
    assert not one.may_push()
    draw(other, clock, 0.01)


def test_a_turn_is_not_kept_for_ever(clock):
    one, gone = heart(), heart()
    draw(one, clock, 0.1)
    one.heard = one.beat
    assert not gone.may_push()
    clock[0] += 1.01 * KEPT
    assert one.may_push()


def test_a_browser_that_is_silent_for_long_has_lost_frames(clock):
    page = heart()
    draw(page, clock, 0.0)
    assert not page.may_push() and not page.take_loss()
    clock[0] += 1.01 * LOST
    assert page.may_push()
    assert page.take_loss() and not page.take_loss()
