"""Pictures of solutions: the same shapes for every x, true to it, and bounded in size."""

import numpy as np
import pytest

from eij_core import Trial, solve
from eij_core.drawing import (
    MOST,
    Boxes,
    Drawing,
    Lines,
    Points,
    Texts,
    bars,
    edges,
    picture_of,
    tour,
)
from eij_core.figures.colours import EITHER, LIGHT
from eij_core.figures.solution import solution_picture
from eij_core.protocols import PicturedProblem
from eij_core.registry import problems
from tests.core.test_contracts import SMALL_PROBLEMS

LARGE = ("knapsack:n=20000", "onemax:n=100000", "maxcut:n=20000", "qubo:n=20000,density=0.001",
         "maxsat:n=20000", "mkp:n=20000,m=40", "trap:blocks=20000", "leading-ones:n=100000",
         "nk:n=5000,k=2", "ecc:words=200,length=12", "labs:n=2000")  # fmt: skip


def drawn(name, how=""):
    problem = problems.make(name)
    x = None
    if how == "random":
        x = np.random.default_rng(3).integers(0, 2, problem.n, dtype=np.uint8)
    return problem, x, picture_of(problem, x)


def marks(drawing):
    return sum(getattr(shape, shape.arrays[0]).size for shape in drawing.shapes)


@pytest.mark.parametrize("name", SMALL_PROBLEMS.values())
def test_a_picture_has_the_same_shapes_for_every_solution(name):
    problem, _, before = drawn(name)
    assert isinstance(problem, PicturedProblem)
    kinds = [type(shape) for shape in before.shapes]
    for x in (np.zeros(problem.n, np.uint8), np.ones(problem.n, np.uint8)):
        kept = x.copy()
        drawing = picture_of(problem, x)
        assert [type(shape) for shape in drawing.shapes] == kinds
        assert drawing.words.endswith(".")
        assert (x == kept).all()
        assert all(shape.colour in LIGHT for shape in drawing.shapes)
        assert np.isfinite(drawing.limits).all()


@pytest.mark.parametrize("name", LARGE)
def test_large_instances_are_sampled_and_say_so(name):
    _, _, drawing = drawn(name, "random")
    assert marks(drawing) <= 5 * MOST
    assert drawing.note.endswith(".")


def test_a_knapsack_shows_what_is_taken():
    problem, x, drawing = drawn("knapsack:n=12,r=50", "random")
    taken = next(shape for shape in drawing.shapes if shape.label == "taken")
    assert sorted(taken.x) == sorted(problem.weights[x == 1])
    assert f"weight {int((problem.weights * x).sum()):,} of {problem.capacity:,}" in drawing.words


def test_the_mean_of_the_contributions_is_the_fitness_of_nk():
    problem, x, drawing = drawn("nk:n=12,k=2", "random")
    heights = np.concatenate([s.top for s in drawing.shapes if s.label.startswith("bit is")])
    assert heights.mean() == pytest.approx(problem.fitness(x))


def test_a_cut_counts_its_edges():
    problem, x, drawing = drawn("maxcut:n=12,degree=3", "random")
    cut = next(shape for shape in drawing.shapes if shape.label == "cut")
    assert cut.x.size == 3 * problem.fitness(x)  # two ends and a gap for each


def test_unsatisfied_clauses_are_those_that_count_for_nothing():
    problem, x, drawing = drawn("maxsat:n=12", "random")
    open_ = next(shape for shape in drawing.shapes if shape.label == "not satisfied")
    assert open_.left.size == problem.weights.size - problem.fitness(x)


def test_bars_of_a_quadratic_function_are_what_a_flip_changes():
    problem, x, drawing = drawn("qubo:n=12,density=0.4", "random")
    height = {round(a + 0.42): t + b for s in drawing.shapes if isinstance(s, Boxes)
              for a, t, b in zip(s.left, s.top, s.bottom, strict=True)}  # fmt: skip
    for i in range(problem.n):
        other = x.copy()
        other[i] ^= 1
        change = problem.fitness(other) - problem.fitness(x)
        assert height.get(i, 0.0) == pytest.approx(change if x[i] == 0 else -change)


def test_the_code_names_its_nearest_words():
    x = np.array([0] * 5 + [1] * 5 + [0, 0, 0, 1, 1])
    assert "nearest two are 2 apart" in picture_of(problems.make("ecc:words=3,length=5"), x).words


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (np.array([1, 0, 1], np.uint8), "2 ones in 3 bits."),
        (np.array([2, 0, 1]), "3 numbers from 0 to 2."),
        ([0.5, -1.0], "2 numbers from -1 to 0.5."),
        ([[1], [2, 3]], "no array of numbers"),
        ("route", "no array of numbers"),
        (None, "No solution yet."),
    ],
)
def test_a_solution_without_a_problem_is_drawn_as_it_is(x, said):
    assert said in picture_of(None, x).words


def test_tours_graphs_and_gantt_charts_fit_into_the_vocabulary():
    x, y = np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0])
    shapes = (
        edges(x, y, [(0, 1)], colour="soft"),
        tour(x, y, np.array([2, 0, 1]), label="tour"),
        Points(x, y),
        bars((0, 1), (0, 2), (2, 5), label="jobs"),
        Texts(x[:1], y[:1], ("A",)),
        Lines((0, 1, np.nan, 0, 1), (0.1, 0.9, np.nan, 0.4, 0.2)),
    )
    drawing = Drawing(shapes, "All.", rows=("machine 1", "machine 2"))
    assert shapes[1].x.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert tour(x, y, None).x.size == 0
    svg = solution_picture(drawing, "all").svg()
    assert "machine 2" in svg
    assert "■ tour" in svg


def test_arrays_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        Points((1, 2), (1,))


def test_a_result_draws_its_solution():
    result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    picture = result.picture()
    assert "contribution" in picture.svg()
    assert picture.words.startswith("nk: fitness 0.")
    assert set(EITHER) < {*LIGHT}
