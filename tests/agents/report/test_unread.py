"""What is said of records that could not be read."""

import pytest

from turnsignal.agents.report.unread import describe_way_out
from turnsignal.stream.errors import Reason


@pytest.mark.parametrize("reason", [Reason.UNKNOWN_ROLE, Reason.BAD_TIMESTAMP])
def test_a_dead_letter_of_a_topic_has_no_file_to_type(reason: Reason) -> None:
    of_topic = {"topic": "turnsignal.turns", "partition": 0, "offset": 7, "detail": "another"}
    (told,) = describe_way_out(reason, of_topic)
    assert "turnsignal convert FILE --propose mapping.toml" in told
    (named,) = describe_way_out(reason, {"file": "my log.jsonl", "line": 1, "detail": "another"})
    assert "turnsignal convert 'my log.jsonl' --propose mapping.toml" in named
