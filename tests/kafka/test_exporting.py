"""What export promises on a real broker: a range by time, what is committed, each once, however often interrupted."""

import gzip
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.kafka.faults.play import wait
from tests.kafka.raw import batch, produce_batch, record
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.recorded import EXPORTED_FEEDBACK, EXPORTED_TURNS
from turnsignal.agents.files import exporting
from turnsignal.agents.files.exporting import Progress, Wanted, export_topic
from turnsignal.agents.kafka import logs
from turnsignal.agents.kafka.brokers import Broker, ProcessBroker, find_broker
from turnsignal.agents.kafka.forgetting import send_requests
from turnsignal.agents.kafka.logs import find_log, read_log
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, TurnsignalError

pytestmark = pytest.mark.kafka


def turn(conversation: str, number: int) -> bytes:
    said = {"conversation_id": conversation, "turn_id": f"{conversation}:{number}", "role": "user", "text": "hello"}
    return orjson.dumps(said | {"timestamp": "2026-05-01T09:00:00Z"})


def vote(conversation: str, number: int) -> bytes:
    said = {"conversation_id": conversation, "turn_id": f"{conversation}:{number}", "id": f"v-{conversation}"}
    return orjson.dumps(said | {"kind": "vote", "vote": 1, "timestamp": "2026-05-01T09:00:02Z"})


def send(settings: Settings, values: Iterator[tuple[bytes, bytes | None]]) -> None:
    producer = Producer(settings.producer() | {"enable.idempotence": True})
    for key, value in values:
        producer.produce(topic_names(settings.prefix)["turns"], value, key)
    assert producer.flush(30) == 0


def rounds(*numbers: int, conversations: int = 20) -> Iterator[tuple[bytes, bytes]]:
    return ((f"c-{c}".encode(), turn(f"c-{c}", number)) for number in numbers for c in range(conversations))


def ids(path: Path) -> list[str]:
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    return [orjson.loads(line)["turn_id"] for line in lines]


def note_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an export note how far it is before each list of at most 50 records but the first."""
    monkeypatch.setattr(exporting, "_NOTED", 1)
    monkeypatch.setattr(logs, "_AT_ONCE", 50)


def when_noted(act: Callable[[], None]) -> Progress:
    """Return a progress that acts once, when a note is sure to be there after `note_soon`: however often it is told."""
    acted: list[int] = []

    def progress(done: int, _of: int) -> None:
        if done > 100 and not acted:  # three lists are written, and the first two of them noted
            acted.append(done)
            act()

    return progress


def interrupt() -> None:
    raise KeyboardInterrupt


def last_time(settings: Settings) -> float:
    """Return when the newest record came, as the broker says."""
    topic = topic_names(settings.prefix)["turns"]
    read = read_log(settings, topic, find_log(settings, topic), committed=True)
    return max(each.timestamp for records in read for each in records) / 1000


def test_a_range_of_time_is_exported_and_whole_conversations_on_request(fresh_topics: Settings, tmp_path: Path) -> None:
    send(fresh_topics, rounds(1, 2))
    between = last_time(fresh_topics) + 0.001
    while True:  # until the broker's clock has passed it
        send(fresh_topics, iter([(b"c-3", turn("c-3", 3))]))
        if last_time(fresh_topics) > between:
            break
    part = export_topic(fresh_topics, Wanted("turns", since=between), tmp_path / "part.jsonl")
    assert part.lines >= 1
    assert set(ids(tmp_path / "part.jsonl")) == {"c-3:3"}
    export_topic(fresh_topics, Wanted("turns", since=between, whole=True), tmp_path / "whole.jsonl.gz")
    assert set(ids(tmp_path / "whole.jsonl.gz")) == {"c-3:1", "c-3:2", "c-3:3"}
    before = export_topic(fresh_topics, Wanted("turns", until=between), tmp_path / "before.jsonl")
    assert before.lines == 40 == len(set(ids(tmp_path / "before.jsonl")))
    with pytest.raises(ConfigError, match="expected a new file"):
        export_topic(fresh_topics, Wanted("turns"), tmp_path / "part.jsonl")


def test_the_same_range_gives_the_same_file(fresh_topics: Settings, tmp_path: Path) -> None:
    send(fresh_topics, rounds(1, 2, 3))
    topic = topic_names(fresh_topics.prefix)["turns"]
    offsets = {number: (1, end) for number, (_, end) in find_log(fresh_topics, topic).items() if end > 1}
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        export_topic(fresh_topics, Wanted("turns", offsets=offsets), tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert len(ids(tmp_path / "a.jsonl.gz")) == sum(end - 1 for _, end in offsets.values())
    with pytest.raises(ConfigError, match="expected partitions"):
        export_topic(fresh_topics, Wanted("turns", offsets={4000: (0, 1)}), tmp_path / "c.jsonl")


@pytest.mark.parametrize("name", ["turns.jsonl", "turns.jsonl.gz"])
def test_an_interrupted_export_goes_on_and_has_no_line_twice(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    send(fresh_topics, rounds(*range(1, 30)))
    note_soon(monkeypatch)
    out = tmp_path / name
    with pytest.raises(KeyboardInterrupt):
        export_topic(fresh_topics, Wanted("turns"), out, when_noted(interrupt))
    assert not out.exists()
    with pytest.raises(ConfigError, match="the beginning of this export, got that of another"):
        export_topic(fresh_topics, Wanted("turns", since=1.0), out)
    send(fresh_topics, rounds(99))  # what comes meanwhile is not part of it
    exported = export_topic(fresh_topics, Wanted("turns"), out)
    assert exported.resumed
    assert sorted(ids(out)) == sorted(f"c-{c}:{number}" for number in range(1, 30) for c in range(20))
    assert exported.lines == 580
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_export_that_began_with_a_topic_of_which_there_is_another_now_is_refused_with_what_to_do(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(fresh_topics, rounds(*range(1, 10)))
    note_soon(monkeypatch)
    out, topic = tmp_path / "turns.jsonl", topic_names(fresh_topics.prefix)["turns"]
    with pytest.raises(KeyboardInterrupt):
        export_topic(fresh_topics, Wanted("turns"), out, when_noted(interrupt))
    admin = AdminClient({**fresh_topics.confluent(), "log_level": 0})
    admin.delete_topics([topic])[topic].result(30)
    wait(lambda: topic not in admin.list_topics(timeout=10).topics, 30, "the topic to be gone")
    create_topics(fresh_topics)
    send(fresh_topics, rounds(*range(11, 20)))
    with pytest.raises(ConfigError, match=r"another under the same name .* remove .*part"):
        export_topic(fresh_topics, Wanted("turns"), out)
    for path in tmp_path.iterdir():
        path.unlink()
    assert export_topic(fresh_topics, Wanted("turns"), out).lines == 180
    assert {name.partition(":")[2] for name in ids(out)} == {str(number) for number in range(11, 20)}


@pytest.mark.parametrize("is_back", [True, False])
def test_a_broker_that_goes_in_the_middle_costs_no_line_and_doubles_none(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_back: bool
) -> None:
    if not isinstance(broker, ProcessBroker):
        pytest.skip(f"this session runs on {broker.kind}, which a test may not crash")
    note_soon(monkeypatch)
    monkeypatch.setattr(logs, "SILENCE_SECONDS", 60.0)
    with find_broker({"PATH": os.environ["PATH"], "DOCKER_HOST": "unix:///nowhere"}, directory=tmp_path / "own") as own:
        settings = Settings(brokers=own.address)
        create_topics(settings)
        send(settings, ((key, turn(key.decode(), n) + b" " * 20_000) for key, _ in rounds(0) for n in range(100)))

        def crash() -> None:
            own.crash()
            if is_back:
                own.start()
            else:  # not before: a broker that just started on a busy machine takes its time, too
                monkeypatch.setattr(logs, "SILENCE_SECONDS", 2.0)

        out = tmp_path / "turns.jsonl"
        if is_back:
            exported = export_topic(settings, Wanted("turns"), out, when_noted(crash))
        else:
            with pytest.raises(
                TurnsignalError, match=r"expected all of turnsignal\.turns, got no answer .* repeat the same command"
            ):
                export_topic(settings, Wanted("turns"), out, when_noted(crash))
            own.start()
            exported = export_topic(settings, Wanted("turns"), out)
        assert (exported.lines, exported.resumed) == (2_000, not is_back)
    assert sorted(ids(out)) == sorted(f"c-{c}:{number}" for number in range(100) for c in range(20))


def test_a_range_of_time_in_which_nothing_came_is_an_empty_file_and_a_sentence(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(fresh_topics, rounds(1))
    out = tmp_path / "turns.jsonl.gz"
    ran = asked(fresh_topics, monkeypatch, "export", "turns", "--to", "2020-01-01", "--out", out)
    assert ran.exit_code == 0, ran.output
    assert "Wrote 0 records" in ran.output
    assert "when a record reached Kafka" in ran.output
    assert ids(out) == []


def test_only_what_is_committed_is_exported(fresh_topics: Settings, tmp_path: Path) -> None:
    topic = topic_names(fresh_topics.prefix)["turns"]
    send(fresh_topics, rounds(1))
    producers = [Producer(fresh_topics.producer(f"{fresh_topics.prefix}-{name}")) for name in ("aborted", "open")]
    for number, producer in enumerate(producers):
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce(topic, turn("c-x", number), b"c-x", partition=0)
        producer.flush(30)
    producers[0].abort_transaction(30)
    exported = export_topic(fresh_topics, Wanted("turns"), tmp_path / "turns.jsonl")
    assert exported.held_back == [0]
    assert not any(name.startswith("c-x") for name in ids(tmp_path / "turns.jsonl"))
    producers[1].abort_transaction(30)


def test_what_is_forgotten_gone_or_has_no_value_is_told(fresh_topics: Settings, tmp_path: Path) -> None:
    topic = topic_names(fresh_topics.prefix)["turns"]
    send(fresh_topics, rounds(1, 2))
    send(fresh_topics, iter([(b"c-1", None), (b"c-2", orjson.dumps({"turn_id": "c-2:9"}, option=orjson.OPT_INDENT_2))]))
    send_requests(fresh_topics, ["c-5"])
    exported = export_topic(fresh_topics, Wanted("turns"), tmp_path / "all.jsonl")
    assert (exported.lines, exported.forgotten, exported.tombstones, exported.gone) == (39, 2, 1, {})
    assert "c-2:9" in ids(tmp_path / "all.jsonl")
    log = find_log(fresh_topics, topic)
    number, (_, end) = next((number, bounds) for number, bounds in log.items() if bounds[1] > 2)
    admin = AdminClient({**fresh_topics.confluent(), "log_level": 0})
    for future in admin.delete_records([TopicPartition(topic, number, end - 1)]).values():
        future.result(30)
    exported = export_topic(fresh_topics, Wanted("turns", since=1.0), tmp_path / "left.jsonl")
    assert list(exported.gone) == [number]
    assert exported.gone[number] > 1.7e9
    kept = {number: (end - 1, end)}
    assert export_topic(fresh_topics, Wanted("turns", offsets=kept), tmp_path / "rest.jsonl").gone == {}
    before = {number: (end - 2, end)}
    assert list(export_topic(fresh_topics, Wanted("turns", offsets=before), tmp_path / "more.jsonl").gone) == [number]


def test_dead_letters_are_exported_whoever_wrote_among_them(fresh_topics: Settings, tmp_path: Path) -> None:
    topic = topic_names(fresh_topics.prefix)["dead_letters"]
    ours = [(b"topic", b"t"), (b"partition", b"3"), (b"offset", b"5"), (b"reason", b"poison"), (b"length", b"7")]
    odd = [(b"\xff", b""), (b"partition", b"three"), (b"offset", b"9" * 5_000), (b"length", b""), (b"sha256", b"\xff")]
    for headers in (odd, ours):
        assert produce_batch(fresh_topics.brokers, topic, 0, batch(record(0, None, None, headers), 1)) == 0
    exported = export_topic(fresh_topics, Wanted("dead_letters"), tmp_path / "letters.jsonl")
    assert exported.lines == 2
    lines = [orjson.loads(line) for line in (tmp_path / "letters.jsonl").read_bytes().splitlines()]
    assert [(line["topic"], line["partition"], line["offset"]) for line in lines] == [("", -1, -1), ("t", 3, 5)]
    assert lines[1]["reason"] == "poison"


def asked(settings: Settings, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    monkeypatch.setenv("TURNSIGNAL_BROKERS", settings.brokers)
    monkeypatch.setenv("TURNSIGNAL_PREFIX", settings.prefix)
    return CliRunner().invoke(turnsignal, list(map(str, arguments)))


def test_replay_and_compare_read_a_range_of_the_topic_and_leave_no_trace_on_the_broker(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(fresh_topics, rounds(1, 2))
    groups = AdminClient({**fresh_topics.confluent(), "log_level": 0})
    before = {group.group_id for group in groups.list_consumer_groups().result(30).valid}
    out = tmp_path / "out"
    ran = asked(fresh_topics, monkeypatch, "replay", "--topic", "turns", "--from", "2026-01-01", "--out", out)
    assert ran.exit_code == 0, ran.output
    assert orjson.loads((out / "summary.json").read_bytes())["turns"] == {"user": 40}
    export_topic(fresh_topics, Wanted("turns"), tmp_path / "turns.jsonl.gz")
    assert gzip.decompress((out / EXPORTED_TURNS).read_bytes()) == gzip.decompress(
        (tmp_path / "turns.jsonl.gz").read_bytes()
    )
    again = asked(fresh_topics, monkeypatch, "replay", "--topic", "turns", "--out", out)
    assert again.exit_code == 0, again.output
    (tmp_path / "suite.toml").write_text("")
    suites = ["--suite", tmp_path / "suite.toml"] * 2
    compared = asked(fresh_topics, monkeypatch, "compare", "--topic", "turns", *suites, "--out", tmp_path / "both")
    assert "Read 40 records of turns" in compared.output, compared.output
    assert "0 exchanges of 0 conversations" in compared.output, "users wrote, and nobody answered"
    assert {group.group_id for group in groups.list_consumer_groups().result(30).valid} == before


def test_a_replay_of_a_range_hears_what_came_about_its_conversations_whenever_that_came(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(fresh_topics, rounds(1, conversations=3))
    between = datetime.now(UTC) + timedelta(seconds=1)
    while datetime.now(UTC) < between or last_time(fresh_topics) < between.timestamp():
        send(fresh_topics, iter([(b"c-0", turn("c-0", 2))]))
    send(fresh_topics, rounds(1, 2, conversations=5))
    votes = [(f"c-{c}", vote(f"c-{c}", 1)) for c in (1, 4)]
    producer = Producer(fresh_topics.producer() | {"enable.idempotence": True})
    for key, value in votes:
        producer.produce(topic_names(fresh_topics.prefix)["feedback"], value, key.encode())
    assert producer.flush(30) == 0
    out = tmp_path / "out"
    until = between.strftime("%Y-%m-%dT%H:%M:%S")
    ran = asked(fresh_topics, monkeypatch, "replay", "--topic", "turns", "--to", until, "--out", out)
    assert ran.exit_code == 0, ran.output
    heard = gzip.decompress((out / EXPORTED_FEEDBACK).read_bytes()).splitlines()
    assert heard == [votes[0][1]]  # c-4 has no turn in the range
    assert orjson.loads((out / "summary.json").read_bytes())["feedback"]
    whole = tmp_path / "whole"
    ran = asked(fresh_topics, monkeypatch, "replay", "--topic", "turns", "--to", until, "--whole", "--out", whole)
    assert ran.exit_code == 0, ran.output
    besides = set(ids(whole / EXPORTED_TURNS)) - set(ids(out / EXPORTED_TURNS))
    assert besides - {"c-0:2"} == {"c-1:2", "c-2:2"}


def test_any_topic_of_messages_is_replayed_like_a_file_of_them(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, out = f"{fresh_topics.prefix}-chat", tmp_path / "out"
    admin = AdminClient(fresh_topics.confluent())
    admin.create_topics([NewTopic(topic, num_partitions=2)])[topic].result(30)
    producer = Producer(fresh_topics.producer() | {"enable.idempotence": True})
    for number in range(3):
        said = {"session": f"s-{number}", "question": "How?", "answer": "So.", "at": "2026-05-01T09:00:00Z"}
        producer.produce(topic, orjson.dumps(said), b"any key")
    assert producer.flush(30) == 0
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        '[exchanges]\nconversation_id = "session"\nquestion = "question"\nanswer = "answer"\ntimestamp = "at"\n'
    )
    ran = asked(fresh_topics, monkeypatch, "replay", "--topic", topic, "--mapping", mapping, "--out", out)
    assert ran.exit_code == 0, ran.output
    assert orjson.loads((out / "summary.json").read_bytes())["turns"] == {"user": 3, "assistant": 3}
    send(fresh_topics, rounds(1))
    name = topic_names(fresh_topics.prefix)["turns"]
    assert asked(fresh_topics, monkeypatch, "replay", "--topic", name, "--out", out).exit_code == 0
    absent = asked(fresh_topics, monkeypatch, "replay", "--topic", "turn", "--out", out)
    assert "expected a topic turn on " in str(absent.exception)


def test_a_range_without_turns_is_refused_and_leaves_no_file(
    fresh_topics: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(fresh_topics, rounds(1))
    out = tmp_path / "out"
    ran = asked(fresh_topics, monkeypatch, "replay", "--topic", "turns", "--to", "2020-01-01", "--out", out)
    assert "expected records that came in from the beginning to 2020-01-01, got none" in str(ran.exception)
    assert not (out / EXPORTED_TURNS).exists()
