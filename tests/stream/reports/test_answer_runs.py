"""Of assistant turns in a row, with no user in between, one is the answer: figures say nothing of the others."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.replay import Indexer, PackedReplay, Replay, Run
from turnsignal.stream.reports.answer_runs import RunTurn
from turnsignal.stream.suite import parse_suite

BEGIN = datetime(2025, 6, 15, tzinfo=UTC)
NOW = 1_800_000_000.0
WHOLE = parse_suite("[aggregates]\nwhole = true")
SUITE = WHOLE.model_copy(update={"aggregates": WHOLE.aggregates.model_copy(update={"minimum_n": 1})})
DOCUMENTS = ["d1", "d2", "d3"]

Line = tuple[str, str, list[str]]  #: role, text, ids of its documents
ASKED: Line = ("user", "How do I split a bill between three cards?", [])
ANSWER: Line = ("assistant", "Press Split on the terminal and type the first amount [d2].", DOCUMENTS)
INTERIM: Line = ("assistant", "One moment, let me look that up.", [])
ERROR: Line = ("assistant", "Internal error 500.", [])
MORE: Line = ("user", "And for four cards?", [])


def turns(*lines: Line, seconds: int = 10, name: str = "c") -> list[bytes]:
    written = []
    for number, (role, text, documents) in enumerate(lines):
        time = (BEGIN + timedelta(seconds=number * seconds)).isoformat()
        about = {"conversation_id": name, "turn_id": f"{number}", "role": role, "text": text, "timestamp": time}
        more = {"version": "v1", "retrieved": [{"doc_id": each} for each in documents]} if role == "assistant" else {}
        written.append(orjson.dumps(about | more))
    return written


def at(times: Sequence[int], *lines: Line) -> list[bytes]:
    """Return turns at these seconds."""
    written = [orjson.loads(line) for line in turns(*lines)]
    for line, seconds in zip(written, times, strict=True):
        line["timestamp"] = (BEGIN + timedelta(seconds=seconds)).isoformat()
    return [orjson.dumps(line) for line in written]


def run(*lines: bytes, packed_at: int | None = None) -> Run:
    indexer = Indexer(NOW)
    records = list(indexer.index(lines))
    replay = Replay(SUITE, None, indexer)
    cut = len(records) if packed_at is None else packed_at
    for _ in replay.feed(records[:cut]):
        pass
    if packed_at is not None:
        for number, _ in enumerate(replay._waiting):
            if replay._waiting[number]:
                replay._work(number)
        packed: PackedReplay = replay.pack()
        replay = Replay(SUITE, None, indexer)
        replay.unpack(packed)
    for source in (replay.feed(records[cut:]), replay.finish()):
        for _ in source:
            pass
    whole = Run(SUITE)
    for number in sorted(replay.runs):
        whole.merge(replay.runs[number])
    return whole


def figures(*lines: bytes, release: Release = ("default", "v1")) -> dict[str, Any]:
    (row,) = [row for row in run(*lines).summary(SUITE)["quality"] if row["version"] == release[1]]
    return row["figures"] | {"answers_per_conversation": row["answers_per_conversation"]}


@pytest.mark.parametrize(
    "before",
    [
        [INTERIM],
        [("assistant", "", [])],
        [("assistant", "Press Split on", DOCUMENTS)],
        [INTERIM, ("assistant", "", []), ERROR],
        [("assistant", "I've put you through to Sam from our team.", [])],
    ],
)
def test_what_comes_before_the_answer_moves_no_figure(before: list[Line]) -> None:
    plain = figures(*turns(ASKED, ANSWER, MORE, ANSWER, ("user", "thanks", [])))
    before_each = figures(*turns(ASKED, *before, ANSWER, MORE, *before, ANSWER, ("user", "thanks", [])))
    known = {"answer_seconds": 0, "answers_in_parts": 0}
    assert before_each | known == plain | known


@pytest.mark.parametrize(
    ("lines", "share"),
    [
        ([ANSWER], 0.0),
        ([("assistant", "Press Split on", DOCUMENTS), ANSWER], 1.0),
        ([("assistant", "Press Split first.", []), ("assistant", "Then type the amount.", [])], 1.0),
        ([INTERIM, ANSWER], 0.0),
        ([ERROR, ANSWER], 0.0),
        ([("assistant", "You will find this in the manual.", []), ANSWER], 0.0),
        ([ANSWER, ("assistant", "I'll close this now. Write any time!", [])], 0.0),
        ([ANSWER, ANSWER, MORE, ANSWER], 0.5),
    ],
)
def test_answers_that_come_in_several_messages_are_a_share_of_all(lines: list[Line], share: float) -> None:
    assert figures(*turns(ASKED, *lines))["answers_in_parts"]["value"] == share


@pytest.mark.parametrize("beside", [INTERIM, ("assistant", "", []), ERROR])
@pytest.mark.parametrize("times", [(0, 0, 10, 60, 60, 70, 120), (0, 0, 0, 60, 60, 60, 60), (0,) * 7])
def test_what_is_logged_in_the_second_of_its_question_moves_no_figure_either(
    beside: Line, times: Sequence[int]
) -> None:
    lines = (ASKED, beside, ANSWER, MORE, beside, ANSWER, ("user", "thanks", []))
    apart, at_once = figures(*turns(*lines)), figures(*at(times, *lines))
    unknown = {"answer_seconds": 0, "stamped_roughly": 0}
    assert at_once | unknown == apart | unknown


def test_turns_of_one_second_are_in_the_order_of_their_rows_and_others_in_that_of_time() -> None:
    lines = at((0, 0, 4, 4, 4), ASKED, ("assistant", "", []), ANSWER, MORE, ANSWER)
    mixed = figures(*sorted(lines[2:] + lines[:2], key=lambda line: orjson.loads(line)["timestamp"]))
    assert (mixed["failed"]["value"], mixed["answers_per_conversation"]) == (0.0, 2)


def test_a_call_that_is_logged_before_the_question_of_its_second_answers_nobody_and_fails_nobody() -> None:
    logged = figures(*at((0, 0, 4), ("assistant", "", []), ASKED, ANSWER))
    assert (logged["failed"]["value"], logged["answers_per_conversation"]) == (0.0, 1)
    before = figures(*at((0, 3, 4), ("assistant", "", []), ASKED, ANSWER))
    assert before["failed"]["value"] == 0.5, "whoever fails before anybody asks fails"


def test_a_line_behind_an_answer_out_of_documents_moves_no_figure() -> None:
    closing = ("assistant", "I'll close this now. Write any time!", [])
    assert figures(*turns(ASKED, ANSWER, closing)) == figures(*turns(ASKED, ANSWER))


@pytest.mark.parametrize("last", [ERROR, ("assistant", "", []), INTERIM])
def test_where_the_last_one_fails_so_did_the_assistant(last: Line) -> None:
    after = figures(*turns(ASKED, ANSWER, last))
    assert (after["failed"]["value"], after["failed"]["n"]) == (1.0, 1)
    assert "cited" not in after


def test_the_answer_may_still_be_on_its_way_when_a_replay_is_interrupted() -> None:
    lines = turns(ASKED, INTERIM, ANSWER, MORE, INTERIM, ANSWER)
    whole = run(*lines).summary(SUITE)
    for at in range(1, len(lines)):
        assert run(*lines, packed_at=at).summary(SUITE) == whole


def test_an_answer_that_comes_after_the_conversation_was_closed_is_the_answer() -> None:
    late = figures(*turns(ASKED, INTERIM, ANSWER, seconds=3000))
    assert (late["failed"]["value"], late["failed"]["n"], late["cited"]["value"]) == (0.0, 1, 1.0)


def test_what_answers_nobody_is_no_part_of_a_run() -> None:
    hello: Line = ("assistant", "Hi, I'm Bo! How can I help?", [])
    assert figures(*turns(hello, hello, ASKED, ANSWER))["answers_per_conversation"] == 3


def test_the_first_answer_is_the_one_that_answers() -> None:
    def common(*lines: Line) -> set[str]:
        totals = run(*turns(*lines)).aggregates.quality._releases["default", "v1"]
        return {text.split(" ", 1)[1] for text in totals.first_answers.texts}

    answer = common(ASKED, ANSWER)
    assert common(ASKED, INTERIM, ANSWER) == answer
    assert common(("assistant", "Hi, I'm Bo! How can I help?", []), ASKED, ANSWER) == answer


def test_failing_turns_before_an_answer_are_no_bad_exchanges() -> None:
    assert run(*turns(ASKED, INTERIM, ANSWER, MORE)).aggregates.worst.rows() == []
    (row,) = run(*turns(ASKED, INTERIM, ERROR)).aggregates.worst.rows()
    assert (row["answer"], row["prompt"]) == (ERROR[1], ASKED[1])


@pytest.mark.parametrize(
    ("later", "earlier", "is_answer"),
    [
        (RunTurn(False, False), RunTurn(False, False), True),
        (RunTurn(False, True), RunTurn(False, True), True),
        (RunTurn(True, False), RunTurn(False, True), True),
        (RunTurn(False, False), RunTurn(True, True), True),
        (RunTurn(False, False), RunTurn(False, True), False),
    ],
)
def test_which_of_two_turns_is_the_answer(later: RunTurn, earlier: RunTurn, is_answer: bool) -> None:
    assert later.replaces(earlier) is is_answer


# -- what nobody asked for ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "beside",
    [
        [("user", "thanks!", []), ("assistant", "You're welcome!", [])],
        [("user", "thanks!", []), ("assistant", "OK", [])],
        [("user", "5", []), ("assistant", "Thank you for your feedback!", [])],
    ],
)
def test_answers_to_small_talk_need_no_documents_and_are_no_answers_that_could_fail(beside: list[Line]) -> None:
    plain, more = figures(*turns(ASKED, ERROR)), figures(*turns(ASKED, ERROR, *beside))
    assert [more[name]["value"] for name in ("answers_with_documents", "failed")] == [
        plain[name]["value"] for name in ("answers_with_documents", "failed")
    ]
    plain, more = figures(*turns(ASKED, ANSWER)), figures(*turns(ASKED, ANSWER, *beside))
    assert more["answers_with_documents"]["value"] == plain["answers_with_documents"]["value"] == 1.0


def test_neither_do_greetings_consent_and_questions_back() -> None:
    hello: Line = ("assistant", "Hi, I'm Bo! May I record this?", [])
    back: Line = ("assistant", "Happy to help. Which terminal do you have?", DOCUMENTS)
    after = figures(*turns(hello, ("user", "yes", []), hello, ASKED, back, ("user", "a Verifone", []), ANSWER))
    assert (after["answers_with_documents"]["value"], after["cited"]["value"]) == (1.0, 1.0)


def test_an_answer_to_a_question_without_documents_has_none() -> None:
    after = figures(*turns(ASKED, ("assistant", "Press Split on the terminal.", []), MORE, ANSWER))
    assert after["answers_with_documents"]["value"] == 0.5


def test_an_answer_of_a_person_to_whom_the_user_was_put_through_is_out_of_no_documents() -> None:
    handed: Line = ("assistant", "I've put you through to Sam from our team.", [])
    person: Line = ("assistant", "Hi, Sam here. Press Split on the terminal.", [])
    after = figures(*turns(ASKED, ANSWER, MORE, handed, person))
    assert after["answers_with_documents"]["value"] == 1.0
    assert figures(*turns(ASKED, INTERIM, person))["answers_with_documents"]["value"] == 0.0


def test_that_person_goes_on_until_an_answer_is_out_of_documents_again() -> None:
    handed: Line = ("assistant", "I've put you through to Sam from our team.", [])
    person: Line = ("assistant", "Hi, Sam here. Press Split on the terminal.", [])
    goes_on: Line = ("assistant", "The same way, one after another.", [])
    bare: Line = ("assistant", "The terminal prints a receipt.", [])
    thanked: list[Line] = [("user", "thanks!", []), ("assistant", "You're welcome!", [])]
    after = figures(*turns(ASKED, handed, person, MORE, goes_on, *thanked, MORE, goes_on, MORE, ANSWER, MORE, bare))
    # What the person writes behind the hand-off is no answer out of documents, nor without; later on it is counted.
    assert after["answers_with_documents"]["value"] == 0.25
    assert after["handed_on"]["value"] == 0.4
    # An answer that is none has failed, whoever wrote it.
    assert figures(*turns(ASKED, handed, person, MORE, ERROR))["failed"]["value"] == 0.5


def test_ok_to_a_command_is_an_answer() -> None:
    assert figures(*turns(("user", "Turn on the hall lights", []), ("assistant", "OK", [])))["failed"]["value"] == 0.0
    assert figures(*turns(ASKED, ("assistant", "OK", [])))["failed"]["value"] == 1.0
