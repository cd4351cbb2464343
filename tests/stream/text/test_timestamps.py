"""Times in strangers' spellings: read where they leave no doubt, and not where day and month could be either."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.formats.values import seconds
from turnsignal.stream.text.timestamps import parse_time

NINE = datetime(2026, 11, 18, 9, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-18T09:00:00Z",
        "2026-11-18 09:00:00+00",
        "2026-11-18 10:00:00 +0100",
        "2026-11-18 09:00:00.000000000 +0000 UTC",
        "2026/11/18 09:00:00",
        "2026/11/18 09:00",
        "2026-11-18 9:00 AM",
        "Wed, 18 Nov 2026 09:00:00 GMT",
        "Wed, 18 Nov 2026 10:00:00 +0100",
        "Wed Nov 18 2026 10:00:00 GMT+0100 (Central European Standard Time)",
        "Wed Nov 18 09:00:00 2026",
        "Wed Nov 18 09:00:00 UTC 2026",
        "Nov 18, 2026 @ 09:00:00.000",
        "Nov 18, 2026, 9:00:00 AM",
        "November 18, 2026 9:00 a.m.",
        "18 Nov 2026 09:00:00",
        "18-Nov-2026 09:00:00",
        "18/Nov/2026:09:00:00 +0000",
        "20261118090000",
        {"$date": {"$numberLong": str(int(NINE) * 1000)}},
    ],
)
def test_a_time_that_leaves_no_doubt_is_read(text: str) -> None:
    assert seconds(text) == NINE


@pytest.mark.parametrize(
    "text",
    [
        "18/11/2026 09:00",
        "11/18/2026 09:00",
        "10.11.2026",
        "11-10-2026 09:00",
        "Nov 31, 2026 09:00",
        "Nov 18, 2026 09:00 CET",
        "Wed, 18 Nov 2026 09:00:00 IST",
        "2026/11/18 25:00",
        "Nov 18, 2026 13:00 PM",
        "Foo 18, 2026 09:00",
        "yesterday",
    ],
)
def test_a_time_that_could_be_another_is_not_guessed(text: str) -> None:
    assert seconds(text) is None


@given(st.text(alphabet="0123456789/-:., @+APMTZapmtz()NovWedGT", max_size=60))
def test_whatever_stands_there_nothing_raises(text: str) -> None:
    parse_time(text)
    seconds(text)
