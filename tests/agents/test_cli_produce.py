"""Producing files, on the mock broker: what arrives, by conversation and in order, and what is set aside."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from confluent_kafka import Producer

from turnsignal.agents.commands.explain import explain, from_kafka
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.journal import Journal
from turnsignal.agents.files.produce import Produced, Rejects, produce_files
from turnsignal.agents.files.reading import Origin, Recording, TurnFile
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.kafka.brokers import MockBroker
from turnsignal.agents.kafka.topics import create_topics
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, TurnsignalError

NOW = 1_800_000_000.0


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with MockBroker() as broker:
        found = Settings(brokers=broker.address, metrics_port=9)  # nobody listens on the discard port
        create_topics(found)
        yield found


def line(conversation: str, turn_id: str, second: int, **more: object) -> bytes:
    fields = {"conversation_id": conversation, "turn_id": turn_id, "role": "user", "text": f"text of {turn_id}"}
    return orjson.dumps(fields | {"timestamp": f"2025-06-15T12:00:{second:02d}Z", "labels": {"x": 1}} | more)


def produce(
    settings: Settings, tmp_path: Path, lines: list[bytes], *, as_is: bool = False
) -> tuple[Produced, list[str]]:
    path, said = tmp_path / "turns.jsonl", []
    path.write_bytes(b"\n".join(lines) + b"\n")
    rejects = tmp_path / "rejects.jsonl"
    done = produce_files(settings, [path], "turnsignal.turns", now=NOW, rejects=rejects, as_is=as_is, say=said.append)
    return done, said


@pytest.mark.slow
def test_feedback_goes_to_its_own_topic_under_its_conversation(settings: Settings, tmp_path: Path) -> None:
    vote = {"id": "f1", "conversation_id": "c7", "turn_id": "t1", "kind": "vote", "vote": 1}
    (tmp_path / "turns.jsonl").write_bytes(line("c7", "t1", 1))
    (tmp_path / "feedback.jsonl").write_bytes(
        b"\n".join(
            [orjson.dumps(vote | {"timestamp": "2025-06-15T12:00:00Z"}), orjson.dumps(vote), line("c7", "t2", 2)]
        )
    )
    done = produce_files(
        settings,
        [tmp_path / "turns.jsonl"],
        "turnsignal.turns",
        now=NOW,
        rejects=tmp_path / "rejects.jsonl",
        feedback=([tmp_path / "feedback.jsonl"], "turnsignal.feedback"),
    )
    assert (done.sent, done.feedback, done.rejected) == (1, 1, {"missing_field": 2})
    rejects = [orjson.loads(row) for row in (tmp_path / "rejects.jsonl").read_bytes().splitlines()]
    assert sorted((Path(row["file"]).name, row["line"]) for row in rejects) == [
        ("feedback.jsonl", 2),
        ("feedback.jsonl", 3),
    ]
    assert [turn["turn_id"] for turn in from_kafka(settings, "c7").turns] == ["t1"]


def test_turns_arrive_under_their_conversation_in_the_order_of_their_times(settings: Settings, tmp_path: Path) -> None:
    lines = [line("c1", "t2", 9), line("c2", "t1", 5), line("c1", "t1", 1)]
    done, said = produce(settings, tmp_path, lines)
    assert (done.sent, done.rejects, said) == (3, None, [])
    found = from_kafka(settings, "c1")
    assert [turn["turn_id"] for turn in found.turns] == ["t1", "t2"]
    shown = "\n".join(explain(found))
    assert "text of t2" in shown
    assert "no worker answers" in shown


def test_order_can_be_kept_as_it_is(settings: Settings, tmp_path: Path) -> None:
    produce(settings, tmp_path, [line("c3", "t2", 9), line("c3", "t1", 1)], as_is=True)
    assert [turn["turn_id"] for turn in from_kafka(settings, "c3").turns] == ["t2", "t1"]


def test_bad_lines_are_reported_with_their_number_and_the_rest_goes_on(settings: Settings, tmp_path: Path) -> None:
    lines = [b"no json", line("c4", "t1", 1), b"", b'{"conversation_id": "c4"}']
    lines += [line("c4", "t2", 2, metadata={"much": "x" * 1_100_000}), line("c4", "t3", 3)]
    done, said = produce(settings, tmp_path, lines)
    assert done.sent == 2
    assert done.rejected == {"not_json": 1, "missing_field": 1, "too_large": 1}
    rejects = [orjson.loads(row) for row in (tmp_path / "rejects.jsonl").read_bytes().splitlines()]
    assert sorted((row["line"], row["reason"]) for row in rejects) == [
        (1, "not_json"),
        (4, "missing_field"),
        (5, "too_large"),
    ]
    assert "turns.jsonl, line 1: rejected, not_json" in "\n".join(said)


def test_a_broker_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnsignal.agents.kafka.sending.BROKER_SECONDS", 0.5)
    with pytest.raises(TurnsignalError, match="expected an answer from the broker"):
        produce(Settings(brokers="127.0.0.1:1"), tmp_path, [line("c1", "t1", 1)])


def test_a_conversation_that_nobody_knows_is_said_to_be_unknown(settings: Settings) -> None:
    found = from_kafka(settings, "nobody")
    assert not found.known
    assert "Nothing is known" in "\n".join(explain(found))


def test_a_log_of_another_format_is_sent_as_turns_and_what_it_lacks_is_among_the_rejects(
    settings: Settings, tmp_path: Path
) -> None:
    def message(role: str, text: str) -> dict[str, str]:
        return {"role": role, "content": text}

    spoken = [message("user", "How?"), message("assistant", "So.")]
    log = tmp_path / "log.jsonl"
    log.write_bytes(orjson.dumps({"metadata": {"session_id": "c9"}, "messages": spoken}) + b"\nnot json\n")
    odd = tmp_path / "turns.jsonl"
    odd.write_bytes(line("c9", "t9", 1, role="Human"))
    said: list[str] = []
    with Imported([log, odd], HowToRead(), say=said.append) as imported:
        done = produce_files(
            *(settings, imported.sources, "turnsignal.turns"),
            now=NOW,
            rejects=tmp_path / "rejects.jsonl",
            refused=imported.refused,
            say=said.append,
        )
    assert (done.sent, done.rejected) == (3, {"not_json": 1})
    assert done.assumed == {str(odd): {"role human is user": 1}}
    assert [(turn["turn_id"], turn["role"]) for turn in from_kafka(settings, "c9").turns] == [
        ("openai:c9#0", "user"),
        ("openai:c9#1", "assistant"),
        ("t9", "user"),
    ]
    assert said[0].startswith(f"{log}: taken for openai, by messages with role and content")
    assert said[1].startswith(f"{log}, line 2: rejected, not_json: expected JSON in UTF-8")
    (reject,) = [orjson.loads(row) for row in (tmp_path / "rejects.jsonl").read_bytes().splitlines()]
    assert (reject["file"], reject["line"]) == (str(log), 2)


def test_a_run_that_was_interrupted_goes_on_where_it_was(settings: Settings, tmp_path: Path) -> None:
    turns, notes = tmp_path / "turns.jsonl", tmp_path / "notes"
    turns.write_bytes(b"\n".join([b"no json", *(line("c-resumed", f"t{n:03}", n % 60) for n in range(599))]) + b"\n")

    def stop(number: int, _: int) -> None:
        if number >= 512:
            raise KeyboardInterrupt

    files = (settings, [turns], "turnsignal.turns")
    how = {"now": NOW, "rejects": tmp_path / "rejects.jsonl", "resume": notes}
    with pytest.raises(KeyboardInterrupt):
        produce_files(*files, **how, sending=stop)
    assert orjson.loads(notes.read_bytes())["done"] == 513
    done = produce_files(*files, **how)
    assert (done.skipped, done.sent, done.rejected) == (513, 87, {})
    again = produce_files(*files, **how)
    assert (again.skipped, again.sent, again.is_repeated) == (600, 0, True)
    assert [turn["turn_id"] for turn in from_kafka(settings, "c-resumed").turns] == [
        f"t{n:03}" for second in range(60) for n in range(second, 599, 60)
    ]
    rejects = (tmp_path / "rejects.jsonl").read_bytes().splitlines()
    assert [orjson.loads(row)["reason"] for row in rejects] == ["not_json"]


def test_a_rejected_line_that_was_not_noted_as_done_stands_in_the_reject_file_once(
    settings: Settings, tmp_path: Path
) -> None:
    turns, rejects = tmp_path / "turns.jsonl", tmp_path / "rejects.jsonl"
    turns.write_bytes(b"\n".join([line("c-once", "t1", 1), b"no json", line("c-once", "t2", 2)]) + b"\n")
    files = (settings, [turns], "turnsignal.turns")
    how = {"now": NOW, "rejects": rejects, "resume": tmp_path / "notes", "as_is": True}

    def stop(_: str) -> None:  # when it is said that a line was rejected, which is written by then
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        produce_files(*files, **how, say=stop)
    assert (orjson.loads((tmp_path / "notes").read_bytes())["done"], len(rejects.read_bytes().splitlines())) == (1, 1)
    done = produce_files(*files, **how)
    assert (done.skipped, done.sent, done.rejected) == (1, 1, {"not_json": 1})
    assert len(rejects.read_bytes().splitlines()) == 1


def test_rejected_records_of_one_line_all_stand_in_the_reject_file(tmp_path: Path) -> None:
    (turns := tmp_path / "turns.jsonl").write_bytes(line("c-array", "t1", 1))
    rows = [{"file": "array.json", "line": 1, "reason": "too_large", "detail": "", "value": text} for text in "abc"]
    (letters := tmp_path / "letters").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    (path := tmp_path / "rejects.jsonl").write_bytes(orjson.dumps(rows[0]) + b"\n")
    rejects = Rejects(path, Recording([turns]), lambda _: None, goes_on=True)
    rejects.add_letters(letters)
    rejects.close()
    assert [orjson.loads(row)["value"] for row in path.read_bytes().splitlines()] == ["a", "b", "c"]


def test_what_was_on_its_way_counts_as_not_done(tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_bytes(b"{}\n")
    journal = Journal(tmp_path / "notes", [TurnFile(turns)], "topic")
    for number in (7, 3, 5):
        journal.begin(number)
    journal.finish(7)
    journal.finish(5)
    assert journal.done == 1
    journal.note()
    assert Journal(tmp_path / "notes", [TurnFile(turns)], "topic").skip == 1
    with pytest.raises(ConfigError, match="got those of another run, or the files have changed since"):
        Journal(tmp_path / "notes", [TurnFile(turns)], "another topic")
    turns.write_bytes(b"{}\n{}\n")
    with pytest.raises(ConfigError, match="files have changed since"):
        Journal(tmp_path / "notes", [TurnFile(turns)], "topic")
    with pytest.raises(ConfigError, match="expected what an earlier run noted"):
        Journal(turns, [TurnFile(turns)], "topic")
    with pytest.raises(ConfigError, match="got standard input, which cannot be read again"):
        Journal(tmp_path / "other", [TurnFile(turns, (Origin(Path("-")),))], "topic")


def test_a_file_that_was_sent_as_turns_is_not_gone_on_with_as_feedback(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_bytes(line("c-both", "t1", 1))
    (tmp_path / "more.jsonl").write_bytes(b"no json")
    more = [tmp_path / "more.jsonl"]
    how = {"now": NOW, "rejects": tmp_path / "rejects.jsonl", "resume": tmp_path / "notes"}

    def stop(_: str) -> None:  # when it is said that a line was rejected
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        produce_files(settings, [tmp_path / "turns.jsonl", *more], "turnsignal.turns", **how, say=stop)
    with pytest.raises(ConfigError, match="got those of another run"):
        produce_files(
            *(settings, [tmp_path / "turns.jsonl"], "turnsignal.turns"), **how, feedback=(more, "turnsignal.feedback")
        )


def test_notes_for_which_there_is_no_room_are_named_before_anything_is_sent(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_bytes(line("c-full", "t1", 1))
    done = subprocess.run(
        [sys.executable, "-m", "turnsignal.agents.cli", "produce", "turns.jsonl", "--resume", "notes"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        # no bytecode, which would be cut, too
        env={"PATH": os.environ["PATH"], "TURNSIGNAL_BROKERS": settings.brokers, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("turnsignal: expected room on the disk of 'notes', got: File too large")
    assert [path.name for path in tmp_path.iterdir()] == ["turns.jsonl"]
    assert not from_kafka(settings, "c-full").known


def test_what_topics_hold_is_shown_without_what_identifies_people(settings: Settings, tmp_path: Path) -> None:
    (rules := tmp_path / "redaction.toml").write_text('builtin = ["email"]\n')
    odd = line("c-mail", "t2", 2, text="or bob@example.com", role="Human")  # a lenient worker may take it in
    produce(settings, tmp_path, [line("c-mail", "t1", 1, text="I am ann@example.com")])
    producer = Producer(settings.producer())
    producer.produce("turnsignal.turns", odd, b"c-mail")
    assert producer.flush(30) == 0
    found = from_kafka(settings.model_copy(update={"redaction": rules}), "c-mail")
    assert [turn["text"] for turn in found.turns] == ["I am [email]", "or [email]"]
    assert from_kafka(settings, "c-mail").turns[0]["text"] == "I am ann@example.com"
