import random
import threading
from typing import cast

import pytest
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.metrics.families import FAMILIES, PREFIX
from turnsignal.agents.metrics.room import Room
from turnsignal.agents.score import make_score_app
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.errors import Reason
from turnsignal.stream.pipeline.metric_deltas import SCORE_BOUNDS, LowestScore, MetricDeltas
from turnsignal.stream.pipeline.metric_family import WATCH
from turnsignal.stream.pipeline.release_labels import DRILL, MAX_DRILLED
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.suite import Suite

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
NOON = 1_700_000_000.0
HOUR = 3600.0
DAY = 24 * HOUR
LEVELS = ("high", "low", "unknown")


def page(metrics):
    return metrics.render()[0].decode()


def samples(metrics):
    """Every sample of the page as (name without prefix, labels) → value."""
    return {
        (sample.name.removeprefix(PREFIX), frozenset(sample.labels.items())): sample.value
        for family in parse_text(page(metrics))
        for sample in family.samples
    }


def value(metrics, name, **labels):
    return samples(metrics).get((name, frozenset(labels.items())))


def series_count(metrics):
    return sum(not line.startswith("#") for line in page(metrics).splitlines())


def worker(**changes):
    return WorkerMetrics(**{"scorers": ["nDCG@5", "follow_up"], "checks": ["length.words"], **changes})


def worker_with_room(releases):
    """A worker whose page has room for so many releases beside what has none."""
    room = Room(scorers=2, checks=1)
    return worker(max_series=room.shared + (releases + MAX_DRILLED + 1) * room.per_release)


def scored(*values, scorer="nDCG@5", version="v1"):
    deltas = MetricDeltas()
    deltas.scores["support", version, scorer].extend(values)
    return deltas


def test_every_count_of_a_tally_reaches_its_series():
    metrics, deltas = worker(topics=["turns"]), MetricDeltas()
    deltas.count(deltas.turns, ("support", "v1", "user"), 3)
    deltas.count(deltas.quality, ("support", "v1", "follow_up", "bad"), 2)
    deltas.count(deltas.unscored, ("support", "v1", "nDCG@5", Unscored.NO_CITATIONS))
    deltas.count(deltas.checks, ("support", "v1", "length.words", "fail"))
    deltas.count(deltas.diagnosis, ("support", "v1", "high/low/unknown"))
    deltas.count(deltas.citations, ("support", "v1", "dangling"), 4)
    deltas.count(deltas.retrieved, ("support", "v1", "4-5"), 2)
    deltas.count(deltas.cited, ("support", "v1", "1"))
    deltas.count(deltas.outcomes, ("support", "v1", "resolved"))
    deltas.count(deltas.pairing, "late")
    deltas.count(deltas.records, ("turns", "scored"), 5)
    deltas.count(deltas.dead_letters, ("turns", Reason.NOT_JSON))
    deltas.count(deltas.redactions, "email", 3)
    deltas.last_event["turns"] = NOON
    metrics.apply(deltas, NOON)
    metrics.apply(deltas, NOON)
    release = {"assistant": "support", "version": "v1"}
    levels = {"relevancy": "high", "followups": "low", "instructions": "unknown"}
    assert value(metrics, "turns_total", **release, role="user") == 6
    assert value(metrics, "score_verdicts_total", **release, scorer="follow_up", verdict="bad") == 4
    assert value(metrics, "unscored_total", **release, scorer="nDCG@5", reason="no_citations") == 2
    assert value(metrics, "instruction_checks_total", **release, check="length.words", result="fail") == 2
    assert value(metrics, "diagnosis_turns_total", **release, **levels) == 2
    assert value(metrics, "citations_total", **release, kind="dangling") == 8
    assert value(metrics, "retrieved_documents_total", **release, rank="4-5") == 4
    assert value(metrics, "cited_documents_total", **release, rank="1") == 2
    assert value(metrics, "conversations_closed_total", **release, outcome="resolved") == 2
    assert value(metrics, "pairing_total", outcome="late") == 2
    assert value(metrics, "records_total", topic="turns", result="scored") == 10
    assert value(metrics, "dead_letters_total", topic="turns", reason="not_json") == 2
    assert value(metrics, "redactions_total", kind="email") == 6
    assert value(metrics, "last_event_timestamp_seconds", topic="turns") == NOON


def test_scores_applied_in_batches_equal_scores_observed_one_by_one():
    naive = Histogram("naive", "the oracle", buckets=SCORE_BOUNDS, registry=CollectorRegistry())
    chance, metrics = random.Random(7), worker()
    for size in (0, 1, 17, 500):
        values = [chance.choice([0.0, 0.1, 0.3, 0.99, 1.0, chance.random()]) for _ in range(size)]
        metrics.apply(scored(*values), NOON)
        for one in values:
            naive.observe(one)
    release = {"assistant": "support", "version": "v1", "scorer": "nDCG@5"}
    for sample in next(iter(naive.collect())).samples:
        name = sample.name.replace("naive", "score_ratio")
        if not name.endswith("_created"):
            assert value(metrics, name, **release, **sample.labels) == pytest.approx(sample.value)


def test_scores_that_are_no_number_are_counted_as_errors_and_never_reach_the_sum():
    metrics = worker()
    metrics.apply(scored(0.5, float("nan"), float("inf"), None, float("-inf")), NOON)
    release = {"assistant": "support", "version": "v1", "scorer": "nDCG@5"}
    assert value(metrics, "score_ratio_sum", **release) == 0.5
    assert value(metrics, "score_ratio_count", **release) == 1
    assert value(metrics, "unscored_total", **release, reason="error") == 4


def test_scores_beyond_their_range_are_clamped():
    metrics = worker()
    metrics.apply(scored(-3.0, 7.0), NOON)
    release = {"assistant": "support", "version": "v1", "scorer": "nDCG@5"}
    assert value(metrics, "score_ratio_sum", **release) == 1.0
    assert value(metrics, "score_ratio_bucket", **release, le="0.0") == 1
    assert value(metrics, "score_ratio_bucket", **release, le="1.0") == 2


def test_a_batch_is_seen_wholly_or_not_at_all():
    metrics, done, torn = worker(), threading.Event(), []
    deltas = scored(0.5)
    deltas.count(deltas.quality, ("support", "v1", "nDCG@5", "good"))

    def scrape():
        while not done.is_set():
            found = samples(metrics)
            release = {"assistant": "support", "version": "v1", "scorer": "nDCG@5"}
            observed = found.get(("score_ratio_count", frozenset(release.items())))
            judged = found.get(("score_verdicts_total", frozenset({**release, "verdict": "good"}.items())))
            if observed != judged:
                torn.append((observed, judged))

    reader = threading.Thread(target=scrape)
    reader.start()
    for _ in range(500):
        metrics.apply(deltas, NOON)
    done.set()
    reader.join()
    assert torn == []


@pytest.mark.parametrize("hostile", ["\ud800", "a\x00b", "a\nb", "\u202e", "x" * 200, 'a"} 1\nfake 1'])
def test_hostile_words_from_traffic_never_reach_the_page(hostile):
    metrics, deltas = worker(), MetricDeltas()
    deltas.count(deltas.turns, (hostile, hostile, "user"))
    metrics.apply(deltas, NOON)
    for accept in (None, OPENMETRICS):
        text = metrics.render(accept)[0].decode()
        assert hostile not in text
        assert 'assistant="other",role="user",version="other"' in text
    assert value(metrics, "label_overflow_total", label="assistant") == 1
    assert value(metrics, "label_overflow_total", label="version") == 1


def test_a_version_that_was_not_given_is_none_in_small_letters():
    metrics, deltas = worker(), MetricDeltas()
    deltas.count(deltas.turns, ("support", None, "assistant"))
    metrics.apply(deltas, NOON)
    assert value(metrics, "turns_total", assistant="support", version="none", role="assistant") == 1
    assert "None" not in page(metrics)


def test_names_that_were_not_declared_are_other_and_counted():
    metrics, deltas = worker(), scored(0.5, scorer="\ud800")
    deltas.count(deltas.checks, ("support", "v1", "made.up", "pass"))
    metrics.apply(deltas, NOON)
    release = {"assistant": "support", "version": "v1"}
    assert value(metrics, "score_ratio_count", **release, scorer="other") == 1
    assert value(metrics, "instruction_checks_total", **release, check="other", result="pass") == 1
    assert value(metrics, "label_overflow_total", label="scorer") == 1
    assert value(metrics, "label_overflow_total", label="check") == 1


def test_series_that_there_was_no_room_for_are_counted() -> None:
    metrics, deltas = WorkerMetrics(app=WATCH), MetricDeltas()
    assert value(metrics, "label_overflow_total", label="series") == 0
    deltas.overflow["series"] += 3
    metrics.apply(deltas, 0.0)
    assert value(metrics, "label_overflow_total", label="series") == 3


def test_a_long_declared_name_fits_the_label_limit_of_the_scrape():
    name = f"keywords.forbidden(words='{'x' * 500}')"
    metrics, deltas = worker(checks=[name]), MetricDeltas()
    deltas.count(deltas.checks, ("support", "v1", name, "fail"))
    metrics.apply(deltas, NOON)
    labels = [dict(key[1])["check"] for key in samples(metrics) if key[0] == "instruction_checks_total"]
    assert labels
    assert all(len(label.encode()) <= 128 for label in labels)


def exemplars(metrics):
    text = metrics.render(OPENMETRICS)[0].decode()
    return [
        (sample.labels["le"], sample.exemplar)
        for family in parse_openmetrics(text)
        for sample in family.samples
        if sample.exemplar is not None
    ]


def test_the_worst_turn_is_named_in_its_bucket_by_a_keyed_digest():
    metrics, deltas = worker(secret="s3cret"), scored(0.95, 0.25)
    deltas.on_bad(("support", "v1", "nDCG@5"), "conversation-1", 0.25)
    metrics.apply(deltas, NOON)
    [(bucket, exemplar)] = exemplars(metrics)
    assert bucket == "0.3"
    assert exemplar.value == 0.25
    assert float(exemplar.timestamp) == NOON
    # openssl: printf conversation-1 | openssl dgst -sha256 -hmac s3cret | cut -c1-16
    assert exemplar.labels == {"conversation": "16035bd2d2eecc56"}
    assert "conversation-1" not in metrics.render(OPENMETRICS)[0].decode()


def test_without_a_secret_no_conversation_is_named():
    metrics, deltas = worker(), scored(0.25)
    deltas.on_bad(("support", "v1", "nDCG@5"), "conversation-1", 0.25)
    metrics.apply(deltas, NOON)
    assert exemplars(metrics) == []


def test_a_worker_shows_its_revision_and_names_conversations_with_the_secret_of_its_settings():
    settings = Settings(brokers="localhost:1", revision="3f2c1ab", exemplar_secret="correct horse battery")
    metrics = cast("TaskManager", make_score_app(settings, Suite()).task_manager).metrics
    deltas = scored(0.25)
    deltas.on_bad(("support", "v1", "nDCG@5"), "conversation-1", 0.25)
    metrics.apply(deltas, NOON)
    assert 'revision="3f2c1ab"' in metrics.render(OPENMETRICS)[0].decode()
    # openssl: printf conversation-1 | openssl dgst -sha256 -hmac "correct horse battery" | cut -c1-16
    assert [exemplar.labels for _, exemplar in exemplars(metrics)] == [{"conversation": "310c7b2a5974d8a0"}]


@pytest.mark.parametrize("conversation", ["c" * 200, "\ud800", "a\nb\x00", "ü" * 200])
def test_no_conversation_id_makes_an_exemplar_over_128_characters(conversation):
    metrics, deltas = worker(secret="s3cret"), scored(0.0)
    deltas.on_bad(("support", "v1", "nDCG@5"), conversation, 0.0)
    metrics.apply(deltas, NOON)
    [(_, exemplar)] = exemplars(metrics)
    assert sum(len(key) + len(word) for key, word in exemplar.labels.items()) == 28


def test_an_exemplar_whose_value_is_no_number_is_left_out():
    metrics, deltas = worker(secret="s3cret"), scored(0.5)
    deltas.exemplars["support", "v1", "nDCG@5"] = LowestScore("c", float("nan"))
    deltas.exemplars["support", "v1", "follow_up"] = LowestScore("c", 0.1)
    metrics.apply(deltas, NOON)
    assert exemplars(metrics) == []


@pytest.mark.parametrize(
    "accept",
    [
        OPENMETRICS,
        "application/openmetrics-text",
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
        "application/openmetrics-text;version=0.0.1,application/openmetrics-text; Version=1.0.0",
    ],
)
def test_whoever_asks_for_openmetrics_gets_it(accept):
    body, content_type = worker().render(accept)
    assert content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert body.endswith(b"# EOF\n")


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "text/html",
        ",;=,",
        "application/openmetrics-text;version=9",
        "application/openmetrics-text;version=x.y",
    ],
)
def test_anyone_else_gets_the_text_format(accept):
    body, content_type = worker().render(accept)
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# EOF" not in body


@pytest.mark.parametrize("setting", ["True", "False"])
def test_no_created_series_whatever_the_environment_says(setting, monkeypatch):
    monkeypatch.setenv("PROMETHEUS_DISABLE_CREATED_SERIES", setting)
    metrics = worker()
    metrics.apply(scored(0.5), NOON)
    assert b"_created" not in metrics.render()[0] + metrics.render(OPENMETRICS)[0]


def test_declared_series_exist_at_zero_before_the_first_turn():
    metrics = worker(topics=["turns"])
    assert value(metrics, "records_total", topic="turns", result="scored") == 0
    assert value(metrics, "pairing_total", outcome="late") == 0
    assert value(metrics, "end_to_end_latency_seconds_count", stage="inline") == 0
    for reason in Reason:
        assert value(metrics, "dead_letters_total", topic="turns", reason=reason) == 0


def test_a_new_release_starts_with_every_declared_series():
    metrics, deltas = worker(), MetricDeltas()
    deltas.count(deltas.turns, ("support", "v2", "assistant"))
    metrics.apply(deltas, NOON)
    release = {"assistant": "support", "version": "v2"}
    assert value(metrics, "score_ratio_count", **release, scorer="follow_up") == 0
    assert value(metrics, "score_verdicts_total", **release, scorer="nDCG@5", verdict="good") == 0
    assert value(metrics, "instruction_checks_total", **release, check="length.words", result="error") == 0
    assert value(metrics, "cited_documents_total", **release, rank="21+") == 0


def test_a_user_who_has_no_answer_yet_opens_no_release():
    metrics, deltas = worker(), MetricDeltas()
    deltas.count(deltas.turns, ("support", None, "user"))
    metrics.apply(deltas, NOON)
    shown = {name for name, labels in samples(metrics) if ("version", "none") in labels}
    assert shown == {"turns_total"}
    deltas.count(deltas.turns, ("support", None, "assistant"))
    metrics.apply(deltas, NOON)
    release = {"assistant": "support", "version": "none"}
    assert value(metrics, "score_ratio_count", **release, scorer="follow_up") == 0


def test_a_judged_row_takes_from_when_its_turn_was_said_until_it_is_written():
    metrics = WorkerMetrics(topics=["turns"])
    deltas = MetricDeltas()
    deltas.judged_times += [NOON - 40.0, NOON - 2.0, NOON + 9.0, float("nan")]
    metrics.apply(deltas, NOON)
    assert value(metrics, "end_to_end_latency_seconds_count", stage="judged") == 3
    assert value(metrics, "end_to_end_latency_seconds_sum", stage="judged") == 42.0
    assert value(metrics, "end_to_end_latency_seconds_count", stage="inline") == 0


def test_the_page_of_watch_has_nothing_that_watch_cannot_move():
    metrics = WorkerMetrics(app=WATCH, topics=["series"])
    shown = {(name, *sorted(labels)) for name, labels in samples(metrics) if not name.endswith(("_bucket", "_sum"))}
    series = ("topic", "series")
    assert shown == {
        ("build_info", ("app", "watch"), ("revision", "unknown"), ("version", "unknown")),
        ("dead_letters_total", ("reason", "poison"), series),
        ("dead_letters_total", ("reason", "undecodable"), series),
        ("dead_letters_total", ("reason", "wrong_type"), series),
        ("end_to_end_latency_seconds_count", ("stage", "watch")),
        ("label_overflow_total", ("label", "series")),
        ("notifications_total", ("result", "failed")),
        ("notifications_total", ("result", "sent")),
        ("pending_turns",),
        ("records_total", ("result", "applied"), series),
        ("records_total", ("result", "dead_letter"), series),
        ("records_total", ("result", "unknown"), series),
        ("records_total", ("result", "watched"), series),
        ("transaction_duration_seconds_count",),
        ("transactions_total", ("result", "aborted")),
        ("transactions_total", ("result", "committed")),
        ("worker_recovering",),
    }


def test_a_score_worker_says_what_each_scorer_is_about_and_which_way_is_better():
    metrics = cast("TaskManager", make_score_app(Settings(brokers="localhost:1"), Suite()).task_manager).metrics
    facts = {dict(labels)["scorer"]: dict(labels) for name, labels in samples(metrics) if name == "scorer_info"}
    assert {name: (of["quality"], of["better"]) for name, of in facts.items()}.items() >= {
        "nDCG@5": ("relevancy", "high"),
        "wasted_context": ("citation", "low"),
        "citation.format": ("instructions", "high"),
        "compliance": ("instructions", "high"),
        "clarification_free": ("follow_up", "high"),
        "vote": ("other", "high"),
    }.items()
    assert value(metrics, "scorer_good_from_ratio", scorer="compliance") == 1.0
    assert value(metrics, "scorer_good_from_ratio", scorer="follow_up") == 0.5
    assert value(metrics, "scorer_good_from_ratio", scorer="wasted_context") is None


def full(release, scorers, checks):
    """A tally that touches everything a release can have. release: assistant and version, or a number of one."""
    deltas, (a, v) = MetricDeltas(), (f"a{release % 7}", f"v{release}") if isinstance(release, int) else release
    for scorer in scorers:
        deltas.scores[a, v, scorer].append(0.5)
        for reason in list(Unscored)[:6]:
            deltas.count(deltas.unscored, (a, v, scorer, reason))
    for check in checks:
        deltas.count(deltas.checks, (a, v, check, "pass"))
    for row in [f"{x}/{y}/{z}" for x in LEVELS for y in LEVELS for z in LEVELS]:
        deltas.count(deltas.diagnosis, (a, v, row))
    for role in ("user", "assistant", "system", "tool"):
        deltas.count(deltas.turns, (a, v, role))
    return deltas


def test_the_page_stays_within_its_bound_whatever_the_traffic_says():
    scorers, checks = [f"s{n}" for n in range(8)], [f"c.{n}" for n in range(20)]
    metrics = WorkerMetrics(scorers=scorers, checks=checks, topics=["turns", "verdicts"], max_series=5_000)
    largest = 0
    for number in range(150):
        metrics.apply(full(number, scorers, checks), NOON + number * 100.0)
        largest = max(largest, series_count(metrics) if number % 10 == 9 else 0)
    assert 2_000 < largest <= 5_000
    assert value(metrics, "label_overflow_total", label="release") > 0
    everywhere = sum(v for (name, labels), v in samples(metrics).items() if name == "turns_total")
    assert everywhere > 0


def built_in_metrics(**settings):
    """The metrics of a score worker of the built-in suite, and the scorers and checks that they declare."""
    app = make_score_app(Settings(brokers="localhost:1", **settings), Suite())
    metrics = cast("TaskManager", app.task_manager).metrics
    scorers = {dict(labels)["scorer"] for name, labels in samples(metrics) if name == "scorer_info"}
    return metrics, sorted(scorers), [check.name for _, check in Suite().parsed_checks]


def shown_releases(metrics):
    """The releases whose answers are counted under their own names."""
    return {
        (labels["assistant"], labels["version"])
        for (name, named), turns in samples(metrics).items()
        if name == "turns_total" and turns and (labels := dict(named))["role"] == "assistant"
    }


def answered(assistant, version):
    """A tally of a conversation's first question, which is of no version yet, and of its answer."""
    deltas = MetricDeltas()
    deltas.count(deltas.turns, (assistant, None, "user"))
    deltas.count(deltas.turns, (assistant, version, "assistant"))
    return deltas


TWENTY_FOUR = {(f"assistant-{a}", f"v{v}") for a in range(8) for v in range(3)}


def test_a_page_of_the_built_in_suite_names_24_releases_of_8_assistants_and_a_drill():
    metrics, scorers, checks = built_in_metrics()
    drilled = {(f"{DRILL}20261121-100000", "v1"), (f"{DRILL}20261121-100000", "v2")}
    for assistant, version in sorted(TWENTY_FOUR | drilled):
        deltas = full((assistant, version), scorers, checks)
        deltas.merge(answered(assistant, version))
        metrics.apply(deltas, NOON)
    assert shown_releases(metrics) == TWENTY_FOUR | drilled
    assert value(metrics, "label_overflow_total", label="release") == 0
    assert 10_000 < series_count(metrics) <= Settings(brokers="localhost:1").metrics_series


def test_drills_take_no_place_of_what_is_served_and_are_shown_on_a_full_page():
    metrics, _, _ = built_in_metrics()
    for number in range(40):
        metrics.apply(answered("support", f"v{number}"), NOON + number * HOUR)
    before, now = shown_releases(metrics), NOON + 39 * HOUR
    for day in range(3):  # the next one takes the places of the one before
        for version in ("v1", "v2"):
            metrics.apply(answered(f"{DRILL}{day}", version), now + day)
        assert shown_releases(metrics) >= before | {(f"{DRILL}{day}", "v1"), (f"{DRILL}{day}", "v2")}
    metrics.apply(answered("sales", "v1"), now + 10)
    assert ("sales", "v1") in shown_releases(metrics)


def test_questions_before_the_first_answer_take_no_place():
    metrics = worker_with_room(2)
    for assistant in ("support", "sales"):
        metrics.apply(answered(assistant, "v1"), NOON)
    assert shown_releases(metrics) == {("support", "v1"), ("sales", "v1")}
    assert value(metrics, "turns_total", assistant="sales", version="none", role="user") == 1
    assert value(metrics, "label_overflow_total", label="release") == 0


def test_answers_without_a_version_take_a_place_like_those_with_one():
    metrics = worker_with_room(2)
    for assistant in ("support", "sales", "billing"):
        metrics.apply(answered(assistant, None), NOON)
    assert shown_releases(metrics) == {("support", "none"), ("sales", "none"), ("other", "other")}
    assert value(metrics, "label_overflow_total", label="release") == 1


@pytest.mark.parametrize(("most", "names"), [(4_000, 1), (8_000, 8), (17_500, 25), (40_000, 66)])
def test_the_setting_decides_how_many_releases_have_names_and_the_others_are_counted(most, names):
    metrics, _, _ = built_in_metrics(metrics_series=most)
    for number in range(100):
        metrics.apply(answered(f"assistant-{number % 8}", f"v{number}"), NOON)
    shown = shown_releases(metrics)
    assert len(shown - {("other", "other")}) == names
    assert ("other", "other") in shown
    assert value(metrics, "label_overflow_total", label="release") > 0


def test_a_release_without_room_keeps_its_assistant_and_then_becomes_other():
    metrics = worker(max_series=601)  # room for a single release beside other/other
    for assistant, version in (("support", "v1"), ("support", "v2"), ("sales", "v1")):
        deltas = MetricDeltas()
        deltas.count(deltas.turns, (assistant, version, "user"))
        metrics.apply(deltas, NOON)
    assert value(metrics, "turns_total", assistant="support", version="v1", role="user") == 1
    assert value(metrics, "turns_total", assistant="other", version="other", role="user") == 2
    assert value(metrics, "label_overflow_total", label="release") == 2


def test_the_series_of_a_forgotten_version_are_removed_everywhere():
    metrics = worker_with_room(20)
    for number in range(20):
        metrics.apply(scored(0.5, version=f"v{number}"), NOON + number)
    assert 'version="v0"' in page(metrics)
    metrics.apply(scored(0.5, version="v20"), NOON + HOUR)
    assert 'version="v0"' not in page(metrics)
    assert 'version="v1"' in page(metrics)
    metrics.apply(scored(0.5, version="v0"), NOON + HOUR + 10)
    assert 'version="v0"' not in page(metrics)
    assert value(metrics, "score_ratio_count", assistant="support", version="other", scorer="nDCG@5") == 1


def test_a_version_that_comes_back_after_its_time_starts_again_at_its_own_count():
    metrics = worker_with_room(20)
    for number in range(21):
        metrics.apply(scored(0.5, version=f"v{number}"), NOON + number * HOUR)
    metrics.apply(scored(0.5, version="v0"), NOON + 30 * HOUR)
    assert value(metrics, "score_ratio_count", assistant="support", version="v0", scorer="nDCG@5") == 1
    assert (
        value(metrics, "score_verdicts_total", assistant="support", version="v0", scorer="follow_up", verdict="bad")
        == 0
    )


def test_a_release_that_is_deployed_is_shown_however_long_old_ones_are_still_used():
    metrics = worker_with_room(6)
    for number in range(40):
        for old in range(number + 1):  # every version that there ever was still has a turn now and then
            metrics.apply(scored(0.5, version=f"v{old}"), NOON + number * DAY + old)
        assert value(metrics, "score_ratio_count", assistant="support", version=f"v{number}", scorer="nDCG@5") == 1
    assert series_count(metrics) <= 5_000


def test_the_gauges_of_a_revoked_partition_are_removed():
    metrics = worker()
    metrics.set("consumer_lag_messages", 17, "turns", "3")
    metrics.set("position_starts", 2, "3")
    assert value(metrics, "consumer_lag_messages", topic="turns", partition="3") == 17
    metrics.set("consumer_lag_messages", 4, "turns", "33")
    metrics.remove_series("partition", "3")
    metrics.remove_series("partition", "4")
    assert value(metrics, "consumer_lag_messages", topic="turns", partition="3") is None
    assert value(metrics, "position_starts", partition="3") is None
    assert value(metrics, "consumer_lag_messages", topic="turns", partition="33") == 4


def test_the_gauges_of_a_table_that_went_elsewhere_are_removed():
    metrics = worker()
    metrics.set("table_entries", 12, "score-3")
    metrics.set("table_recovery_remaining_messages", 3, "score-3")
    metrics.remove_series("table", "score-3")
    metrics.remove_series("table", "score-4")
    assert value(metrics, "table_entries", table="score-3") is None
    assert "score-3" not in page(metrics)


def test_a_future_event_time_is_forgotten_with_the_next_batch():
    metrics = worker()
    for time in (NOON + 86_400.0, NOON):
        deltas = MetricDeltas()
        deltas.last_event["turns"] = time
        metrics.apply(deltas, NOON)
    assert value(metrics, "last_event_timestamp_seconds", topic="turns") == NOON


def test_the_state_of_the_worker_is_shown():
    metrics = worker(version="0.1.0", revision="abc123")
    metrics.set("pending_turns", 4)
    metrics.set("table_entries", 12, "conversations")
    metrics.set("table_recovery_remaining_messages", 3, "conversations")
    metrics.set("worker_recovering", 1)
    metrics.count("transactions_total", "committed")
    metrics.observe("transaction_duration_seconds", [0.02])
    metrics.observe("end_to_end_latency_seconds", [0.01, 0.2, float("nan"), -5.0], "inline")
    assert value(metrics, "pending_turns") == 4
    assert value(metrics, "table_entries", table="conversations") == 12
    assert value(metrics, "table_recovery_remaining_messages", table="conversations") == 3
    assert value(metrics, "worker_recovering") == 1
    assert value(metrics, "transactions_total", result="committed") == 1
    assert value(metrics, "transaction_duration_seconds_bucket", le="0.025") == 1
    assert value(metrics, "end_to_end_latency_seconds_count", stage="inline") == 3
    assert value(metrics, "end_to_end_latency_seconds_sum", stage="inline") == pytest.approx(0.21)
    assert value(metrics, "build_info", version="0.1.0", revision="abc123", app="score") == 1


def test_two_workers_in_one_process_share_nothing():
    one, two = worker(), worker()
    one.apply(scored(0.5), NOON)
    assert 'version="v1"' not in page(two)


def tried(*values, environment="synthetic", scorer="nDCG@5"):
    deltas = MetricDeltas()
    deltas.other_turns[environment, "assistant"] = len(values)
    deltas.other_scores[environment, scorer].extend(values)
    return deltas


def test_what_other_environments_did_is_counted_apart_and_without_a_release():
    metrics, deltas = worker(), tried(0.25, 1.0)
    deltas.other_unscored["synthetic", "follow_up"] = 3
    deltas.other_outcomes["synthetic", "resolved"] = 1
    metrics.apply(deltas, NOON)
    synthetic = {"environment": "synthetic"}
    assert value(metrics, "environment_turns_total", **synthetic, role="assistant") == 2
    assert value(metrics, "environment_score_ratio_count", **synthetic, scorer="nDCG@5") == 2
    assert value(metrics, "environment_score_ratio_sum", **synthetic, scorer="nDCG@5") == 1.25
    assert value(metrics, "environment_score_ratio_count", **synthetic, scorer="follow_up") == 0
    assert value(metrics, "environment_unscored_total", **synthetic, scorer="follow_up") == 3
    assert value(metrics, "environment_conversations_closed_total", **synthetic, outcome="resolved") == 1
    assert not any(name.startswith(("score_ratio", "turns_total", "unscored")) for name, _ in samples(metrics))


def test_nobody_pays_series_for_an_environment_that_is_not_used():
    assert "environment" not in page(worker()).replace("mixed_environment", "")


def test_all_environments_together_stay_within_what_is_kept_free_for_them():
    scorers = [f"s{n}" for n in range(30)]
    metrics = WorkerMetrics(scorers=scorers)
    before = series_count(metrics)
    for environment in ("experiment", "synthetic"):
        for scorer in (*scorers, "unheard of"):
            deltas = tried(0.5, environment=environment, scorer=scorer)
            deltas.other_unscored[environment, scorer] += 1
            for role in FAMILIES["environment_turns_total"].words_of("role"):
                deltas.other_turns[environment, role] += 1
            for outcome in FAMILIES["environment_conversations_closed_total"].words_of("outcome"):
                deltas.other_outcomes[environment, outcome] += 1
            metrics.apply(deltas, NOON)
    assert 100 < series_count(metrics) - before <= Room(len(scorers), 0).of_environments
