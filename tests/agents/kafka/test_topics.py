import pytest
from aiokafka.partitioner import DefaultPartitioner
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.agents.kafka.topics import APPS, TOPICS, Topic, inputs, partition_for, rights, topic_config, topic_names
from turnsignal.agents.settings import Settings

SETTINGS = Settings(brokers="localhost:9092")


def named(name: str) -> Topic:
    return next(topic for topic in TOPICS if topic.name == name)


@pytest.mark.parametrize(
    ("key", "hashed"),
    [  # org.apache.kafka.common.utils.UtilsTest.testMurmur2
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_a_key_goes_to_the_partition_that_java_chooses(key: bytes, hashed: int) -> None:
    assert partition_for(key, 2**31) == hashed & 0x7FFFFFFF
    assert partition_for(key, 7) == (hashed & 0x7FFFFFFF) % 7


@given(st.binary(max_size=64), st.integers(1, 64))
def test_a_key_goes_to_the_partition_that_aiokafka_chooses(key: bytes, partitions: int) -> None:
    assert partition_for(key, partitions) == DefaultPartitioner()(key, list(range(partitions)), [])


def test_a_topic_without_partitions_has_no_place_for_a_key() -> None:
    with pytest.raises(ValueError, match="expected at least one partition, got 0"):
        partition_for(b"c-1", 0)


def test_every_name_begins_with_the_prefix_and_changelogs_are_named_as_faust_names_them() -> None:
    names = topic_names("acme")
    assert names["turns"] == "acme.turns"
    assert names["dead_letters"] == "acme.dead-letters"
    assert names["conversations_changelog"] == "acme-score-conversations-changelog"
    assert names["series_changelog"] == "acme-watch-series-changelog"
    assert names["docket_changelog"] == "acme-judge-docket-changelog"
    assert len(set(names.values())) == len(TOPICS) == 14


def test_the_longest_name_fits_into_kafkas_limit() -> None:
    assert max(len(name) for name in topic_names("p" * 200).values()) <= 249


def test_what_the_score_app_reads_and_keeps_per_conversation_is_aligned() -> None:
    aligned = {topic.name for topic in TOPICS if topic.aligned}
    assert {topic.name for topic in inputs("score")} == {"turns", "feedback", "forget", "verdicts"}
    assert {"turns", "feedback", "forget", "verdicts", "conversations_changelog"} <= aligned


def test_an_app_does_not_count_its_own_changelog_among_its_inputs() -> None:
    assert [topic.name for topic in inputs("watch")] == ["series", "decisions"]
    assert [topic.name for topic in inputs("judge")] == ["exchanges"]


def test_only_newest_records_are_kept_of_changelogs_and_conversations() -> None:
    compact = {topic.name for topic in TOPICS if topic_config(topic, SETTINGS)["cleanup.policy"] == "compact"}
    assert compact == {"conversations", "conversations_changelog", "docket_changelog", "series_changelog"}


def test_retention_is_the_settings_and_forever_is_without_end() -> None:
    settings = Settings(brokers="localhost:9092", retention_scores="forever", retention_turns="12h")
    assert topic_config(named("turns"), settings)["retention.ms"] == "43200000"
    assert topic_config(named("scores"), settings)["retention.ms"] == "-1"


def test_what_was_replaced_or_erased_leaves_a_compacted_topic_within_the_lag() -> None:
    settings = Settings(brokers="localhost:9092", compaction_lag="12h")
    for topic in TOPICS:
        config = topic_config(topic, settings)
        lags = (config.get("max.compaction.lag.ms"), config["segment.ms"])
        assert lags == (("43200000", "43200000") if topic.compact else (None, "86400000"))


def test_a_segment_of_an_expiring_topic_is_no_longer_than_its_retention() -> None:
    settings = Settings(brokers="localhost:9092", retention_turns="1h", retention_scores="forever")
    assert topic_config(named("turns"), settings)["segment.ms"] == "3600000"
    assert topic_config(named("scores"), settings)["segment.ms"] == "86400000"


def test_the_broker_sets_the_time_of_records_that_come_from_outside() -> None:
    assert topic_config(named("turns"), SETTINGS)["message.timestamp.type"] == "LogAppendTime"
    assert "message.timestamp.type" not in topic_config(named("scores"), SETTINGS)


def test_in_sync_replicas_are_the_settings() -> None:
    settings = Settings(brokers="localhost:9092", replication=3, min_insync_replicas=2)
    assert {topic_config(topic, settings)["min.insync.replicas"] for topic in TOPICS} == {"2"}


def test_a_worker_may_read_its_inputs_and_write_its_outputs_and_transactions() -> None:
    granted = {(right.resource, right.name): right for right in rights(SETTINGS, "score")}
    assert granted["topic", "turnsignal.turns"].operations == ("READ", "DESCRIBE", "DESCRIBE_CONFIGS")
    assert granted["topic", "turnsignal.scores"].operations == ("WRITE", "DESCRIBE", "DESCRIBE_CONFIGS")
    assert granted["topic", "turnsignal-score-conversations-changelog"].operations[:2] == ("READ", "WRITE")
    assert granted["group", "turnsignal-score"].operations == ("READ", "DESCRIBE")
    assert granted["transactional-id", "turnsignal-score-"].operations == ("WRITE", "DESCRIBE")
    assert granted["transactional-id", "turnsignal-score-"].prefixed
    assert ("topic", "turnsignal-watch-series-changelog") not in granted


def test_without_transactions_no_right_to_them_is_asked_for() -> None:
    settings = Settings(brokers="localhost:9092", delivery="at_least_once")
    assert all(right.resource != "transactional-id" for app in APPS for right in rights(settings, app))
