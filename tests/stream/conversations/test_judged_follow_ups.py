"""A judge's reading of a conversation stands on all of its follow-ups, or is missing."""

import pytest

from turnsignal.stream.conversations.judged import MAX_EXCHANGES, NO_SIGNAL, JudgedMemory, VerdictFacts
from turnsignal.stream.conversations.judged_follow_ups import judged_follow_ups
from turnsignal.stream.records.scores import Unscored

OLD, NEW, GROUNDED = "follow_up(by=a)", "follow_up(by=b)", "groundedness(by=c)"


def a_memory(*exchanges: dict[str, float | None]) -> JudgedMemory:
    """What is remembered of exchanges, by the values of their judges."""
    memory = JudgedMemory()
    for number, values in enumerate(exchanges):
        memory.expect(f"row-{number}", float(number), list(values))
        for scorer, value in values.items():
            facts = f"{number}{scorer}", f"row-{number}", float(number), scorer, 1, value, 1.0
            memory.take(VerdictFacts(*facts, kept_as=NO_SIGNAL))
    return memory


def test_a_judge_that_was_not_in_the_suite_for_all_follow_ups_has_not_read_them() -> None:
    mixed = a_memory({OLD: 0.2}, {GROUNDED: 0.0}, {OLD: 0.9, NEW: 0.9})
    assert [(read.went_on, read.missing) for read in judged_follow_ups(mixed)] == [
        ([False, True], None),
        ([True], Unscored.UNREAD),
    ]


@pytest.mark.parametrize(("exchanges", "missing"), [(MAX_EXCHANGES - 1, None), (MAX_EXCHANGES + 1, Unscored.UNREAD)])
def test_of_more_exchanges_than_are_remembered_it_is_not_known_how_all_were_read(
    exchanges: int, missing: Unscored | None
) -> None:
    (read,) = judged_follow_ups(a_memory(*[{OLD: 0.9}] * exchanges))
    assert read.missing == missing


def test_a_verdict_that_was_read_counts_before_one_that_was_not_whichever_is_newer() -> None:
    memory = a_memory({OLD: None})
    memory.take(VerdictFacts("again", "row-0", 0.0, OLD, 2, None, 1.0))
    (read,) = judged_follow_ups(memory)
    assert read.missing is None


def test_follow_ups_from_before_the_first_judge_are_unread_whether_a_verdict_tells_of_them_or_the_rules() -> None:
    memory = a_memory({OLD: 0.9})
    assert [read.missing for read in judged_follow_ups(memory, least=2)] == [Unscored.UNREAD]
    early = a_memory({OLD: 0.9})
    early.take(VerdictFacts("early", "row-early", -1.0, OLD, 1, 0.0, 1.0))
    assert [read.missing for read in judged_follow_ups(early, least=1)] == [Unscored.UNREAD]
