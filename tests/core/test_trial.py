"""Trials: data, both ways; the key; refusals."""

import dataclasses
import json
import pickle
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Budget, InputError, Run, Spec, Trial, solve
from tests.core.components import OneMax, Step, Turns, Walk

trials = st.builds(
    Trial,
    problem=st.sampled_from(["knapsack", "nk:n=12,k=2", Spec("ecc", {"words": 4, "length": 4})]),
    algorithm=st.sampled_from(["ils:steps=5", "ssga", "pso:vmax=0.3"]),
    selector=st.sampled_from(["eij", "eij:alpha=0.35", "uniform", "static:operator=flip-1"]),
    meter=st.sampled_from(["paper", "model:noise=0", "model:touch=1e-07"]),
    budget=st.one_of(
        st.sampled_from(["1 kJ", "5 J, 100 evaluations", "2 s"]),
        st.builds(Budget, st.floats(1e-6, 1e9), charge_start=st.booleans()),
    ),
    seed=st.integers(0, 2**128 - 1),
    repetition=st.integers(0, 2**31 - 1),
    points=st.integers(1, 10**6 - 1),
    every=st.integers(0, 2**62 - 1),
)


@given(trials)
def test_round_trips(trial):
    for again in (
        Trial.from_json(trial.to_json()),
        Trial.from_toml(trial.to_toml()),
        Trial.from_dict(trial.to_dict()),
        pickle.loads(pickle.dumps(trial)),
        dataclasses.replace(trial),
    ):
        assert again == trial
        assert again.key == trial.key


def test_the_key_is_of_what_is_meant():
    same = (
        Trial("nk:k=2,n=20"),
        Trial("nk:n=20,k=2", budget="1000 J"),
        Trial(Spec("nk", {"n": 20, "k": 2}), selector="eij-plus:prior=1"),
    )
    assert len({trial.key for trial in same}) == 1
    base = Trial("nk:n=20,k=2")
    others = [
        Trial("nk:n=20,k=3"),
        dataclasses.replace(base, seed=1),
        dataclasses.replace(base, repetition=1),
        dataclasses.replace(base, selector="uniform"),
        dataclasses.replace(base, meter="model"),
        dataclasses.replace(base, budget=Budget(1000.0, charge_start=False)),
    ]
    assert len({trial.key for trial in [base, *others]}) == 1 + len(others)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"problem": "knapsac"}, "problem"),
        ({"problem": "nk:n=x"}, "nk:n"),
        ({"algorithm": "annealing"}, "algorithm"),
        ({"selector": "static:operators=1"}, "static:operators"),
        ({"meter": "model:noise=-1"}, "model:noise"),
        ({"budget": 5}, "budget"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": 2**128}, "seed"),
        ({"repetition": -1}, "repetition"),
        ({"points": 0}, "points"),
        ({"every": -1}, "every"),
        ({"charge_start": "no"}, "charge_start"),
        ({"colour": "red"}, "trial"),
    ],
)
def test_bad_fields_are_named(fields, named):
    with pytest.raises(InputError) as caught:
        Trial.from_dict(fields)
    assert caught.value.field == named


def test_only_a_table_is_a_trial():
    with pytest.raises(InputError, match="a table"):
        Trial.from_json("[]")


def test_missing_fields_take_their_defaults():
    assert Trial.from_dict({}) == Trial()
    assert json.loads(Trial().to_json())["charge_start"] is True


def test_objects_of_ones_own():
    trial = Trial(OneMax(8), selector=Turns(1))
    assert not trial.is_data
    assert trial.make("problem") == OneMax(8)
    assert trial.name_of("problem") == "OneMax"
    assert trial.name_of("algorithm") == "ils"
    with pytest.raises(InputError, match="register your own"):
        trial.to_json()


# --- what is no component gets one line -----------------------------------------------------------


class Plain(NamedTuple):
    """OneMax without `@kernel`."""

    n: int

    def fitness(self, x):
        return float(x.sum())


class PlainStep(NamedTuple):
    """An operator without `@kernel`."""

    bits: int

    def apply(self, algorithm, problem, state, rng):
        return None


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (
            lambda: Trial(problem=3),
            "problem = 3: expected a name, such as 'nk:n=50', or an object with n and fitness",
        ),
        (
            lambda: Trial(OneMax),
            "problem = OneMax: expected an object, not a class: OneMax(…)",
        ),
        (
            lambda: Trial(Plain(5)),
            "problem = Plain: expected a NamedTuple class marked @kernel "
            "(from eij_core.components import kernel)",
        ),
        (
            lambda: Trial(OneMax(5), Walk((Step(1), PlainStep(1)))),
            "algorithm = PlainStep: expected a NamedTuple class marked @kernel "
            "(from eij_core.components import kernel)",
        ),
        (
            lambda: Trial(Walk((Step(1),))),
            "problem = Walk: expected a problem, but this is an algorithm: give it as algorithm=…",
        ),
        (
            lambda: Trial(algorithm=OneMax(5)),
            "algorithm = OneMax: expected an algorithm, but this is a problem: "
            "give it as problem=…",
        ),
        (
            lambda: Trial(meter=Turns(1)),
            "meter = Turns: expected a meter, but this is a selector: give it as selector=…",
        ),
        (
            lambda: Trial(selector=Step(1)),
            "selector = Step: expected a name, such as 'eij-plus', or an object with memory and "
            "select and learn and belief",
        ),
        (
            lambda: solve("nk"),
            "trial = nk: expected a Trial, such as Trial('nk:n=50', budget='20 J')",
        ),
        (
            lambda: Run(OneMax(5)),
            "trial = OneMax(n=5): expected a Trial, such as Trial('nk:n=50', budget='20 J')",
        ),
    ],
)
def test_what_is_no_component_is_refused_in_one_line(make, line):
    with pytest.raises(InputError) as raised:
        make()
    assert str(raised.value) == line
