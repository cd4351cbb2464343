"""Intervals agree with SciPy, merge, and are never certain of what they cannot know."""

import numpy as np
import pytest
from scipy import stats

from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN
from turnsignal.stream.statistics.intervals import (
    Batches,
    Clusters,
    adjust,
    clustered_mean,
    difference,
    mean_over_conversations,
    mean_over_turns,
    rate,
    rule_of_three,
    t_quantile,
    t_tails,
    wilson,
)


def clusters(*turns_and_totals: tuple[float, float]) -> Clusters:
    sums = Clusters()
    for turns, total in turns_and_totals:
        sums.add(turns, total)
    return sums


@pytest.mark.parametrize(("count", "n"), [(0, 30), (30, 30), (1, 2), (17, 40), (999, 1000)])
def test_a_rate_has_the_interval_that_scipy_gives(count: int, n: int) -> None:
    expected = stats.binomtest(count, n).proportion_ci(method="wilson")
    assert wilson(count, n) == pytest.approx((count / n, expected.low, expected.high, n), abs=1e-12)


@pytest.mark.parametrize("degrees", [5, 10, 29, 100, 10_000])
def test_the_quantile_of_t_is_that_of_scipy(degrees: int) -> None:
    assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-3)


def test_one_turn_a_conversation_gives_a_score_interval_as_wide_as_that_of_a_mean() -> None:
    values = np.random.default_rng(0).random(400)
    low, high = stats.t.interval(0.95, 399, values.mean(), stats.sem(values))
    found = clustered_mean(clusters(*[(1, value) for value in values]))
    assert found == pytest.approx((values.mean(), low, high, 400), abs=1e-3)


def test_turns_that_are_alike_within_a_conversation_do_not_count_as_more() -> None:
    alike = clustered_mean(clusters(*[(10, 10.0 * (i % 2)) for i in range(40)]))
    single = clustered_mean(clusters(*[(1, 1.0 * (i % 2)) for i in range(40)]))
    assert alike == pytest.approx(single)


@pytest.mark.parametrize(("level", "n"), [(0.5, 30), (0.9, 30), (0.99, 100)])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(level: float, n: int) -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        sizes = 1 + rng.poisson(3, n)
        drawn = zip(sizes, rng.binomial(sizes, rng.beta(4 * level, 4 - 4 * level, n)), strict=True)
        found = clustered_mean(clusters(*drawn))
        covered += found.low <= level <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_thirty_times_the_same_is_not_certainty() -> None:
    assert clustered_mean(clusters(*[(2, 2.0)] * 30)).low == pytest.approx(wilson(30, 30).low, abs=0.01)
    assert clustered_mean(clusters((3, 2.0))).n == 1


def test_a_long_conversation_weighs_no_more_than_a_short_one_in_the_mean_of_their_means() -> None:
    sums = clusters((9, 9.0), (1, 0.0))
    assert (mean_over_turns(sums).value, mean_over_conversations(sums).value) == (0.9, 0.5)


def test_parts_merge_into_the_whole_and_empty_conversations_do_not_count() -> None:
    whole = clusters((2, 1.0), (0, 0.0), (3, 2.5))
    part = clusters((2, 1.0))
    part.merge(clusters((3, 2.5)))
    assert part == whole
    assert whole.n == 2


def test_a_difference_is_newcombe_s() -> None:
    # 56 of 70 against 48 of 80: the example of Newcombe (1998), method 10, whose normal quantile is ours of t here.
    found = difference(rate(56, 70), rate(48, 80))
    assert found[:4] == pytest.approx((0.2, 0.0524, 0.3339, 70), abs=3e-3)


@pytest.mark.parametrize(("after", "before"), [((56, 70), (48, 80)), ((30, 30), (940, 1000)), ((2, 60), (9, 70))])
def test_p_is_below_a_twentieth_just_where_the_interval_leaves_zero_out(
    after: tuple[int, int], before: tuple[int, int]
) -> None:
    found = difference(rate(*after), rate(*before))
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)
    assert found.p == pytest.approx(difference(rate(*before), rate(*after)).p)


def test_the_p_of_large_samples_is_scipy_s() -> None:
    expected = stats.chi2_contingency([[560, 440], [520, 480]], correction=False).pvalue
    assert difference(rate(560, 1000), rate(520, 1000)).p == pytest.approx(expected, rel=0.03)
    assert difference(rate(7, 70), rate(7, 70)).p == 1.0


def test_thirty_perfect_answers_are_not_better_than_nineteen_in_twenty() -> None:
    assert difference(rate(30, 30), rate(950, 1000)).low < 0


@pytest.mark.parametrize(("t", "degrees"), [(1.0, 29), (2.0, 29), (3.5, 60), (5.0, 200)])
def test_the_tails_of_t_are_those_of_scipy(t: float, degrees: int) -> None:
    assert t_tails(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), rel=0.01)


def test_adjusted_p_values_are_those_of_scipy() -> None:
    values = [*np.random.default_rng(2).random(30) ** 3, 0.0, 1.0, 0.2, 0.2]
    assert adjust(values) == pytest.approx(list(stats.false_discovery_control(values)))
    assert adjust([]) == []


def test_what_was_not_seen_among_three_hundred_is_rarer_than_one_percent() -> None:
    assert (rule_of_three(300), rule_of_three(2), rule_of_three(0)) == (0.01, 1.0, 1.0)


def batches(*values: tuple[float, float]) -> Batches:
    """Values as (time, value)."""
    found = Batches()
    for time, value in values:
        found.add(time, 1.0, value)
    return found


def test_batches_of_time_are_at_most_sixteen_and_depend_on_neither_order_nor_division() -> None:
    values = [(1_000_000.0 + 97 * i, 1.0 * (i % 3)) for i in range(500)]
    whole, parts = batches(*values), batches(*values[250::-1])
    parts.merge(batches(*values[251:]))
    assert whole.clusters() == parts.clusters()
    assert (whole.clusters().turns, whole.clusters().total) == (500, sum(value for _, value in values))
    assert 8 <= whole.clusters().n <= 16


def test_a_batch_is_a_minute_where_that_is_short_enough() -> None:
    assert batches((0.0, 1.0), (59.0, 0.0), (60.0, 1.0)).clusters() == clusters((2, 1.0), (1, 1.0))
    assert batches().clusters().n == 0


def test_the_interval_covers_what_goes_up_and_down_with_the_load() -> None:
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        load = np.convolve(rng.normal(0, 0.1, 519), np.ones(20) / 20**0.5, "valid")
        found = mean_over_turns(
            batches(*zip((60.0 * np.arange(500)).tolist(), (0.5 + load).tolist(), strict=True)).clusters()
        )
        covered += found.interval.low <= 0.5 <= found.interval.high
    assert covered >= 0.88 * 200  # as if every value stood for itself: 0.35


def few_failures(turns_with_one: int, conversations: int) -> Clusters:
    """Conversations of four turns, of which so many have one turn that fails."""
    return clusters(*[(4, 4.0 - (i < turns_with_one)) for i in range(conversations)])


def test_a_few_failures_in_a_canary_are_no_surer_than_counting_makes_them() -> None:
    canary, others = mean_over_turns(few_failures(4, 30)), mean_over_turns(few_failures(20, 1000))
    exact = stats.fisher_exact([[4, 116], [20, 3980]]).pvalue
    assert exact / 2 < difference(canary, others).p < 2 * exact  # by the interval alone: a fifteenth of it


@pytest.mark.parametrize(("after", "before"), [(30, 30), (150, 150), (30, 1000)])
def test_a_few_conversations_that_are_very_long_make_no_difference_of_what_does_not_differ(
    after: int, before: int
) -> None:
    rng = np.random.default_rng(8)
    named = 0
    for _ in range(120):
        sides = []
        for n in (after, before):
            turns = rng.geometric(0.5, n) + (rng.random(n) < 0.02) * rng.integers(30, 150, n)
            good = rng.binomial(turns, rng.beta(2, 2, n))
            sides.append(mean_over_turns(clusters(*zip(turns.tolist(), good.tolist(), strict=True))))
        named += difference(*sides).p <= 0.05
    assert named <= 8  # as if conversations were of one length: 13 to 21


def test_conversations_of_about_one_length_count_as_they_did() -> None:
    rng = np.random.default_rng(3)
    turns = 1 + rng.poisson(3, 150)
    estimate = mean_over_turns(clusters(*zip(turns.tolist(), rng.binomial(turns, 0.8).tolist(), strict=True)))
    assert estimate.degrees >= 100
    equal = mean_over_turns(clusters(*[(4, 4.0 * (i % 5 > 0)) for i in range(50)]))
    assert (equal.size, equal.degrees) == (pytest.approx(49), 49)  # 50 conversations whose turns all agree


@pytest.mark.parametrize("step", [0.0, 0.06])
def test_what_goes_up_with_the_hour_within_both_is_no_step_between_them(step: float) -> None:
    rng = np.random.default_rng(9)
    named = plain = 0
    for _ in range(60):
        times = np.sort(rng.uniform(0, 7_200, 300))
        values = 0.3 + 0.06 * times / 7_200 + rng.normal(0, 0.05, 300) + step * (times > 3_600)
        seen = list(zip(times.tolist(), values.tolist(), strict=True))
        after = batches(*[one for one in seen if one[0] > 3_600])
        before = batches(*[one for one in seen if one[0] <= 3_600])
        found = after.step_from(before)
        assert found is not None
        named += found.p <= 0.05
        plain += difference(*(mean_over_turns(side.clusters(), 0.06) for side in (after, before))).p <= 0.05
    assert named <= 6 if not step else named >= 54
    assert plain >= 20


def test_from_yesterday_nobody_can_tell_by_the_slope() -> None:
    today = batches(*[(60.0 * n, 0.5) for n in range(10)])
    assert today.step_from(batches(*[(60.0 * n - 80_000, 0.4) for n in range(10)])) is None
    assert today.step_from(batches()) is None


def five_in_most(random: np.random.Generator, n: int, others: float) -> Clusters:
    """Return documents of n conversations on their scale: five in each, one where these are others."""
    fractions = np.where(random.random(n) < others, DOCUMENTS_GIVEN.fraction(1), DOCUMENTS_GIVEN.fraction(5))
    return clusters(*[(1, value) for value in fractions.tolist()])


@pytest.mark.parametrize("others", [0.01, 0.04, 0.1])
def test_counts_that_are_nearly_all_the_same_are_not_told_apart_too_often(others: float) -> None:
    random, named = np.random.default_rng(7), 0
    for _ in range(400):
        sides = (five_in_most(random, 40, others), five_in_most(random, 40, others))
        estimates = (mean_over_turns(of, DOCUMENTS_GIVEN.step(of.total / of.turns)) for of in sides)
        named += difference(*estimates).p <= 0.05
    assert named <= 24


def test_a_share_that_is_the_same_everywhere_is_about_as_sure_as_one_that_hardly_moves() -> None:
    equal = mean_over_turns(clusters(*[(2, 1.6)] * 70))
    assert 0.02 < equal.interval.high - equal.value < 0.05
