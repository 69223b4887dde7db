"""DEAP, where the group `bench` is installed: the docstring's example, generations, gains."""

import random
import textwrap

import pytest

from eij_core import InputError
from eij_core.adapters import deap as adapter

pytest.importorskip("deap", reason="LGPL: in the group `bench` alone")

from deap import algorithms, base, creator, tools


@pytest.fixture(scope="module")
def fitness():
    creator.create("Least", base.Fitness, weights=(-1.0,))
    creator.create("Bits", list, fitness=creator.Least)
    creator.create("Two", base.Fitness, weights=(-1.0, 1.0))
    creator.create("TwoBits", list, fitness=creator.Two)
    yield
    for name in ("Least", "Bits", "Two", "TwoBits"):
        delattr(creator, name)


def made(kind="Bits", **options):
    random.seed(3)
    toolbox = base.Toolbox()
    bits = getattr(creator, kind)
    toolbox.register("bits", tools.initRepeat, bits, lambda: random.randint(0, 1), 30)
    toolbox.register("select", tools.selTournament, tournsize=3)
    toolbox.register("evaluate", lambda bits: (sum(bits),))
    variation = adapter.JouleVariation(
        toolbox,
        mate={"one": tools.cxOnePoint, "two": tools.cxTwoPoint},
        mutate={"flip": lambda bits: tools.mutFlipBit(bits, 0.05)},
        **{"budget": "4 J", "meter": "model", "compiled": False, **options},
    )
    return toolbox, variation, [toolbox.bits() for _ in range(12)]


def test_the_example_of_the_docstring(capsys):
    text = textwrap.dedent(adapter.__doc__.partition("::\n")[2])
    exec(compile(text, "example", "exec"), {})
    assert "Joules left" in capsys.readouterr().out
    for name in ("Most", "Bits"):
        delattr(creator, name)


@pytest.mark.parametrize("name", ["eaSimple", "eaMuPlusLambda", "eaMuCommaLambda"])
def test_a_generation_is_a_step(fitness, name):
    toolbox, variation, population = made()
    best = tools.HallOfFame(1)
    sizes = {} if name == "eaSimple" else {"mu": 12, "lambda_": 12}
    generations = []
    stats = tools.Statistics(lambda each: each.fitness.values[0])
    stats.register("least", lambda values: generations.append(min(values)))
    with variation:
        getattr(algorithms, name)(
            population, toolbox, **sizes, cxpb=0.5, mutpb=0.4, ngen=10**6, stats=stats,
            halloffame=best, verbose=False,
        )  # fmt: skip
    result = variation.result()
    assert result.spent.decisions == len(generations) - 1 > 10
    assert result.best.fitness == best[0].fitness.values[0] < 8
    assert result.reason == "no operator fits in the Joules left"
    assert [total.name for total in result.operators] == ["one + flip", "two + flip"]
    assert all(each.fitness.valid for each in population)


def test_gains_are_beside_the_best_so_far():
    gain = adapter.DefaultGain()
    assert gain([(-5.0,), (-3.0,)], [(-4.0,), (-1.0,)]) == [-1.0, 2.0]
    assert gain([(-4.0,)], [(-2.0,)]) == [-1.0]


def test_other_errors_pass_and_outside_of_the_context_it_says_what_to_do(fitness):
    toolbox, variation, population = made(budget="0.2 J")
    with pytest.raises(KeyError), variation:
        raise KeyError
    with pytest.raises(adapter.BudgetSpent, match="with variation"):
        algorithms.eaSimple(population, toolbox, 0.9, 0.9, ngen=10**6, verbose=False)


def test_several_objectives_need_a_gain(fitness):
    toolbox, variation, population = made("TwoBits")
    toolbox.register("evaluate", lambda bits: (sum(bits), bits[0]))
    with pytest.raises(InputError, match="gain"), variation:
        algorithms.eaSimple(population, toolbox, 0.9, 0.9, ngen=3, verbose=False)
    toolbox, variation, population = made(
        "TwoBits", gain=lambda parents, offspring: max(offspring)[0] - max(parents)[0]
    )
    toolbox.register("evaluate", lambda bits: (sum(bits), bits[0]))
    with variation:
        algorithms.eaSimple(population, toolbox, 0.9, 0.9, ngen=10**6, verbose=False)
    assert variation.result().spent.decisions > 10
