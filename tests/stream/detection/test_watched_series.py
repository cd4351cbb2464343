"""A back-test says in which series an alarm could open, from when on, and why in others none could."""

from collections.abc import Iterator

from tests.stream.detection.simulated import DAY, START
from turnsignal.stream.detection.backtest import BackTest, back_test
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.detection.watched_series import ShortSeries
from turnsignal.stream.records.decisions import REBASE, Decision
from turnsignal.stream.records.observations import pack

POLICY = AlertPolicy(frozenset({"nDCG@5"}))


def records(
    assistant: str, count: int, days: float, scorers: tuple[str, ...] = ("nDCG@5",), start: float = START
) -> Iterator[bytes]:
    """So many values of each scorer, evenly over some days."""
    for number in range(count):
        row = (
            f"c{number}",
            start + number * days * DAY / count,
            scorers,
            (0.8,) * len(scorers),
            (0, 0.0) * len(scorers),
        )
        yield from pack(assistant, "v1", 0, [row])


def run(*sources: Iterator[bytes], decisions: tuple[Decision, ...] = ()) -> BackTest:
    return back_test(sources, POLICY, decisions)


def test_a_series_is_watched_from_its_first_value_after_a_thousand_and_a_day() -> None:
    slow = run(records("slow", 1_200, 3.0)).series
    assert slow.began == {("slow", 0, "nDCG@5"): START + 1_000 * 3.0 * DAY / 1_200}
    fast = run(records("fast", 4_000, 2.0)).series
    assert fast.began == {("fast", 0, "nDCG@5"): START + DAY}
    assert (slow.short, fast.short) == ((), ())


def test_series_with_too_few_values_or_too_little_time_are_named_and_those_that_page_stand_first() -> None:
    series = run(
        records("few", 320, 2.5),
        records("soon", 1_500, 0.5, ("cited", "nDCG@5")),
        records("enough", 1_200, 3.0),
        records("just", 1_000, 3.0),
    ).series
    assert list(series.began) == [("enough", 0, "nDCG@5")]
    assert [(short.assistant, short.scorer, short.values, round(short.days, 1)) for short in series.short] == [
        ("soon", "nDCG@5", 1_500, 0.5),
        ("just", "nDCG@5", 1_000, 3.0),
        ("few", "nDCG@5", 320, 2.5),
        ("soon", "cited", 1_500, 0.5),
    ]
    assert series.as_json()["not_watched"][2] == {
        "assistant": "few",
        "lane": 0,
        "scorer": "nDCG@5",
        "values": 320,
        "days": 2.492,
    }


def test_what_came_before_a_long_silence_or_a_decision_does_not_count_twice() -> None:
    later = records("quiet", 900, 1.0, start=START + 20.0 * DAY)
    others = records("other", 30, 30.0)
    (quiet, *_) = run(records("quiet", 950, 1.0), later, others).series.short
    assert (quiet.assistant, quiet.values, round(quiet.days, 2)) == ("quiet", 950, 1.0)
    rebased = Decision(REBASE, "late", 0, START + 3.0 * DAY)
    assert run(records("late", 900, 2.0), decisions=(rebased,)).series.short == (
        ShortSeries("late", 0, "nDCG@5", 0, 0.0),
    )


def test_a_series_that_was_watched_once_stays_so_when_it_learns_anew() -> None:
    rebased = Decision(REBASE, "a", 0, START + 9.0 * DAY)
    series = run(records("a", 2_000, 3.0), decisions=(rebased,)).series
    assert (len(series.began), series.short) == (1, ())
