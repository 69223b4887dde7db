"""Pictures: charts on any data, as SVG and PNG, in a page and alone."""

import io
import math
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from eij_core.engine.histogram import bin_of, dense
from eij_core.figures.axes import Panel, _log_ticks, dash_of
from eij_core.figures.canvas import Picture
from eij_core.figures.charts import (
    Curve,
    Whiskers,
    curves,
    heat_map_picture,
    intervals,
    rank_diagram,
    violins,
)
from eij_core.figures.colours import DARK, LIGHT, SERIES
from eij_core.figures.numbers import number, padded

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<b>$x_1$ & \"'\\"
PANEL = Panel(HOSTILE, "J spent", "best", (0.0, 10.0), (0.0, 1.0))
LINE = Curve([0.0, 5.0, 10.0], [0.1, 0.5, 0.9], 0, HOSTILE, [0.0, 0.4, 0.8], [0.2, 0.6, 1.0])


def examples():
    counts = dense([(bin_of(0.01), 5), (bin_of(0.02), 9)])
    table = pd.DataFrame({HOSTILE: [0.9, math.nan]}, index=["eij", HOSTILE])
    rows = PANEL._replace(rows=("eij", "uniform"), y=(-1.6, 0.6))
    drawn = [Whiskers(2.0, 3.0, math.inf, 0, "eij: 3 J"), Whiskers(*[math.nan] * 3, 1, "")]
    return {
        "curves": curves(PANEL, [LINE]),
        "violins": violins(HOSTILE, [(HOSTILE, counts), ("never", dense([]))]),
        "intervals": intervals(rows, drawn, "never reached"),
        "ranks": rank_diagram([("eij", 1.5), (HOSTILE, 1.5)], "eij", 0.7, [(1.5, 1.5)]),
        "heat map": heat_map_picture(table, HOSTILE),
    }


@pytest.mark.parametrize("name", examples())
def test_every_chart_is_one_sound_svg(name):
    picture = examples()[name]
    drawn = picture.svg()
    root = ET.fromstring(drawn)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert any((element.text or "").startswith(HOSTILE) for element in root.iter(f"{SVG}text"))
    assert not [element for element in root.iter() if {"class", "id"} & set(element.attrib)]
    assert "nan" not in drawn
    assert "inf" not in drawn
    assert drawn == examples()[name].svg()


@pytest.mark.parametrize("name", examples())
def test_every_chart_is_the_same_as_png(name):
    picture = examples()[name]
    data = picture.png()
    assert data == examples()[name].png()
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == tuple(math.floor(2 * side) for side in picture.size)
        colours = {colour for _, colour in image.convert("RGB").getcolors(2**20)}
    assert (255, 255, 255) in colours
    assert len(colours) > 5


def test_a_themed_picture_takes_the_colours_of_its_page():
    drawn = curves(PANEL, [LINE]).svg(themed=True)
    assert f'stroke="var(--c0, {LIGHT["c0"]})"' in drawn
    assert f'fill="var(--ink, {LIGHT["ink"]})"' in drawn
    assert "<rect" not in drawn
    assert "http" not in drawn
    assert "var(" not in curves(PANEL, [LINE]).svg()
    assert LIGHT.keys() == DARK.keys()


def test_a_line_beyond_the_axes_is_clipped_and_no_other():
    outside = Curve([0.0, 5.0, 10.0], [-1e9, 0.5, 1e9], 0)
    drawn = ET.fromstring(curves(PANEL, [LINE, outside]).svg())
    clipped = [element for element in drawn.iter() if element.get("clip-path")]
    assert len(clipped) == 1
    clip = drawn.find(f"{SVG}clipPath")
    assert clipped[0].get("clip-path") == f"url(#{clip.get('id')})"
    assert clip[0].get("fill") == "none"


def test_a_line_breaks_where_values_are_missing():
    values = [0.1, 0.2, math.nan, 0.4, 0.5]
    root = ET.fromstring(curves(PANEL, [Curve(range(5), values, 0)]).svg())
    (line,) = [e for e in root.iter(f"{SVG}path") if e.get("stroke") == LIGHT["c0"]]
    assert line.get("d").count("M") == 2


def test_long_curves_are_thinned_and_keep_their_end():
    x = np.linspace(0.0, 10.0, 100_000)
    drawn = curves(PANEL, [Curve(x, np.random.default_rng(0).random(x.size), 9)]).svg()
    assert len(drawn) < 20_000
    assert "stroke-dasharray" in drawn


@pytest.mark.parametrize("limits", [(0, 0), (math.nan, 1), (5, 5), (1, math.inf)])
@pytest.mark.parametrize("log", [False, True])
def test_axes_take_any_limits(limits, log):
    panel = PANEL._replace(x=limits, y=limits, log_x=log)
    lines = [Curve([1, math.nan, 2], [1, 2, math.nan], 9, name) for name in ("a", "b")]
    assert "nan" not in curves(panel, lines).svg()


def test_names_at_the_ends_do_not_overlap():
    lines = [Curve([0, 10], [0, 0.5], i, f"operator-number-{i}") for i in range(6)]
    root = ET.fromstring(curves(PANEL, lines).svg())
    names = [e for e in root.iter(f"{SVG}text") if (e.text or "").startswith("operator-num")]
    heights = sorted(float(e.get("y")) for e in names)
    assert len(heights) == 6
    assert min(np.diff(heights)) > 12.5


def test_a_violin_shows_its_median_on_hover():
    root = ET.fromstring(violins("energy", [("<flip>", dense([(bin_of(0.5), 3)]))]).svg())
    hints = [element.text for element in root.iter(f"{SVG}title")]
    assert hints == ["<flip>: median 0.5078 J"] * 2
    assert violins("nothing", [("flip", dense([]))]) is None


def test_ticks_of_a_logarithmic_axis():
    assert _log_ticks(1, 1e9) == [10.0**i for i in range(10)]
    assert _log_ticks(1, 90) == [1, 2, 5, 10, 20, 50]
    assert len(_log_ticks(3.1, 3.9)) > 1
    assert [dash_of(series) for series in (0, SERIES)] == [(), (6, 3)]


def test_numbers_for_people():
    assert [number(value) for value in (0, 1000, math.inf, -math.inf, math.nan)] == [
        *("0", "1,000", "∞", "−∞", "–")
    ]
    assert padded([]) == (0.0, 1.0)
    assert padded([2.0, 2.0]) == (1.9, 2.1)


def test_the_user_s_settings_of_matplotlib_neither_change_nor_matter(tmp_path):
    usual = curves(PANEL, [LINE]).svg()
    settings = {"text.usetex": True, "axes.grid": False, "text.color": "red", "font.size": 30}
    with mpl.rc_context(settings):
        before = dict(mpl.rcParams)
        assert curves(PANEL, [LINE]).svg() == usual
        assert dict(mpl.rcParams) == before


def test_two_threads_draw_the_same():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(curves(PANEL, [LINE]).svg())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


def test_a_picture_goes_to_a_file(tmp_path):
    picture = Picture("an <empty> one", (40.0, 20.0), lambda figure: None)
    for name in ("p.svg", "p.html", "p.png"):
        picture.save(tmp_path / name)
    assert ET.fromstring((tmp_path / "p.svg").read_text("utf-8")).get("width") == "40"
    assert "<title>an &lt;empty&gt; one</title>" in (tmp_path / "p.html").read_text("utf-8")
    with Image.open(tmp_path / "p.png") as image:
        assert image.size == (80, 40)


@pytest.mark.long
def test_matplotlib_is_imported_when_a_picture_is_drawn():
    code = (
        "import sys, eij_core, eij_core.figures.result_card, eij_core.reports\n"
        "assert 'matplotlib' not in sys.modules and 'jinja2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
