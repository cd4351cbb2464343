"""`turnsignal conversation` says who judged an answer, and why one was not judged."""

from pathlib import Path

import orjson
import pytest

from tests.stream.judging.judged import exchanges, judges_of, record
from turnsignal.agents.commands.explain import StoredConversation, explain, from_directory
from turnsignal.agents.commands.judged import choose_judged, explain_unqueued
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.report.escaping import safe
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.judging.verdicts import make_unjudged, make_verdict
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.verdicts import Unjudged, Verdict
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import decoded, reply, user

JUDGES = '[exchanges]\nshare = 1.0\n[[judges]]\nrubric = "groundedness"\nmodel = "scripted:overlap"\n'
TALK = [user("u1", 0), reply("a1", 5), user("u2", 20, "Thank you!"), reply("a2", 25)]


def judged(*answers: Judgement | tuple[Unjudged, str]) -> tuple[list[bytes], list[Verdict]]:
    """The turns, and a verdict on the response of each exchange, in their order."""
    suite = parse_suite(JUDGES)
    turns = [turn.record(offset) for offset, turn in enumerate(TALK)]
    asked = exchanges(PartitionProcessor(suite).process(turns, 0.0).outputs)
    responses = [exchange for exchange in asked if exchange.stage == "response"]
    (judge,) = judges_of(suite)
    verdicts = [
        make_verdict(exchange, judge, answer)
        if isinstance(answer, Judgement)
        else make_unjudged(exchange, judge, *answer)
        for exchange, answer in zip(responses, answers, strict=False)
    ]
    return [turn.value or b"" for turn in turns], verdicts


def explained(directory: Path, *answers: Judgement | tuple[Unjudged, str], attempts: int = 1) -> str:
    turns, verdicts = judged(*answers)
    (directory / "turns.jsonl").write_bytes(b"\n".join(turns))
    for verdict in verdicts:
        verdict.inclusion, verdict.cost, verdict.attempts = 0.25, 0.003, attempts
    (directory / "verdicts.jsonl").write_bytes(b"\n".join(record(verdict).value or b"" for verdict in verdicts))
    replay_files([directory / "turns.jsonl"], directory, suite(), 2e9, verdicts=[directory / "verdicts.jsonl"])
    return "\n".join(explain(from_directory(directory, "c")))


def suite() -> Suite:
    return parse_suite(JUDGES + "[aggregates]\nwhole = true\n")


def test_a_verdict_is_shown_with_who_was_asked_with_which_probability_and_its_price(tmp_path: Path) -> None:
    told = explained(tmp_path, Judgement("inferable", 0.9, "It says so."), (Unjudged.PROVIDER, "503 three times"))
    assert "groundedness(by=groundedness)" in told
    assert "0.900  inferable · It says so." in told
    assert "scripted:overlap, groundedness version 1, asked with probability 0.25, cost 0.003" in told
    assert "unscored: provider · 503 three times" in told
    assert "not judged: the endpoint failed" in told


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Unjudged.SAMPLED_OUT, "not judged: sampled out (probability 0.25)"),
        (Unjudged.BUDGET, "not judged: over budget"),
        (Unjudged.TIMEOUT, "not judged: no answer in time"),
        (Unjudged.NO_RETRIEVAL, "not judged: no_retrieval"),
    ],
)
def test_an_answer_that_was_not_judged_says_why(tmp_path: Path, reason: Unjudged, words: str) -> None:
    assert words in explained(tmp_path, (reason, "so"), (reason, "so"))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Unjudged.BUDGET, "not judged: over budget"),
        (Unjudged.TIMEOUT, "not judged: it waited for too long to be asked"),
        (Unjudged.PROVIDER, "not judged: the endpoint was left alone, as it failed with others"),
    ],
)
def test_of_an_answer_that_nobody_was_asked_about_it_is_said(tmp_path: Path, reason: Unjudged, words: str) -> None:
    told = explained(tmp_path, (reason, "so"), attempts=0)
    assert words in told
    assert "groundedness version 1, not asked" in told
    assert "asked with probability" not in told


def test_what_is_still_awaited_is_said_of_the_conversation_and_of_each_exchange(tmp_path: Path) -> None:
    assert "not judged: 1 verdicts are awaited" in explained(tmp_path, Judgement("inferable", 0.9))
    processor = PartitionProcessor(parse_suite(JUDGES))
    batch = processor.process([turn.record(offset) for offset, turn in enumerate(TALK)], 0.0)
    queued = [orjson.loads(out.value or b"") for out in batch.outputs if out.topic == "exchanges"]
    stored = StoredConversation("c", rows=decoded(batch.outputs), queued=queued)
    told = "\n".join(explain(stored))
    assert "turn a1, response" in told
    assert "turn a2, response" in told
    assert told.count("not judged: waits") == len(queued)


def test_what_no_judge_is_asked_about_does_not_wait_for_one() -> None:
    suite, queued = parse_suite(JUDGES), [{"turn_id": "a", "stage": stage} for stage in ("response", "follow_up")]
    assert choose_judged(suite, queued) == queued[:1]
    elsewhere = suite.judges[0].model_copy(update={"rubric": "elsewhere.toml"})
    assert choose_judged(suite.model_copy(update={"judges": (*suite.judges, elsewhere)}), queued) == queued


def test_that_a_conversation_is_not_queued_for_judges_is_said() -> None:
    suite = parse_suite(JUDGES.replace("share = 1.0", "share = 0.3"))
    why = {name: explain_unqueued(suite, name) for name in map("c{}".format, range(100))}
    assert {bool(words) for words in why.values()} == {True, False}
    assert all(bool(words) is not is_sampled(name.encode(), suite.exchanges.share) for name, words in why.items())
    words = next(filter(None, why.values()))
    assert safe(words) in "\n".join(explain(StoredConversation("c", unqueued=words)))
    assert explain_unqueued(Suite(), "c1") == ""
