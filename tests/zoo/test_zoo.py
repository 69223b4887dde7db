"""The zoo: what the cases are, that the answers are right, and what EI/J+ must show."""

import json

import numpy as np
import pytest

from eij_core import InputError, Run, Trial, zoo
from eij_core.cli import call
from eij_core.meters.replay import Replay
from eij_core.probes import can_probe, probe
from eij_core.registry import problems
from eij_core.zoo import Visit, targets
from eij_core.zoo.cells import rules_by_cases
from eij_core.zoo.visits import KNOWLEDGE

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
    one = "static:operator=flip-1"
    fair = zoo.visit(one, "cost-up", **SMALL)  # dear after half of the budget
    dear = zoo.visit(one, "cost-down", **SMALL)  # dear before
    assert fair.wasted == 1.0 and dear.wasted == 0.0
    assert fair.fewest == dear.fewest == 0
    assert 1 <= fair.tries <= 1 + 300 * 0.5 / (101 * 0.06149 * 10)


def test_the_first_payment_after_a_change_is_told_apart():
    one, other = "static:operator=flip-1", "static:operator=flip-1 (2)"
    stubborn = zoo.visit(one, "cost-up", **SMALL)
    assert stubborn.wasted == stubborn.wasted_aware == 1.0
    assert np.isnan(zoo.visit(other, "cost-up", **SMALL).wasted_aware)  # never paid
    assert np.isnan(zoo.visit(one, "twin-10", **SMALL).wasted_aware)  # never changed
    ours = [zoo.visit("eij-plus", "cost-up", repetition=i, **SMALL) for i in range(5)]
    once = [v for v in ours if v.tries == 1]
    assert once
    assert all(v.wasted_aware == 0.0 < v.wasted for v in once)


def test_waste_counts_from_the_tenth_or_from_the_change():
    since = {name: case.since for name, case in zoo.CASES.items()}
    later = {"cost-up": 0.5, "cost-down": 0.5, "late-bloomer": 0.55}
    assert since == dict.fromkeys(zoo.CASES, 0.1) | later


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
    places = zoo.places(["eij-plus", "uniform"], ["twin-10", "single"], on=[SMALL["problem"]])
    cells = [zoo.observe_at(place, budget=150.0, trials=2, compiled=False) for place in places]
    data = json.loads(json.dumps([cell.to_dict() for cell in cells], allow_nan=False))
    assert {"wasted_share", "final", "static_best"} <= set(data[0])
    frame = zoo.frame_of_cells(cells)
    table = rules_by_cases(frame)
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


# --- requirements ---


def group(rule="eij-plus", case="twin-10", costs="hinted", algorithm="ils"):
    return targets.Group(rule, case, algorithm, ("nk:n=24,k=3",), costs)


def drawn(**values):
    return {name: np.full(8, np.nan) for name in Visit._fields} | {
        name: np.asarray(value, float) for name, value in values.items()
    }


def verdicts(samples):
    return {check.requirement: check.verdict for check in targets.checks(samples)}


def test_every_requirement_is_asked_for_on_held_out_instances():
    todo = targets.groups()
    assert len(set(todo)) == len(todo)
    assert {t.case for t in todo} == {*targets.JUDGED, targets.NINE}
    assert {t.costs for t in todo if t.rule == "eij-plus"} == set(KNOWLEDGE)
    used_for_tuning = {"knapsack:instance=1", "ecc", *(f"nk:instance={i}" for i in range(5))}
    assert not used_for_tuning & {instance for t in todo for instance in t.instances}


def test_a_mean_beyond_its_limit_is_missed():
    alone = group(targets.ALONE["ils"])
    for wasted, verdict in ((0.04, "met"), (0.06, "missed")):
        noise = np.linspace(-0.03, 0.03, 8)
        samples = {
            group(): drawn(wasted=wasted + noise, final=10 + 0.01 * noise),
            alone: drawn(final=np.full(8, 10.0)),
        }
        told = verdicts(samples)
        assert told["share wasted on a twin ×10"] == verdict
        assert told["twin ×10: fitness short of the static best"] == "met"
    samples[group()] = drawn(wasted=noise, final=9.8 + noise)
    assert verdicts(samples)["twin ×10: fitness short of the static best"] == "missed"


@pytest.mark.parametrize(("aware", "verdict"), [(0.04, "met"), (0.06, "missed")])
def test_a_risen_cost_counts_once_it_is_paid(aware, verdict):
    paid = drawn(wasted=[0.12] * 8, wasted_aware=np.full(8, aware), tries=[1.5] * 8)
    (check,) = targets.checks({group(case="cost-up"): paid})
    assert check.verdict == verdict
    assert check.figure.mean == pytest.approx(aware)
    assert check.note == "12.0% with the first payment, 1.5 in all"


def test_worse_than_the_papers_rule_is_missed_and_noise_is_not():
    mine, theirs = group(case=targets.NINE), group("eij", targets.NINE)
    base = np.arange(20.0)
    for shift, verdict in ((-0.5, "missed"), (0.5, "met")):
        samples = {mine: drawn(final=base + shift), theirs: drawn(final=base)}
        assert verdicts(samples) == {"the paper's case: fitness ahead of its rule": verdict}
    noisy = np.random.default_rng(0).normal(0.0, 1.0, 20)
    samples = {mine: drawn(final=base + noisy - noisy.mean() - 1e-3), theirs: drawn(final=base)}
    assert verdicts(samples) == {"the paper's case: fitness ahead of its rule": "met"}


def test_twelve_are_held_against_uniform_and_the_papers_rule():
    base = np.arange(20.0)
    samples = {
        group(case="twelve"): drawn(final=base, fewest=np.full(20, 2)),
        group("eij", "twelve"): drawn(final=base - 1),
        group("uniform", "twelve"): drawn(final=base + 1),
    }
    assert verdicts(samples) == {
        "fewest tries of any of twelve, in any run": "missed",
        "twelve: fitness ahead of eij": "met",
        "twelve: fitness ahead of uniform": "missed",
    }


@pytest.mark.parametrize("case", ["null", targets.NINE])
def test_samples_are_the_same_again_and_plain(case):
    small = {"trials": 2, "seed": 1, "budget": 60.0, "compiled": False}
    ours, again = (targets.run_group(group(case=case, costs="probed"), **small) for _ in range(2))
    np.testing.assert_array_equal(ours["final"], again["final"])
    samples = {group(case=case, costs="probed"): ours}
    if case == targets.NINE:
        samples[group("eij", case)] = targets.run_group(group("eij", case), **small)
    found = [check.to_dict() for check in targets.checks(samples)]
    assert len(json.loads(json.dumps(found, allow_nan=False))) == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_prints_every_requirement(monkeypatch, capsys, as_json):
    todo = [group(case="null"), group(case="cost-up")]
    monkeypatch.setattr(targets, "groups", lambda: todo)
    shares = {"wasted": 0.12, "wasted_late": 0.02, "wasted_aware": 0.08, "tries": 1}
    paid = drawn(**{name: [value] * 8 for name, value in shares.items()})
    monkeypatch.setattr(targets, "run_group", lambda item, trials: paid)
    assert call(["zoo", "--targets", "--trials", "8", *(["--json"] if as_json else [])]) == 0
    out = capsys.readouterr().out
    if as_json:
        found = [json.loads(line)["verdict"] for line in out.splitlines()]
        assert sorted(found) == ["met", "missed"]
    else:
        assert "2 checks: 1 met, 1 missed" in " ".join(out.split())


def test_the_targets_are_fixed(capsys):
    assert call(["zoo", "--targets", "--case", "null"]) == 2
    assert "what it runs is fixed" in capsys.readouterr().err


# --- probes ---


def probing(share, meter="model:noise=0", **more):
    trial = Trial("nk:n=24,k=3", "ils", f"eij-plus:probe={share}", meter, "60 J", seed=1, **more)
    return Run(trial, compiled=False)


def test_a_run_asks_for_prices_on_its_way():
    run, plain = probing(0.1), probing(0.0)
    for _ in run:
        pass
    for _ in plain:
        pass
    assert plain.ledger.evaluations[0] == plain.ledger.operator_evaluations.sum() + 1
    per_application = plain.ledger.operator_evaluations[0] / plain.ledger.applications[0]
    probed = run.ledger.operator_evaluations - per_application * run.ledger.applications
    assert (probed >= 2).all()  # the first round asks everybody, on two evaluations each
    # Each Joule is in somebody's account.
    joules = run.start_joules + run.ledger.operator_joules.sum()
    assert run.ledger.joules[0] == pytest.approx(joules)


@pytest.mark.parametrize("chunk", [1, 7])
def test_chunks_do_not_change_what_probes_find(chunk):
    whole, parts = probing(0.1, every=1), probing(0.1, every=1)
    for _ in whole:
        pass
    while not parts.done:
        told = parts.explain()
        first = parts.advance(chunk).rows
        assert first.size == 0 or first["operator"][0] == told.operator
    np.testing.assert_array_equal(whole.rows()["spent"], parts.rows()["spent"])


def test_probes_may_be_switched_on_later():
    run = probing(0.0)
    run.advance(5)
    before = run.ledger.operator_evaluations - 101 * run.ledger.applications
    run.adjust(probe=0.05)
    for _ in run:
        pass
    after = run.ledger.operator_evaluations - 101 * run.ledger.applications
    assert before.sum() == 0 < after.sum()


def test_without_cost_nobody_pays_for_prices():
    trial = Trial(
        "nk:n=24,k=3", "ils", "eij-plus:cost=off,probe=0.1", "model:noise=0", "60 J", seed=1
    )
    run = Run(trial, compiled=False)
    for _ in run:
        pass
    assert run.ledger.applications.sum() > 0
    assert run.ledger.operator_evaluations.sum() == 101 * run.ledger.applications.sum()
    run = Run(trial, compiled=False)
    run.adjust(probe=0.05)
    assert run.explain().operator in (0, 1)
    assert run.ledger.operator_evaluations.sum() == 0


def test_dear_probes_are_rare():
    tries = zoo.visit("eij-plus", "twin-100", costs="probed", **(SMALL | {"budget": 900.0}))
    assert tries.tries == 0
    assert tries.wasted < 0.05


def test_a_replay_has_no_probes():
    run = probing(0.1, every=1)
    for _ in run:
        pass
    rows = run.rows()[1:]
    source = Replay(rows["operator"], rows["joules"], run.start_joules)
    with pytest.raises(InputError, match="records have no probes"):
        probing(0.1, source)


@pytest.mark.parametrize("algorithm", ["ils:operators=flip-1+swap+segment", "ssga", "pso"])
def test_a_probe_tells_the_price_and_leaves_the_search_alone(algorithm):
    trial = Trial("nk:n=24,k=3", algorithm, "eij-plus", "model:noise=0", "1 kJ", seed=1)
    run = Run(trial, compiled=False)
    known = run.stats.arms.joules.copy()
    before = run.state.best_x.copy(), run.streams.moves.copy(), run.ledger.joules[0]
    spent = sum(probe(run, o) for o in range(len(run.names)))
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
    assert probe(deaf, 0) == 0.0
