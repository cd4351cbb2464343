"""`turnsignal export`: what is typed, before a broker is asked."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.export import TOPIC_NAMES, describe_empty, read_range
from turnsignal.agents.files.exporting import EXPORTED


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(turnsignal, ["export", *arguments, "--out", "unwritten.jsonl"])
    assert done.exit_code == 2
    return " ".join(done.output.split())


def test_the_topics_of_the_help_are_those_that_can_be_exported() -> None:
    assert TOPIC_NAMES == EXPORTED


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--from", "yesterday"), "--from: expected a time such as 2026-11-20T14:00"),
        (("--from", "2026-11-20T14:00", "--to", "13:00"), "--to: expected a time after --from"),
        (("--to", "15:00"), "--to: expected a time such as"),
        (("--last", "a week"), "--last: expected a duration such as 2h or 7d"),
        (("--last", "2h", "--from", "2026-11-20"), "exclude each other"),
        (("--offsets", "3:20-10"), "--offsets: expected PARTITION:FIRST-END such as 3:1000-2000"),
    ],
)
def test_a_range_that_is_none_is_refused_with_what_was_expected(arguments: tuple[str, ...], reason: str) -> None:
    assert reason in refused("turns", *arguments)


@pytest.mark.parametrize(
    ("since", "until", "hours"),
    [
        ("2026-11-20T14:00", "15:00", 1),
        ("2026-11-20", "15:00", 15),
        ("2026-11-20T14:00+01:00", "15:00", 1),
        ("2026-11-20T20:00-05:00", "23:00", 3),
        ("2026-11-20T20:00-0500", "23:00", 3),
        ("2026-11-20T14:00+01:00", "2026-11-20T15:00Z", 2),
    ],
)
def test_a_time_of_day_is_of_the_day_and_the_zone_of_the_time_before_it(since: str, until: str, hours: int) -> None:
    first, end = read_range(since, until)
    assert first is not None
    assert end is not None
    assert end - first == hours * 3600


def test_it_says_that_the_time_of_arrival_counts_before_and_where_nothing_came() -> None:
    said = " ".join(CliRunner().invoke(turnsignal, ["export", "--help"]).output.split())
    assert "Records that reached Kafka then or later" in said
    assert "when a record reached Kafka, not the time that stands in it" in describe_empty()


@pytest.mark.parametrize("command", ["replay", "compare"])
def test_a_range_of_the_topic_is_instead_of_files_and_a_time_is_of_the_topic(command: str, tmp_path: Path) -> None:
    (turns := tmp_path / "turns.jsonl").write_text("")
    both = CliRunner().invoke(turnsignal, [command, str(turns), "--topic", "turns"])
    assert (both.exit_code, "--topic and files exclude each other" in both.output) == (2, True)
    alone = CliRunner().invoke(turnsignal, [command, str(turns), "--from", "2026-11-20"])
    assert (alone.exit_code, "got them without it" in alone.output) == (2, True)
    wrong = CliRunner().invoke(turnsignal, [command, "--topic", "turns", "--from", "yesterday"])
    assert (wrong.exit_code, "--from: expected a time such as" in wrong.output) == (2, True)
    neither = CliRunner().invoke(turnsignal, [command])
    assert neither.exit_code == 2
