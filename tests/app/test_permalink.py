"""F9: a link's values are read strictly, and what is written reads back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import permalink
from app.lessons import LESSONS
from app.settings import Settings

values = st.fixed_dictionaries(
    {
        "lesson": st.sampled_from(["", *LESSONS]),
        "problem": st.sampled_from(
            ["knapsack", "nk:n=50,k=4", "ecc", "knapsack:family=subset-sum"]
        ),
        "algorithm": st.sampled_from(
            ["ils", "ssga", "pso:swarm=20", "ils:operators=flip-2+flip-3"]
        ),
        "selector": st.sampled_from(["eij", "eij:alpha=0.5", "uniform", "eij-plus"]),
        "meter": st.sampled_from(["paper", "model:evaluation=0.5"]),
        "budget": st.sampled_from(["1 kJ", "250 J", "2 Wh", "1000 evaluations"]),
        "seed": st.integers(0, 2**31 - 1),
        "pace": st.sampled_from([0.0, 5.0, 15.0, 8.0]),
        "compare": st.booleans(),
    }
)


@given(values)
def test_what_is_written_reads_back(wanted):
    settings = Settings(**wanted)
    found, notice = permalink.read(permalink.write(settings.values_now))
    assert notice == ""
    assert Settings(**found).values_now == settings.values_now


def test_the_defaults_need_no_link():
    assert permalink.write(Settings().values_now) == ""
    assert permalink.read("") == ({}, "")


@pytest.mark.parametrize(
    "query",
    [
        "?problem=nope",
        "?problem=external:function=os.system",
        "?problem=nk:n=-5",
        "?problem=nk:n=1e999",
        "?problem=%22nk%22",
        "?algorithm=ils:operators=",
        "?algorithm=ils:operators=flip-1%2Bflip-1x&x=1",
        "?selector=eij:alpha=2",
        "?selector=eij:beta=1",
        "?selector=<script>alert(1)</script>",
        "?meter=nuclear",
        "?budget=0 J",
        "?budget=-3 J",
        "?budget=1000",
        "?budget=1e999 J",
        "?seed=-1",
        "?seed=1.5",
        "?seed=1_000",
        "?seed=99999999999999999999",
        "?seed=١",
        "?pace=-1",
        "?pace=nan",
        "?pace=inf",
        "?compare=maybe",
        "?lesson=none-such",
        "?seed=1&seed=2",
        "?seed=",
    ],
)
def test_a_bad_value_gives_its_default_and_one_notice(query):
    found, notice = permalink.read(query)
    assert notice.startswith("This link held values that cannot be used")
    assert notice.count(".") == 1
    Settings(**found)


def test_a_bad_value_leaves_the_good_ones():
    found, notice = permalink.read("?seed=x&budget=2 kJ")
    assert found["budget"] == "2 kJ"
    assert "seed" in notice


def test_a_huge_link_is_refused_unread():
    assert permalink.read("?problem=" + "n" * 5000)[0] == {}
    assert permalink.read("?" + "&".join(["a=1"] * 100))[0] == {}


@given(st.text(max_size=200))
def test_no_link_breaks_the_page(query):
    found, _ = permalink.read(query)
    Settings(**found)


def test_other_keys_are_left_alone():
    assert permalink.read("?theme=dark&utm_source=x") == ({}, "")
