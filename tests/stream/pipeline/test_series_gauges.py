"""Gauges of the detectors: what stands while a change is open, and is gone when it is over or another worker's."""

from tests.stream.pipeline.test_watching import CHANGE, POLICY, dropped, records, recovered
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.metrics.families import PREFIX
from turnsignal.stream.pipeline.metric_family import WATCH
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.pipeline.series_state import restore_series
from turnsignal.stream.testing import FakeRecord

SCORERS = ("nDCG@5", "citation.format")


def worker() -> WorkerMetrics:
    return WorkerMetrics(app=WATCH, scorers=SCORERS, topics=["series"])


def watching(store: dict[bytes, bytes]) -> SeriesProcessor:
    processor = SeriesProcessor(store, "series", 0, policy=POLICY)
    processor.read_store()
    return processor


def feed(processor: SeriesProcessor, metrics: WorkerMetrics, fed: list[FakeRecord]) -> None:
    for start in range(0, len(fed), 25):
        batch = processor.process(fed[start : start + 25])
        processor.accept(batch)
        metrics.apply(batch.deltas, 1_750_000_000.0)


def shown(metrics: WorkerMetrics) -> dict[str, str]:
    """Lines of the page about detection: series → value."""
    lines = metrics.render()[0].decode().splitlines()
    pairs = [line.removeprefix(PREFIX).rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {series: value for series, value in pairs if series.startswith(("regression_", "baseline_"))}


def series(name: str, **labels: str) -> str:
    words = ",".join(f'{label}="{word}"' for label, word in sorted(labels.items()))
    return f"{name}{{{words}}}"


def test_an_open_change_is_shown_with_its_numbers_and_its_tier() -> None:
    metrics = worker()
    feed(watching({}), metrics, records(dropped()))
    page = shown(metrics)
    what = {"assistant": "support", "version": "v1", "scorer": "nDCG@5", "scope": "usual"}
    assert page[series("regression_open", **what, tier="page", direction="lower")] == "1.0"
    assert series("regression_open", **what, tier="ticket", direction="lower") not in page
    bounds = [float(page[series("regression_change_ratio", **what, bound=b)]) for b in ("lower", "mean", "upper")]
    assert bounds == sorted(bounds)
    assert bounds[-1] < 0
    assert abs(float(page[series("regression_since_timestamp_seconds", **what)]) - CHANGE) < 20_000
    usual = what | {"version": "none"}
    evidence = float(page[series("regression_evidence_log10", **usual)])
    assert evidence >= float(page[series("regression_threshold_log10", **usual, tier="page")]) > 4
    assert 0.7 < float(page[series("baseline_mean_ratio", assistant="support", scorer="nDCG@5")]) < 0.9
    counts = {name: value for name, value in page.items() if name.startswith("regression_incidents_total")}
    assert set(counts.values()) == {"1.0"}
    assert series("regression_incidents_total", assistant="support", tier="page") in counts


def test_before_anything_is_known_nothing_is_shown() -> None:
    metrics = worker()
    feed(watching({}), metrics, records(dropped())[:10])
    assert shown(metrics) == {}


def test_a_change_that_is_over_is_no_longer_shown() -> None:
    metrics = worker()
    feed(watching({}), metrics, records([*dropped(), *recovered()]))
    left = {series.partition("{")[0] for series in shown(metrics)}
    assert left == {
        "regression_incidents_total",
        "regression_evidence_log10",
        "regression_threshold_log10",
        "baseline_mean_ratio",
    }


def test_who_takes_a_partition_over_shows_its_gauges_at_once_and_who_had_it_none() -> None:
    store, first, second = dict[bytes, bytes](), worker(), worker()
    feed(watching(store), first, records(dropped()))
    gauges = {series: value for series, value in shown(first).items() if "_total" not in series}
    taken = watching(store)
    second.apply(taken.show(), 1.0)
    assert shown(second) == gauges
    first.apply(watching(store).hide(), 2.0)
    assert {series for series in shown(first) if "_total" not in series} == set()


def test_a_gauge_that_was_shown_as_other_is_taken_away_as_other() -> None:
    """A version without a clean spelling has no label of its own; an alarm of it must not stay for ever."""
    metrics = worker()
    feed(watching({}), metrics, records([*dropped(), *recovered()], version="<b>"))
    assert not [series for series in shown(metrics) if series.startswith(("regression_open", "regression_change"))]
    metrics = worker()
    feed(watching({}), metrics, records(dropped(), version="<b>"))
    assert [series for series in shown(metrics) if series.startswith("regression_open") and 'version="other"' in series]


def test_assistants_behind_one_label_are_open_until_the_last_of_them_is_over() -> None:
    """Assistants without a clean spelling share "other": the end of one change must not hide another's."""
    metrics, processor = worker(), watching({})
    feed(processor, metrics, records(dropped(), assistant="Help A"))
    feed(processor, metrics, records(dropped(), assistant="Help B"))
    both = {line: value for line, value in shown(metrics).items() if line.startswith("regression_open")}
    assert set(both.values()) == {"1.0"}
    feed(processor, metrics, records(recovered(), assistant="Help A"))
    assert {line: value for line, value in shown(metrics).items() if line.startswith("regression_open")} == both
    feed(processor, metrics, records(recovered(), assistant="Help B"))
    assert not [line for line in shown(metrics) if line.startswith("regression_open")]


def test_a_beginning_that_an_older_version_did_not_know_is_no_time_of_1970() -> None:
    store: dict[bytes, bytes] = {}
    feed(watching(store), worker(), records(dropped()))
    for key, value in store.items():
        if b"nDCG@5" in key and not key.startswith(b"incident:"):
            kept = restore_series(value)
            assert kept.detector is not None
            for alarm in kept.detector.alarms.values():
                alarm.since = 0.0
            store[key] = kept.snapshot()
    metrics, restored = worker(), watching(store)
    metrics.apply(restored.show(), 1_750_000_000.0)
    page = shown(metrics)
    names = [name for name in page if 'scorer="nDCG@5"' in name]
    assert any(name.startswith("regression_open") for name in names)
    assert not [name for name in names if name.startswith("regression_since_timestamp_seconds")]
