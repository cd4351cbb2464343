import pytest

from turnsignal.agents.worker.positions import (
    Changelog,
    Position,
    Trouble,
    check_positions,
    encode_commit_metadata,
    find_troubles,
)
from turnsignal.stream.errors import ConfigError

EQUAL = {"turnsignal.turns": 4, "turnsignal-score-conversations-changelog": 4}


def at(
    committed: int | None, *, low: int = 0, high: int = 100, commit_metadata: str = "id-1/4", state: int | None = None
) -> Position:
    """Partition 3 of a topic with id `id-1` and 4 partitions."""
    return Position("turnsignal.turns", 3, low, high, committed, commit_metadata, "id-1", 4, state)


def troubles(*positions: Position) -> list[Trouble]:
    return [finding.trouble for finding in find_troubles(positions, EQUAL, "score")]


def test_a_first_start_has_no_position_and_no_state_and_may_go_on() -> None:
    assert troubles(at(None, commit_metadata="")) == []


@pytest.mark.parametrize("committed", [0, 50, 100])
def test_a_position_within_the_log_with_its_mark_may_go_on(committed: int) -> None:
    assert troubles(at(committed, state=committed - 1 if committed else None)) == []


def test_a_position_at_the_first_record_that_is_left_may_go_on() -> None:
    assert troubles(at(40, low=40)) == []


def test_another_topic_under_the_same_name_is_seen_by_its_id_even_when_it_is_longer() -> None:
    assert troubles(at(50, commit_metadata="id-0/4", state=49)) == [Trouble.RECREATED]


def test_a_position_beyond_the_end_is_a_recreated_topic() -> None:
    assert troubles(at(101), at(101, commit_metadata="", state=100)) == [Trouble.RECREATED, Trouble.RECREATED]


def test_records_that_expired_unread_are_counted() -> None:
    (finding,) = find_troubles([at(30, low=42)], EQUAL, "score")
    assert finding.trouble is Trouble.RECORDS_EXPIRED
    assert "12 expired unread" in finding.sentence


def test_state_without_a_position_says_where_the_state_is() -> None:
    (finding,) = find_troubles([at(None, commit_metadata="", state=70)], EQUAL, "score")
    assert finding.trouble is Trouble.OFFSETS_EXPIRED
    assert "turnsignal topics repair score --to state`" in finding.sentence


def test_state_beyond_the_log_is_repaired_from_its_beginning() -> None:
    (finding,) = find_troubles([at(None, commit_metadata="", state=700)], EQUAL, "score")
    assert "turnsignal topics repair score --to accept`" in finding.sentence


def test_partitions_that_were_added_to_all_topics_are_seen_by_the_mark() -> None:
    assert troubles(at(50, commit_metadata="id-1/2")) == [Trouble.PARTITIONS_ADDED]


def test_partitions_that_were_added_to_one_topic_are_seen_by_the_counts() -> None:
    counts = EQUAL | {"turnsignal.turns": 8}
    (finding,) = find_troubles([], counts, "score")
    assert finding.trouble is Trouble.PARTITIONS_ADDED
    assert finding.where == "turnsignal.turns"
    assert "turnsignal-score-conversations-changelog 4" in finding.sentence


def test_a_position_that_another_tool_set_has_no_metadata_of_ours() -> None:
    assert troubles(at(10, commit_metadata="", state=70)) == [Trouble.MOVED]


def test_a_broker_that_tells_no_topic_ids_is_not_accused_of_recreating_topics() -> None:
    assert troubles(at(50)._replace(topic_id="")) == []


def test_a_mark_is_the_topics_id_and_its_partition_count() -> None:
    assert encode_commit_metadata("ce6bd89d8767438997ab58b69114f24f", 4) == "ce6bd89d8767438997ab58b69114f24f/4"


EMPTIED = Changelog("turnsignal-score-conversations-changelog", 3, 70, "id-2", records=0)


def test_a_changelog_without_a_record_before_its_end_is_refused_with_both_ways_out() -> None:
    (finding,) = find_troubles([at(50)], EQUAL, "score", [EMPTIED])
    assert finding.trouble is Trouble.STATE_LOST
    assert finding.where == "turnsignal-score-conversations-changelog-3"
    assert "read up to turnsignal.turns-3@50, got a changelog without a record before its end 70" in finding.sentence
    assert "`turnsignal topics repair score --to earliest`" in finding.sentence
    assert "`--to accept`" in finding.sentence


@pytest.mark.parametrize("committed", [None, 0])
def test_an_empty_changelog_of_what_was_never_read_may_go_on(committed: int | None) -> None:
    position = at(committed, commit_metadata="" if committed is None else "id-1/4")
    assert find_troubles([position], EQUAL, "score", [EMPTIED, EMPTIED._replace(end=0)]) == []


def test_a_changelog_with_a_checkpoint_alone_may_go_on() -> None:
    assert find_troubles([at(50)], EQUAL, "score", [EMPTIED._replace(records=1)]) == []


def test_refusal_is_one_line_with_the_place_the_rest_and_the_command() -> None:
    with pytest.raises(ConfigError) as caught:
        check_positions([at(30, low=42), at(101), at(50)], EQUAL, "score")
    line = str(caught.value)
    assert line.startswith("turnsignal.turns-3: expected the record at 30, got a log that begins at 42")
    assert "`turnsignal topics repair score --to accept`" in line
    assert line.endswith("(and 1 other troubles)")
    assert "\n" not in line


def test_nothing_wrong_is_no_refusal() -> None:
    check_positions([at(50)], EQUAL, "score")
