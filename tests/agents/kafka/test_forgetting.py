"""Whatever a worker takes in, `forget --user` finds."""

from turnsignal.agents.kafka.forgetting import _is_of
from turnsignal.stream.records.turns import decode_turn

TURN = (
    b'{"conversation_id":"c","turn_id":"t","role":"user","text":"hi","timestamp":"2024-05-01T09:00:00Z","more":%s,'
    b'"user_id":"ada"}'
)


def test_a_user_is_found_beside_a_field_that_is_nested_as_deep_as_a_worker_takes() -> None:
    deep = TURN % (b"[" * 1010 + b"]" * 1010)
    assert decode_turn(deep).turn_id == "t"
    assert _is_of(deep, "ada")
    assert not _is_of(deep, "eve")


def test_a_record_that_no_worker_takes_names_nobody() -> None:
    assert not _is_of(TURN % (b"[" * 9000 + b"]" * 9000), "ada")
    assert not _is_of(b"[]", "ada")
