"""Components as NamedTuples: the rules, the completion of problems, the digest of sources."""

import logging
from typing import NamedTuple

import numba
import numpy as np
import pytest

from eij_core.engine.kernel import compile_entry, digest_of, kernel
from eij_core.engine.kernel import kernel as public_kernel
from eij_core.problems.bits.ecc import ECC
from eij_core.problems.bits.knapsack import Knapsack
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


# --- the digest and the cache ---------------------------------------------------------------------


def test_the_digest_is_of_the_sources_involved():
    assert digest_of(Knapsack) == digest_of(Knapsack)
    assert len({digest_of(Knapsack), digest_of(ECC), digest_of(Knapsack, ECC)}) == 3


def test_components_from_outside_have_no_digest():
    assert digest_of(OneMax) == ""
    assert digest_of(Knapsack, OneMax) == ""


@pytest.mark.compiled
def test_compiled_without_the_gil_and_cached_with_a_digest():
    def one():
        return 1

    assert compile_entry(one, "").targetoptions["nogil"]
    assert type(compile_entry(one, "")._cache).__name__ == "NullCache"
    assert type(compile_entry(one, "digest")._cache).__name__ == "FunctionCache"


def test_without_a_writable_folder_kernels_still_compile(monkeypatch, caplog):
    real = numba.njit

    def refusing(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", refusing)
    with caplog.at_level(logging.WARNING):
        entry = compile_entry(lambda: 5, "digest")
    assert entry() == 5
    assert "NUMBA_CACHE_DIR" in caplog.text
