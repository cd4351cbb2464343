"""Messages of our own are in the part that their checksum says, and failing ones are told from answers."""

import pytest

from tests.measuring.failing_answers import FAILING, PARTS, count, is_kept, main, messages


@pytest.mark.parametrize("part", PARTS)
def test_each_message_is_in_the_part_that_its_checksum_says(part: str) -> None:
    assert {is_kept(message.text, PARTS[part]) for message in messages(part)} == {part.endswith("kept")}


def test_there_are_as_many_failing_messages_as_answers_and_none_twice() -> None:
    all_of_them = [message for part in PARTS for message in messages(part)]
    failing = sum(message.fails for message in all_of_them)
    assert len({message.text for message in all_of_them}) == len(all_of_them) >= 400
    assert 0.4 < failing / len(all_of_them) < 0.6
    assert {message.language for message in all_of_them} == {"en", "de", "es", "fr", "pt", "it", "nl"}
    assert {message.kind for message in all_of_them if message.fails} == FAILING


def test_failing_answers_are_told_from_others_on_the_kept_part() -> None:
    counts = count(messages("kept"))
    assert counts.right / (counts.right + counts.wrong) >= 0.95
    assert counts.right / (counts.right + counts.missed) >= 0.6


def test_help_beside_a_failure_is_told_from_failures_on_the_later_kept_part() -> None:
    counts = count(messages("later_kept"))
    assert counts.right / (counts.right + counts.wrong) >= 0.93
    assert counts.right / (counts.right + counts.missed) >= 0.85


def test_the_figures_are_printed_without_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    assert "precision" in printed
    assert not any(message.text in printed for message in messages("kept") if len(message.text) > 12)
