"""What is shipped for tests does what its page says, for users as for us."""

import pytest

from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.testing import T0, Played, decoded, make_record, play, reply, unreadable, user


def test_a_made_record_reads_as_the_turn_that_it_was_made_of() -> None:
    record = make_record(7, 2.5, "d", turn_id="u1", role="user", text="Hi")
    turn = decode_turn(record.value, b"d")
    assert (turn.conversation_id, turn.turn_id, turn.time, record.timestamp) == ("d", "u1", T0 + 2.5, 1_750_000_002_500)


def test_a_conversation_is_played_in_batches_until_it_closes() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1)).say(user("u2", 2, "Thank you, that helps a lot!")).close()
    assert [row["turn_id"] for stage in ("response", "follow_up", "close") for row in played.rows(stage)] == ["a1"] * 3
    assert [summary["outcome"] for summary in played.written("conversations")] == ["resolved"]
    assert (played.about()["open"], played.about()["turns"]) == (False, 3)
    with pytest.raises(KeyError, match="expected a conversation that is remembered, got 'd'"):
        played.about("d")


def test_an_unreadable_turn_is_set_aside_and_leaves_a_gap() -> None:
    played = Played().say(user("u1", 0), reply("a1", 1), unreadable("user", 2))
    assert (len([out for out in played.outputs if out.topic == "dead_letters"]), played.about()["gaps"]) == (1, 1)


def test_rows_do_not_depend_on_where_batches_are_cut() -> None:
    turns = [user("u1", 0), reply("a1", 1), user("u2", 2)]
    records = [turn.record(offset) for offset, turn in enumerate(turns)]
    whole, cut = (decoded(play(Played().processor, records, cuts)) for cuts in ([], [1, 2]))
    assert whole == cut
