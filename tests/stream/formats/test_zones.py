"""Times without a zone: of a mapping's zone, or UTC, and said either way, whatever the format."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.formats import FORMATS
from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.proposing import propose_mapping
from turnsignal.stream.formats.times import ZONELESS
from turnsignal.stream.formats.zones import NEVER, TWICE

TURNS = '[turns]\nconversation_id = "c"\nrole = "r"\ntext = "t"\ntimestamp = "at"\n'
GERMAN = 'date_format = "%d.%m.%Y %H:%M"\n'
BERLIN = 'zone = "Europe/Berlin"\n'
IN_BERLIN = "times without a zone are Europe/Berlin"


def read(at: object, more: str = "") -> tuple[str, dict[str, int]]:
    """The time of a turn as a mapping reads it, to the minute in UTC, and what was assumed of it."""
    assumed = Counter[str]()
    mapping = parse_format_mapping(TURNS + more, "m.toml")
    (turn,) = mapping.read({"c": "1", "r": "user", "t": "How?", "at": at}, assumed)
    assert isinstance(turn, dict)
    return turn["timestamp"][:16], {what: n for what, n in assumed.items() if "time" in what and n}


@pytest.mark.parametrize(
    ("at", "more", "time"),
    [
        ("2026-11-20 09:00", "", "2026-11-20T09:00"),
        ("2026-11-20 09:00", BERLIN, "2026-11-20T08:00"),
        ("2026-07-20T09:00", BERLIN, "2026-07-20T07:00"),
        ("20.11.2026 09:00", GERMAN, "2026-11-20T09:00"),
        ("20.11.2026 09:00", GERMAN + BERLIN, "2026-11-20T08:00"),
        ("20261120090000", BERLIN, "2026-11-20T08:00"),
    ],
)
def test_a_time_without_a_zone_is_of_the_mappings_or_utc_and_said(at: str, more: str, time: str) -> None:
    assert read(at, more) == (time, {IN_BERLIN if BERLIN in more else ZONELESS: 1})


@pytest.mark.parametrize(
    ("at", "more"),
    [
        ("2026-11-20T09:00:00Z", ""),
        ("2026-11-20T10:00:00+01:00", ""),
        ("2026-11-20 09:00:00 UTC", ""),
        ("Fri, 20 Nov 2026 09:00:00 GMT", ""),
        ("Fri Nov 20 09:00:00 UTC 2026", ""),
        (1_795_165_200, ""),
        ("1795165200000", ""),
        ("20.11.2026 10:00 +0100", 'date_format = "%d.%m.%Y %H:%M %z"\n'),
    ],
)
def test_a_time_that_names_its_zone_or_is_a_number_is_what_it_says(at: object, more: str) -> None:
    assert read(at, more) == read(at, more + BERLIN) == ("2026-11-20T09:00", {})


def test_of_an_hour_that_comes_twice_the_first_is_taken_and_said() -> None:
    assert read("2026-10-25 02:30", BERLIN) == ("2026-10-25T00:30", {IN_BERLIN: 1, TWICE: 1})
    assert read("2026-03-29 02:30", BERLIN) == ("2026-03-29T01:30", {IN_BERLIN: 1, NEVER: 1})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Europe/Berln", "got 'Europe/Berln'; did you mean Europe/Berlin?"),
        ("Berlin", "got 'Berlin'; did you mean Europe/Berlin?"),
        ("+01:00", "got '+01:00'"),
        ("../UTC", "got '../UTC'"),
        ("", "got ''"),
    ],
)
def test_a_zone_that_there_is_not_is_refused_with_what_came_and_what_may_be_meant(name: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_format_mapping(f'{TURNS}zone = "{name}"\n', "m.toml")
    assert str(refused.value).startswith('m.toml: [turns] zone: expected the name of a time zone, such as "Europe/Berl')
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("at", "is_open"), [("20.11.2026 09:00", True), ("2026-11-20 09:00", True), ("2026-11-20T09:00Z", False)]
)
def test_a_proposal_has_a_line_for_the_zone_where_times_name_none(at: str, is_open: bool) -> None:
    rows = [
        {"chat": f"c{number // 2}", "at": at, "who": ("user", "assistant")[number % 2], "says": f"What of {number}?"}
        for number in range(8)
    ]
    text = propose_mapping(rows, "log.csv").text
    assert ('# zone = "Europe/Berlin"' in text) == is_open
    assert parse_format_mapping(text.replace("# zone", "zone"), "m.toml")


AT, LATER = "2026-11-20 09:00:00", "2026-11-20 09:00:02"
SAID = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]
SPAN = {"trace_id": "a1", "span_id": "b1", "name": "chat", "start_time": AT, "end_time": LATER}
RUN = {"id": "r", "run_type": "llm", "inputs": {"messages": SAID[:1]}, "outputs": {"output": "So."}}
RECORDS: dict[str, dict[str, Any]] = {
    "turnsignal": {"conversation_id": "c", "role": "user", "text": "How?", "timestamp": AT},
    "openai": {"messages": SAID, "timestamp": AT},
    "otel": {**SPAN, "attributes": {"gen_ai.operation.name": "chat"}},
    "langsmith": {**RUN, "start_time": AT, "end_time": LATER},
    "langfuse": {"id": "o", "trace_id": "t", "type": "GENERATION", "start_time": AT, "end_time": LATER},
    "mlflow": {"info": {"trace_id": "t"}, "data": {"spans": [{**SPAN, "attributes": {}}]}},
}


@pytest.mark.parametrize("name", RECORDS)
def test_every_format_says_that_it_takes_times_without_a_zone_for_utc(name: str) -> None:
    assumed = Counter[str]()
    list(FORMATS[name].read(RECORDS[name], assumed))
    assert assumed[ZONELESS] > 0
    zoned = {key: f"{value}Z" if value in (AT, LATER) else value for key, value in RECORDS[name].items()}
    if name == "mlflow":
        zoned["data"] = {"spans": [{**SPAN, "start_time": f"{AT}Z", "end_time": f"{LATER}Z", "attributes": {}}]}
    assumed.clear()
    list(FORMATS[name].read(zoned, assumed))
    assert not assumed[ZONELESS]
