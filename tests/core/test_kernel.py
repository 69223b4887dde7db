"""Components as NamedTuples: the rules, and the completion of problems."""

from typing import NamedTuple

import numpy as np
import pytest

from eij_core.engine.kernel import kernel
from eij_core.engine.kernel import kernel as public_kernel
from tests.core.components import OneMax


def test_one_decorator():
    assert kernel is public_kernel


def test_a_function_stays_a_function():
    @kernel
    def double(value):
        return 2 * value

    assert double(4) == 8


@pytest.mark.parametrize("thing", [3, "text", dict, list])
def test_only_named_tuples_and_functions(thing):
    with pytest.raises(TypeError, match="NamedTuple class or a function"):
        kernel(thing)


def test_a_class_needs_a_field():
    class Empty(NamedTuple):
        pass

    with pytest.raises(TypeError, match="Empty: a kernel class needs at least one field"):
        kernel(Empty)


def test_one_vocabulary():
    class Odd(NamedTuple):
        n: int

        def fitness(self, solution):
            return 0.0

    with pytest.raises(TypeError, match=r"Odd\.fitness.*must take the arguments.*'x'"):
        kernel(Odd)


def test_a_class_may_be_written_again():
    """A notebook cell that is run twice defines the class twice."""
    for factor in (1, 2):

        @kernel
        class Again(NamedTuple):
            n: int
            times: int = factor

            def fitness(self, x):
                return float(self.times * x.sum())

            def only_here(self, some, other):
                return some + other

        assert Again(2).fitness(np.ones(2, np.uint8)) == 2.0 * factor
        assert Again(2).only_here(1, 2) == 3


def test_a_problem_with_fitness_alone_is_completed():
    problem, x = OneMax(3), np.array([1, 0, 0], np.uint8)
    memo = problem.prepare(x)
    assert (memo.dtype, memo.ndim) == (np.int64, 1)
    assert problem.flip(x, memo, 1) == 2.0
    problem.toggle(x, memo, 0)
    assert x.tolist() == [0, 1, 0]
    assert problem.preview(x, memo, np.array([0, 2]), 2) == 3.0
    assert x.tolist() == [0, 1, 0]
    assert OneMax.flip.__qualname__ == "OneMax.flip"
    assert OneMax.flip.__doc__


def test_a_problem_with_flip_is_given_toggle_and_preview():
    @kernel
    class Half(NamedTuple):
        n: int

        def fitness(self, x):
            return float(x.sum())

        def prepare(self, x):
            return np.array([x.sum()], np.int64)

        def flip(self, x, memo, i):
            x[i] ^= 1
            memo[0] += 2 * np.int64(x[i]) - 1
            return float(memo[0])

    x = np.zeros(2, np.uint8)
    memo = Half(2).prepare(x)
    assert Half(2).toggle(x, memo, 1) is None
    assert (memo.tolist(), x.tolist()) == ([1], [0, 1])
    assert Half(2).preview(x, memo, np.array([1, 0]), 2) == 1.0
    assert (memo.tolist(), x.tolist()) == ([1], [0, 1])
