"""Reports: tables and figures from stores, in every form, whatever is missing."""

import dataclasses
import html.parser
import math
import re

import numpy as np
import pandas as pd
import pytest

from eij_core.campaigns import Campaign, Reader, Store
from eij_core.errors import InputError
from eij_core.reports import analysis, figures, report_of
from eij_core.reports.dataset import read_dataset
from eij_core.reports.statistics import friedman
from eij_core.reports.templating import Entry, Table, mean_sd, p_value
from tests.campaign.small import campaign, run

PLAN = Campaign.from_dict(
    {
        "name": "two <b>problems</b> & more",
        "problems": ["nk:n=16,k=2", "nk:n=16,k=3"],
        "algorithms": ["ils:steps=10"],
        "selectors": ["eij", "uniform", "static:operator=flip-1"],
        "meter": "model",
        "budgets": ["6 J", "300 evaluations"],
        "seeds": 8,
        "points": 40,
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "store"
    run(place, PLAN)
    return place


@pytest.fixture(scope="module")
def report(folder):
    return report_of(folder)


@pytest.mark.long
def test_frames_hold_every_trial(folder):
    dataset = read_dataset(folder)
    assert len(dataset.trials) == len(dataset.curves) == 96
    assert dataset.without_curves == dataset.failed == 0
    assert set(dataset.trials["provenance"]) == {"simulated"}
    assert list(dict.fromkeys(dataset.trials["problem"])) == ["nk k=2", "nk k=3"]
    assert len(list(dataset.cells())) == 4
    # The last point of a curve is the result, though the last application overshoots.
    for key, curve in dataset.curves.items():
        fitness = dataset.trials.set_index("key")["fitness"][key]
        assert curve[-1] == fitness


def test_tables_agree_with_pandas(report, folder):
    trials = read_dataset(folder, curves=False).trials
    chosen = trials[(trials["problem"] == "nk k=3") & (trials["method"] == "uniform")]
    chosen = chosen[chosen["by_joules"]]
    line = report.cells[(report.cells["problem"] == "nk k=3") & report.cells["by_joules"]]
    line = line[line["method"] == "uniform"].iloc[0]
    assert line["mean"] == pytest.approx(chosen["fitness"].mean())
    assert line["sd"] == pytest.approx(chosen["fitness"].std())
    assert line["runs"] == 8
    assert line["feasible"] == 1
    assert set(report.comparisons["measure"]) == {"fitness", "joules"}
    assert set(report.comparisons["control"]) == {"eij"}
    corrected = report.comparisons.dropna(subset=["mann_whitney"])
    assert (corrected["mann_whitney_holm"] >= corrected["mann_whitney"]).all()


def test_the_control_can_be_chosen(folder):
    assert report_of(folder, control="static").control == "static flip-1"
    assert analysis.control_of(pd.DataFrame({"method": ["b", "a"]})) == "b"


def test_operators_shares_are_whole(report):
    shares = report.operators.groupby(["problem", "budget", "method"])
    assert shares["share_of_joules"].sum().round(9).eq(1).all()
    assert shares["share_of_applications"].sum().round(9).eq(1).all()


class Outline(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.addresses = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "link", "path", "rect", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_fetches_nothing(report):
    page = report.html()
    outline = Outline(page)
    assert outline.open == []
    assert "script" not in outline.tags
    assert all(address.startswith(("#", "data:,")) for address in outline.addresses)
    assert not re.search(r"https?://", page)
    assert page.count("<svg") > 15
    assert "<b>problems</b>" not in page
    assert "two &lt;b&gt;problems&lt;/b&gt; &amp; more" in page
    assert "model (simulated)" in page
    for section in ("Fitness by energy", "Operator selection ratios", "Energy per operator",
                    "Expected improvement and expected energy", "Targets reached by energy",
                    "Expected Joules to a target", "Across cells"):  # fmt: skip
        assert section in page


def test_an_excerpt_brings_its_own_style(report):
    """In a notebook other tables and pictures stand on the same page."""
    shown = report.excerpt("Fitness by energy")._repr_html_()
    assert "Selection" not in shown
    style, _, body = shown.partition("</style>")
    assert style.split()[:3] == ["<style>", ".eij-report.eij-report", "{"]
    assert style.count("{") == style.count("}")
    assert '[data-jp-theme-light="false"]' in style  # a dark JupyterLab
    assert body.split("<p")[0].split() == [
        *("<div", 'class="eij-report">', "<section><h4>Fitness", "by", "energy</h4>")
    ]
    assert "<svg" in body
    assert len(report._repr_html_()) > len(shown)
    with pytest.raises(InputError, match="did you mean 'Fitness by energy'"):
        report.excerpt("Fitness by energies")


def test_every_energy_figure_says_whose_joules(report):
    for figure in report.figures:
        if figure.title not in ("Operator selection ratios", "Across cells"):
            assert "simulated" in figure.caption, figure.title


def test_figures_have_axes_with_units(report):
    for figure in report.figures:
        for panel in figure.panels:
            if figure.title != "Across cells":
                assert re.search(r"by .*(J|%)", panel.words), figure.title
                assert panel.words.rpartition(" by ")[2] in panel.svg(), figure.title


def test_tables_in_markdown_and_latex(report):
    markdown, latex = report.markdown(), report.latex()
    assert markdown.startswith("# two")
    assert markdown.count("### ") == len(report.tables)
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == len(report.tables)
    assert not re.search(r"(?<!\\)[%_#]", latex)


def test_the_same_store_gives_the_same_page(folder):
    assert report_of(folder).html() == report_of(folder).html()


def test_a_report_without_its_traces(tmp_path):
    run(tmp_path)
    for part in (tmp_path / "parts").iterdir():
        part.unlink()
    page = report_of(tmp_path).html()
    assert "12 trials have lost their trace" in page
    assert "Results by cell" in page


def test_a_report_of_failures(tmp_path):
    run(tmp_path, campaign(problems=["external:function=tests.campaign.poison.faulty,n=8"]))
    made = report_of(tmp_path)
    assert "No trial is done yet" in made.html()
    assert made.figures == made.tables == []
    assert made.dataset.failed == 12


def test_a_report_of_one_method(tmp_path):
    run(tmp_path, campaign(selectors=["eij"], seeds=1))
    made = report_of(tmp_path)
    assert made.across is None
    assert len(made.comparisons) == 0
    assert "Comparisons" not in made.html()
    assert made.dataset.trace("nobody") is None
    assert made.dataset.stack(["nobody"]).shape == (0, 201)


def test_failures_are_counted_on_the_page(tmp_path):
    problems = ["nk:n=16,k=2", "external:function=tests.campaign.poison.faulty,n=8"]
    run(tmp_path, campaign(problems=problems, seeds=2))
    assert "4 trials failed" in report_of(tmp_path).html()


def test_an_empty_store(tmp_path):
    with Store(tmp_path) as store:
        store.begin({"name": "nothing"}, "1")
    assert "No trial is done yet" in report_of(tmp_path).html()
    assert analysis.operators(read_dataset(tmp_path)).empty


def drawn(figure):
    return "".join(panel.svg() for panel in figure.panels)


def infeasible(folder):
    """A store's dataset in which the uniform method mostly failed."""
    dataset = read_dataset(folder)
    bad = (dataset.trials["method"] == "uniform") & (dataset.trials["repetition"] > 0)
    dataset.trials.loc[bad, "feasible"] = False
    dataset.trials.loc[bad, "fitness"] = -1e6
    for key in dataset.trials[bad]["key"]:
        dataset.curves[key] = np.full(201, -1e6)
    return dataset


def test_infeasible_runs_do_not_set_the_scale(folder):
    dataset = infeasible(folder)
    table = analysis.cells(dataset)
    assert table[table["method"] == "uniform"]["feasible"].unique().tolist() == [1 / 8]
    assert "−1e6" not in drawn(figures.trajectories(dataset, analysis.fits(dataset)))
    found = analysis.anytime(dataset)
    assert (found[found["method"] == "uniform"]["success"] <= 1 / 8).all()
    figures.reached_targets(dataset)
    dataset.trials["feasible"] = False
    assert figures.trajectories(dataset, analysis.fits(dataset)).panels == []
    assert analysis.anytime(dataset)["at 100%"].isna().all()
    figures.reached_targets(dataset)


def test_expectations_are_those_of_the_control_alone(tmp_path):
    """The name of the control may begin the name of another method."""
    run(tmp_path, campaign(selectors=["eij-plus", "eij"], seeds=1))
    dataset = read_dataset(tmp_path)
    alone = dataclasses.replace(dataset, trials=dataset.trials.query("method == 'eij'"))
    shown = drawn(figures.transitions(dataset, "eij"))
    assert shown == drawn(figures.transitions(alone, "eij"))
    assert shown != drawn(figures.transitions(dataset, "eij-plus"))


def test_a_target_that_no_run_reaches(report):
    table = report.anytime.copy()
    table.loc[table["method"] == "uniform", ["expected_joules", "expected_high"]] = math.inf
    assert "target never reached" in drawn(figures.expected(report.dataset, table))
    table["expected_joules"] = math.inf
    assert figures.expected(report.dataset, table).panels == []


@pytest.mark.parametrize("count", [2, 3, 9])
def test_critical_difference_diagrams(count):
    scores = np.add.outer(np.zeros(12), np.arange(count)) + np.random.default_rng(1).normal(
        0, 0.4, (12, count)
    )
    across = analysis.Across([f"<m{i}>" for i in range(count)], friedman(scores), 12, "<m0>")
    panel = drawn(figures.critical_difference(across))
    assert panel.count("&lt;m") == count
    assert "<m0>" not in panel
    assert re.findall(r'font-weight="600"[^>]*>&lt;m(\d)', panel) == ["0"]


def test_verdicts():
    line = {"a12": 0.9, "sign": 1.0, "mann_whitney_holm": 0.01, "tost": 0.9}
    assert analysis._verdict(line) == "control better"
    assert analysis._verdict({**line, "sign": -1.0}) == "control worse"  # Joules, or a cost
    assert analysis._verdict({**line, "mann_whitney_holm": 0.5}) == "undecided"
    assert analysis._verdict({**line, "mann_whitney_holm": 0.5, "tost": 0.01}) == "equivalent"


# --- text and figures, piece by piece ---


def test_table_forms_escape_what_names_hold():
    name = "a|b<script>$_%&\\~^`[x](y)"
    table = Table("t", "c", ["m", "v"], [[Entry(name), Entry("1", bold=True, mark="good")]])
    assert "<script>" not in table.html()
    assert "\\|" in table.markdown()
    assert "**1**" in table.markdown()
    assert r"\textbf{1}" in table.latex()
    assert r"\textbackslash{}" in table.latex()
    assert '<td class="n good"><b>1</b></td>' in table.html()
    assert "a|b&lt;script&gt;" in table.html()


def test_a_repeated_name_is_dimmed():
    rows = [[Entry("p"), Entry("a"), Entry("1")], [Entry("p"), Entry("b"), Entry("2")]]
    assert Table("t", "", ["x", "y", "z"], rows, 2).html().count('class="same"') == 1


def test_numbers_for_people():
    assert mean_sd(1.5, math.nan) == "1.5"
    assert mean_sd(-2e6, 1e4) == "−2000000 ± 10000"
    assert p_value(0.5) == "0.50"


def test_reading_frames_of_a_running_campaign(folder):
    with Reader(folder) as reader:
        assert len(reader.rows()) == len(read_dataset(folder, curves=False).trials)


def test_the_target_of_the_trials_is_that_of_the_report(tmp_path):
    plan = Campaign.from_dict(
        {
            "problems": ["onemax:n=20"],
            "algorithms": ["ils:steps=5"],
            "selectors": ["eij"],
            "meter": "model",
            "budget": "20 J",
            "seeds": 4,
            "target": "optimum",
        }
    )
    assert Campaign.from_dict(plan.data) == plan
    run(tmp_path / "store", plan)
    dataset = read_dataset(tmp_path / "store")
    assert set(dataset.trials["reason"]) == {"optimum reached"}
    line = analysis.anytime(dataset).iloc[0]
    assert (line["target"], line["success"]) == (20.0, 1.0)
    assert line["expected_joules"] == pytest.approx(dataset.trials["joules"].mean())
