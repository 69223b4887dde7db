"""Links are read strictly, what is written reads back, and links of 0.1 open."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.common.links import page_of, read_link
from app.pages.run import permalink
from app.pages.run.lessons.lessons import LESSONS
from app.pages.run.settings import Settings

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


FROM_0_1 = {
    "?lesson=first-steps&budget=2%20kJ&seed=7": {"budget": "2 kJ", "seed": 7},
    "?lesson=&problem=nk:n=50,k=4&algorithm=ils:operators=flip-2%2Bflip-3&selector=eij:alpha=0.5"
    "&pace=0&compare=false": {
        **{"lesson": "", "problem": "nk:n=50,k=4", "algorithm": "ils:operators=flip-2+flip-3"},
        **{"selector": "eij:alpha=0.5", "pace": 0.0, "compare": False},
    },
    "?lesson=dear-twin&selector=eij-plus&seed=3": {"lesson": "dear-twin", "seed": 3},
    "?lesson=&problem=knapsack:family=subset-sum&meter=model:evaluation=0.5"
    "&budget=1000%20evaluations&pace=8": {
        **{"lesson": "", "problem": "knapsack:family=subset-sum", "pace": 8.0},
        **{"meter": "model:evaluation=0.5", "budget": "1000 evaluations"},
    },
    "?lesson=small-alpha&problem=knapsack&algorithm=ils&selector=eij-plus&seed=1": {
        **{"lesson": "small-alpha", "problem": "knapsack", "algorithm": "ils"}
    },
    "?lesson=&problem=ecc&algorithm=pso:swarm=20&selector=uniform&budget=2%20Wh": {
        **{"lesson": "", "problem": "ecc", "algorithm": "pso:swarm=20", "budget": "2 Wh"}
    },
}
"""Links that the Run page of 0.1 wrote, and what they set beyond the defaults."""


@pytest.mark.parametrize("query", FROM_0_1)
def test_a_link_of_0_1_opens(query):
    found, notice = permalink.read(query)
    assert notice == ""
    settings = Settings(**found)
    wanted = {**Settings().values_now, **settings.values_now, **FROM_0_1[query]}
    assert settings.values_now == wanted
    assert permalink.read(permalink.write(settings.values_now))[0].items() <= wanted.items()


def test_links_of_0_1_to_the_other_pages_open():
    from app.pages import PAGES

    for query, wanted in (
        (
            "?page=zoo&rules=eij,ucb1&costs=probed&trials=7",
            {"rules": ["eij", "ucb1"], "costs": "probed", "trials": 7},
        ),
        (
            "?page=campaign&problems=nk,knapsack&budget=500%20J&seeds=5",
            {"problems": ["nk", "knapsack"], "budget": "500 J", "seeds": 5},
        ),
        (
            "?page=profile&algorithm=ils:operators=flip-2+flip-3&meter=model&batches=3",
            {"algorithm": "ils:operators=flip-2+flip-3", "meter": "model", "batches": 3},
        ),
    ):
        page = PAGES[page_of(query, PAGES)].build(query, "me")
        assert page.choices.notice == ""
        assert {name: page.choices.widgets[name].value for name in wanted} == wanted
        again = read_link(page.link(), dict.fromkeys(wanted, str))[0]
        assert again.keys() == wanted.keys()
        page.close()


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


SAMPLES = Path(__file__).parents[1] / "records" / "samples-0.1"
LINKS = json.loads((SAMPLES / "links.json").read_text("utf-8"))


@pytest.mark.parametrize("query", LINKS)
def test_links_that_0_1_wrote_still_read(query):
    found, notice = permalink.read(query)
    assert notice == ""
    assert LINKS[query].items() <= found.items()
    Settings(**found)
