"""Plots are pure, labelled, and say where their Joules come from."""

import copy
import dataclasses
import math

import holoviews as hv
import numpy as np
import pytest

from app.views.decision import DecisionView, PosteriorPlot
from app.views.energy import EnergyPlot
from app.views.estimates import EijView, EstimatesPlot
from app.views.fitness import FitnessPlot
from app.views.layer import stepped
from app.views.scale import symlog, threshold, ticks
from app.views.selection import METRICS, SelectionPlot
from app.views.selection import probability_of_first as probabilities
from app.views.snapshot import Curve, empty_snapshot, snapshot_of_result, snapshot_of_run, tally_of
from eij_core import Run, solve
from eij_core.engine.histogram import quantiles
from eij_core.selectors.eij import EijStats, probability_of_first

PLOTS = {
    "fitness": FitnessPlot(),
    "fitted": FitnessPlot(fitted=True),
    "eij": EstimatesPlot(),
    "eij, log": EstimatesPlot(log=True),
    "gain": EstimatesPlot("E[Δf]"),
    "energy": EstimatesPlot("E[E]"),
    "choices": SelectionPlot(),
    "recent": SelectionPlot("recent"),
    "shares": SelectionPlot("Joules"),
    "posterior of gain": PosteriorPlot("gain"),
    "posterior of energy": PosteriorPlot("joules"),
    "violins": EnergyPlot(),
}


@pytest.fixture
def snapshot(tiny_trial):
    result = solve(tiny_trial)
    return snapshot_of_result(result, (Curve("uniform", result.rows, "uniform"),))


@pytest.fixture(params=PLOTS)
def plot(request):
    return PLOTS[request.param]


def test_axes_have_labels_and_titles_their_provenance(plot, snapshot):
    element, _ = plot.element(snapshot)
    figure = hv.renderer("bokeh").get_plot(element).state
    assert figure.xaxis[0].axis_label
    assert figure.yaxis[0].axis_label
    assert "simulated Joules, meter model" in figure.title.text


def test_plots_are_pure(plot, snapshot):
    before = copy.deepcopy(snapshot.rows)
    first, second = plot.layers(snapshot), plot.layers(snapshot)
    assert snapshot.rows.tobytes() == before.tobytes()
    for key, layer in first.items():
        for name, values in layer.columns.items():
            np.testing.assert_array_equal(values, second[key].columns[name])


def test_elements_and_layers_have_the_same_parts(plot, snapshot):
    _, parts = plot.element(snapshot)
    assert set(parts) == set(plot.layers(snapshot))


def test_growing_layers_only_append(plot, snapshot):
    earlier, later = plot.layers(snapshot.until(0.6)), plot.layers(snapshot)
    for key, layer in earlier.items():
        if layer.grows:
            for name, values in layer.columns.items():
                np.testing.assert_array_equal(values, later[key].columns[name][: len(values)])


def test_empty_and_first_frames_are_drawn(plot, tiny_trial):
    run = Run(tiny_trial)
    for snapshot in (empty_snapshot(tiny_trial), snapshot_of_run(run, run.rows(), tally_of(run))):
        element, _ = plot.element(snapshot)
        hv.renderer("bokeh").get_plot(element)
        for low, high in plot.limits(snapshot).values():
            assert math.isfinite(low) and math.isfinite(high) and low < high


def test_shares_add_up(snapshot):
    for metric in METRICS:
        layers = SelectionPlot(metric).layers(snapshot)
        total = sum(layer.columns["share"] for key, layer in layers.items() if "line" in key)
        np.testing.assert_allclose(total[np.isfinite(total)], 100.0)


def test_the_paper_s_probability_is_the_core_s(snapshot):
    ours = probabilities(snapshot.rows["beliefs"][-1:])[0]
    gain, gain_sd, joules, joules_sd = snapshot.rows["beliefs"][-1, :, :4].T
    variance = np.log1p((joules_sd / joules) ** 2)
    stats = EijStats(
        np.array([5, 5]), gain, gain_sd**2, np.log(joules) - variance / 2, variance, joules
    )
    assert ours == pytest.approx(probability_of_first(stats))


def test_a_draw_lies_on_its_curve(tiny_trial):
    run = Run(tiny_trial)
    run.advance(30)
    snapshot = snapshot_of_run(run, run.rows(), tally_of(run))
    for side in ("gain", "joules"):
        layers = PosteriorPlot(side).layers(snapshot)
        for o, draw in enumerate(snapshot.tally.next.draws):
            assert layers[f"draw {o}"].columns["value"][0] == getattr(draw, side)
            assert 0.0 <= layers[f"draw {o}"].columns["density"][0] <= 1.0


def test_the_draws_of_eij_plus_lie_on_their_curves(tiny_trial):
    run = Run(dataclasses.replace(tiny_trial, selector="eij-plus"))
    run.advance(30)
    snapshot = snapshot_of_run(run, run.rows(), tally_of(run))
    assert snapshot.tally.next.draws
    layers = PosteriorPlot("gain").layers(snapshot)
    for o, draw in enumerate(snapshot.tally.next.draws):
        point = {name: values[0] for name, values in layers[f"draw {o}"].columns.items()}
        # What was drawn, divided by the cost, is the priority that decides.
        assert math.log(point["value"] / draw.joules) == pytest.approx(draw.priority)
        assert point["density"] == pytest.approx(math.exp(-0.5 * draw.luck**2))
    assert "Credit" in PosteriorPlot("gain").options(snapshot)["xlabel"]
    assert "chance" not in SelectionPlot().layers(snapshot)


def test_violins_come_from_every_application(snapshot):
    histogram = snapshot.tally.histogram
    assert histogram.sum() == snapshot.tally.decisions
    for o, counts in enumerate(histogram):
        low, middle, high = quantiles(counts, (0.25, 0.5, 0.75))
        assert low <= middle <= high
        mean = snapshot.rows["operator_joules"][-1, o] / snapshot.rows["applications"][-1, o]
        assert middle == pytest.approx(mean, rel=0.2)


def test_nothing_is_shown_as_known_of_an_operator_that_was_never_applied(tiny_trial):
    run = Run(dataclasses.replace(tiny_trial, selector="static:operator=flip-1"))
    run.advance(30)
    snapshot = snapshot_of_run(run, run.rows(), tally_of(run))
    rows = snapshot.rows.copy()
    rows["beliefs"][:, 1] = 0.5  # a rule may state a prior
    tip = snapshot.tally.tip.copy()
    tip["beliefs"][0, 1] = 0.5
    snapshot = snapshot._replace(rows=rows, tally=snapshot.tally._replace(tip=tip))
    assert snapshot.never_applied == ["flip-5"]
    assert np.isnan(snapshot.belief("score")[:, 1]).all()
    assert "flip-5 –." in EijView().table(snapshot)
    assert "A dash: the operator had not been applied" in EijView().table(snapshot)
    decision = DecisionView()
    decision.show(snapshot)
    shown = decision._table.object
    assert "flip-5</td><td>–</td><td>–</td><td>–</td>" in shown
    assert "flip-5 has never been applied: nothing is known of it." in shown


def test_steps_hold_their_value():
    xs, ys = stepped(np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 1.0, 4.0, 4.0]))
    assert list(zip(xs, ys, strict=True)) == [(0, 1), (1, 1), (2, 1), (2, 4), (3, 4)]


def test_the_symmetric_logarithm_is_monotone_and_labelled():
    values = np.array([-1e9, -1.0, -1e-6, 0.0, 1e-6, 1.0, 1e9])
    assert (np.diff(symlog(values, 0.001)) > 0).all()
    places = dict(ticks(1.0))
    assert places[0.0] == "0"
    assert {"10", "−10", "10⁶"} <= set(places.values())
    assert threshold(np.array([np.nan])) == 1.0


@pytest.mark.long
def test_a_run_with_another_budget_is_drawn(tiny_trial):
    for budget in ("200 evaluations", "0.05 s"):
        snapshot = snapshot_of_result(solve(dataclasses.replace(tiny_trial, budget=budget)))
        for plot in PLOTS.values():
            element, _ = plot.element(snapshot)
            hv.renderer("bokeh").get_plot(element)


def test_until_cuts_the_compared_runs_at_the_same_joules(snapshot):
    cut = snapshot.until(0.5)
    assert len(cut.rows) < len(snapshot.rows)
    assert cut.others[0].rows["spent"][-1] <= cut.rows["spent"][-1]


def test_a_long_provenance_takes_two_lines(snapshot):
    """The two plots of a decision share the width of one."""
    assert PosteriorPlot("gain").title(snapshot) == "simulated Joules, meter model"
    named = snapshot._replace(meter="tariff of the night")
    assert PosteriorPlot("gain").title(named) == "simulated Joules,\nmeter tariff of the night"
