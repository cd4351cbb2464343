"""Outcomes of conversations: what each of them means, and that only what was read, and what was answered, decides."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.stream.pipeline.test_conversation_processor import DETAIL, NO, THANKS, closing
from turnsignal.stream.follow_ups.failures import MEANING
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.statistics.directions import FREE_CONVERSATIONS
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import FakeTurn, Played, reply, unreadable, user

SUITE = Suite()
ERROR, REFUSAL = "Internal error 500.", "I'm sorry, but I can't help with that."
ODD, HINDI = "The blue lamp on the shelf in the hall.", "नहीं, यह गलत है, मेरा मतलब दूसरे खाते से था"
HELPED, MORE = "Press Reset. Did that help?", "Press Reset. Is there anything else I can do for you?"
OFFER = "Open the settings and press Reset. Shall I also send you a picture?"
OPENED = (user("u1", 0), reply("a1", 1))


def closed(*turns: FakeTurn, suite: Suite | None = None) -> Played:
    played = Played(suite or SUITE).say(*turns)
    return played.close()


def outcome(*turns: FakeTurn, suite: Suite | None = None) -> str | None:
    return closed(*turns, suite=suite).written("conversations")[-1]["outcome"]


def scores(played: Played) -> dict[str, Any]:
    return {score["scorer"]: score for score in closing(played)[0][-1]["scores"]}


WAYS: dict[str, tuple[str, list[FakeTurn]]] = {
    "a follow-up that goes on": ("resolved", [user("u2", 2, DETAIL), reply("a2", 3)]),
    "thanks that nobody answers": ("resolved", [user("u2", 2, THANKS)]),
    "no, thanks": ("silent", [reply("a2", 2, "Shall I send it?"), user("u2", 3, "No thanks.")]),
    "a clarification, and later one that goes on": (
        "clarified",
        [user("u2", 2, NO), reply("a2", 3), user("u3", 4, THANKS)],
    ),
    "a clarification that was answered, and no more": ("abandoned", [user("u2", 2, NO), reply("a2", 3)]),
    "thanks first, a clarification last": (
        "abandoned",
        [user("u2", 2, DETAIL), reply("a2", 3), user("u3", 4, NO), reply("a3", 5)],
    ),
    "a clarification, then one that no rule reads": (
        "abandoned",
        [user("u2", 2, NO), reply("a2", 3), user("u3", 4, ODD), reply("a3", 5)],
    ),
    "no follow-up": ("silent", []),
    "a follow-up that no rule reads": ("silent", [user("u2", 2, ODD), reply("a2", 3)]),
    "a follow-up in a language that is not read": ("silent", [user("u2", 2, HINDI), reply("a2", 3)]),
    "a follow-up that is empty": ("silent", [user("u2", 2, " "), reply("a2", 3)]),
    "an empty answer": ("unanswered", [user("u2", 2, DETAIL), reply("a2", 3, " ")]),
    "an error": ("unanswered", [user("u2", 2, DETAIL), reply("a2", 3, ERROR)]),
    "a refusal": ("unanswered", [user("u2", 2, DETAIL), reply("a2", 3, REFUSAL)]),
    "an error that is complained of, with another behind it": (
        "unanswered",
        [reply("a2", 2, ERROR), user("u2", 3, NO), reply("a3", 4, ERROR)],
    ),
    "a refusal, and one that no rule reads": (
        "unanswered",
        [user("u2", 2, "And?"), reply("a2", 3, REFUSAL), user("u3", 4, ODD)],
    ),
    "a refusal, and thanks": ("unanswered", [user("u2", 2, DETAIL), reply("a2", 3, REFUSAL), user("u3", 4, THANKS)]),
    "an empty answer, and one that goes on": ("unanswered", [reply("a2", 2, ""), user("u2", 3, DETAIL)]),
    "a refusal, thanks, and polite words": (
        "unanswered",
        [reply("a2", 2, REFUSAL), user("u2", 3, THANKS), reply("a3", 4, "You're welcome!")],
    ),
    "a complaint, a refusal, and thanks": (
        "unanswered",
        [user("u2", 2, NO), reply("a2", 3, REFUSAL), user("u3", 4, THANKS)],
    ),
    "a complaint, an error, one that goes on, and an answer": (
        "abandoned",
        [user("u2", 2, NO), reply("a2", 3, ERROR), user("u3", 4, DETAIL), reply("a3", 5)],
    ),
    "a clarification, and ok": ("abandoned", [user("u2", 2, NO), reply("a2", 3), user("u3", 4, "ok bye")]),
    "a clarification, one that goes on, and ok": (
        "clarified",
        [user("u2", 2, NO), reply("a2", 3), user("u3", 4, DETAIL), reply("a3", 5), user("u4", 6, "Ok.")],
    ),
    "ok, and no more": ("silent", [user("u2", 2, "ok")]),
    "an error, another question, and thanks for its answer": (
        "resolved",
        [reply("a2", 2, ERROR), user("u2", 3, DETAIL), reply("a3", 4), user("u3", 5, THANKS)],
    ),
    "a refusal, and another try that is answered": (
        "abandoned",
        [reply("a2", 2, REFUSAL), user("u3", 4, "What about the green one?"), reply("a3", 5)],
    ),
    "an error, then a better answer": ("silent", [reply("a2", 2, ERROR), reply("a3", 3)]),
    "a good answer, then an error in its place": ("unanswered", [reply("a2", 2, ERROR)]),
    "a question that nobody answers": ("unanswered", [user("u2", 2, DETAIL)]),
    "a clarification that nobody answers": ("unanswered", [user("u2", 2, NO)]),
    "thanks, then a question that nobody answers": ("unanswered", [user("u2", 2, THANKS), user("u3", 3, DETAIL)]),
    "a question, then thanks in a message of its own": ("resolved", [user("u2", 2, ODD), user("u3", 3, THANKS)]),
    "a question that nobody answers, and leave": ("unanswered", [user("u2", 2, DETAIL), user("u3", 3, "ok bye")]),
    "leave in two messages": ("resolved", [user("u2", 2, THANKS), user("u3", 3, "bye")]),
    "what one does, and leave": ("resolved", [user("u2", 2, "let me try that"), user("u3", 3, THANKS)]),
    "system and tool turns behind the question": (
        "unanswered",
        [user("u2", 2, DETAIL), FakeTurn("tool", "t1", 3, "{}"), FakeTurn("system", "s1", 4, "restarted")],
    ),
    "system and tool turns behind the answer": (
        "silent",
        [FakeTurn("tool", "t1", 3, "{}"), FakeTurn("system", "s1", 4, "restarted")],
    ),
    "yes to whether it helped": ("resolved", [reply("a2", 2, HELPED), user("u2", 3, "yes it did")]),
    "no to whether it helped": ("abandoned", [reply("a2", 2, HELPED), user("u2", 3, "no")]),
    "an offer that is declined": ("silent", [reply("a2", 2, OFFER), user("u2", 3, "not needed")]),
    "an offer that is declined, and that is acknowledged": (
        "silent",
        [reply("a2", 2, OFFER), user("u2", 3, "no"), reply("a3", 4, "All right! Let me know if you need more.")],
    ),
    "an offer that is taken up, and nobody answers": ("unanswered", [reply("a2", 2, OFFER), user("u2", 3, "yes")]),
    "a rating": ("silent", [reply("a2", 2, "Press Reset. How do you rate this chat from 1 to 5?"), user("u2", 3, "5")]),
    "a rating that nobody asked for": ("silent", [user("u2", 2, "5")]),
    "stars that nobody asked for": ("silent", [user("u2", 2, "Rating: 4/5")]),
    "a number to what was asked": ("unanswered", [reply("a2", 2, "Which of both, 1 or 2?"), user("u2", 3, "2")]),
    "a number out of a menu": ("unanswered", [reply("a2", 2, "Send 1 for bills, 2 for orders."), user("u2", 3, "2")]),
    "no to anything else": ("silent", [reply("a2", 2, MORE), user("u2", 3, "no")]),
    "yes to anything else that nobody answers": ("unanswered", [reply("a2", 2, MORE), user("u2", 3, "yes")]),
    "an acceptance that no rule reads, and praise": ("silent", [user("u2", 2, "hamma"), reply("a2", 3, "Prima.")]),
    "an acceptance that no rule reads, and a smile": ("silent", [user("u2", 2, "hamma scho"), reply("a2", 3, ":)")]),
    "a complaint, and okay": ("unanswered", [user("u2", 2, NO), reply("a2", 3, "Okay.")]),
    "what was asked for, and okay": (
        "unanswered",
        [reply("a2", 2, "Which of both?"), user("u2", 3, "the red one"), reply("a3", 4, "Okay.")],
    ),
    "what was demanded, and okay": (
        "unanswered",
        [reply("a2", 2, "Please paste the log."), user("u2", 3, "exit status 137"), reply("a3", 4, "Okay.")],
    ),
    "an answer that could not be read": ("resolved", [user("u2", 2, DETAIL), unreadable("assistant", 3)]),
    "an error, then an answer that could not be read": ("silent", [reply("a2", 2, ERROR), unreadable("assistant", 3)]),
    "a message that could not be read": ("silent", [unreadable("user", 2)]),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_outcome_by_how_the_conversation_went(way: str) -> None:
    expected, turns = WAYS[way]
    played = closed(*OPENED, *turns)
    summary, found = played.written("conversations")[0], scores(played)
    assert summary["outcome"] == expected
    value = {"resolved": 1.0, "clarified": 0.5, "silent": None}.get(expected, 0.0)
    assert (found["conversation"]["value"], found["conversation"]["label"]) == (value, expected)
    assert found["conversation"].get("unscored") == ("no_evidence" if expected == "silent" else None)
    free = expected in ("resolved", "silent")
    assert (summary["clarification_free"], found[FREE_CONVERSATIONS]["value"]) == (free, float(free))
    assert closing(played)[0][0]["turns"] == summary["turns"]
    assert played.batch.deltas.outcomes == {("default", None, expected): 1}


@pytest.mark.parametrize("failure", [ERROR, REFUSAL, "", "OK.", "Sure"])
@pytest.mark.parametrize("polite", [THANKS, DETAIL])
def test_polite_words_after_an_answer_that_is_none_are_no_evidence_for_it(failure: str, polite: str) -> None:
    played = closed(user("u1", 0), reply("a1", 1, failure), user("u2", 2, polite))
    found = {score["scorer"]: score for score in played.rows("follow_up", "a1")[0]["scores"]}
    assert (found["follow_up"]["value"], found["follow_up"]["unscored"]) == (None, "no_signal")
    assert MEANING in found["follow_up"]["explanation"]
    assert found["clarification_free"]["value"] == 1.0
    assert played.written("conversations")[0]["outcome"] == "unanswered"


def test_a_greeting_to_nobody_is_silent_and_a_broken_one_unanswered() -> None:
    assert outcome(reply("a1", 0, "Hi, what can I do for you?")) == "silent"
    assert outcome(reply("a1", 0, "")) == "unanswered"


def test_a_question_that_nobody_ever_answered_has_a_close_row_on_itself() -> None:
    played = closed(user("u1", 0, "Hello?"), user("u2", 1, assistant="support", version="v2", platform="web"))
    (row,), (summary,) = closing(played)
    assert (row["turn_id"], row["assistant"], row["version"], row.get("outcome")) == ("u2", "support", "v2", None)
    assert (summary["version"], summary["outcome"]) == ("v2", "unanswered")
    assert played.batch.deltas.outcomes == {("support", "v2", "unanswered"): 1}
    assert played.batch.deltas.pairing["ended"] == 0


def test_an_answer_after_that_close_replaces_its_row() -> None:
    played = Played().say(user("u1", 0)).say(reply("a1", 4000)).say(user("v1", 9000, conversation="d"))
    first, second = [row for row in closing(played)[0] if row["conversation_id"] == "c"]
    assert (first["turn_id"], second["turn_id"], second["replaces"]) == ("u1", "a1", first["id"])
    assert played.processor.conversation(b"c").asked is None  # type: ignore[union-attr]


def test_nobody_spoke_to_nobody() -> None:
    played = closed(FakeTurn("system", "s", 0, "restarted"))
    assert (closing(played)[0], played.written("conversations")[0]["outcome"]) == ([], None)


@pytest.mark.parametrize("leave", ["thanks", "ok bye", "Danke, tschüss", "hello?", "never mind"])
def test_who_takes_leave_from_nobody_got_no_answer(leave: str) -> None:
    assert outcome(user("u1", 0), user("u2", 5, leave)) == "unanswered"


def test_a_late_answer_is_an_answer_and_a_late_question_was_answered() -> None:
    assert outcome(*OPENED, user("u2", 3, DETAIL), user("v", 5, conversation="d"), reply("a2", 4)) == "resolved"
    assert outcome(user("u1", 0), reply("a1", 4), user("u0", 2, "Hello?")) == "silent"


def test_a_late_turn_after_the_close_is_taken_in_and_the_new_row_replaces_the_old() -> None:
    played = Played().say(*OPENED, user("u2", 2, DETAIL)).say(user("v1", 4000, conversation="d"))
    assert closing(played)[1][0]["outcome"] == "unanswered"
    played.say(reply("a2", 3))  # was on its way for an hour
    played.close()
    (old, new), summaries = [row for row in closing(played)[0] if row["conversation_id"] == "c"], closing(played)[1]
    assert new["replaces"] == old["id"]
    assert [one["outcome"] for one in summaries if one["conversation_id"] == "c"] == ["unanswered", "resolved"]


def test_a_corrected_reading_changes_the_outcome() -> None:
    assert outcome(*OPENED, user("u3", 3, THANKS)) == "resolved"
    assert outcome(*OPENED, user("u3", 3, THANKS), user("u2", 2, NO)) == "abandoned"
    assert outcome(*OPENED, user("u3", 3, NO), reply("a3", 9), user("u2", 2, DETAIL)) == "abandoned"


def test_a_last_reading_counts_though_its_answer_is_no_longer_kept() -> None:
    words = ("lamp shelf hall", "roof chimney tiles", "garden fence post", "kettle steam lid", "carpet corner rug")
    odd = [one for n, said in enumerate(words) for one in (reply(f"o{n}", 3 + 2 * n), user(f"p{n}", 4 + 2 * n, said))]
    assert outcome(*OPENED, user("u2", 2, NO), *odd, reply("last", 30)) == "abandoned"
    assert outcome(*OPENED, user("u2", 2, DETAIL), *odd, reply("last", 30)) == "resolved"
    clarified = [user("u2", 2, NO), reply("a2", 2.2), user("u2b", 2.5, DETAIL)]
    assert outcome(*OPENED, *clarified, *odd, reply("last", 30)) == "clarified"


@pytest.mark.parametrize("pattern", ["(?i)snag", "Snag", "hit|has HIT", "SN[AB]G\\b"])
def test_a_product_names_what_its_own_errors_look_like(pattern: str) -> None:
    suite = parse_suite(f"[conversations]\nfailed = ['{pattern}']")
    turns = (*OPENED, user("u2", 2, DETAIL), reply("a2", 3, "Acme has hit a Snag."))
    assert (outcome(*turns), outcome(*turns, suite=suite)) == ("resolved", "unanswered")
    assert suite.fingerprint != Suite().fingerprint == parse_suite("[conversations]\nfailed = []").fingerprint


def test_who_got_no_answer_in_the_end_was_not_helped_whatever_was_said_before() -> None:
    played = closed(*OPENED, user("u2", 2, THANKS), reply("a2", 3, ERROR))
    found = scores(played)["diagnosis"]
    assert found["label"] == "high/low/high"
    assert found["explanation"].startswith("The last answer failed, was empty or never came")
    assert played.written("conversations")[0]["meaning"] == found["explanation"]


def test_where_the_recording_ends_before_the_conversation_there_is_no_outcome() -> None:
    played = Played().say(*OPENED, user("u2", 2, DETAIL), user("u1", -3600, conversation="old"))
    played.keep(played.processor.close_all(end=1_750_000_000.0 + 10))
    summaries = {one["conversation_id"]: one for one in played.written("conversations")}
    assert (summaries["c"]["outcome"], summaries["c"]["clarification_free"]) == (None, None)
    assert summaries["old"]["outcome"] is None  # it came last: nobody knows whether it goes on
    (row,) = played.rows("close", "a1")
    assert [(score["scorer"], score.get("unscored")) for score in row["scores"]] == [
        ("conversation", "cut"),
        (FREE_CONVERSATIONS, "cut"),
        ("diagnosis", None),
    ]
    assert "outcome" not in row
    assert {word for _, _, word in played.batch.deltas.outcomes} == {"cut"}


def test_what_was_idle_for_long_enough_when_the_recording_ended_has_an_outcome() -> None:
    played = Played().say(*OPENED)
    played.keep(played.processor.close_all(end=1_750_000_000.0 + 1802))
    assert played.written("conversations")[0]["outcome"] == "silent"


TEXTS = st.sampled_from([NO, THANKS, DETAIL, ODD, HINDI, ERROR, REFUSAL, "", "Look here [a].", "No thanks."])
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["user", "user", "assistant", "assistant", "assistant", "tool", "broken"]),
        st.one_of(st.integers(0, 30), st.sampled_from([900, 4000, 9000])),
        TEXTS,
    ),
    min_size=1,
    max_size=14,
)


@examples(120)
@given(TURNS, st.lists(st.integers(1, 14), max_size=6))
def test_the_outcome_does_not_depend_on_how_turns_are_cut_into_batches(
    turns: list[tuple[str, int, str]], cuts: list[int]
) -> None:
    said = [
        unreadable("assistant", time) if role == "broken" else FakeTurn(role, f"t{n}", time, text)
        for n, (role, time, text) in enumerate(turns)
    ]
    together, apart = Played(SUITE).say(*said), Played(SUITE)
    edges = sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    for start, end in pairwise(edges):
        apart.say(*said[start:end])
        apart.processor = PartitionProcessor(SUITE, dict(apart.processor.store))  # a worker that starts again
        apart.processor.read_store()
    for played in (together, apart):
        played.close()
    assert apart.written("conversations")[-1:] == together.written("conversations")[-1:]
    assert [row["scores"] for row in apart.rows("close")][-1:] == [row["scores"] for row in together.rows("close")][-1:]


def test_okay_is_enough_for_who_takes_leave_and_for_nobody_else() -> None:
    thanked = (*OPENED, user("u2", 2, THANKS), reply("a2", 3, "Okay."))
    asked = (*OPENED, user("u2", 2, DETAIL), reply("a2", 3, "Okay."))
    assert (outcome(*thanked), outcome(*asked)) == ("resolved", "unanswered")
