"""Each decision of the design about order and pairing, as one conversation and what is said of it."""

from typing import Any

from turnsignal.stream.conversations.state import Conversation, Limits
from turnsignal.stream.pipeline.conversation_processor import ConversationProcessor
from turnsignal.stream.pipeline.effects import RecordContext
from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import T0, FakeRecord, FakeTurn, Played, reply, unreadable, user

NO = "No, I meant the blue one, not the red one."
THANKS = "Thank you, that helps a lot!"
DETAIL = "Can you explain that in more detail?"


def label(row: dict[str, Any]) -> str | None:
    return next((s.get("label") for s in row["scores"] if s["scorer"] == "follow_up"), None)


def unscored(row: dict[str, Any]) -> str | None:
    return next((s.get("unscored") for s in row["scores"] if s["scorer"] == "follow_up"), None)


# -- pairing in order ----------------------------------------------------------------------------------------


def test_a_response_is_scored_at_once_and_again_when_the_user_speaks() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1))
    assert [row["turn_id"] for row in played.rows("response")] == ["a1"]
    assert played.rows("follow_up") == []
    (row,) = played.say(user("u2", 2, NO)).rows("follow_up")
    assert (row["turn_id"], row["follow_up"], row["outcome"], label(row)) == ("a1", "u2", "followed_up", "correction")
    assert row["time"] == T0 + 2


def test_the_first_user_message_judges_nothing() -> None:
    assert Played().say(user("u1", 0, NO)).written("scores") == []


def test_a_greeting_is_not_judged_by_the_first_user_message() -> None:
    played = Played().say(reply("hello", 0, "Hi, what can I do for you?"), user("u1", 1, NO))
    assert played.rows("follow_up") == []
    assert played.batch.deltas.pairing["orphan"] == 1
    assert played.about()["clarifications"] == 0


def test_a_prompt_that_comes_late_makes_a_greeting_an_answer() -> None:
    played = Played().say(reply("a1", 1), user("u2", 2, NO), user("u1", 0))
    (row,) = played.rows("follow_up")
    assert (row["turn_id"], row["follow_up"]) == ("a1", "u2")


def test_two_greetings_become_answers_together() -> None:
    played = Played().say(reply("a1", 1), reply("a2", 2), user("u2", 3, NO), user("u1", 0))
    assert [(row["turn_id"], row["outcome"]) for row in played.rows("follow_up")] == [
        ("a1", "superseded"),
        ("a2", "followed_up"),
    ]


def test_answers_to_nobody_have_no_follow_up_however_many_came() -> None:
    played = Played().say(*(reply(f"a{number}", T0 + number) for number in range(12)), user("u1", T0 + 20))
    assert played.rows("follow_up") == []
    assert len(played.rows("response")) == 12


def test_an_answer_is_prompted_by_a_question_that_is_no_longer_kept() -> None:
    replies = [reply(f"a{number}", T0 + 1 + number) for number in range(9)]
    played = Played().say(user("u1", T0), *replies, user("u2", T0 + 20))
    assert [row["turn_id"] for row in played.rows("follow_up")] == [f"a{number}" for number in range(9)]


def test_a_question_that_came_too_late_to_be_kept_prompts_the_answers_that_had_none() -> None:
    replies = [reply(f"a{number}", T0 + 1 + number) for number in range(8)]
    played = Played().say(*replies, user("u1", T0))
    superseded = [f"a{number}" for number in range(2, 7)]  # of the answers that are still kept
    assert [row["turn_id"] for row in played.rows("follow_up")] == superseded
    assert [row["turn_id"] for row in played.say(user("u2", T0 + 20)).rows("follow_up")] == [*superseded, "a7"]


def test_user_after_user_belongs_to_the_same_prompt() -> None:
    suite = Suite.model_validate({"exchanges": {"share": 1.0}})
    played = Played(suite).say(
        user("u1", 0, "Where is my order?"), user("u2", 1, "It is number 17."), reply("a1", 2), user("u3", 3, NO)
    )
    response, follow_up = played.written("exchanges")
    assert response["prompt"] == follow_up["prompt"] == "Where is my order?\nIt is number 17."
    assert [row["follow_up"] for row in played.rows("follow_up")] == ["u3"]


def test_a_long_message_is_written_whole_a_few_times_however_many_answers_come_before_it() -> None:
    suite = Suite.model_validate({"exchanges": {"share": 1.0}})
    played = Played(suite).say(user("u0", 0), user("u1", 900, "\x01" * 199_000))
    played.say(*(reply(f"a{n}", 1 + n) for n in range(40)))
    followed_up = [each for each in played.written("exchanges") if each["stage"] == "follow_up"]
    assert [len(each["follow_up"]) for each in followed_up] == [199_000] * 4 + [2000] * 36
    assert [each["cut"] for each in followed_up] == [[]] * 4 + [["follow_up"]] * 36


def test_messages_that_came_together_name_what_the_conversation_did_not_keep_of_them() -> None:
    suite = Suite.model_validate({"exchanges": {"share": 1.0}})
    played = Played(suite).say(user("u1", 0), reply("a1", 1), user("u2", 2, "x" * 3000), user("u3", 3, NO))
    _, alone, both = played.written("exchanges")
    assert (len(alone["follow_up"]), alone["cut"]) == (3000, [])
    assert (len(both["follow_up"]), both["cut"]) == (2000 + 1 + len(NO), ["follow_up"])


def test_messages_that_come_together_are_one_follow_up() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, "ok thanks"), user("u3", 3, NO))
    first, both = played.rows("follow_up")
    assert (first["follow_up"], label(first)) == ("u2", "thanks")
    assert (both["follow_up"], both["follow_ups"], both["replaces"]) == ("u2", ["u2", "u3"], first["id"])
    assert (label(both), both["id"] != first["id"]) == ("correction", True)
    assert "follow_ups" not in first
    assert played.about()["clarifications"] == 1
    assert played.about()["scores"]["follow_up"] == {"n": 1, "mean": 0.2}
    assert (played.batch.deltas.pairing["followed_up"], played.batch.deltas.pairing["replaced"]) == (1, 1)


def test_a_second_message_that_changes_no_reading_is_not_counted_again() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, NO), user("u3", 3, "in Rome, that is"))
    first, both = played.rows("follow_up")
    assert label(first) == label(both) == "correction"
    assert played.about()["scores"]["follow_up"] == {"n": 1, "mean": 0.2}
    assert [len(values) for name, values in played.batch.deltas.scores.items() if name[2] == "follow_up"] == [1]


def test_what_the_user_writes_after_the_next_answer_is_another_follow_up() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, THANKS), reply("a2", 3), user("u3", 4, NO))
    assert [(row["turn_id"], row["follow_up"]) for row in played.rows("follow_up")] == [("a1", "u2"), ("a2", "u3")]
    assert all("follow_ups" not in row for row in played.rows("follow_up"))


def test_a_late_response_between_two_messages_takes_the_second() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, THANKS), user("u3", 4, NO), reply("a2", 3))
    newest = {row["turn_id"]: (row["follow_up"], label(row)) for row in played.rows("follow_up")}
    assert newest == {"a1": ("u2", "thanks"), "a2": ("u3", "correction")}
    assert played.about()["clarifications"] == 1
    assert played.about()["scores"]["follow_up"]["n"] == 2


def test_of_two_responses_the_later_one_gets_the_follow_up() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), reply("a2", 2), user("u2", 3, NO))
    first, second = played.rows("follow_up")
    assert (first["turn_id"], first["outcome"], unscored(first)) == ("a1", "superseded", "not_applicable")
    assert "follow_up" not in first
    assert (second["turn_id"], second["outcome"], label(second)) == ("a2", "followed_up", "correction")
    assert (played.about()["superseded"], played.about()["clarifications"]) == (1, 1)


def test_system_and_tool_turns_take_no_part_in_pairing() -> None:
    between = [FakeTurn("system", "s", 1.2, NO), FakeTurn("tool", "t", 1.5, NO)]
    played = Played().say(user("u1", 0), reply("a1", 1), *between, user("u2", 2, THANKS))
    assert [(row["turn_id"], row["follow_up"]) for row in played.rows("follow_up")] == [("a1", "u2")]
    assert played.about()["turns"] == 5


def test_conversations_are_not_mixed() -> None:
    played = Played().say(
        user("u1", 0), reply("a1", 1), user("u1", 1.5, NO, conversation="d"), reply("a1", 1.7, conversation="d")
    )
    assert played.rows("follow_up") == []


# -- repaired order ------------------------------------------------------------------------------------------


def test_a_response_that_arrives_after_its_follow_up_is_paired_when_it_comes() -> None:
    played = Played().say(user("u1", 0), user("u2", 2, NO))
    assert played.rows("follow_up") == []
    (row,) = played.say(reply("a1", 1)).rows("follow_up")
    assert (row["turn_id"], row["follow_up"], label(row)) == ("a1", "u2", "correction")
    assert row["time"] == T0 + 2


def test_a_late_response_before_a_scored_follow_up_gets_it_and_the_row_of_the_other_is_replaced() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 3, NO))
    assert played.about()["scores"]["follow_up"]["n"] == 1
    played.say(reply("a2", 2))
    old, superseded, new = played.rows("follow_up")
    assert (superseded["turn_id"], superseded["outcome"], superseded["replaces"]) == ("a1", "superseded", old["id"])
    assert (new["turn_id"], new["follow_up"], label(new)) == ("a2", "u2", "correction")
    assert "replaces" not in new
    about = played.about()
    assert (about["clarifications"], about["superseded"]) == (1, 1)
    assert about["scores"]["follow_up"] == {"n": 1, "mean": 0.2}


def test_a_late_follow_up_replaces_the_one_that_was_scored() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u3", 4, NO), reply("a2", 3), user("u2", 2, THANKS))
    rows = played.rows("follow_up", "a1")
    assert [(row["outcome"], row.get("follow_up")) for row in rows] == [
        ("followed_up", "u3"),
        ("superseded", None),
        ("followed_up", "u2"),
    ]
    assert [row.get("replaces") for row in rows] == [None, rows[0]["id"], rows[1]["id"]]
    assert label(rows[2]) == "thanks"
    assert played.about()["clarifications"] == 1
    assert played.about()["scores"]["follow_up"] == {"n": 2, "mean": 0.6}


def test_what_is_replaced_leaves_its_windows() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, NO), user("u3", 400, "in Rome"))
    small = {w["start"] - T0: w["scores"].get("follow_up") for w in played.about()["windows"] if w["size"] == 300}
    assert small == {-100.0: None, 200.0: {"n": 1, "mean": 0.2}}  # windows start at multiples of their size


def test_a_turn_within_grace_is_not_late() -> None:
    played = Played().say(user("u1", 0), reply("a1", 400), user("u0", 100, "Hello."))
    assert played.batch.deltas.pairing["late"] == 0


def test_a_turn_beyond_grace_is_counted_and_scored_all_the_same() -> None:
    played = Played().say(user("u1", 0), user("u2", 400, NO), reply("a1", 99))
    assert played.batch.deltas.pairing["late"] == 1
    assert played.about()["late"] == 1
    assert [row["late"] for row in played.rows("response") + played.rows("follow_up")] == [True, True]


def test_lateness_of_one_conversation_is_not_decided_by_another() -> None:
    played = Played().say(user("u1", 0), user("v1", 1000, conversation="d"), reply("a1", 1))
    assert played.batch.deltas.pairing["late"] == 0


def test_a_turn_older_than_what_is_kept_is_scored_but_not_paired() -> None:
    turns = [user("u1", 0), reply("a1", 10), user("u2", 20), reply("a2", 30), user("u3", 40), reply("a3", 50)]
    played = Played().say(*turns, user("u4", 60), reply("a4", 70))
    rows = len(played.rows("follow_up"))
    played.say(reply("old", 5))
    assert [row["turn_id"] for row in played.rows("response", "old")] == ["old"]
    assert len(played.rows("follow_up")) == rows
    assert played.batch.deltas.pairing["expired"] == 1


def test_equal_times_keep_the_order_of_arrival() -> None:
    played = Played().say(user("u1", 0), reply("a1", 0), user("u2", 0, NO))
    assert [(row["turn_id"], row["follow_up"]) for row in played.rows("follow_up")] == [("a1", "u2")]


def test_a_late_answer_that_leaves_no_message_to_the_one_before_it_gives_the_row_id_of_a_replay() -> None:
    first, late, *more = reply("a1", 1), reply("a2", 2), user("u2", 3, NO), user("u3", 4, THANKS)
    live, replayed = Played().say(user("u1", 0), first, *more, late), Played().say(user("u1", 0), first, late, *more)
    assert live.rows("follow_up", "a1")[-1]["outcome"] == "superseded"
    assert live.rows("follow_up", "a1")[-1]["id"] == replayed.rows("follow_up", "a1")[-1]["id"]
    assert live.rows("follow_up", "a2")[-1]["id"] == replayed.rows("follow_up", "a2")[-1]["id"]


def test_a_late_answer_between_two_messages_writes_no_row_twice() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, NO), user("u3", 4, THANKS), reply("a2", 3))
    rows = played.rows("follow_up", "a1")
    assert [row.get("follow_ups", [row["follow_up"]]) for row in rows] == [["u2"], ["u2", "u3"], ["u2"]]
    assert len({row["id"] for row in rows}) == 3
    assert [row.get("replaces") for row in rows[1:]] == [row["id"] for row in rows[:-1]]


# -- what is returned ----------------------------------------------------------------------------------------


def context(state: Conversation, turn: FakeTurn, offset: int) -> tuple[RecordContext, Turn]:
    record = turn.record(offset)
    state.observe_time(T0 + turn.time, Limits())
    return RecordContext(b"c", state, offset, T0 + turn.time), decode_turn(record.value)


def test_what_a_turn_does_to_its_conversation_is_returned_and_can_be_read_without_any_output() -> None:
    processor, state = ConversationProcessor(Suite()), Conversation()
    assert processor.on_user(*context(state, user("u1", 0), 0)).rows == []
    (response,) = processor.on_response(*context(state, reply("a1", 1), 1)).rows
    assert (response.stage, response.turn_id, response.offset, response.closed_as) == ("response", "a1", 1, "")
    (follow_up,) = processor.on_user(*context(state, user("u2", 2, NO), 2)).rows
    assert (follow_up.stage, follow_up.turn_id, follow_up.closed_as) == ("follow_up", "a1", "followed_up")
    assert processor.on_user(*context(state, user("u0", -1), 3)).counts == ()
    close = processor.on_close(b"c", state)
    assert (close.summary.outcome, close.summary.turns, close.summary.clarifications) == ("unanswered", 4, 1)
    assert close.row is not None
    assert (close.row.stage, close.row.turn_id, close.row.fields["turns"]) == ("close", "a1", 4)


# -- twice ---------------------------------------------------------------------------------------------------


def test_an_identical_duplicate_is_counted_and_has_no_effect() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, NO))
    before, rows = played.about(), len(played.written("scores"))
    played.say(reply("a1", 1), user("u2", 2, NO))
    assert played.about() == before | {"duplicates": 2}
    assert len(played.written("scores")) == rows
    assert played.batch.deltas.records["turnsignal.turns", "duplicate"] == 2
    assert played.written("dead_letters") == []


def test_a_duplicate_does_not_keep_a_conversation_open() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1))
    due = played.processor.conversation(b"c").due  # type: ignore[union-attr]
    played.say(user("v1", 1700, conversation="d")).say(reply("a1", 1))
    assert played.processor.conversation(b"c").due == due  # type: ignore[union-attr]


def test_another_text_under_a_known_id_is_a_dead_letter_and_leaves_no_gap() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(reply("a1", 1, "Something else."))
    (letter,) = [out for out in played.outputs if out.topic == "dead_letters"]
    assert dict(letter.headers)["reason"] == b"conflict"
    (row,) = played.say(user("u2", 2, NO)).rows("follow_up")
    assert label(row) == "correction"


def test_the_same_turn_id_in_two_conversations_is_no_duplicate() -> None:
    played = Played().say(user("u1", 0), user("u1", 0, "Something else.", conversation="d"))
    assert played.batch.deltas.records["turnsignal.turns", "scored"] == 2


def test_a_duplicate_beyond_the_recent_ids_is_a_late_turn() -> None:
    suite = Suite.model_validate({"conversations": {"recent_turns": 3, "kept_turns": 3}})
    played = Played(suite).say(user("u1", 0), *[user(f"m{n}", 1000 + n) for n in range(4)]).say(user("u1", 0))
    assert (played.batch.deltas.pairing["late"], played.batch.deltas.pairing["expired"]) == (1, 1)
    assert played.about()["duplicates"] == 0


def test_the_last_recent_id_is_still_recognised() -> None:
    suite = Suite.model_validate({"conversations": {"recent_turns": 3, "kept_turns": 3}})
    played = Played(suite).say(user("u1", 0), *[user(f"m{n}", 1000 + n) for n in range(2)]).say(user("u1", 0))
    assert played.about()["duplicates"] == 1


# -- gaps ----------------------------------------------------------------------------------------------------


def test_behind_an_unreadable_response_the_user_judges_nothing() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), unreadable("assistant", 2), user("u2", 3, NO))
    (row,) = played.rows("follow_up")
    assert (row["turn_id"], row["outcome"], unscored(row)) == ("a1", "followed_up", "gap")
    assert (played.about()["gaps"], played.about()["clarifications"]) == (1, 0)


def test_behind_an_unreadable_user_message_the_user_judges_nothing() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), unreadable("user", 2), user("u2", 3, NO))
    (row,) = played.rows("follow_up")
    assert (row["turn_id"], unscored(row)) == ("a1", "gap")


def test_after_a_gap_judging_goes_on_with_the_next_exchange() -> None:
    turns = [user("u1", 0), reply("a1", 1), unreadable("assistant", 2), user("u2", 3), reply("a2", 4)]
    assert [unscored(row) or label(row) for row in Played().say(*turns, user("u3", 5, NO)).rows("follow_up")] == [
        "gap",
        "correction",
    ]


def test_a_readable_message_before_the_gap_replaces_it() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u3", 9), unreadable("user", 9), user("u2", 2, NO))
    assert label(played.rows("follow_up")[-1]) == "correction"


def test_the_prompt_before_an_unreadable_message_is_not_taken_for_the_prompt_after_it() -> None:
    suite = Suite.model_validate({"exchanges": {"share": 1.0}})
    played = Played(suite).say(user("u1", 0, "Where is it?"), reply("a1", 1), unreadable("user", 2), reply("a2", 3))
    assert [exchange["prompt"] for exchange in played.written("exchanges")] == ["Where is it?", ""]


def test_an_unreadable_record_of_an_unknown_conversation_leaves_nothing() -> None:
    played = Played().say(unreadable("user", 0))
    assert played.batch.changes == {}
    assert len(played.written("dead_letters")) == 1


def test_an_unreadable_system_turn_leaves_no_gap() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), unreadable("system", 1.5), user("u2", 2, NO))
    assert [label(row) for row in played.rows("follow_up")] == ["correction"]


# -- close, return, forget -----------------------------------------------------------------------------------


def closing(played: Played) -> tuple[list[Any], list[Any]]:
    return played.rows("close"), [one for one in played.written("conversations") if one is not None]


def test_a_conversation_closes_after_half_an_hour_of_event_time() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(user("v1", 1801, conversation="d"))
    assert closing(played) == ([], [])
    rows, summaries = closing(played.say(user("v2", 1900, conversation="d")))
    assert [(row["turn_id"], row["outcome"], row["time"] - T0) for row in rows] == [("a1", "ended", 1801)]
    assert (summaries[0]["turns"], summaries[0]["closes"], summaries[0]["outcome"]) == (2, 1, "silent")
    assert summaries[0]["scores"]["nDCG@5"] == {"n": 1, "mean": 1.0}


def test_an_ended_exchange_is_not_scored_as_a_follow_up() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1))
    played.keep(played.processor.close_all())
    assert played.rows("follow_up") == []
    assert "follow_up" not in played.written("conversations")[0]["scores"]


def test_a_silent_partition_closes_conversations_by_the_steady_clock() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), now=5000.0)
    for now in range(5000, 6810, 20):
        assert played.say(now=now).about()["open"]
    assert not played.say(now=6825.0).about()["open"]


def test_the_steady_clock_says_nothing_while_records_come() -> None:
    played = Played().say(user("u1", 0), now=5000.0)
    assert played.say(user("v1", 10, conversation="d"), now=99_000.0).about()["open"]


def test_a_user_whom_nobody_answers_any_more_still_has_an_outcome() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1, version="v2"))
    played.say(*[user(f"m{n}", 2 + n, "Hello?") for n in range(9)])
    ((row,), (summary,)) = closing(played.keep(played.processor.close_all()))
    assert (row["turn_id"], row["version"], summary["version"], summary["outcome"]) == ("a1", "v2", "v2", "unanswered")


def test_a_conversation_that_returns_keeps_its_summary_and_gets_a_new_row() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(user("u2", 4000, NO), reply("a2", 4001))
    assert played.batch.deltas.pairing["reopened"] == 1
    rows, summaries = closing(played.keep(played.processor.close_all()))
    assert [(s["closes"], s["turns"], s["responses"], s["clarifications"]) for s in summaries] == [
        (1, 2, 1, 0),
        (2, 4, 2, 1),
    ]
    assert rows[1]["replaces"] == rows[0]["id"]


def test_the_follow_up_of_an_ended_exchange_is_scored_and_replaces_its_row() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(user("u2", 4000, NO))
    (ended,), (row,) = played.rows("close"), played.rows("follow_up")
    assert (row["turn_id"], row["follow_up"], label(row), row["replaces"]) == ("a1", "u2", "correction", ended["id"])
    assert played.batch.deltas.pairing["followed_up"] == 1


def test_a_return_that_changes_no_exchange_still_gets_a_row_of_its_own() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(FakeTurn("system", "s", 4000, "restarted"))
    rows, _ = closing(played.keep(played.processor.close_all()))
    assert [row["outcome"] for row in rows] == ["ended", "ended"]
    assert rows[0]["id"] != rows[1]["id"]
    assert rows[1]["replaces"] == rows[0]["id"]


def test_a_closed_conversation_leaves_after_retention_with_a_tombstone() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1))
    played.say(user("v1", 2000, conversation="d"))
    played.say(user("v2", 1800 + 86_400 - 60, conversation="d"))
    assert b"c" in played.processor.store
    played.say(user("v3", 1800 + 86_400 + 120, conversation="d"))
    assert played.batch.changes[b"c"] is None
    assert b"c" not in played.processor.store
    assert len(played.rows("close", "a1")) == 1


def test_a_forgotten_conversation_that_returns_is_a_new_one() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(user("u2", 100_000, NO))
    assert played.rows("follow_up") == []
    assert (played.about()["turns"], len(played.rows("close", "a1"))) == (1, 1)


def test_a_gap_does_not_bring_back_what_is_to_be_forgotten() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1))
    played.say(user("v1", 100_000, conversation="d"), unreadable("user", 100_000))
    assert [s["turns"] for s in played.written("conversations")] == [2]
    assert b"c" not in played.processor.store


def test_a_backlog_of_old_turns_is_one_conversation() -> None:
    """Stream time is far ahead; still nothing is closed or forgotten between two turns that arrive together."""
    for ago in (7200.0, 200_000.0):
        played = Played().say(user("v1", 0, conversation="d"))
        for turn in (user("u1", -ago), reply("a1", 1 - ago), user("u2", 2 - ago, NO)):
            played.say(turn)
        assert [label(row) for row in played.rows("follow_up")] == ["correction"]
        assert closing(played) == ([], [])


def test_erasing_a_conversation_takes_its_state_and_its_summary() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1))
    batch = played.processor.process([], T0, [FakeRecord(0, b"c", None, 0), FakeRecord(1, b"nobody", None, 0)])
    played.keep(batch)
    assert batch.changes == {b"c": None}
    assert [(out.topic, out.key, out.value) for out in batch.outputs] == [
        ("conversations", b"c", None),
        ("conversations", b"nobody", None),
    ]
    assert played.say(user("v1", 9000, conversation="d")).rows("close") == []


# -- windows -------------------------------------------------------------------------------------------------


def test_a_score_too_late_for_its_window_is_counted_and_changes_no_window() -> None:
    suite = parse_suite("[[windows]]\nsize = 300\nkeep = 900")
    played = Played(suite).say(user("u1", 0), reply("a1", 1), user("u2", 3000))
    played.say(reply("a0", 0.5))
    assert played.batch.deltas.pairing["window_expired"] == 1
    assert all(w["scores"].get("nDCG@5", {"n": 0})["n"] <= 1 for w in played.about()["windows"])
    assert played.about()["scores"]["nDCG@5"]["n"] == 2


def test_windows_do_not_pile_up() -> None:
    played = Played()
    for n in range(200):
        played.say(user(f"u{n}", n * 600), reply(f"a{n}", n * 600 + 1))
    assert len(played.about()["windows"]) <= 8


# -- a changed suite -----------------------------------------------------------------------------------------


def test_a_changed_suite_starts_new_rows_and_new_means() -> None:
    store: dict[bytes, bytes] = {}
    played = Played(None, store).say(user("u1", 0), reply("a1", 1), user("u2", 3, NO))
    other = Played(Suite.model_validate({"retrieval": {"good": 0.9}}), store).say(reply("a2", 2))
    old, superseded = played.rows("follow_up")[0], other.rows("follow_up", "a1")[0]
    assert superseded["suite"] != old["suite"]
    assert superseded["replaces"] == old["id"]
    about = other.about()
    assert about["scores"]["follow_up"] == {"n": 1, "mean": 0.2}
    assert about["clarifications"] == 1


def test_a_longer_idle_time_holds_for_conversations_that_are_open_already() -> None:
    store: dict[bytes, bytes] = {}
    Played(None, store).say(*[user("u1", n / 10, conversation=f"c{n}") for n in range(50)])
    other = Played(Suite.model_validate({"conversations": {"idle": 7200.0}}), store)
    other.say(user("v1", 2000, conversation="d"))
    assert other.written("conversations") == []
    assert set(other.batch.changes) == {b"d", *(f"c{n}".encode() for n in range(50))}
    other.say(user("v2", 2001, conversation="d"))
    assert set(other.batch.changes) == {b"d"}


def test_a_message_that_is_left_alone_again_has_a_row_of_its_own() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), user("u2", 2, NO), user("u3", 4, DETAIL), reply("a2", 3))
    rows = [row for row in played.written("scores") if row["stage"] == "follow_up" and row["turn_id"] == "a1"]
    assert [row.get("follow_ups", [row["follow_up"]]) for row in rows] == [["u2"], ["u2", "u3"], ["u2"]]
    assert len({row["id"] for row in rows}) == 3
    assert [row.get("replaces") for row in rows[1:]] == [rows[0]["id"], rows[1]["id"]]


# -- what is counted of turns --------------------------------------------------------------------------------


def test_a_user_turn_counts_under_the_version_of_the_answer_before_it() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1, version="v1"), user("u2", 2), reply("a2", 3, version="v2"))
    played.say(user("u3", 4))
    assert played.batch.deltas.turns == {("default", "v2", "user"): 1}
    played.say(user("u0", 1.5))
    assert played.batch.deltas.turns == {("default", "v1", "user"): 1}
    assert Played().say(user("u1", 0)).batch.deltas.turns == {("default", None, "user"): 1}


def test_a_user_turn_counts_under_the_version_of_an_answer_that_is_not_kept_any_more() -> None:
    played = Played(parse_suite("conversations = { kept_turns = 3 }")).say(user("u", 0), reply("a", 1, version="v1"))
    played.say(*(user(f"u{n}", 2 + n) for n in range(8)))
    assert played.batch.deltas.turns == {("default", "v1", "user"): 8}


# -- what an earlier answer retrieved ------------------------------------------------------------------------


def test_an_answer_may_cite_what_an_earlier_answer_of_its_conversation_retrieved() -> None:
    """Search is a tool, and what it brought stays in the history, though each turn logs its own results."""
    first = reply("a1", 1, "Open it [doc_5].", retrieved=[{"doc_id": "doc_5"}, {"doc_id": "doc_2"}])
    again = reply("a2", 3, "Then close it [doc_5].", retrieved=[{"doc_id": "doc_8"}, {"doc_id": "doc_9"}])
    suite = parse_suite('checks = [{ check = "citation.resolves" }, { check = "citation.required" }]')

    def scores(*turns: FakeTurn) -> dict[str, Any]:
        row = Played(suite).say(*turns).rows("response")[-1]
        return {score["scorer"]: score.get("unscored") or score["value"] for score in row["scores"]}

    alone = scores(user("u2", 2), again)
    assert (alone["cited"], alone["dangling"], alone["citation.resolves"], alone["nDCG@5"]) == (0, 1, 0, "all_dangling")
    behind = scores(user("u1", 0), first, user("u2", 2), again)
    assert (behind["cited"], behind["dangling"]) == (1, 0)
    assert (behind["citation.resolves"], behind["citation.required"]) == (1, 1)
    assert behind["nDCG@5"] == "cited_earlier"
