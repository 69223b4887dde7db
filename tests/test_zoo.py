"""The zoo: what the cases are, that the answers are right, and what EI/J+ must show."""

import json

import numpy as np
import pytest

from eij_core import InputError, Run, Trial, zoo
from eij_core.probing import can_probe, probe
from eij_core.registry import problems

SMALL = {"problem": "nk:n=24,k=3", "budget": 300.0, "compiled": False}

CASES = [
    "twin-10",
    "twin-100",
    "null",
    "cheap-null",
    "almost",
    "almost-noisy",
    "shock",
    "late-bloomer",
    "cost-up",
    "cost-down",
    "twelve",
    "single",
    "useless",
]


def test_all_cases_are_there():
    assert list(zoo.CASES) == CASES


@pytest.mark.parametrize("algorithm", zoo.ALGORITHMS)
@pytest.mark.parametrize("name", CASES)
def test_every_case_can_be_played(name, algorithm):
    case = zoo.CASES[name]
    if algorithm not in case.algorithms:
        with pytest.raises(InputError, match="algorithm"):
            zoo.visit("uniform", name, algorithm, **SMALL)
        return
    settings = SMALL | {"budget": {"ils": 150.0, "ssga": 30.0, "pso": 40.0}[algorithm]}
    visited = zoo.visit("uniform", name, algorithm, **settings)
    assert np.isfinite(visited.final)
    assert 0.0 <= visited.wasted <= 1.0


def test_operators_have_names_of_their_own():
    problem = problems.make("nk:n=24,k=3")
    for case in zoo.CASES.values():
        for algorithm in case.algorithms:
            names = [o.name for o in zoo.cast(algorithm, case.parts, problem).operators]
            assert len(set(names)) == len(names)


def test_who_does_nothing_changes_nothing():
    visited = zoo.visit("uniform", "useless", **SMALL)
    start = Run(Trial(SMALL["problem"], "ils", meter="paper", seed=0), compiled=False)
    assert visited.final == start.state.best_f[0]
    assert visited.wasted == 1.0


def test_prices_change_half_way():
    dear = zoo.visit("static:operator=flip-1", "cost-up", **SMALL)
    same = zoo.visit("static:operator=flip-1", "twin-10", **SMALL)
    assert dear.tries < same.tries or dear.wasted == 1.0


def test_a_uniform_choice_wastes_what_arithmetic_says():
    wasted = [zoo.visit("uniform", "twin-10", repetition=i, **SMALL).wasted for i in range(10)]
    assert np.nanmean(wasted) == pytest.approx(10 / 11, abs=0.1)


@pytest.mark.parametrize("costs", ["hinted", "probed", "unknown"])
def test_a_dear_twin_is_tried_only_if_its_cost_is_unknown(costs):
    tries = [
        zoo.visit("eij-plus", "twin-100", costs=costs, repetition=i, **SMALL).tries
        for i in range(3)
    ]
    assert tries == [1, 1, 1] if costs == "unknown" else tries == [0, 0, 0]


@pytest.mark.parametrize(("case", "most"), [("twin-10", 0.05), ("null", 0.15), ("almost", 0.2)])
def test_energy_is_not_wasted(case, most):
    settings = SMALL | {"budget": 600.0}
    ours = [zoo.visit("eij-plus", case, repetition=i, **settings) for i in range(4)]
    theirs = [zoo.visit("eij", case, repetition=i, **settings) for i in range(4)]
    assert np.mean([v.wasted_late for v in ours]) <= most
    assert np.mean([v.wasted for v in ours]) < np.mean([v.wasted for v in theirs])


def test_cells_are_plain_data_and_make_a_table():
    cells = list(
        zoo.visit_all(
            ["eij-plus", "uniform"],
            ["twin-10", "single"],
            on=[SMALL["problem"]],
            budget=150.0,
            trials=2,
            compiled=False,
        )
    )
    data = json.loads(json.dumps([cell.to_dict() for cell in cells], allow_nan=False))
    assert {"wasted_share", "final", "static_best"} <= set(data[0])
    frame = zoo.frame_of_cells(cells)
    table = zoo.heat_map(frame)
    assert list(table.index) == ["eij-plus", "uniform"]
    assert list(table.columns) == ["twin-10", "single"]
    assert (frame["final_low"] <= frame["final_high"]).all()


def test_the_same_seeds_give_the_same_cell():
    cells = [
        zoo.observe("eij-plus", "null", trials=2, problem=SMALL["problem"], budget=100.0,
                    compiled=False)
        for _ in range(2)
    ]  # fmt: skip
    assert cells[0] == cells[1]


@pytest.mark.parametrize(
    "wrong", [{"case": "tvin-10"}, {"algorithm": "sgd"}, {"problem": "onemax"}, {"rule": "ucb2"}]
)
def test_wrong_names_are_refused(wrong):
    settings = {"rule": "uniform", "case": "twin-10", "algorithm": "ils", "problem": "nk"} | wrong
    with pytest.raises(InputError):
        zoo.visit(**settings)


# --- probes ---


@pytest.mark.parametrize("algorithm", ["ils:operators=flip-1+swap+segment", "ssga", "pso"])
def test_a_probe_tells_the_price_and_leaves_the_search_alone(algorithm):
    trial = Trial("nk:n=24,k=3", algorithm, "eij-plus", "model:noise=0", "1 kJ", seed=1)
    run = Run(trial, compiled=False)
    known = run.stats.arms.joules.copy()
    before = run.state.best_x.copy(), run.streams.moves.copy(), run.ledger.joules[0]
    spent = probe(run)
    np.testing.assert_allclose(run.stats.arms.joules, known, rtol=0.15)
    np.testing.assert_array_equal(run.state.best_x, before[0])
    np.testing.assert_array_equal(run.streams.moves, before[1])
    assert run.ledger.joules[0] == pytest.approx(before[2] + spent)
    assert 0 < spent < 0.5 * known.sum()


def test_who_cannot_be_probed_is_passed_over():
    trial = Trial("nk:n=24,k=3", "ils:operators=flip-1+scan", "eij-plus", "model", "1 kJ")
    run = Run(trial, compiled=False)
    assert can_probe(run, 0)
    assert not can_probe(run, 1)
    deaf = Run(Trial("nk:n=24,k=3", "ils", "uniform", "model", "1 kJ"), compiled=False)
    assert probe(deaf) == 0.0
