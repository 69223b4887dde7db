"""Results draw themselves: a still picture that needs no kernel and no network."""

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from eij_core import Run, Trial, solve
from eij_core.figures.colours import LIGHT
from eij_core.figures.result_card import picture

SVG = "{http://www.w3.org/2000/svg}"

TRIALS = {
    "usual": Trial("nk:n=20,k=3", "ils", budget="60 J"),
    "one operator": Trial("nk:n=20,k=3", "ils:operators=flip-1", budget="20 J"),
    "many": Trial(
        "nk:n=20,k=3",
        "ils:operators=" + "+".join(f"flip-{i}" for i in range(1, 11)),
        "eij-plus",
        budget="200 J",
    ),
    "infeasible": Trial("knapsack", "ils:operators=flip-5", budget="3 J"),
    "by evaluations": Trial("nk:n=20,k=3", "ils", budget="3000 evaluations"),
    "too little": Trial("nk:n=20,k=3", "ils", budget="1 mJ"),
}


@pytest.mark.parametrize("name", TRIALS)
def test_the_picture_is_one_sound_svg(name):
    result = solve(TRIALS[name], compiled=False)
    drawn = result._repr_svg_()
    root = ET.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "simulated Joules, meter paper" in drawn
    assert "J spent" in drawn
    assert "nan" not in drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    for total in result.operators[:8]:
        assert f">{total.name}</text>" in drawn


def test_looks_need_no_style_sheet():
    """GitHub and nbviewer put the picture into their page, without style sheet, class and id."""
    root = ET.fromstring(picture(solve(TRIALS["usual"], compiled=False)).svg())
    assert not list(root.iter(f"{SVG}style"))
    assert not [e for e in root.iter() if "class" in e.attrib]
    assert root.find(f"{SVG}rect").get("fill") == "#fff"  # on a dark page, a white card
    series = [LIGHT["c0"], LIGHT["c1"]]
    lines = [e for e in root.iter(f"{SVG}path") if e.get("stroke") not in (None, LIGHT["grid"])]
    assert {e.get("stroke") for e in lines} == {*series}
    assert {e.get("fill") for e in lines} == {"none"}
    bold = {e.text: e.get("fill") for e in root.iter(f"{SVG}text") if e.get("font-weight")}
    assert [bold[name] for name in ("flip-1", "flip-5")] == series
    assert all(e.get("fill").startswith("#") for e in root.iter(f"{SVG}text"))
    # Where clipPath is dropped, its rectangle stays; it must not cover the lines.
    assert [e.get("fill") for e in root.iter(f"{SVG}rect")][1:] == ["none"] * 3


def test_a_run_shows_where_it_stands():
    run = Run(TRIALS["usual"], compiled=False)
    assert "0 decisions" in run._repr_svg_()
    run.advance(3)
    assert "3 decisions" in run._repr_svg_()
    assert "running" in run._repr_svg_()


def test_names_are_escaped():
    result = solve(TRIALS["usual"], compiled=False)
    odd = tuple(total._replace(name="<b>&\"'") for total in result.operators)
    ET.fromstring(picture(replace(result, operators=odd)).svg())


def test_where_there_are_no_pictures_a_line_tells():
    result = solve(TRIALS["infeasible"], compiled=False)
    told = repr(result)
    assert "\n" not in told
    assert f"{result.spent.decisions:,} decisions" in told
    assert told.endswith(f"{result.reason} · simulated Joules, meter paper>")
    assert "infeasible" in told


def test_no_optimum_no_line():
    result = solve(TRIALS["usual"], compiled=False)
    assert math.isnan(result.best.optimum) == ("optimum" not in picture(result).svg())
