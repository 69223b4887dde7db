"""The digest of code: it changes with all that compiled code could tell apart, and nothing else."""

import types
from typing import NamedTuple

import numpy as np
import pytest

from eij_core.engine.compiled.digest import Digest, digest_of
from eij_core.engine.kernel import kernel
from eij_core.problems.bits.ecc import ECC
from eij_core.problems.bits.knapsack import Knapsack

PROBLEM = """
import enum, math
from typing import NamedTuple
import numpy as np
from eij_core.engine.kernel import kernel
{globals}

@kernel
class Mine(NamedTuple):
    n: int

    def fitness(self, x):
        {body}
"""


def module_of(body, **names):
    """Write a module as a user would, and return the class in it."""
    module = types.ModuleType("mine")
    lines = "\n".join(f"{name} = {value}" for name, value in names.items())
    exec(PROBLEM.format(globals=lines, body=body), module.__dict__)
    return module.Mine


def test_the_same_source_has_the_same_digest_wherever_it_stands():
    body = "return float(x.sum()) * SCALE"
    assert digest_of(module_of(body, SCALE=2)) == digest_of(module_of(f"\n        {body}", SCALE=2))


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        ("return SCALE * float(x.sum())", {"SCALE": 2}, {"SCALE": 3}),
        ("return SCALE * float(x.sum())", {"SCALE": 2}, {"SCALE": 2.0}),
        ("return SCALE * float(x.sum())", {"SCALE": 1}, {"SCALE": True}),
        ("return TABLE[0] * 1.0", {"TABLE": "np.arange(3)"}, {"TABLE": "np.arange(4)"}),
        ("return TABLE[0] * 1.0", {"TABLE": "(1, 2)"}, {"TABLE": "(1, 3)"}),
        ("return helper(x)", {"helper": "lambda x: 1.0"}, {"helper": "lambda x: 2.0"}),
        ("return helper(x)", {"K": 1, "helper": "lambda x: K"}, {"K": 2, "helper": "lambda x: K"}),
        (
            "return sum([float(SCALE * v) for v in x])",
            {"SCALE": 2},
            {"SCALE": 3},
        ),
        (
            "return Sort.A.value * 1.0",
            {"Sort": "enum.IntEnum('Sort', {'A': 1})"},
            {"Sort": "enum.IntEnum('Sort', {'A': 2})"},
        ),
    ],
)
def test_what_fitness_names_is_part_of_the_digest(body, before, after):
    assert digest_of(module_of(body, **before)) != digest_of(module_of(body, **after))


def test_a_changed_body_and_a_changed_field():
    assert digest_of(module_of("return 1.0")) != digest_of(module_of("return 2.0"))

    def record(field):
        return NamedTuple("Record", [(field, int)])

    assert digest_of(record("a")) != digest_of(record("b"))


def test_what_is_reached_through_a_module():
    """`helpers.scale * x`: the module's other contents do not matter."""
    helpers = types.ModuleType("helpers")
    space = {"helpers": helpers}
    exec("def fitness(x): return helpers.scale * x.sum()", space)
    digests = []
    for scale, other in ((1, 1), (2, 1), (1, 2)):
        helpers.scale, helpers.other = scale, other
        digests.append(digest_of(space["fitness"]))
    assert digests[0] == digests[2] != digests[1]


def test_defaults_closures_and_functions_that_call_each_other():
    def made(constant, default=1):
        def inner(x, y=default):
            return x + y + constant

        return inner

    assert digest_of(made(1)) != digest_of(made(2))
    assert digest_of(made(1, 1)) != digest_of(made(1, 2))
    space = {}
    exec("def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n and even(n - 1)", space)
    assert digest_of(space["even"]) == digest_of(space["even"])

    def later():
        return unbound

    assert digest_of(later)
    if False:
        unbound = 1


def test_values_that_are_only_mentioned_do_not_hinder():
    thing = object()

    def mentions():
        return thing

    assert digest_of(mentions) == digest_of(mentions)
    assert digest_of({1, 2}.__contains__)
    assert digest_of(frozenset("ab")) == digest_of(frozenset("ba"))


def test_the_classes_are_found():
    digest = Digest()
    digest.add(Knapsack)
    assert digest.classes["Knapsack"] is Knapsack
    assert len({digest_of(Knapsack), digest_of(ECC), digest_of(Knapsack, ECC)}) == 3


def test_a_kernel_is_digested_like_the_function_it_is():
    def plain(x):
        return x + 1

    assert digest_of(kernel(plain)) == digest_of(plain)
    assert digest_of(np.zeros(2)) != digest_of(np.ones(2))


def test_an_attribute_is_not_the_global_of_its_name():
    space = {"scale": 1}
    exec("def attribute(self): return self.scale\ndef read(self): return scale", space)
    before = digest_of(space["attribute"]), digest_of(space["read"])
    space["scale"] = 2
    assert digest_of(space["attribute"]) == before[0]
    assert digest_of(space["read"]) != before[1]
