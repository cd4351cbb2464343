"""What is said of records that could not be read."""

from pathlib import Path

import orjson
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


@pytest.mark.parametrize(
    ("came", "written"), [("20/11/2026 10:00", "%d/%m/%Y %H:%M"), ("11/20/2026 10:00 PM", "%m/%d/%Y %I:%M %p")]
)
def test_the_format_of_a_time_that_is_named_is_the_one_it_is_written_in(
    came: str, written: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(orjson.dumps({"timestamp": came, "text": "Hi"}) + b"\n")
    (told,) = describe_way_out(Reason.BAD_TIMESTAMP, {"file": str(log), "line": 1, "detail": "another"})
    assert told.startswith(f"    it says {came!r}; ")
    assert told.endswith(f'date_format = "{written}"')
