"""The worst exchanges: few, of different conversations, corrected when a late turn says otherwise."""

from collections.abc import Collection, Iterable
from typing import Any

import orjson

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.replay import Indexer, Replay, Run
from turnsignal.stream.reports.worst import SHOWN, TEXT_SHOWN
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0


def turn(conversation: str, turn_id: str, second: int, text: str, **given: Any) -> bytes:
    role = "assistant" if turn_id.startswith("a") else "user"
    stamp = f"2025-06-15T12:{second // 60:02d}:{second % 60:02d}Z"
    head = {"conversation_id": conversation, "turn_id": turn_id, "role": role, "timestamp": stamp, "text": text}
    return orjson.dumps({**head, **given})


def exchange(conversation: str, answer: str, reply: str, cites: str = "d1") -> list[bytes]:
    documents = [{"doc_id": f"d{number}"} for number in range(1, 6)]
    return [
        turn(conversation, "u1", 0, "Where is my invoice?"),
        turn(conversation, "a1", 5, f"{answer} [{cites}].", retrieved=documents),
        turn(conversation, "u2", 20, reply),
    ]


def worst(lines: Iterable[bytes], suite: Suite | None = None, worse: Collection[Release] = ()) -> list[dict[str, Any]]:
    suite, indexer = suite or Suite(), Indexer(NOW)
    replay = Replay(suite, None, indexer)
    for _ in (*replay.feed(indexer.index(lines)), *replay.finish()):
        pass
    run = Run(suite)
    for number in sorted(replay.runs):
        run.merge(replay.runs[number])
    return run.aggregates.worst.rows(worse)


def test_an_exchange_loses_what_each_signal_lacks_and_carries_its_texts() -> None:
    (row,) = worst(exchange("c", "It is under Billing", "No, I meant the blue one, not the red one.", cites="d5"))
    assert (row["conversation_id"], row["turn_id"], row["assistant"], row["version"]) == ("c", "a1", "default", None)
    assert (row["follow_up"], row["label"], row["diagnosis"]) == (0.2, "correction", "low/low/high")
    assert row["loss"] == round(1 - row["relevancy"] + 0.8 + 1 - row["compliance"], 6)
    assert (row["prompt"], row["answer"]) == ("Where is my invoice?", "It is under Billing [d5].")
    assert row["reply"] == "No, I meant the blue one, not the red one."


def test_a_good_exchange_is_not_among_the_worst() -> None:
    assert worst(exchange("c", "It is under Billing", "Thank you, that helps a lot!")) == []


def test_an_answer_that_failed_counts_even_where_nobody_wrote_again() -> None:
    (row,) = worst([turn("c", "u1", 0, "Hello?"), turn("c", "a1", 5, "Internal error 500.")])
    assert (row["failed"], row["loss"], row["follow_up"], row["reply"]) == (True, 1.0, None, None)
    assert row["prompt"] == "Hello?"


def test_there_are_at_most_ten_and_one_a_conversation_the_worst_first() -> None:
    lines = []
    for number in range(60):
        lines += exchange(f"c{number:02d}", "It is under Billing", "This is useless.", cites=f"d{1 + number % 5}")
        lines += [turn(f"c{number:02d}", "a2", 40, "Internal error 500."), turn(f"c{number:02d}", "u3", 50, "What?")]
    rows = worst(lines)
    assert len(rows) == len({row["conversation_id"] for row in rows}) == SHOWN
    assert [row["loss"] for row in rows] == sorted((row["loss"] for row in rows), reverse=True)


def test_half_of_those_shown_are_of_the_release_that_got_worse_however_bad_others_are() -> None:
    lines = []
    for number in range(120):
        version, cites = ("r2", "d4") if number % 2 else ("r1", "d5")
        asked, answered, replied = exchange(f"c{number:03d}", "It is under Billing", "This is useless.", cites=cites)
        lines += [asked, orjson.dumps(orjson.loads(answered) | {"version": version}), replied]
    assert {row["version"] for row in worst(lines)} == {"r1"}
    rows = worst(lines, worse={("default", "r2")})
    assert sorted(row["version"] for row in rows) == ["r1"] * 5 + ["r2"] * 5
    assert [row["loss"] for row in rows] == sorted((row["loss"] for row in rows), reverse=True)


def test_of_many_releases_the_worst_of_those_that_are_kept_is_not_forgotten() -> None:
    lines = exchange("worst", "It is under Billing", "This is useless.", cites="d5")
    lines[1] = orjson.dumps(orjson.loads(lines[1]) | {"version": "r"})
    for number in range(200):
        asked, answered, replied = exchange(f"c{number:03d}", "It is under Billing", "This is useless.", cites="d2")
        lines += [asked, orjson.dumps(orjson.loads(answered) | {"version": f"r{number}"}), replied]
    rows = worst(lines)
    assert (rows[0]["conversation_id"], len(rows)) == ("worst", SHOWN)


def test_what_a_late_message_mends_leaves_the_list() -> None:
    lines = exchange("c", "It is under Billing", "No, I meant the blue one, not the red one.")
    assert len(worst(lines)) == 1
    assert worst([*lines, turn("c", "u1b", 10, "Thank you, that helps a lot!")])[0]["reply"] != (
        "No, I meant the blue one, not the red one."
    )


def test_texts_are_cut_and_redacted_as_they_are_scored() -> None:
    reply = "No, I meant the blue one, write to me@example.org."
    suite = Suite().redacted_by(Redaction(builtin=("email",)))
    (row,) = worst(exchange("c", "x" * 5_000, reply, cites="d5"), suite)
    assert len(row["answer"]) == TEXT_SHOWN
    assert row["reply"] == "No, I meant the blue one, write to [email]."


def test_turns_of_another_environment_are_not_among_them() -> None:
    lines = [orjson.dumps(orjson.loads(line) | {"environment": "synthetic"}) for line in exchange("c", "x", "No!")]
    assert worst(lines) == []
