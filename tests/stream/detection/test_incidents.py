"""Incidents: one for an assistant and a change, in words that can be checked; and the back-test that tells them."""

from collections.abc import Iterable

import pytest

from tests.stream.detection.simulated import DAY, START, traffic
from turnsignal.stream.detection import backtest
from turnsignal.stream.detection.backtest import back_test
from turnsignal.stream.detection.detector import HIGHER, LOWER, PAGE, TICKET
from turnsignal.stream.detection.policy import AlertPolicy, meaning_of
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.records.observations import Observation, ObservedRow, pack
from turnsignal.stream.suite import Suite

POLICY = AlertPolicy(frozenset({"nDCG@5", "compliance"}), qualities={"nDCG@5": "relevancy"})
SCORERS = ("nDCG@5", "nDCG@10", "wasted_context")


def rows(observations: Iterable[Observation], scorers: tuple[str, ...] = SCORERS) -> list[ObservedRow]:
    """Rows in which all scorers say the same, but the last the opposite."""
    found = []
    for one in observations:
        values = (*[one.value] * (len(scorers) - 1), 1.0 - one.value)
        earlier = (*[one.n, one.total] * (len(scorers) - 1), one.n, one.n - one.total)
        found.append((one.conversation_id, one.time, scorers, values, earlier))
    return found


def packed(observed: list[ObservedRow], assistant: str = "support", size: int = 50) -> list[bytes]:
    return [
        record
        for start in range(0, len(observed), size)
        for record in pack(assistant, "v1", 0, observed[start : start + size])
    ]


def drop(seed: int = 1, by: float = 0.3) -> list[Observation]:
    return list(traffic(seed, 6.0, 2_000.0, drop=by, drop_at=START + 4.5 * DAY))


def test_scorers_that_moved_together_are_one_incident_and_the_worst_of_them_says_the_tier() -> None:
    found = back_test([packed(rows(drop()))], POLICY)
    (incident,) = found.incidents
    assert (incident.assistant, incident.tier, incident.closed) == ("support", PAGE, None)
    assert {(one.scorer, one.meaning, one.tier) for one in incident.changes} == {
        ("nDCG@5", "worse", PAGE),
        ("nDCG@10", "worse", TICKET),
        ("wasted_context", "worse", TICKET),
    }
    assert 0 < incident.opened - (START + 4.5 * DAY) < 0.5 * DAY
    assert found.rows == len(drop())
    assert incident.after is not None
    assert incident.after.sentence in "\n".join(incident.text)
    assert incident.after.sentence.startswith("What answers cite stands lower in their rankings, nothing else became")


def test_it_is_told_since_when_from_what_to_what_and_with_which_promise() -> None:
    (incident,) = back_test([packed(rows(drop()))], POLICY).incidents
    text = incident.text
    assert text[0].startswith("2025-06-20 1")
    assert text[0].endswith(f"page  support  [{incident.id}]")
    (line,) = [line for line in text if line.startswith("    nDCG@5: lower, from 0.8")]
    assert " values since 2025-06-20 " in line
    assert line.endswith("now of v1; worse")
    assert "      without a change, one page in 30 days of the 2 scorers that page of this assistant at most" in text
    assert text[-1].startswith("    conversations: c")


@pytest.mark.slow
def test_assistants_have_incidents_of_their_own_and_healthy_ones_none() -> None:
    sources = [packed(rows(drop(1)), "a"), packed(rows(drop(2)), "b"), packed(rows(drop(3, 0.0)), "healthy")]
    assert sorted(one.assistant for one in back_test(sources, POLICY).incidents) == ["a", "b"]


def test_the_same_records_in_other_sources_and_batches_give_the_same_incidents() -> None:
    every = rows(drop())
    halves = [packed(every[::2], size=7), packed(every[1::2], size=300)]
    assert back_test(halves, POLICY) == back_test([packed(every)], POLICY)


@pytest.mark.slow
def test_rows_of_a_batch_are_taken_by_their_times_whatever_record_they_stand_in() -> None:
    every = rows(drop())
    versions = [packed(every[part::3], size=600) for part in range(3)]  # as a replay's partition writes its releases
    batches = [[records[at] for records in versions if at < len(records)] for at in range(max(map(len, versions)))]
    assert back_test([batches], POLICY) == back_test([packed(every)], POLICY)
    assert back_test([[record for batch in batches for record in batch]], POLICY) != back_test([packed(every)], POLICY)


def test_an_incident_closes_when_the_last_of_its_scorers_is_back() -> None:
    back = traffic(2, 3.0, 2_000.0, start=START + 6.2 * DAY)
    incidents = back_test([packed(rows([*drop(), *back]))], POLICY).incidents
    assert [one.closed is not None for one in incidents] == [True]
    assert ", back by 2025-06-2" in incidents[0].text[0]


def test_by_default_the_three_qualities_of_the_diagnosis_page_and_only_for_worse() -> None:
    policy = policy_of(Suite())
    assert policy.paging == {"nDCG@5", "follow_up", "compliance"}
    assert policy.paging_of("follow_up") == ({LOWER}, 3)
    assert policy.paging_of("citation.format").directions == frozenset()
    assert AlertPolicy(frozenset({"dangling"})).paging_of("dangling") == ({HIGHER}, 1)
    assert [meaning_of("wasted_context", way) for way in (LOWER, HIGHER)] == ["changed", "worse"]


UP = ("follow_up", "follow_up(policy=precision)", "clarification_free", "vote", "nDCG@5", "compliance")


def test_what_rises_by_itself_is_changed_and_never_better() -> None:
    """Users who leave a bad answer without a word, and wrong answers that cite well, are in no such figure."""
    risen = rows(drop(by=-0.15), (*UP, "wasted_context"))
    (incident,) = back_test([packed(risen)], POLICY).incidents
    assert {one.scorer: one.meaning for one in incident.changes} == dict.fromkeys((*UP, "wasted_context"), "changed")
    reason = "; changed, not called better: by itself it knows neither the other figures nor who left without a word"
    for scorer in UP:
        (line,) = [line for line in incident.text if line.startswith(f"    {scorer}: higher")]
        assert line.endswith(reason)
    assert {meaning_of(name, LOWER) for name in UP} == {"worse"}


def test_more_content_users_and_a_break_behind_it_are_two_incidents() -> None:
    content = drop(by=-0.15)
    worse = traffic(1, 6.0, 2_000.0, drop=0.3, drop_at=START + 5.0 * DAY)
    both = [
        (c.conversation_id, c.time, ("clarification_free", "nDCG@5"), (c.value, w.value), (c.n, c.total, w.n, w.total))
        for c, w in zip(content, worse, strict=True)
    ]
    found = back_test([packed(both)], POLICY).incidents
    assert [[(one.scorer, one.meaning) for one in incident.changes] for incident in found] == [
        [("clarification_free", "changed")],
        [("nDCG@5", "worse")],
    ]
    assert [incident.tier for incident in found] == [TICKET, PAGE]


def test_more_series_than_can_be_watched_are_counted_and_the_known_ones_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtest, "MAX_SERIES", 3)
    said = [Observation("c", START, 0.5, 0, 0.0)]
    names = ["known", *[f"made-up-{n}" for n in range(5)], "known"]
    found = back_test([record for name in names for record in [packed(rows(said, ("nDCG@5",)), name)]], POLICY)
    assert (found.rows, found.unwatched) == (7, 3)


def test_a_recording_of_nothing_has_no_incidents() -> None:
    assert back_test([], POLICY).as_json() == {
        "rows": 0,
        "days": 0.0,
        "unwatched": 0,
        "series": {"watched": 0, "from": None, "not_watched": []},
        "page": 0,
        "ticket": 0,
        "incidents": [],
    }


def test_a_record_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at `\$.schema`"):
        back_test([[b'{"schema": 9}']], POLICY)
