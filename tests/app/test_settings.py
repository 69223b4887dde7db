import dataclasses

import pytest

from app.pages.common.offers import offered, operators_of
from app.pages.run.lessons.lessons import LESSONS
from app.pages.run.settings import Settings, split_budget
from app.server.limits import PUBLIC, check_trial
from eij_core import InputError, Trial


def test_private_components_are_not_offered():
    assert "external" not in offered("problem")
    with pytest.raises(InputError):
        Settings(problem="external:function=os.system", lesson="").trial()


def test_every_lesson_has_settings_that_run():
    for key, lesson in LESSONS.items():
        trial = Settings(**{**lesson.values, "lesson": key}).trial()
        assert trial.make("algorithm").operators
        assert lesson.question.endswith("?")
        assert (lesson.build is None) == trial.is_data


@pytest.mark.parametrize("algorithm", ["ils", "pso", "ssga"])
def test_the_portfolio_is_chosen_from_what_the_algorithm_knows(algorithm):
    default = {operator.name for operator in Trial(algorithm=algorithm).make("algorithm").operators}
    assert default <= set(operators_of(algorithm))


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("2000 J", (2.0, "kJ")),
        ("20 J", (20.0, "J")),
        ("500 evaluations", (500.0, "evaluations")),
        ("3 s", (3.0, "s")),
    ],
)
def test_budget_in_amount_and_unit(budget, expected):
    assert split_budget(budget) == expected


def test_public_limits_at_the_limit_and_one_more():
    def granted(**parts):
        return check_trial(Trial(**{"budget": "1 kJ", **parts}), PUBLIC)

    granted(problem="knapsack:n=10000")
    granted(problem="nk:n=1024,k=11")
    granted(budget="10 kJ")
    granted(budget="10000000 evaluations")
    for parts in (
        {"problem": "knapsack:n=10001"},
        {"problem": "nk:n=1025,k=11"},
        {"budget": "10001 J"},
        {"budget": "10000001 evaluations"},
        {"budget": "5 s"},
    ):
        with pytest.raises(InputError):
            granted(**parts)


def test_a_private_server_has_no_limits():
    check_trial(Trial("knapsack:n=20000", budget="1 MJ"))


def test_settings_know_all_of_a_trial():
    fields = {field.name for field in dataclasses.fields(Trial)}
    assert fields - {"repetition", "points", "every", "profile"} <= set(Settings.FIELDS)
