"""Statistics against published values. Each constant says where it comes from."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats

from eij_core.reports.anytime import ecdf, expected_joules, first_hits, fit, quartiles_of, resample
from eij_core.reports.figures import cliques
from eij_core.reports.statistics import (
    a12,
    friedman,
    hodges_lehmann,
    holm,
    magnitude,
    mann_whitney,
    summarise,
    tost,
    wilcoxon,
)

# Permeability constants: Hollander and Wolfe (1973), p. 69; the second example of R's
# ?wilcox.test. wilcox.test(x, y, conf.int = TRUE): W = 35, p = 0.2544, shift 0.305, (-0.15, 0.76).
AT_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]

# AUC of C4.5 with its parameters on 14 data sets: Demsar (2006), JMLR 7, table 6. The text gives
# mean ranks 3.143, 2.000, 2.893, 1.964, chi2 = 9.28, CD = 1.25 (Nemenyi), and z against C4.5.
# In its last line but one it ranks .975 before .975: unrounded they were no tie.
DEMSAR = """
.763 .768 .771 .798 | .599 .591 .590 .569 | .954 .971 .968 .967 | .628 .661 .654 .657
.882 .888 .886 .898 | .936 .931 .916 .931 | .661 .668 .609 .685 | .583 .583 .563 .625
.775 .838 .866 .875 | 1 1 1 1 | .940 .962 .965 .962 | .619 .666 .614 .669
.972 .981 .97501 .975 | .957 .978 .946 .970
"""
DEMSAR_TABLE = np.array(DEMSAR.replace("|", " ").split(), float).reshape(14, 4)


def test_mann_whitney_by_r():
    assert mann_whitney(AT_TERM, EARLY) == pytest.approx(0.2544, abs=5e-5)


def test_mann_whitney_with_ties_by_scipys_documentation():
    # scipy.stats.mannwhitneyu, documentation: ages at diagnosis of diabetes, exact p = 1/9.
    assert mann_whitney([19, 22, 16, 29, 24], [20, 11, 17, 12]) == pytest.approx(1 / 9)


def test_hodges_lehmann_by_r():
    assert_allclose(hodges_lehmann(AT_TERM, EARLY), (0.305, -0.15, 0.76), atol=1e-12)


def test_wilcoxon_on_darwins_plants():
    # Cross- against self-fertilised plants, in eighths of an inch: scipy.stats.wilcoxon's
    # documentation, W = 24, p = 0.041259765625 (exact).
    difference = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    assert wilcoxon(difference, np.zeros(15)) == pytest.approx(0.041259765625)


def test_wilcoxon_leaves_broken_pairs_out():
    assert wilcoxon([1, 2, 3, 4, math.nan], [0, 0, 0, 0, 9]) == pytest.approx(0.125)
    assert wilcoxon([1, 2, 2, 3, 0], [0, 0, 0, 0, 0]) < 0.1  # ties: the normal approximation


def test_holm_by_r():
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") is 0.05 0.08 0.09 0.09 0.09.
    assert_allclose(holm([0.01, 0.02, 0.03, 0.04, 0.05]), [0.05, 0.08, 0.09, 0.09, 0.09])
    assert_allclose(holm([0.05, math.nan, 0.01]), [0.05, math.nan, 0.02])


def test_a12_is_u_over_mn():
    # By hand from R's W = 35 above: 35 / (10 * 5).
    found = a12(AT_TERM, EARLY)
    assert found.value == pytest.approx(0.7)
    assert found.low < 0.7 < found.high
    assert a12([2, 3], [0, 1]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("value", "name"),
    [(0.5, "negligible"), (0.56, "small"), (0.36, "medium"), (0.71, "large"), (0, "large")],
)
def test_magnitudes_of_vargha_and_delaney(value, name):
    assert magnitude(value) == name


def sample(n, mean, sd):
    x = np.random.default_rng(n).normal(size=n)
    return mean + sd * (x - x.mean()) / x.std(ddof=1)


def test_tost_by_lakens():
    # Lakens (2017), Social Psychological and Personality Science 8(4), the first example:
    # means 5.25 and 5.22, sd .95 and .83, n 95 and 89, bounds d = .43: t(181.13) = -2.69, p = .004.
    margin = 0.43 * math.sqrt((0.95**2 + 0.83**2) / 2)
    p = tost(sample(95, 5.25, 0.95), sample(89, 5.22, 0.83), margin)
    assert p == pytest.approx(0.0039, abs=1e-4)


def test_tost_tells_equivalent_from_not_different():
    few = tost([1.0, 2.0, 3.0], [1.1, 2.1, 3.1], 0.5)
    many = tost(sample(500, 2.0, 1.0), sample(400, 2.1, 1.0), 0.5)
    assert many < 0.01 < 0.05 < few


def test_friedman_by_demsar():
    found = friedman(DEMSAR_TABLE)
    assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.critical == pytest.approx(1.25, abs=5e-3)
    assert_allclose(-found.z[1:], [2.343, 0.512, 2.416], atol=3e-3)
    # p .019, .607, .016, in the text; after Holm.
    assert_allclose(found.holm[1:], [0.047, 0.608, 0.047], atol=1.5e-3)
    assert math.isnan(found.holm[0])
    plain = 12 * 14 / (4 * 5) * ((found.ranks**2).sum() - 4 * 5**2 / 4)
    assert plain == pytest.approx(9.28, abs=5e-3)
    assert found.chi2 > plain  # scipy and R correct for ties, the article does not
    assert found.p < 0.05


def test_the_critical_difference_diagram_by_demsar():
    # The same article, section 3.2.2: at 10 % CD = 1.12; plain C4.5 (rank 3.143) is told apart
    # from those with m (2.000) and with both (1.964), the one with cf (2.893) from neither.
    found = friedman(DEMSAR_TABLE, confidence=0.9)
    assert found.critical == pytest.approx(1.12, abs=5e-3)
    bars = cliques(np.sort(found.ranks).tolist(), found.critical)
    assert_allclose(bars, [(1.964, 2.893), (2.893, 3.143)], atol=5e-4)


def test_friedman_has_no_p_for_two_methods_or_for_equal_ones():
    assert math.isnan(friedman([[1, 2], [3, 4]]).p)
    assert math.isnan(friedman(np.ones((4, 3))).p)


def test_what_cannot_be_compared_is_nan():
    assert math.isnan(mann_whitney([1, 1], [1, 1]))
    assert math.isnan(mann_whitney([], [1]))
    assert math.isnan(wilcoxon([1, 2], [1, 2]))
    assert math.isnan(a12([], [1]).value)
    assert math.isnan(hodges_lehmann([], [1]).value)
    assert math.isnan(tost([1], [1, 2], 1))
    assert math.isnan(summarise([]).mean)
    assert math.isnan(summarise([1]).sd)
    assert (tost([1, 1], [1, 1], 0.5), tost([1, 1], [2, 2], 0.5)) == (0.0, 1.0)


def test_a12_interval_by_scipys_bootstrap():
    rng = np.random.default_rng(8)
    x, y = rng.normal(0.6, size=35), rng.normal(size=25).round(1)

    def share(a, b, axis=-1):
        pairs = np.sign(a[..., :, None] - b[..., None, :])
        return (0.5 * (1 + pairs)).mean(axis=(-2, -1))

    theirs = stats.bootstrap((x, y), share, n_resamples=4000, method="percentile",
                             vectorized=True, rng=np.random.default_rng(1))  # fmt: skip
    ours = a12(x, y)
    assert ours.value == pytest.approx(stats.mannwhitneyu(x, y).statistic / (35 * 25))
    assert_allclose(ours[1:], theirs.confidence_interval, atol=0.015)


@pytest.mark.long
def test_a12_interval_covers():
    rng = np.random.default_rng(5)
    covered = 0
    for i in range(100):
        found = a12(rng.normal(size=40), rng.normal(size=40), seed=i)
        covered += found.low <= 0.5 <= found.high
    assert covered >= 88


# --- anytime ---


def test_expected_joules_by_hand():
    found = expected_joules([10, 20, math.inf, 30], [50, 50, 50, 50])
    assert found.value == pytest.approx((10 + 20 + 50 + 30) / 3)
    assert found.low < found.value < found.high
    assert expected_joules([math.inf] * 3, [5] * 3) == (math.inf, math.inf, math.inf)
    assert math.isnan(expected_joules([], []).value)


def test_the_fit_finds_what_it_was_made_from():
    x = np.linspace(0, 1, 50)
    found = fit(x, 72.5 * (1 - 0.3 * np.exp(-11 * x)))
    assert_allclose((found.asymptote, found.drop, found.rate), (72.5, 0.3, 11), rtol=1e-5)
    assert found.residual < 1e-5
    assert found.r2 > 0.999999
    assert_allclose(found([0.0, 1e9]), [72.5 * 0.7, 72.5], rtol=1e-5)


def test_the_fit_gives_up_on_what_has_no_shape():
    assert fit([0, 1], [1, 2]) is None
    assert fit(np.arange(9), np.ones(9)) is None


def test_the_fit_gives_up_quietly_if_the_optimiser_does(monkeypatch):
    def refuse(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr("eij_core.reports.anytime.optimize.curve_fit", refuse)
    assert fit(np.arange(9), np.arange(9)) is None


def test_a_band_skips_what_is_missing():
    found = quartiles_of([[1, 2, math.nan], [3, 4, math.nan]])
    assert_allclose(found.median, [2, 3, math.nan])


@given(arrays(float, st.integers(1, 30), elements=st.floats(0, 100)), st.floats(0, 100))
def test_ecdf_counts(hits, at):
    assert ecdf(hits, [at])[0] == np.mean(hits <= at)


@given(arrays(float, 12, elements=st.floats(0, 10)))
def test_hits_and_resampling_agree(steps):
    """A target is reached where the carried curve first has it."""
    best = np.maximum.accumulate(steps)
    place = np.arange(12.0)
    for target, hit in zip(steps, first_hits(place, [best], steps)[0], strict=True):
        assert resample(place, best, [hit])[0] >= target
        assert hit == 0 or resample(place, best, [hit - 1])[0] < target
