"""Turns without any times are in the order of a number of theirs, or of the file, where a mapping says so."""

from collections import Counter
from typing import Any

import pytest

from tests.stream.formats.test_proposing import read, rows
from turnsignal.stream.errors import ConfigError, Refused
from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.proposing import propose_mapping

LOG = rows(
    "session turn_index role content",
    ("a", "1", "assistant", "On the second floor."),
    ("a", "0", "user", "Where is the lift?"),
    ("b", "0", "user", "Is there a lift?"),
    ("b", "1", "assistant", "There are two of them."),
)
TURNS = '[turns]\nconversation_id = "session"\nrole = "role"\ntext = "content"\n'


def times(order: str, log: list[dict[str, Any]] = LOG) -> list[str]:
    mapping = parse_format_mapping(f"{TURNS}order = {order}\n", "m.toml")
    assumed: Counter[str] = Counter()
    return [turn["timestamp"][14:19] for record in log for turn in mapping.read(record, assumed)]  # type: ignore[index]


def test_a_number_of_a_turn_or_its_place_in_the_file_stands_for_its_time() -> None:
    assert times('"turn_index"') == ["00:01", "00:00", "00:00", "00:01"]
    assert times('{ value = "file" }') == ["00:01", "00:02", "00:03", "00:04"]


@pytest.mark.parametrize("value", ["first", "-1", True, "nan", "1e12", None, []])
def test_a_place_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(Refused, match="expected the number of a turn at turn_index, from 0 on, got"):
        times('"turn_index"', [{**LOG[0], "turn_index": value}])


@pytest.mark.parametrize(
    ("beside", "problem"),
    [
        ('order = "n"\ntimestamp = "at"', "order: expected no timestamp beside it"),
        ('order = "n"\nlist = "steps"', "order: expected no list beside it"),
        ('order = { value = "newest" }', 'order: expected a path, or { value = "file" }; got'),
    ],
)
def test_an_order_that_cannot_be_is_refused(beside: str, problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_format_mapping(TURNS + beside, "m.toml")
    assert problem in str(error.value)


def test_a_proposal_without_times_takes_the_number_of_a_turn_or_the_files_order_and_says_so() -> None:
    done = propose_mapping(LOG, "log.csv")
    assert done.doubts == ["no time was recognised: turns are in the order of turn_index; are they?"]
    assert [turn["timestamp"][17:19] for turn in read(done, LOG)] == ["01", "00", "00", "01"]
    unnumbered = [{key: value for key, value in row.items() if key != "turn_index"} for row in LOG]
    done = propose_mapping(unnumbered, "log.csv")
    assert 'order = { value = "file" }' in done.text
    assert done.doubts == ["no time was recognised: turns are in the order of the file; are they?"]
    assert len(read(done, unnumbered)) == 4


def test_a_number_that_a_conversation_has_twice_puts_nothing_in_order() -> None:
    log = [{**row, "turn_index": "0"} for row in LOG]
    assert 'order = { value = "file" }' in propose_mapping(log, "log.csv").text
