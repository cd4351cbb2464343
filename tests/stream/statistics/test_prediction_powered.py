"""A judged rate corrected by labels: right by simulation, and harmless where the judge is useless."""

import numpy as np
import pytest

from turnsignal.stream.statistics.intervals import wilson
from turnsignal.stream.statistics.prediction_powered import JudgedLabel, corrected_mean


def drawn(
    rng: np.random.Generator, n: int, rest: int, rate: float, hit: float, alarm: float, size: int = 1
) -> list[JudgedLabel]:
    """Draw labels and a judge's yes or no; hit, alarm: how often it says yes where people do, and where they do not."""
    conversations = (n + rest) // size
    likely = rng.beta(rate * 4, (1 - rate) * 4, conversations) if size > 1 else np.full(conversations, rate)
    truth = rng.random((conversations, size)) < likely[:, None]
    judged = rng.random((conversations, size)) < np.where(truth, hit, alarm)
    labelled = n // size
    said = zip(judged.astype(float).tolist(), truth.astype(float).tolist(), strict=True)
    return [
        JudgedLabel(str(c), verdict, label if c < labelled else None)
        for c, (verdicts, labels) in enumerate(said)
        for verdict, label in zip(verdicts, labels, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rest", "rate", "hit", "alarm", "size"),
    [
        (100, 1_000, 0.7, 0.9, 0.2, 1),
        (200, 2_000, 0.3, 0.8, 0.3, 1),
        (150, 600, 0.5, 0.5, 0.5, 1),  # a judge that tosses a coin
        (300, 1_500, 0.6, 0.9, 0.3, 3),  # conversations of three turns that resemble each other
    ],
)
def test_the_interval_covers_as_often_as_it_says(
    n: int, rest: int, rate: float, hit: float, alarm: float, size: int
) -> None:
    rng = np.random.default_rng(n + rest)
    covered, widths, plain = 0, 0.0, 0.0
    for draw in range(400):
        observed = drawn(rng, n, rest, rate, hit, alarm, size)
        interval = corrected_mean(observed)
        assert interval is not None
        covered += interval.low <= rate <= interval.high
        if draw % 20:
            continue
        widths += interval.high - interval.low
        alone = corrected_mean([each for each in observed if each.label is not None])
        assert alone is not None
        plain += alone.high - alone.low
    assert 372 <= covered <= 388  # 93 to 97 %: outside are 7 of 100 that are right, and 54 of 100 that cover in 93 %
    assert widths <= plain * 1.01
    if hit - alarm > 0.4:
        assert widths <= plain * 0.95


def test_the_raw_rate_is_biased_and_the_corrected_one_is_not() -> None:
    observed = drawn(np.random.default_rng(5), 400, 20_000, 0.4, 0.95, 0.5)
    raw = sum(each.judged for each in observed) / len(observed)
    corrected = corrected_mean(observed)
    assert raw > 0.6
    assert corrected is not None
    assert corrected.low < 0.4 < corrected.high
    assert corrected.high - corrected.low < 0.11


def test_without_a_rest_it_is_the_mean_of_the_labels() -> None:
    observed = [JudgedLabel(str(n), float(n % 3 == 0), float(n % 2)) for n in range(100)]
    interval = corrected_mean(observed)
    assert interval is not None
    assert interval.value == pytest.approx(0.5)
    assert interval[1:3] == pytest.approx(wilson(50, 100)[1:3], abs=2e-3)


def test_with_fewer_than_two_labelled_conversations_nothing_is_said() -> None:
    assert corrected_mean([]) is None
    assert corrected_mean([JudgedLabel("a", 1.0), JudgedLabel("b", 0.0)]) is None
    assert corrected_mean([JudgedLabel("a", 1.0, 1.0), JudgedLabel("a", 0.0, 1.0), JudgedLabel("b", 0.0)]) is None


def test_agreement_throughout_is_not_certainty() -> None:
    interval = corrected_mean([JudgedLabel(str(n), 1.0, 1.0) for n in range(30)])
    assert interval is not None
    assert interval.value == 1.0
    assert interval.low < 0.97


@pytest.mark.parametrize(("rate", "n", "hit", "alarm"), [(0.9, 100, 0.98, 0.4), (0.9, 60, 1.0, 0.0)])
def test_a_high_rate_is_neither_raised_nor_made_surer_than_it_is(rate: float, n: int, hit: float, alarm: float) -> None:
    covered, off = _coverage(rate, n, hit, alarm, 300)
    assert abs(off) <= 0.003  # tuned by the variance of all values: 0.007
    assert covered >= 0.93  # with as much on either side: 0.91


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("n", [30, 300])
@pytest.mark.parametrize(("hit", "alarm"), [(1.0, 0.0), (0.98, 0.4), (0.95, 0.15)])
def test_high_rates_and_few_labels_are_covered_as_often_as_it_says(
    rate: float, n: int, hit: float, alarm: float
) -> None:
    covered, off = _coverage(rate, n, hit, alarm, 500 if n < 100 else 150)  # as many labels take ten times as long
    assert covered >= 0.92  # one that covers in 0.9 is here in one of four at most, and in all of a dozen never
    assert abs(off) <= 0.006


def _coverage(rate: float, n: int, hit: float, alarm: float, draws: int) -> tuple[float, float]:
    """Return how often the interval holds the rate, and how far the value is off on average."""
    rng, covered, off = np.random.default_rng(11), 0, 0.0
    for _ in range(draws):
        corrected = corrected_mean(drawn(rng, n, 5 * n, rate, hit, alarm))
        assert corrected is not None
        covered += corrected.low <= rate <= corrected.high
        off += corrected.value - rate
    return covered / draws, off / draws


def test_where_hardly_any_label_is_of_the_rarer_kind_the_labels_speak_alone() -> None:
    observed = [JudgedLabel(str(n), float(n % 20 != 0), float(n % 20 != 0) if n < 40 else None) for n in range(400)]
    alone = corrected_mean(observed)
    assert alone is not None
    assert alone.by_labels
    assert alone[1:3] == pytest.approx(wilson(38, 40)[1:3], abs=0.01)
    more = corrected_mean([*observed, *(JudgedLabel(f"more {n}", n % 2, n % 2) for n in range(40))])
    assert more is not None
    assert not more.by_labels


def test_equal_weights_give_the_numbers_that_no_weights_give() -> None:
    observed = drawn(np.random.default_rng(0), 100, 1_000, 0.7, 0.9, 0.2)
    alone = corrected_mean(observed)
    assert alone is not None
    assert alone[:4] == pytest.approx(
        (0.6572222222222223, 0.5804750961646886, 0.7265434747226832, 100), rel=1e-12
    )  # as they came before there were weights
    assert corrected_mean([each._replace(weight=1 / 0.3) for each in observed]) == pytest.approx(alone, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("rates", "labelled"), [((0.75, 0.85), 0.5), ((0.7, 0.9), 0.5), ((0.7, 0.9), 0.2)])
def test_where_the_judge_was_asked_of_unequal_parts_the_interval_covers_as_often_as_it_says(
    rates: tuple[float, float], labelled: float
) -> None:
    """Two thirds of the conversations are asked of with probability 0.2, the better third with 0.9."""
    rng, rate, draws = np.random.default_rng(3), (2 * rates[0] + rates[1]) / 3, 200
    covered = unweighted = 0
    for _ in range(draws):
        likely = np.repeat(rates, (400, 200))
        asked = rng.random(600) < np.repeat((0.2, 0.9), (400, 200))
        weights = 1 / np.repeat((0.2, 0.9), (400, 200))
        known = rng.random(600) < labelled
        truth = rng.random((600, 3)) < rng.beta(likely * 4, (1 - likely) * 4)[:, None]
        judged = rng.random((600, 3)) < np.where(truth, 0.9, 0.2)
        observed = [
            JudgedLabel(str(c), float(judged[c, k]), float(truth[c, k]) if known[c] else None, float(weights[c]))
            for c in np.flatnonzero(asked)
            for k in range(3)
        ]
        weighted, plain = corrected_mean(observed), corrected_mean([each._replace(weight=1.0) for each in observed])
        assert weighted is not None
        assert plain is not None
        covered += weighted.low <= rate <= weighted.high
        unweighted += plain.low <= rate <= plain.high
    assert 0.93 <= covered / draws <= 0.97
    assert unweighted / draws < 0.75
