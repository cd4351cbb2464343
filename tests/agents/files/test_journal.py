"""A run's journal notes how far it came, how it read its files, and from where on the rest is to be looked for."""

from pathlib import Path

import orjson
import pytest

from turnsignal.agents.commands.options import how_to_read
from turnsignal.agents.files.journal import EVERY, SECONDS, Journal, NotedLog, name_run
from turnsignal.agents.kafka.sending import Arrival
from turnsignal.stream.errors import ConfigError

MAPPING = """
[turns]
conversation_id = "session"
role = "speaker"
text = "body"
timestamp = "at"
"""


def noted(path: Path) -> int | None:
    return orjson.loads(path.read_bytes())["done"] if path.exists() else None


def test_a_run_that_sends_little_notes_by_time_and_one_that_sends_much_by_number(tmp_path: Path) -> None:
    now, path = [100.0], tmp_path / "pos.json"
    journal = Journal(path, (), "topic", clock=lambda: now[0])
    for line in range(3):
        journal.begin(line)
    journal.finish(0)
    assert noted(path) is None
    now[0] += SECONDS
    journal.finish(2)
    assert noted(path) == 1, "the second is on its way"
    journal.finish(1)
    for line in range(3, EVERY + 10):
        journal.begin(line)
        journal.finish(line)
    assert noted(path) == EVERY + 1


def arrived(partition: int, offset: int) -> Arrival:
    return Arrival("topic", partition, offset)


def offsets(path: Path) -> dict[str, int]:
    return orjson.loads(path.read_bytes())["topics"]["topic"]["offsets"]


def started(path: Path, ends: dict[int, int], known: int = 0, begins: dict[int, int] | None = None) -> Journal:
    journal = Journal(path, (), "topic", clock=lambda: 0.0)
    journal.start({"topic": NotedLog("", ends if begins is None else begins)}, {"topic": ends}, known)
    return journal


def test_the_first_note_is_there_before_anything_is_sent_and_says_where_the_topic_ended(tmp_path: Path) -> None:
    started(tmp_path / "pos.json", {0: 7, 1: 9})
    assert noted(tmp_path / "pos.json") == 0
    assert offsets(tmp_path / "pos.json") == {"0": 7, "1": 9}


def test_what_is_not_done_lies_behind_the_offsets_of_a_note_though_later_records_arrived_before_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pos.json"
    journal = started(path, {0: 7, 1: 9})
    for line in range(3):
        journal.begin(line)
    journal.finish(1, arrived(0, 20))
    journal.note()
    assert offsets(path) == {"0": 7, "1": 9}, "records 0 and 2 may lie before 20"
    journal.begin(3)
    journal.finish(0, arrived(1, 30))
    journal.finish(2, arrived(0, 21))
    journal.note()
    assert (noted(path), offsets(path)) == (3, {"0": 21, "1": 9}), "all that began before the first note is done"
    journal.finish(3, arrived(0, -1))  # a broker that had it already does not say where
    journal.note()
    assert (noted(path), offsets(path)) == (4, {"0": 22, "1": 31})


def test_a_partition_that_is_new_is_noted_once_something_arrived_there(tmp_path: Path) -> None:
    journal = started(tmp_path / "pos.json", {0: 7})
    journal.begin(0)
    journal.finish(0, arrived(1, 0))
    journal.note()
    assert offsets(tmp_path / "pos.json") == {"0": 7, "1": 1}


def test_a_resumed_run_goes_on_looking_where_the_one_before_sent_until_it_has_passed_all_of_that(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pos.json"
    started(path, {0: 7})
    journal = started(path, {0: 90}, known=3, begins={0: 7})
    assert offsets(path) == {"0": 7}
    journal.begin(0)
    journal.finish(0, arrived(0, 90))  # which the run before had not sent, but two that follow
    journal.note()
    assert (noted(path), offsets(path)) == (1, {"0": 7})
    for line in (1, 2):
        journal.begin(line)
        journal.finish(line)
    journal.note()
    assert (noted(path), offsets(path)) == (3, {"0": 91})


def test_a_run_keeps_its_tag_as_long_as_it_is_not_done(tmp_path: Path) -> None:
    path = tmp_path / "pos.json"
    first = started(path, {0: 7})
    assert Journal(path, (), "topic").tag == first.tag
    assert Journal(tmp_path / "other", (), "topic").tag != first.tag
    first.finish_run()
    assert Journal(path, (), "another topic").tag != first.tag


def test_notes_of_an_earlier_release_say_how_many_are_done_and_nothing_of_offsets(tmp_path: Path) -> None:
    path = tmp_path / "pos.json"
    path.write_bytes(orjson.dumps({"run": name_run((), ("topic",)), "done": 12}))
    journal = Journal(path, (), "topic", read=("a mapping",))
    assert (journal.skip, journal.topics) == (12, {})


@pytest.mark.parametrize(
    "damage",
    [{"done": -1}, {"done": True}, {"topics": {"topic": 1}}, {"topics": {"topic": {"id": "", "offsets": {"0": -2}}}}],
)
def test_notes_that_no_run_wrote_are_refused(damage: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "pos.json"
    started(path, {0: 7})
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | damage))
    with pytest.raises(ConfigError, match=r"pos\.json: expected what an earlier run noted"):
        Journal(path, (), "topic")


def test_a_run_that_reads_its_files_in_another_way_is_another_run(tmp_path: Path) -> None:
    path, mapping = tmp_path / "pos.json", tmp_path / "mapping.toml"
    (key := tmp_path / "key").write_text("k" * 32)

    def journal(format_name: str | None = None, *, strict: bool = False, hashed: bool = False) -> Journal:
        how = how_to_read(
            format_name,
            mapping if mapping.exists() else None,
            strict=strict,
            user_key=key if hashed else None,
        )
        return Journal(path, (), "topic", read=how.identity)

    journal().start({"topic": NotedLog("", {0: 7})}, {"topic": {0: 7}}, 0)
    journal()
    for another in ({"format_name": "openai"}, {"strict": True}, {"hashed": True}):
        with pytest.raises(ConfigError, match=r"read in the same way .* got those of another run"):
            journal(**another)
    mapping.write_text(MAPPING)
    with pytest.raises(ConfigError, match="got those of another run"):
        journal()
    path.unlink()
    journal().start({"topic": NotedLog("", {0: 7})}, {"topic": {0: 7}}, 0)
    mapping.write_text(MAPPING.replace("body", "words"))
    with pytest.raises(ConfigError, match="got those of another run"):
        journal()
