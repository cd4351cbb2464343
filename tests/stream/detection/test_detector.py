"""Detectors keep their promises where the truth is known, alarm once, and begin again as they were."""

import math
from collections.abc import Iterable
from functools import cache
from random import Random
from statistics import median

import msgspec
import pytest

from tests.stream.detection.simulated import DAY, START, traffic
from turnsignal.stream.detection.detector import (
    HIGHER,
    LOWER,
    PAGE,
    TICKET,
    USUAL,
    VERSION,
    Alarm,
    Detector,
    Paging,
)
from turnsignal.stream.records.observations import Observation

PAGING = Paging(frozenset({LOWER}), 1)


def fed(
    detector: Detector,
    observations: Iterable[Observation],
    *,
    version: str = "v1",
    paging: Paging = PAGING,
    latest: float = math.inf,
) -> list[Alarm]:
    called = []
    for observation in observations:
        called += map(msgspec.structs.replace, detector.update(version, observation, paging, latest))
    return called


def taught(seed: int = 0, days: float = 7.0, per_day: float = 2_000.0, kind: str = "score") -> Detector:
    """A detector of its own that knows a history; what it learned is learned once for all tests."""
    return msgspec.msgpack.decode(_learned(seed, days, per_day, kind), type=Detector)


@cache
def _learned(seed: int, days: float, per_day: float, kind: str) -> bytes:
    detector = Detector()
    fed(detector, traffic(seed, days, per_day, kind))
    return msgspec.msgpack.encode(detector)


def constant(value: float, count: int, start: float, every: float = 60.0) -> list[Observation]:
    return [Observation(f"c{n}", start + n * every, value, 0, 0.0) for n in range(count)]


def copied(detector: Detector) -> Detector:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(detector), type=Detector)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["score", "binary"])
def test_without_a_change_every_one_of_twenty_histories_keeps_both_promises(kind: str) -> None:
    """21 days each, of which the first tells what is usual: 20 days in which 2.9 tickets are promised at most."""
    counts = []
    for seed in range(20):
        called = fed(Detector(), traffic(seed, 21.0, 2_000.0, kind))
        counts.append([sum(one.tier == tier and one.direction == LOWER for one in called) for tier in (TICKET, PAGE)])
    assert max(tickets for tickets, _ in counts) <= 2
    assert max(pages for _, pages in counts) <= 1
    assert sum(tickets for tickets, _ in counts) <= 12  # of the 57 that are promised: thresholds are bounds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "drop", "ticket", "page"),
    [("score", 0.05, 700, 950), ("score", 0.1, 210, 290), ("binary", 0.05, 1250, 1600), ("binary", 0.1, 380, 480)],
)
def test_a_change_is_called_within_so_many_values(kind: str, drop: float, ticket: int, page: int) -> None:
    learned = taught(1, 14.0, 10_000.0, kind)
    at = START + 14.5 * DAY
    delays: dict[str, list[int]] = {TICKET: [], PAGE: []}
    for seed in range(20):
        changed = list(traffic(100 + seed, 2.0, 10_000.0, kind, start=START + 14 * DAY, drop=drop, drop_at=at))
        before = sum(one.time < at for one in changed)
        detector = copied(learned)
        for number, one in enumerate(changed, 1 - before):
            for alarm in detector.update("v1", one, PAGING):
                delays[alarm.tier].append(number)
            if PAGE in [alarm.tier for alarm in detector.alarms.values()]:
                break
    assert median(delays[TICKET]) <= ticket
    assert median(delays[PAGE]) <= page


def test_nothing_is_called_before_a_thousand_values_and_a_day_are_known() -> None:
    few = constant(1.0, 900, START, 100.0) + constant(0.0, 90, START + 25 * 3600)
    assert fed(Detector(), few) == []
    soon = constant(1.0, 2_000, START, 30.0) + constant(0.0, 500, START + 18 * 3600, 30.0)
    assert fed(Detector(), soon) == []
    assert fed(Detector(), constant(1.0, 2_000, START, 60.0) + constant(0.0, 90, START + 2 * DAY)) != []


def test_a_call_says_since_when_from_what_to_what_and_in_which_conversations() -> None:
    detector, at = taught(3), START + 7 * DAY
    before = list(traffic(4, 0.5, 2_000.0, start=at))
    after = constant(0.4, 200, at + 0.6 * DAY)
    ticket, page = fed(detector, before + after)
    assert (ticket.tier, page.tier, page.direction, page.scope) == (TICKET, PAGE, LOWER, USUAL)
    assert page.opened > ticket.opened
    assert abs(page.since - (at + 0.6 * DAY)) < 3 * 3600
    assert page.before == pytest.approx(0.8, abs=0.02)
    assert page.low < 0.4 < page.high
    assert page.low < page.change < page.high
    assert page.evidence >= page.threshold > ticket.threshold
    assert len(set(page.conversations)) == 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["score", "binary"])
def test_what_a_change_is_said_to_be_holds_what_it_is_though_it_is_told_as_soon_as_it_can_be(kind: str) -> None:
    knowing, at, drop = taught(11, kind=kind), START + 7 * DAY, 0.1
    held = []
    for seed in range(30):
        detector = copied(knowing)
        called = fed(detector, traffic(100 + seed, 1.0, 2_000.0, kind, start=at, drop=drop, drop_at=at))
        held += [alarm.low <= drop <= alarm.high for alarm in called[:1]]
    assert len(held) == 30
    assert sum(held) >= 27  # of binaries it was 22 while a few failures together passed for a change


def test_what_a_version_that_took_over_changed_did_not_begin_before_it_came() -> None:
    detector = taught(2)
    dip = constant(0.65, 12, START + 7 * DAY)  # by chance: not enough for an alarm
    assert fed(detector, dip) == []
    came = START + 7 * DAY + 12 * 60.0
    again = copied(detector)
    called = fed(detector, constant(0.6, 300, came), version="v2")
    assert [alarm.since for alarm in called if alarm.scope == USUAL] == [came, came]
    assert all(alarm.n <= (alarm.opened - came) / 60.0 + 1 for alarm in called)
    assert called == fed(again, constant(0.6, 300, came), version="v2")


def test_what_began_before_a_canary_is_dated_as_it_began_whichever_version_is_seen_when_it_is_called() -> None:
    detector = taught(2)
    alone, bad = copied(detector), constant(0.6, 300, START + 7 * DAY)
    expected = fed(alone, bad)
    called: list[Alarm] = []
    for number, observation in enumerate(bad):
        called += fed(detector, [observation], version="v2" if number > 9 and number % 3 == 0 else "v1")
    assert {alarm.version for alarm in called} == {"v1", "v2"}
    assert [alarm.since for alarm in called] == [alarm.since for alarm in expected]


def test_what_was_under_way_when_watching_began_is_dated_to_then_or_before() -> None:
    detector, watched = Detector(), START + DAY
    assert fed(detector, constant(1.0, 1_440, START)) == []  # the next value is the first that is watched
    (page,) = fed(detector, constant(0.4, 90, watched))
    assert (page.since, page.or_before) == (watched, True)
    assert page.n == (page.opened - watched) / 60.0 + 1


def test_what_began_while_it_was_watched_did_not_begin_before() -> None:
    called = fed(taught(3), constant(0.4, 200, START + 7 * DAY))
    assert [alarm.or_before for alarm in called] == [False, False]


def test_state_that_an_older_version_stored_knows_no_time_only_of_what_was_under_way_when_watching_began() -> None:
    bad = constant(0.4, 90, START + DAY)
    detector = Detector()
    fed(detector, [*constant(1.0, 1_440, START), *bad[:5]])
    detector.lower.since = detector.lower.first = 0.0  # as it was stored
    older = without_first(detector)
    (page,) = fed(copied(older), bad[5:])
    assert (page.since, page.or_before) == (0.0, True)
    again = fed(copied(older), [*constant(1.0, 600, START + 2 * DAY), *constant(0.4, 200, START + 3 * DAY)])
    assert again
    assert all(alarm.since > START + 2 * DAY and not alarm.or_before for alarm in again)


def without_first(detector: Detector) -> Detector:
    """Return a detector as it is read where the fields that came last were not there yet."""
    stored = msgspec.to_builtins(detector)
    stored[1], stored[2] = stored[1][:-1], stored[2][:-1]
    return msgspec.convert(stored, Detector)


def test_better_and_whatever_does_not_page_make_one_ticket_and_no_page() -> None:
    at = START + 7 * DAY
    (alarm,) = fed(taught(3), constant(1.0, 600, at), paging=PAGING)
    assert (alarm.direction, alarm.tier) == (HIGHER, TICKET)
    (alarm,) = fed(taught(3), constant(0.2, 600, at), paging=Paging())
    assert (alarm.direction, alarm.tier) == (LOWER, TICKET)


def test_what_is_called_is_latched_and_nothing_is_learned_meanwhile() -> None:
    detector, at = taught(3), START + 7 * DAY
    fed(detector, constant(0.4, 300, at))
    usual = detector.baseline.mean(at)
    assert fed(detector, constant(0.4, 5_000, at + 0.3 * DAY)) == []
    assert detector.baseline.mean(at) == usual
    assert list(detector.alarms) == [LOWER]


def test_a_call_closes_when_values_are_back_for_a_day_and_the_next_change_is_called_anew() -> None:
    detector, at = taught(3), START + 7 * DAY
    fed(detector, constant(0.4, 300, at))
    assert fed(detector, traffic(5, 2.5, 2_000.0, start=at + DAY)) == []
    assert detector.alarms == {}
    assert [one.tier for one in fed(detector, constant(0.4, 300, at + 4 * DAY))] == [TICKET, PAGE]


def test_an_hour_back_closes_nothing() -> None:
    detector, at = taught(3), START + 7 * DAY
    fed(detector, constant(0.4, 300, at))
    fed(detector, constant(0.9, 100, at + 0.3 * DAY, 30.0))
    fed(detector, constant(0.4, 1500, at + 0.4 * DAY))
    assert list(detector.alarms) == [LOWER]


def test_an_accepted_level_is_learned_anew() -> None:
    detector, at = taught(3), START + 7 * DAY
    fed(detector, constant(0.4, 300, at))
    detector.relearn()
    assert fed(detector, constant(0.4, 4_000, at + DAY)) == []
    assert detector.baseline.mean(at) == pytest.approx(0.4)


def test_a_silence_of_a_week_and_turns_sent_again_call_nothing() -> None:
    detector, at = taught(3), START + 7 * DAY
    assert fed(detector, traffic(6, 3.0, 2_000.0, start=at + 7 * DAY)) == []
    assert fed(detector, traffic(3, 7.0, 2_000.0)) == []


def test_what_is_restored_goes_on_as_it_was() -> None:
    at = START + 7 * DAY
    rest = [*traffic(7, 1.0, 2_000.0, start=at), *constant(0.5, 400, at + DAY)]
    one, other = taught(3), taught(3)
    expected = fed(one, rest)
    found = []
    for observation in rest:
        other = copied(other)
        found += fed(other, [observation])
    assert expected
    assert found == expected
    assert copied(one) == copied(other)


def test_conversations_that_share_a_quality_are_found_to_and_others_not() -> None:
    assert taught(3).baseline.intraclass_correlation == pytest.approx(0.2, abs=0.04)
    alone = [one._replace(n=0, total=0.0) for one in traffic(3, 7.0, 2_000.0)]
    detector = Detector()
    fed(detector, alone)
    assert detector.baseline.intraclass_correlation == 0.0


# -- rollouts ------------------------------------------------------------------------------------------------


def votes(seed: int, days: float, per_day: float = 2_000.0) -> list[Observation]:
    """Values that are the same for every answer of a conversation, as a vote about all of it is."""
    random = Random(seed)
    drawn = []
    for number in range(int(days * per_day / 4.0)):
        at, value = START + random.uniform(0.0, days * DAY), float(random.random() < 0.85)
        answers = range(1 + random.choice((0, 2, 3, 3, 4, 6)))
        drawn += [Observation(f"c{number}", at + 60.0 * n, value, n, n * value) for n in answers]
    return sorted(drawn, key=lambda observation: observation.time)


@pytest.mark.slow
def test_what_is_the_same_for_a_whole_conversation_counts_once() -> None:
    tickets = 0
    for seed in range(6):
        detector = Detector()
        for observation in votes(seed, 21.0):
            tickets += len(detector.update("v1", observation, PAGING))
            for alarm in list(detector.alarms.values()):
                detector._close(alarm)
        assert detector.baseline.intraclass_correlation == pytest.approx(1.0)
    assert tickets <= 6 * 21 / 7


def rolled_out(seed: int, drop: float, days: float = 7.0, share: int = 10) -> list[Alarm]:
    detector, at, called = taught(), START + 7 * DAY, []  # versions are compared with each other, not with the past
    old = traffic(1000 + seed, days, 1_800.0, start=at)
    new = traffic(2000 + seed, days, 200.0 * share / 10, start=at, drop=drop, drop_at=at)
    both = sorted([(one, "v1") for one in old] + [(one, "v2") for one in new], key=lambda each: each[0].time)
    for one, version in both:
        called += detector.update(version, one, PAGING)
    return called


@pytest.mark.slow
def test_a_new_version_that_is_as_good_is_called_worse_in_one_of_twenty_rollouts_at_most() -> None:
    called = [[alarm for alarm in rolled_out(seed, 0.0) if alarm.scope == VERSION] for seed in range(40)]
    assert sum(any(alarm.direction == LOWER for alarm in calls) for calls in called) <= 2


def test_a_new_version_that_is_worse_on_a_tenth_of_the_traffic_is_called_once() -> None:
    (alarm,) = [alarm for alarm in rolled_out(3, 0.1) if alarm.scope == VERSION]
    assert (alarm.direction, alarm.tier, alarm.version, alarm.replaces) == (LOWER, TICKET, "v2", "v1")
    assert alarm.low <= 0.1 <= alarm.high
    assert alarm.n < 600


def test_a_version_that_is_no_longer_served_is_no_longer_called() -> None:
    detector, at = taught(3), START + 7 * DAY
    for n, (one, good) in enumerate(zip(constant(0.1, 400, at, 60.0), constant(0.8, 400, at, 60.0), strict=True)):
        detector.update("v2" if n % 2 else "v1", one if n % 2 else good, Paging())
    assert any(alarm.scope == VERSION for alarm in detector.alarms.values())
    fed(detector, traffic(8, 4.0, 2_000.0, start=at + 0.5 * DAY), paging=Paging())
    assert detector.alarms == {}


def test_a_release_per_turn_leaves_bounded_state() -> None:
    detector, at = taught(3), START + 7 * DAY
    for n, one in enumerate(traffic(9, 1.0, 2_000.0, start=at)):
        detector.update(f"build-{n}", one, PAGING)
    assert len(detector.versions) == 20
    assert len(msgspec.msgpack.encode(detector)) < 20_000
