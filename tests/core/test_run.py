"""Running a trial: blocks, limits, results, odd problems, parameters changed on the way."""

import json
import logging
import math
import pickle

import numpy as np
import pytest

from eij_core import Budget, InputError, Run, RunError, Trial, solve
from eij_core.problems.bits.external import External
from tests.core.components import (
    Broken,
    Chatty,
    OneMax,
    Rest,
    Sleepy,
    SlowFitness,
    Step,
    Turns,
    Walk,
    ones,
)

SMALL = {
    "problem": "nk:n=12,k=2",
    "algorithm": "ils:steps=5",
    "selector": "eij",
    "meter": "model",
    "budget": "2 J",
}
WALK = Walk((Step(1), Step(3), Rest(1)))


def small(**changes):
    return Trial(**(SMALL | changes))


def test_blocks_add_up():
    run = Run(small(), compiled=False)
    blocks = list(run)
    assert sum(block.decisions for block in blocks) == run.ledger.decisions[0]
    assert [block.done for block in blocks] == [False] * (len(blocks) - 1) + [True]
    pieces = np.concatenate([run.rows()[:1], *(block.rows for block in blocks)])
    assert pieces.tobytes() == run.rows().tobytes()
    assert run.done
    assert run.progress == 1.0
    with pytest.raises(StopIteration):
        next(run)
    after = run.advance(5)
    assert (len(after.rows), after.decisions, after.done) == (0, 0, True)


def test_steps_are_exact():
    run = Run(small(), compiled=False)
    assert run.advance(1).decisions == 1
    assert run.advance(3).decisions == 3
    assert run.advance(0).decisions == 0
    assert run.ledger.decisions[0] == 4
    assert run.left == pytest.approx(2.0 - run.ledger.joules[0])


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ("1 J", "joules spent"),
        ("50 evaluations", "evaluations spent"),
        ("1 J, 5000 evaluations", "joules spent"),
        ("100 J, 50 evaluations", "evaluations spent"),
        ("1 ms", "seconds spent"),
        ("0.0001 J", "joules spent"),
        ("1 evaluations", "evaluations spent"),
    ],
)
def test_why_a_run_ends(budget, reason):
    result = solve(small(budget=budget), compiled=False)
    assert result.reason == reason
    assert result.rows["decision"][-1] == result.spent.decisions


def test_progress_is_of_the_tightest_limit():
    run = Run(small(budget="1 J, 1000000 evaluations, 1 h"), compiled=False)
    seen = [run.progress]
    while not run.done:
        run.advance(1)
        seen.append(run.progress)
    assert seen == sorted(seen)
    assert 0.0 < seen[1] < 0.5
    assert seen[-1] == 1.0


def test_the_start_is_charged_unless_it_is_not():
    charged = solve(small(algorithm="ssga:population=10"), compiled=False)
    free = solve(
        small(algorithm="ssga:population=10", budget=Budget(2.0, charge_start=False)),
        compiled=False,
    )
    assert charged.spent.start_joules > 0.0
    assert charged.rows["spent"][0] == charged.spent.start_joules
    assert charged.rows["evaluations"][0] == 10
    assert free.spent.start_joules == 0.0
    assert free.rows["spent"][0] == free.rows["evaluations"][0] == 0


def test_stopping_keeps_what_was_recorded():
    run = Run(small(points=1), compiled=False)
    run.advance(5)
    block = run.stop()
    assert block.done
    assert block.rows["decision"].tolist() == [5]
    assert run.reason == "stopped"
    assert run.rows()["decision"].tolist() == [0, 5]
    assert len(run.stop("again").rows) == 0
    assert run.result().reason == "stopped"
    assert Run(small(), compiled=False).result().reason == "running"


def test_the_result_is_the_ledger():
    run = Run(small(), compiled=False)
    for _ in run:
        pass
    result = run.result()
    assert result.best.fitness == run.problem.fitness(result.best.x)
    assert result.best.feasible
    assert math.isnan(result.best.gap)
    assert [total.name for total in result.operators] == ["flip-1", "flip-5"]
    assert sum(total.applications for total in result.operators) == result.spent.decisions
    assert result.meter.name == "model"
    for o, total in enumerate(result.operators):
        assert total.belief == run.selector.belief(run.stats, o)
        assert total.histogram.sum() == total.applications


def test_the_gap_is_to_the_optimum():
    result = solve(small(problem="nk:n=12,k=2,neighbours=adjacent"), compiled=False)
    assert result.best.gap == result.best.optimum - result.best.fitness >= 0.0


def test_a_result_as_data():
    result = solve(small(), compiled=False)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert Trial.from_dict(data["trial"]) == result.trial
    assert data["best"]["gap"] is None
    assert len(data["best"]["x"]) == 12
    assert sum(o["share"] for o in data["operators"]) == pytest.approx(1.0)
    assert (data["meter"]["name"], data["meter"]["provenance"]) == ("model", "simulated")
    assert data["digest"] == result.digest
    assert solve(small(problem=OneMax(6)), compiled=False).to_dict()["trial"] is None


def test_a_result_as_a_table():
    result = solve(small(every=1), compiled=False)
    frame = result.frame
    assert len(frame) == len(result.rows)
    assert frame["operator"].iloc[0] == ""
    assert set(frame["operator"].iloc[1:]) == {"flip-1", "flip-5"}
    np.testing.assert_array_equal(frame["joules:flip-5"], result.rows["operator_joules"][:, 1])
    np.testing.assert_array_equal(frame["score:flip-1"], result.rows["beliefs"][:, 0, 4])
    assert frame["cost:flip-1"].iloc[-1] > 0.0


def test_results_travel():
    result = solve(small(), compiled=False)
    again = pickle.loads(pickle.dumps(result))
    assert again.digest == result.digest
    assert again.trial == result.trial


def test_digests_tell_runs_apart():
    digests = {
        solve(small(seed=seed, repetition=r, selector=s), compiled=False).digest
        for seed in (0, 1)
        for r in (0, 1)
        for s in ("eij", "uniform")
    }
    assert len(digests) == 8


def test_another_selector_leaves_the_start_alone():
    """Methods with the same seed and repetition start from the same solution and are paired."""
    starts = {
        Run(small(selector=selector, seed=3), compiled=False).state.best_x.tobytes()
        for selector in ("eij", "uniform", "static:operator=flip-5")
    }
    assert len(starts) == 1


# --- changes on the way ---------------------------------------------------------------------------


def test_alpha_can_change_on_the_way_and_is_recorded():
    run = Run(small(), compiled=False)
    run.advance(3)
    run.adjust(alpha="0.5", tries=3)
    run.advance(3)
    changes = run.result().changes
    assert [(c.decision, c.name, c.value) for c in changes] == [(3, "alpha", 0.5), (3, "tries", 3)]
    assert run.selector.alpha == 0.5
    assert run.result().to_dict()["changes"][0]["value"] == 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"alpha": 2}, "0 to 1"), ({"alfa": 0.5}, "did you mean 'alpha'")],
)
def test_bad_changes_are_refused(parameters, message):
    run = Run(small(), compiled=False)
    with pytest.raises(InputError, match=message):
        run.adjust(**parameters)
    assert run.result().changes == ()


def test_after_the_end_no_decision_is_explained():
    run = Run(small(), compiled=False)
    run.stop("enough")
    with pytest.raises(RunError, match=r"the run has ended \(enough\): no decision comes next"):
        run.explain()


def test_a_selector_without_explain_is_named():
    run = Run(small(selector=Turns(1)), compiled=False)
    with pytest.raises(InputError, match="selector = Turns: expected a selector with the method"):
        run.explain()


def test_explain_tells_the_next_decision():
    run = Run(small(every=1), compiled=False)
    for _ in range(8):
        told = run.explain().operator
        run.advance(1)
        assert run.rows()["operator"][-1] == told


# --- problems and operators of one's own ----------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiled)])
def test_components_of_ones_own(compiled):
    """Operators of different types in one portfolio, chosen by a rule from outside."""
    trial = Trial(OneMax(30), WALK, Turns(1), "model:noise=0", "30 J", seed=2)
    run = Run(trial, compiled=compiled)
    assert run.loop.compiled == compiled
    for _ in run:
        pass
    result = run.result()
    assert result.best.fitness == 30.0
    applied = [total.applications for total in result.operators]
    assert max(applied) - min(applied) <= 1
    assert [total.name for total in result.operators] == ["step-1", "step-3", "rest"]
    assert result.digest == solve(trial, compiled=False).digest


@pytest.mark.compiled
@pytest.mark.parametrize(
    "trial",
    [
        Trial(Sleepy(10), "ils:steps=3", meter="model", budget="1 J"),
        Trial(OneMax(10), Walk((Chatty(2),)), "static", "model", "1 J"),
    ],
    ids=["problem", "operator"],
)
def test_what_numba_cannot_compile_runs_interpreted(trial, caplog):
    with caplog.at_level(logging.WARNING):
        run = Run(trial, compiled=True)
    assert not run.loop.compiled
    assert "runs interpreted" in caplog.text
    for _ in run:
        pass
    assert run.result().digest == solve(trial, compiled=False).digest


def test_a_python_function_is_a_problem():
    run = Run(Trial(External(20, ones, optimum=20.0), "ils:steps=20", meter="model", budget="9 J"))
    assert not run.loop.compiled
    for _ in run:
        pass
    assert run.result().best.gap == 0.0
    named = solve(
        Trial("external:function=tests.core.components.ones,n=20", "ils:steps=20", meter="model",
              budget="9 J")
    )  # fmt: skip
    assert named.digest == run.result().digest


def test_a_slow_function_leaves_the_page_alive():
    """Chunks are sized by what decisions take, so even a slow fitness returns soon."""
    run = Run(Trial(External(5, SlowFitness(0.002)), "ils:steps=3", meter="model", budget="1 h"))
    for _ in range(3):
        next(run)
    assert next(run).decisions <= 10


@pytest.mark.parametrize(
    ("algorithm", "compiled"),
    [
        ("ils:steps=9", False),
        ("ssga:population=4", False),
        ("pso:swarm=4", False),
        pytest.param("ils:steps=9", True, marks=pytest.mark.compiled),
    ],
)
def test_a_fitness_that_is_not_a_number_is_an_error(algorithm, compiled):
    with pytest.raises(RunError, match="problem Broken returned a fitness that is not a number"):
        solve(Trial(Broken(6), algorithm, meter="model", budget="50 J"), compiled=compiled)


def test_static_needs_an_operator_of_the_portfolio():
    with pytest.raises(InputError, match="did you mean 'flip-1'"):
        Run(small(selector="static:operator=flip1"), compiled=False)
