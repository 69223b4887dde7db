"""Budgets: units, round trips, refusals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Budget, InputError


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("1kJ", "joules", 1000.0),
        ("300 J", "joules", 300.0),
        ("300 j", "joules", 300.0),
        ("5 mJ", "joules", 0.005),
        ("5 MJ", "joules", 5e6),
        ("5 Mj", "joules", 5e6),
        ("2 uJ", "joules", 2e-6),
        ("2 µJ", "joules", 2e-6),
        ("1 Wh", "joules", 3600.0),
        ("1 kWh", "joules", 3.6e6),
        ("1.5e3 J", "joules", 1500.0),
        ("200 evaluations", "evaluations", 200.0),
        ("2e4 evals", "evaluations", 20000.0),
        ("5 s", "seconds", 5.0),
        ("50ms", "seconds", 0.05),
        ("2 min", "seconds", 120.0),
        (" 1 h ", "seconds", 3600.0),
    ],
)
def test_units(text, field, value):
    budget = Budget.parse(text)
    assert getattr(budget, field) == pytest.approx(value)
    others = {"joules", "evaluations", "seconds"} - {field}
    assert all(math.isinf(getattr(budget, other)) for other in others)


def test_limits_combine():
    budget = Budget.parse("1 kJ, 500 evaluations, 2 s")
    assert (budget.joules, budget.evaluations, budget.seconds) == (1000.0, 500.0, 2.0)
    assert Budget.parse(budget) is budget


@pytest.mark.parametrize(
    "text",
    ["", "5", "J", "-5 J", "0 J", "5 parsecs", "1e999 J", "nan J", "inf J", "1.2.3 J", "5 J, 6 J",
     "5 J,", "5 J 6 s", 7, 7.5, None],
)  # fmt: skip
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(InputError) as caught:
        Budget.parse(text)
    assert caught.value.field == "budget"
    assert "like 1kJ" in str(caught.value)


@pytest.mark.parametrize("value", [0, -1, math.nan, True, "5", None])
def test_a_limit_is_a_positive_number(value):
    with pytest.raises(InputError, match="above 0"):
        Budget(joules=value)


def test_a_budget_has_a_limit():
    with pytest.raises(InputError, match="at least one limit"):
        Budget()


limits = st.one_of(st.just(math.inf), st.floats(1e-9, 1e12, exclude_min=True))


@given(st.tuples(limits, limits, limits).filter(lambda t: not all(map(math.isinf, t))))
def test_text_round_trip(values):
    budget = Budget(*values)
    assert Budget.parse(str(budget)) == budget
