import pytest

from turnsignal.stream.pipeline.metric_deltas import RANK_BANDS, LowestScore, MetricDeltas, rank_band


@pytest.mark.parametrize(
    ("rank", "band"),
    [(1, "1"), (3, "3"), (4, "4-5"), (5, "4-5"), (6, "6-10"), (10, "6-10"), (11, "11-20"), (20, "11-20"), (21, "21+")],
)
def test_a_rank_falls_into_its_band(rank, band):
    assert rank_band(rank) == band


def test_every_band_is_declared():
    assert {rank_band(rank) for rank in range(1, 1001)} == set(RANK_BANDS)


def test_the_worst_bad_score_of_a_series_is_remembered():
    deltas, series = MetricDeltas(), ("support", "v1", "follow_up")
    deltas.on_bad(series, "c-1", 0.3)
    deltas.on_bad(series, "c-2", 0.1)
    deltas.on_bad(series, "c-3", 0.2)
    assert deltas.exemplars == {series: LowestScore("c-2", 0.1)}


def test_merging_adds_every_count_and_leaves_the_other_as_it_was():
    series = ("support", "v1", "follow_up")
    one, two = MetricDeltas(), MetricDeltas()
    for deltas, value in ((one, 0.4), (two, 0.2)):
        deltas.count(deltas.turns, ("support", "v1", "user"), 2)
        deltas.count(deltas.records, ("turns", "scored"))
        deltas.count(deltas.pairing, "followed_up")
        deltas.scores[series].append(value)
        deltas.on_bad(series, f"c-{value}", value)
        deltas.last_event["turns"] = value
    one.merge(two)
    assert one.turns == {("support", "v1", "user"): 4}
    assert one.records == {("turns", "scored"): 2}
    assert one.pairing == {"followed_up": 2}
    assert one.scores == {series: [0.4, 0.2]}
    assert one.exemplars == {series: LowestScore("c-0.2", 0.2)}
    assert one.last_event == {"turns": 0.4}
    assert two.scores == {series: [0.2]}
    assert two.turns == {("support", "v1", "user"): 2}


def test_merging_forgets_no_field():
    one, two = MetricDeltas(), MetricDeltas()
    two.judged_times.append(0.5)
    for name in MetricDeltas.__slots__:
        if name == "judged_times":
            continue
        getattr(two, name)["key"] = (
            [0.5] if name.endswith("scores") else LowestScore("c", 0.5) if name == "exemplars" else 1
        )
    one.merge(two)
    assert one == two
