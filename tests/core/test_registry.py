"""Names of components: parameters, their checks, their texts."""

import inspect
import math
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, Range, Registry, Spec
from eij_core.registry import algorithms, meters, problems, selectors

ALL = {family.family: family for family in (problems, algorithms, selectors, meters)}


@pytest.fixture
def shapes():
    registry = Registry("shape")

    @registry.add("box")
    def box(
        side: Annotated[int, Range(1, 9, "length")] = 2,
        weight: Annotated[float, Range(0, above=True)] = 1.0,
        colour: Literal["red", "green"] = "red",
        open: bool = False,
        label: str = "none",
    ):
        """A box.

        With more to say.
        """
        return side, weight, colour, open, label

    @registry.add("blob", private=True)
    def blob(size: int):
        return size

    return registry


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("box", (2, 1.0, "red", False, "none")),
        ("box:side=3", (3, 1.0, "red", False, "none")),
        ("box:open=TRUE,colour=green", (2, 1.0, "green", True, "none")),
        ("box: side = 3 , weight=2.5e3", (3, 2500.0, "red", False, "none")),
        ("box:label=a=b", (2, 1.0, "red", False, "a=b")),
        ("box:open=off", (2, 1.0, "red", False, "none")),
    ],
)
def test_making(shapes, text, made):
    assert shapes.make(text) == made


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("bax", "shape", "did you mean 'box'"),
        ("box:syde=1", "box:syde", "did you mean 'side'"),
        ("box:side=0", "box:side", "a whole number, 1 to 9"),
        ("box:side=1.5", "box:side", "a whole number"),
        ("box:side=1_0", "box:side", "a whole number"),
        ("box:side=x", "box:side", "a whole number"),
        ("box:weight=0", "box:weight", "above 0"),
        ("box:weight=nan", "box:weight", "a number, above 0"),
        ("box:weight=inf", "box:weight", "a number, above 0"),
        ("box:weight=1_0", "box:weight", "a number"),
        ("box:colour=gren", "box:colour", "did you mean 'green'"),
        ("box:open=maybe", "box:open", "true or false"),
        ("box:side=1,side=2", "box:side", "each key once"),
        ("box:side", "box", "key=value"),
        ("box:=3", "box", "key=value"),
        ("box:side=", "box", "key=value"),
        ("box:", "component", "name or name:key=value"),
        ("", "component", "name or name:key=value"),
        ("blob", "blob:size", "a whole number"),
        (Spec("box", {"side": 10**400}), "box:side", "1 to 9"),
        (Spec("box", {"side": math.inf}), "box:side", "1 to 9"),
        (Spec("box", {"side": True}), "box:side", "a whole number"),
        (Spec("box", {"weight": True}), "box:weight", "a number"),
        (Spec("box", {"weight": 10**400}), "box:weight", "a number"),
        (Spec("box", {"label": [1]}), "box:label", "a text"),
        (Spec("box", {"label": "a,b"}), "box:label", "a text"),
        (Spec("box", {"open": 2}), "box:open", "true or false"),
    ],
)
def test_bad_input_names_field_and_remedy(shapes, text, field, expected):
    with pytest.raises(InputError) as caught:
        shapes.make(text)
    assert caught.value.field == field
    assert expected in str(caught.value)


def test_typed_values_are_taken_as_they_are(shapes):
    spec = Spec("box", {"side": 4.0, "weight": 3, "open": True, "label": 7})
    assert shapes.make(spec) == (4, 3.0, "red", True, "7")


def test_a_component_without_parameters_says_so():
    with pytest.raises(InputError, match="no parameters"):
        selectors.make("uniform:bias=1")


def test_a_registry_is_a_mapping(shapes):
    assert list(shapes) == ["box", "blob"]
    assert len(shapes) == 2
    assert "box" in shapes
    assert shapes.about("box") == "A box."
    assert shapes.about("blob") == ""
    assert shapes.is_private("blob")
    assert not shapes.is_private("box")


def test_collisions_are_refused_and_names_can_be_freed(shapes):
    with pytest.raises(ValueError, match="already"):
        shapes.add("box")(lambda: None)
    shapes.remove("box")
    shapes.remove("box")
    assert "box" not in shapes
    shapes.add("box")(lambda: 5)
    assert shapes.make("box") == 5


@pytest.mark.parametrize(
    ("range_", "text"),
    [
        (Range(), "a finite number"),
        (Range(1), "at least 1"),
        (Range(1, above=True), "above 1"),
        (Range(high=3), "at most 3"),
        (Range(1, 3), "1 to 3"),
        (Range(1, 3, above=True), "above 1 to 3"),
    ],
)
def test_ranges_in_words(range_, text):
    assert str(range_) == text
    assert 2 in range_
    assert (1 in range_) == (not range_.above)


def every_name():
    return [(family, name) for family, registry in ALL.items() for name in registry]


@pytest.mark.parametrize(("family", "name"), every_name())
def test_every_component_documents_itself(family, name):
    registry = ALL[family]
    assert registry.about(name)
    for parameter in registry.parameters(name):
        assert parameter.expected
        if parameter.default is not inspect.Parameter.empty:
            assert parameter.check(parameter.default, name) == parameter.default


@pytest.mark.parametrize(
    ("family", "name"),
    [(f, n) for f, n in every_name() if not ALL[f].is_private(n) and f != "meter"],
)
def test_a_checked_spec_survives_being_written_and_read(family, name):
    registry = ALL[family]
    spec = registry.check(name)
    assert registry.check(str(spec)) == spec
    assert hash(registry.check(str(spec))) == hash(spec)


keys = st.text("abcdefghij_", min_size=1, max_size=8)
values = st.text("abcXYZ019.+-_ =", min_size=1, max_size=8).filter(lambda v: v == v.strip() != "")


@given(keys, st.dictionaries(keys, values, max_size=4))
def test_spec_text_round_trip(name, parameters):
    spec = Spec(name, parameters)
    assert Spec.parse(str(spec)) == spec
