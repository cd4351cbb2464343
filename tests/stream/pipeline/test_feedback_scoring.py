"""Feedback has one row each: before its turn, after it, twice, long after, whatever the order and the batches."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.conversations.feedback_memory import MAX_ANSWERED, MAX_IDS, MAX_NEWEST, MAX_WAITING
from turnsignal.stream.conversations.state import restore
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.votes import count_votes
from turnsignal.stream.records.scores import SCORE_RECORDS
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import T0, FakeRecord, decoded, make_record

SUITE = Suite()


def turn(
    turn_id: str, second: float, text: str = "", conversation: str = "c", offset: int = 0, **more: object
) -> FakeRecord:
    """A turn of the assistant where its id begins with an a, of the user otherwise."""
    role = "assistant" if turn_id.startswith("a") else "user"
    fields = {"turn_id": turn_id, "role": role, "text": text or "Hold the button."}
    fields |= {"version": "v1"} if role == "assistant" else {}
    return make_record(offset, second, conversation, **(fields | more))


def said(
    name: str, turn_id: str, second: float, conversation: str = "c", offset: int = 0, **more: object
) -> FakeRecord:
    """A thumbs-down, unless `more` says otherwise."""
    fields = {"id": name, "turn_id": turn_id, "kind": "vote", **more}
    if fields["kind"] == "vote":
        fields.setdefault("vote", -1)
    return make_record(offset, second, conversation, **fields)


DIALOGUE = [
    turn("u1", 0, "How do I reset it?"),
    turn("a1", 5),
    turn("u2", 20, "Thank you, that helps a lot!"),
    turn("a2", 25, version="v2"),
]


def work(
    processor: PartitionProcessor,
    turns: Sequence[FakeRecord] = (),
    feedback: Sequence[FakeRecord] = (),
    forget: Sequence[FakeRecord] = (),
) -> BatchResult:
    batch = processor.process(turns, T0, forget, feedback=feedback)
    processor.accept(batch)
    return batch


def rows(*batches: BatchResult) -> list[Any]:
    return [row for batch in batches for row in decoded(batch.outputs) if row["stage"] == "feedback"]


def reasons(batch: BatchResult) -> list[str]:
    return [
        dict(out.headers or [])["topic"].decode() + " " + dict(out.headers or [])["reason"].decode()
        for out in batch.outputs
        if out.topic == "dead_letters"
    ]


# -- one row -------------------------------------------------------------------------------------------------


def test_a_vote_is_a_row_that_names_the_answer_the_feedback_and_where_it_came_from() -> None:
    processor = PartitionProcessor(SUITE, partition=3, feedback_topic="some.feedback")
    work(processor, DIALOGUE)
    batch = work(processor, [], [said("f1", "a1", 60, offset=7, reason="wrong year", rater="u-7")])
    (row,) = rows(batch)
    record = SCORE_RECORDS.validate_python(row)
    assert (record.turn_id, record.assistant, record.version, record.time) == ("a1", "default", "v1", T0 + 60)
    assert (row["source"]["topic"], row["source"]["partition"], row["source"]["offset"]) == ("some.feedback", 3, 7)
    assert row["scores"] == [{"scorer": "vote", "value": 0.0, "label": "down", "explanation": "wrong year"}]
    assert (row["feedback"]["id"], row["feedback"]["kind"]) == ("f1", "vote")
    assert "u-7" not in orjson.dumps(row).decode()
    assert batch.deltas.feedback == {("vote", "known"): 1}
    assert batch.deltas.scores["default", "v1", "vote"] == [0.0]
    assert batch.deltas.quality["default", "v1", "vote", "bad"] == 1
    assert batch.deltas.records["some.feedback", "scored"] == 1


def test_what_a_user_did_has_a_label_and_no_value_and_moves_no_mean() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    batch = work(processor, [], [said("f1", "a1", 60, kind="handoff")])
    assert rows(batch)[0]["scores"] == [{"scorer": "handoff", "value": None, "label": "handoff"}]
    assert not batch.deltas.scores


def test_a_label_names_its_scorer_beside_the_row_so_that_nobody_takes_it_for_that_scorer() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    batch = work(processor, [], [said("f1", "a1", 60, kind="label", scorer="nDCG@5", value=0.25, label="poor")])
    (row,) = rows(batch)
    assert row["scores"] == [{"scorer": "label", "value": 0.25, "label": "poor"}]
    assert row["feedback"] == {"id": "f1", "kind": "label", "scorer": "nDCG@5"}
    assert not batch.deltas.scores


def test_feedback_that_comes_again_is_counted_and_nothing_else() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    first = work(processor, [], [said("f1", "a1", 60)])
    again = work(processor, [], [said("f1", "a1", 60), said("f1", "a1", 61)])
    assert len(rows(first, again)) == 1
    assert again.deltas.records["turnsignal.feedback", "duplicate"] == 2


def test_something_else_under_a_known_id_is_a_dead_letter() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    batch = work(processor, [], [said("f1", "a1", 60), said("f1", "a1", 60, vote=1), said("f1", "a2", 60)])
    assert len(rows(batch)) == 1
    assert reasons(batch) == ["turnsignal.feedback conflict"] * 2


def test_what_cannot_be_read_is_a_dead_letter_of_its_topic_and_leaves_no_gap() -> None:
    processor = PartitionProcessor(SUITE, feedback_topic="some.feedback")
    work(processor, DIALOGUE)
    batch = work(processor, [], [FakeRecord(5, b"c", b"{}", 0), said("f1", "a1", 60, kind="love")])
    assert reasons(batch) == ["some.feedback missing_field", "some.feedback wrong_type"]
    assert batch.consumed["some.feedback"] == 2
    state = processor.conversation(b"c")
    assert state is not None
    assert state.gaps == 0


# -- order ---------------------------------------------------------------------------------------------------


def test_feedback_before_its_turn_has_its_row_when_the_turn_comes() -> None:
    processor = PartitionProcessor(SUITE)
    before = work(processor, DIALOGUE[:1], [said("f1", "a1", 60, offset=9)])
    come = work(processor, DIALOGUE[1:])
    assert rows(before) == []
    (row,) = rows(come)
    assert (row["version"], row["source"]["offset"]) == ("v1", 9)
    assert come.deltas.feedback == {("vote", "waited"): 1}


def test_feedback_before_everything_opens_no_conversation_and_writes_no_summary() -> None:
    processor = PartitionProcessor(SUITE)
    before = work(processor, [], [said("f1", "a1", 60)])
    assert before.outputs == []
    come = work(processor, DIALOGUE)
    assert [row["version"] for row in rows(come)] == ["v1"]
    assert "reopened" not in come.deltas.pairing
    closed = processor.close_all()
    processor.accept(closed)
    (summary,) = decoded(closed.outputs, "conversations")
    assert (summary["closes"], summary["turns"], summary["first"]) == (1, 4, T0)


@given(st.permutations(range(10)), st.lists(st.integers(0, 10), max_size=4))
@examples(60)
def test_rows_do_not_depend_on_the_order_in_which_feedback_and_turns_come(order: list[int], cuts: list[int]) -> None:
    feedback = [
        said("f1", "a1", 60),
        said("f2", "a1", 70, vote=1),
        said("f3", "a2", 65, kind="copied"),
        said("f4", "a2", 80, kind="label", scorer="s", label="x", rater="r"),
        said("f5", "a2", 60, rater="r"),
        said("f2", "a1", 70, vote=1),
    ]
    both = [DIALOGUE[n] if n < 4 else feedback[n - 4] for n in order]
    processor, found = PartitionProcessor(SUITE), []
    for start, end in itertools.pairwise([0, *sorted(cuts), 10]):
        part = both[start:end]
        batch = work(processor, [came for came in part if came in DIALOGUE], [c for c in part if c not in DIALOGUE])
        found += rows(batch)
    assert sorted((row["feedback"]["id"], row["version"]) for row in found) == [
        ("f1", "v1"),
        ("f2", "v1"),
        ("f3", "v2"),
        ("f4", "v2"),
        ("f5", "v2"),
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_later_vote_replaces_an_earlier_one_in_whatever_order_they_come(swapped: bool) -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    votes = [said("f1", "a1", 60, rater="r"), said("f2", "a1", 70, vote=1, rater="r")]
    batch = work(processor, [], [votes[1]]), work(processor, [], [votes[0]])
    if not swapped:
        processor = PartitionProcessor(SUITE)
        work(processor, DIALOGUE)
        batch = work(processor, [], [votes[0]]), work(processor, [], [votes[1]])
    by_id = {row["feedback"]["id"]: row for row in rows(*batch)}
    if swapped:
        assert by_id["f1"]["replaced_by"] == by_id["f2"]["id"]
        assert [values for part in batch for values in part.deltas.scores.values()] == [[1.0]]
    else:
        assert by_id["f2"]["replaces"] == by_id["f1"]["id"]
    state = processor.conversation(b"c")
    assert state is not None
    assert state.feedback is not None
    assert [one.vote for one in state.feedback.newest] == [1]


def test_of_the_same_time_the_greater_id_is_the_later_one() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    batch = work(processor, [], [said("g", "a1", 60), said("f", "a1", 60, vote=1)])
    assert [("replaced_by" in row, row["feedback"]["id"]) for row in rows(batch)] == [(False, "g"), (True, "f")]


def test_votes_of_other_raters_and_labels_of_other_scorers_stand_beside_each_other() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    feedback = [
        said("f1", "a1", 60, rater="r"),
        said("f2", "a1", 61, rater="s"),
        said("f3", "a1", 62, kind="label", scorer="x", value=1),
        said("f4", "a1", 63, kind="label", scorer="y", value=1),
        said("f5", "a2", 64, rater="r"),
    ]
    assert not any("replaces" in row or "replaced_by" in row for row in rows(work(processor, [], feedback)))


# -- unknown turns -------------------------------------------------------------------------------------------


def test_feedback_of_a_closed_conversation_has_its_row_and_opens_nothing() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    work(processor, [turn("u", 5_000, conversation="other")])
    state = processor.conversation(b"c")
    assert state is not None
    assert state.closed
    assert [row["version"] for row in rows(work(processor, [], [said("f1", "a1", 6_000)]))] == ["v1"]
    state = processor.conversation(b"c")
    assert state is not None
    assert (state.closed, state.closes) == (True, 1)


def test_feedback_of_a_response_that_is_no_longer_kept_still_finds_its_release() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, [turn(f"{'ua'[n % 2]}{n}", n, version=f"v{n // 20}") for n in range(60)])
    found = rows(work(processor, [], [said(f"f{n}", f"a{n}", 100) for n in range(1, 60, 2)]))
    assert [row["version"] for row in found] == [f"v{n // 20}" for n in range(1, 60, 2)]


def test_feedback_of_a_turn_that_was_no_response_has_a_row_that_says_so() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    batch = work(processor, [], [said("f1", "u1", 60)])
    (row,) = rows(batch)
    assert (row["assistant"], row["version"]) == (None, None)
    assert row["scores"] == [{"scorer": "vote", "value": None, "label": "down", "unscored": "unknown_turn"}]
    assert SCORE_RECORDS.validate_python(row).assistant is None
    assert batch.deltas.feedback == {("vote", "unknown"): 1}
    assert not batch.deltas.scores


def test_feedback_of_a_turn_that_never_comes_has_a_row_when_nobody_waits_any_longer() -> None:
    processor = PartitionProcessor(SUITE)
    waiting = work(processor, [turn("u", 0, conversation="other")], [said("f1", "a9", 60)])
    soon = work(processor, [turn("v", 1_860 + 86_400, conversation="other")])
    assert rows(waiting, soon) == []
    assert b"c" in processor.store
    late = work(processor, [turn("w", 1_860 + 86_400 + 120, conversation="other")])
    assert [row["scores"][0]["unscored"] for row in rows(late)] == ["unknown_turn"]
    assert b"c" not in processor.store
    assert not [out for out in late.outputs if out.topic == "conversations" and out.key == b"c"]


def test_feedback_that_waits_outlives_its_conversation_until_its_own_retention_is_over() -> None:
    """Where feedback is read ahead of turns, a conversation must not be forgotten just before its turn comes."""
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE, [said("f1", "a3", 87_000)])
    come = work(processor, [turn("u", 88_400, conversation="other"), turn("a3", 88_410, version="v3")])
    assert [row["version"] for row in rows(come)] == ["v3"]


def test_the_end_of_a_replay_leaves_nobody_waiting() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE, [said("f1", "a9", 60), said("f2", "a1", 60, conversation="nobody")])
    batch = processor.close_all()
    assert sorted(row["feedback"]["id"] for row in rows(batch)) == ["f1", "f2"]
    assert [out.key for out in batch.outputs if out.topic == "conversations"] == [b"c"]


def test_only_so_much_waits_and_the_oldest_has_its_row_first() -> None:
    processor = PartitionProcessor(SUITE)
    batch = work(processor, [], [said(f"f{n:02d}", f"a{n}", 60) for n in range(MAX_WAITING + 3)])
    assert [row["feedback"]["id"] for row in rows(batch)] == ["f00", "f01", "f02"]
    assert batch.deltas.feedback == {("vote", "unknown"): 3}


def test_what_a_conversation_remembers_of_feedback_is_bounded() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, [turn(f"{'ua'[n % 2]}{n}", n, version=f"v{n}") for n in range(400)])
    for part in range(4):
        ids = [f"{part}-{n}" for n in range(500)]
        work(processor, [], [said(name, f"a{n}", n, rater=name, reason="x" * 1_000) for n, name in enumerate(ids)])
    state = processor.conversation(b"c")
    assert state is not None
    memory = state.feedback
    assert memory is not None
    assert len(memory.ids) == 9 * MAX_IDS
    assert len(memory.newest) <= MAX_NEWEST
    assert len(memory.answered) == 8 * MAX_ANSWERED
    assert len(memory.responders) <= 16
    assert len(processor.store[b"c"]) < 60_000


def test_feedback_is_forgotten_with_its_conversation_also_where_it_waits() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE, [said("f1", "a9", 60, reason="SECRET"), said("f2", "a1", 60, conversation="nobody")])
    asked = [FakeRecord(n, key, b"", 0) for n, key in enumerate((b"c", b"nobody"))]
    batch = work(processor, [], [], asked)
    assert processor.store == {}
    assert rows(batch) == []
    assert rows(work(processor, DIALOGUE)) == []


def test_a_reason_is_redacted_before_it_is_kept_or_written() -> None:
    processor = PartitionProcessor(SUITE.redacted_by(Redaction()))
    waiting = work(processor, [], [said("f1", "a1", 60, reason="mail bob@example.com")])
    assert b"bob@example.com" not in processor.store[b"c"]
    assert waiting.deltas.redactions["email"] == 1
    (row,) = rows(work(processor, DIALOGUE))
    assert row["scores"][0]["explanation"] == "mail [email]"


def test_feedback_moves_neither_the_clock_nor_the_states_of_others() -> None:
    processor = PartitionProcessor(SUITE)
    work(processor, DIALOGUE)
    before = processor.clock.time
    work(processor, [], [said("f1", "a1", 80_000), said("f2", "x", 90_000, conversation="another")])
    assert processor.clock.time == before
    again = PartitionProcessor(SUITE, dict(processor.store))
    again.read_store()
    assert again.clock.time == before
    assert restore(processor.store[b"c"]).closed is False


def test_an_unreadable_turn_beside_waiting_feedback_leaves_no_gap_where_nothing_was_said() -> None:
    processor = PartitionProcessor(SUITE)
    broken = turn("a1", 5)._replace(value=turn("a1", 5).value.replace(b'"text":', b'"test":'))
    work(processor, [broken], [said("f1", "a1", 2)])
    state = processor.conversation(b"c")
    assert state is not None
    assert (state.gaps, len(state.kept)) == (0, 0)


# -- votes that turns carry ----------------------------------------------------------------------------------


def test_a_vote_that_a_turn_carries_is_feedback() -> None:
    batch = work(PartitionProcessor(SUITE), [turn("a1", 5, vote=-1, offset=4)])
    (row,) = rows(batch)
    assert row["feedback"] == {"kind": "vote"}
    assert row["scores"] == [{"scorer": "vote", "value": 0.0, "label": "down"}]
    assert (row["source"]["topic"], row["source"]["offset"]) == ("turnsignal.turns", 4)


def test_a_turn_that_comes_again_with_a_vote_is_a_duplicate_whose_vote_counts_once() -> None:
    processor = PartitionProcessor(SUITE)
    found = [
        rows(work(processor, [turn("a1", 5, **({} if v is None else {"vote": v}))])) for v in (None, 1, 1, -1, 1, -1)
    ]
    assert [len(one) for one in found] == [0, 1, 0, 1, 0, 0]
    assert len({row["id"] for one in found for row in one}) == 2


def test_a_vote_sent_later_replaces_the_one_that_the_turn_carried() -> None:
    processor = PartitionProcessor(SUITE)
    first, second = work(processor, [turn("a1", 5, vote=1)]), work(processor, [], [said("f1", "a1", 60)])
    assert rows(second)[0]["replaces"] == rows(first)[0]["id"]


# -- votes meet follow-ups -----------------------------------------------------------------------------------

THANKS, WRONG = "Thank you, that helps a lot!", "No, I meant the blue one, not the red one."


def closed(turns: list[FakeRecord], feedback: list[FakeRecord]) -> tuple[Any, Any]:
    processor = PartitionProcessor(SUITE)
    work(processor, turns, feedback)
    outputs = processor.close_all().outputs
    (summary,) = decoded(outputs, "conversations")
    (row,) = [row for row in decoded(outputs) if row["stage"] == "close"]
    return summary, next((one for one in row["scores"] if one["scorer"] == "vote_meets_follow_up"), None)


@pytest.mark.parametrize(
    ("vote", "follow_up", "label", "value"),
    [(-1, THANKS, "disagree", 0.0), (1, THANKS, "agree", 1.0), (-1, WRONG, "agree", 1.0), (1, WRONG, "disagree", 0.0)],
)
def test_a_vote_that_contradicts_the_follow_up_is_told_when_the_conversation_closes(
    vote: int, follow_up: str, label: str, value: float
) -> None:
    turns = [turn("u1", 0, "How do I reset it?"), turn("a1", 5), turn("u2", 20, follow_up)]
    summary, score = closed(turns, [said("f1", "a1", 10, vote=vote)])
    assert (score["label"], score["value"]) == (label, value)
    assert summary["votes"][label] == 1
    down_and_went_on = (vote, follow_up) == (-1, THANKS)
    assert summary["votes"]["contradicted"] == (["a1"] if down_and_went_on else [])
    assert ("explanation" in score) is down_and_went_on


def test_a_vote_without_a_follow_up_stands_alone_and_a_follow_up_without_a_vote_too() -> None:
    summary, score = closed(DIALOGUE, [said("f1", "a2", 30)])
    assert (score["label"], score["value"]) == ("only_vote", None)
    assert {name: summary["votes"][name] for name in ("up", "down", "only_vote", "only_follow_up")} == {
        "up": 0,
        "down": 1,
        "only_vote": 1,
        "only_follow_up": 1,
    }


def test_a_conversation_without_votes_is_summed_up_as_before() -> None:
    summary, score = closed(DIALOGUE, [])
    assert "votes" not in summary
    assert score is None


def test_votes_on_responses_that_are_no_longer_kept_meet_what_was_said_of_those() -> None:
    turns = [turn(f"{'ua'[n % 2]}{n}", n, THANKS if n % 4 else WRONG) for n in range(40)]
    summary, _ = closed(turns, [said(f"f{n}", f"a{n}", 100) for n in range(1, 40, 2)])
    votes = summary["votes"]
    assert (votes["down"], votes["only_vote"], votes["only_follow_up"]) == (20, 1, 0)
    assert votes["agree"] + votes["disagree"] == 19
    assert Counter(votes)["agree"] > 5
    assert len(votes["contradicted"]) == 5


@pytest.mark.parametrize("turns_later", [0, 10])
def test_raters_who_contradict_each_other_are_both_counted_and_leave_the_answer_half_good(turns_later: int) -> None:
    processor = PartitionProcessor(SUITE)
    feedback = [said("f1", "a1", 30, rater="r"), said("f2", "a1", 30, vote=1, rater="s")]
    feedback += [said("f3", "a1", 40, rater="r"), said("f4", "a2", 40, rater="r")]
    later = [turn(f"{'ua'[n % 2]}{n}", 50 + n, f"Great, thanks for part {n}!") for n in range(4, 4 + turns_later)]
    state = work(processor, [*DIALOGUE, *later], feedback).changes[b"c"]
    assert state is not None
    assert count_votes(restore(state)).shares == {("default", "v1"): (1, 0.5), ("default", "v2"): (1, 0.0)}
    (summary,) = decoded(processor.close_all().outputs, "conversations")
    assert (summary["votes"]["up"], summary["votes"]["down"], summary["votes"]["agree"]) == (1, 2, 1)
    assert summary["votes"]["contradicted"][0] == "a1"
