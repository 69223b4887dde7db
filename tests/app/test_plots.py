"""Plots are pure, labelled, and say where their Joules come from."""

import copy
import dataclasses
import math

import holoviews as hv
import numpy as np
import pytest

from app.frame import Lane, frame_of_result, frame_of_run, tally_of
from app.player import empty_frame
from app.plots import decision, energy, estimates, fitness, selection
from app.plots.layer import stepped
from app.plots.scale import symlog, threshold, ticks
from app.rules import rule_of
from eij_core import Run, solve
from eij_core.selectors.eij import EijStats, probability_of_first

PLOTS = {
    "fitness": (fitness, {}),
    "fitted": (fitness, {"fitted": True}),
    "eij": (estimates, {}),
    "eij, log": (estimates, {"log": True}),
    "gain": (estimates, {"metric": "E[Δf]"}),
    "energy": (estimates, {"metric": "E[E]"}),
    "choices": (selection, {"chance": True}),
    "recent": (selection, {"metric": "recent"}),
    "shares": (selection, {"metric": "Joules"}),
    "posterior of gain": (decision, {"side": "gain"}),
    "posterior of energy": (decision, {"side": "joules"}),
    "violins": (energy, {}),
}


@pytest.fixture
def frame(tiny_trial):
    result = solve(tiny_trial)
    return frame_of_result(result, (Lane("uniform", result.rows, "uniform"),))


@pytest.fixture(params=PLOTS)
def plot(request):
    return PLOTS[request.param]


def test_axes_have_labels_and_titles_their_provenance(plot, frame):
    module, options = plot
    element, _ = module.element(frame, **options)
    figure = hv.renderer("bokeh").get_plot(element).state
    assert figure.xaxis[0].axis_label
    assert figure.yaxis[0].axis_label
    assert "simulated Joules, meter model" in figure.title.text


def test_plots_are_pure(plot, frame):
    module, options = plot
    before = copy.deepcopy(frame.rows)
    first, second = module.layers(frame, **options), module.layers(frame, **options)
    assert frame.rows.tobytes() == before.tobytes()
    for key, layer in first.items():
        for name, values in layer.columns.items():
            np.testing.assert_array_equal(values, second[key].columns[name])


def test_elements_and_layers_have_the_same_parts(plot, frame):
    module, options = plot
    _, parts = module.element(frame, **options)
    assert set(parts) == set(module.layers(frame, **options))


def test_growing_layers_only_append(plot, frame):
    module, options = plot
    earlier, later = module.layers(frame.until(0.6), **options), module.layers(frame, **options)
    for key, layer in earlier.items():
        if layer.grows:
            for name, values in layer.columns.items():
                np.testing.assert_array_equal(values, later[key].columns[name][: len(values)])


def test_empty_and_first_frames_are_drawn(plot, tiny_trial):
    module, options = plot
    run = Run(tiny_trial)
    for frame in (empty_frame(tiny_trial), frame_of_run(run, run.rows(), tally_of(run))):
        element, _ = module.element(frame, **options)
        hv.renderer("bokeh").get_plot(element)
        for low, high in getattr(module, "limits", lambda *_, **__: {})(
            frame, **{k: v for k, v in options.items() if k != "fitted"}
        ).values():
            assert math.isfinite(low) and math.isfinite(high) and low < high


def test_shares_add_up(frame):
    for metric in selection.METRICS:
        layers = selection.layers(frame, metric)
        total = sum(layer.columns["share"] for layer in layers.values())
        np.testing.assert_allclose(total[np.isfinite(total)], 100.0)


def test_the_paper_s_probability_is_the_core_s(frame):
    ours = selection.probability_of_first(frame.rows["beliefs"][-1:])[0]
    gain, gain_sd, joules, joules_sd = frame.rows["beliefs"][-1, :, :4].T
    variance = np.log1p((joules_sd / joules) ** 2)
    stats = EijStats(
        np.array([5, 5]), gain, gain_sd**2, np.log(joules) - variance / 2, variance, joules
    )
    assert ours == pytest.approx(probability_of_first(stats))


def test_a_draw_lies_on_its_curve(tiny_trial):
    run = Run(tiny_trial)
    run.advance(30)
    frame = frame_of_run(run, run.rows(), tally_of(run))
    for side in decision.SIDES:
        layers = decision.layers(frame, side)
        for o, draw in enumerate(frame.tally.next.draws):
            assert layers[f"draw {o}"].columns["value"][0] == getattr(draw, side)
            assert 0.0 <= layers[f"draw {o}"].columns["density"][0] <= 1.0


def test_the_draws_of_eij_plus_lie_on_their_curves(tiny_trial):
    run = Run(dataclasses.replace(tiny_trial, selector="eij-plus"))
    run.advance(30)
    frame = frame_of_run(run, run.rows(), tally_of(run))
    assert frame.tally.next.draws
    layers = decision.layers(frame, "gain")
    for o, draw in enumerate(frame.tally.next.draws):
        point = {name: values[0] for name, values in layers[f"draw {o}"].columns.items()}
        # What was drawn, divided by the cost, is the priority that decides.
        assert math.log(point["value"] / draw.joules) == pytest.approx(draw.priority)
        assert point["density"] == pytest.approx(math.exp(-0.5 * draw.luck**2))
    _, parts = decision.element(frame, "gain")
    assert "Credit" in parts["line 0"].kdims[0].label
    assert "chance" not in selection.layers(frame, chance=rule_of("eij-plus").chance)


def test_violins_come_from_every_application(frame):
    histogram = frame.tally.histogram
    assert histogram.sum() == frame.tally.decisions
    for o, counts in enumerate(histogram):
        low, middle, high = energy.quantiles(counts, (0.25, 0.5, 0.75))
        assert low <= middle <= high
        mean = frame.rows["operator_joules"][-1, o] / frame.rows["applications"][-1, o]
        assert middle == pytest.approx(mean, rel=0.2)


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


def test_a_run_with_another_budget_is_drawn(tiny_trial):
    for budget in ("200 evaluations", "0.05 s"):
        frame = frame_of_result(solve(dataclasses.replace(tiny_trial, budget=budget)))
        for module, options in PLOTS.values():
            element, _ = module.element(frame, **options)
            hv.renderer("bokeh").get_plot(element)


def test_until_cuts_the_compared_runs_at_the_same_joules(frame):
    cut = frame.until(0.5)
    assert len(cut.rows) < len(frame.rows)
    assert cut.others[0].rows["spent"][-1] <= cut.rows["spent"][-1]


def test_a_long_provenance_takes_two_lines(frame):
    """The two plots of a decision share the width of one."""
    assert decision.title(frame) == "simulated Joules, meter model"
    named = frame._replace(meter="tariff of the night")
    assert decision.title(named) == "simulated Joules,\nmeter tariff of the night"
