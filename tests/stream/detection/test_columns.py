"""Columns do to a detector what their values do one by one, to the last bit, and most of them at once."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

import msgspec
import pytest

from tests.stream.detection.simulated import DAY, START, traffic
from turnsignal.stream.detection.baseline import hour_of
from turnsignal.stream.detection.columns import Given, take_in
from turnsignal.stream.detection.detector import LOWER, USUAL, VERSION, AlarmChange, Detector, Paging
from turnsignal.stream.records.observations import Observation

PAGING = Paging(frozenset({LOWER}), 1)

#: An observation of a version, and the latest that its time counts.
Fed = tuple[str, Observation, float]


def of_version(version: str, observations: Sequence[Observation]) -> list[Fed]:
    return [(version, observation, observation.time + 60.0) for observation in observations]


def drops(kind: str) -> list[Fed]:
    """Values fall, come back, and rise."""
    usual = traffic(3, 7.0, 1_500.0, kind, drop=0.25, drop_at=START + 4.0 * DAY)
    back = traffic(4, 4.0, 1_500.0, kind, start=START + 7.0 * DAY, drop=-0.2, drop_at=START + 9.5 * DAY)
    return of_version("v1", [*usual, *back])


def under_way() -> list[Fed]:
    """Values fall before it is known what is usual."""
    return of_version("v1", list(traffic(8, 3.0, 1_500.0, drop=0.4, drop_at=START + 0.95 * DAY)))


def rollout() -> list[Fed]:
    """Two versions differ by turns and make up for each other, then a worse one has a tenth and half; then a third."""
    random, fed = Random(5), of_version("v1", list(traffic(5, 3.0, 1_500.0)))
    for day, (share, drops) in enumerate(((0.0, (0.1, -0.1)), (0.1, (0.0, 0.15)), (0.5, (0.0, 0.15))), 3):
        start = START + day * DAY
        old, new = (
            traffic(10 + n, 1.0, 1_500.0, start=start, drop=drop, drop_at=start) for n, drop in enumerate(drops)
        )
        for before, after in zip(old, new, strict=False):
            by_time = share == 0.0 and before.time % 1_200.0 < 600.0
            version, observation = ("v2", after) if by_time or random.random() < share else ("v1", before)
            fed.append((version, observation._replace(time=before.time), before.time))
    return fed + of_version("v3", list(traffic(20, 1.0, 1_500.0, start=START + 6.0 * DAY)))


def disordered() -> list[Fed]:
    """Times that are late, ahead of the broker, or days old; ids that are too long; and values that are hardly any."""
    fed = []
    random = Random(6)
    for _, observation, _ in of_version(
        "v1", list(traffic(6, 5.0, 1_500.0, "binary", drop=0.3, drop_at=START + 4 * DAY))
    ):
        late = random.choice((0.0, 0.0, 0.0, 600.0, 600.0, 3.0 * DAY if random.random() < 0.02 else 0.0))
        name = observation.conversation_id * (100 if random.random() < 0.05 else 1)
        ahead = random.choice((0.0, 30.0, -30.0, float("inf")))
        changed = observation._replace(time=observation.time - late, conversation_id=name)
        fed.append(("", changed, observation.time + ahead))
    return fed


@cache
def streams() -> dict[str, list[Fed]]:
    usual = {"score": drops("score"), "binary": drops("binary"), "under way": under_way()}
    return {**usual, "rollout": rollout(), "disordered": disordered()}


def given(number: int, fed: Fed) -> Given:
    _, (conversation_id, time, value, n, total, weight), latest = fed
    return ((number, (("s",), (0,)), conversation_id, time, min(time, latest), hour_of(time), weight), value, n, total)


def runs(fed: Sequence[Fed], longest: int, seed: int) -> Iterator[tuple[str, list[Given]]]:
    """Cut what was fed into columns of one version each."""
    random, column, end = Random(seed), list[Given](), 0
    for number, known in enumerate(fed):
        if number == end or (column and known[0] != fed[number - 1][0]):
            if column:
                yield fed[number - 1][0], column
            column, end = [], number + random.randint(1, longest)
        column.append(given(number, known))
    yield fed[-1][0], column


def encoded(change: AlarmChange) -> bytes:
    return msgspec.msgpack.encode(change)


@pytest.mark.parametrize("longest", [4, 60, 700])
@pytest.mark.parametrize("kind", ["score", "binary", "under way", "rollout", "disordered"])
def test_a_column_does_what_its_values_do_one_by_one(kind: str, longest: int) -> None:
    fed = streams()[kind]
    single, whole = Detector(), Detector()
    scopes, at = set(), 0
    for version, column in runs(fed, longest, longest):
        expected = []
        for number, (_, observation, latest) in enumerate(fed[at : at + len(column)], at):
            change = single.observe(version, observation, PAGING, latest)
            if change is not None:
                expected.append((number, encoded(change)))
                scopes |= {alarm.scope for alarm in change.opened}
                assert all(alarm.since >= START + DAY for alarm in change.opened), "nothing is watched before"
        at += len(column)
        assert [(row[0], encoded(change)) for row, change in take_in(whole, version, column, PAGING)] == expected
        assert msgspec.msgpack.encode(whole) == msgspec.msgpack.encode(single)
    assert at == len(fed)
    assert scopes >= ({USUAL} if kind != "rollout" else {VERSION})


@pytest.mark.parametrize("versions", [1, 2])
def test_what_nobody_has_to_hear_of_is_not_taken_in_value_by_value(
    versions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed = traffic(7, 4.0, 1_500.0)
    fed = [(f"v{int(o.time // 7_200.0) % versions}", o, o.time) for o in observed]
    detector, alone, update = Detector(), [], Detector.update
    monkeypatch.setattr(Detector, "update", lambda *args: alone.append(args) or update(*args))
    for version, column in runs(fed, 30, 1):
        assert not list(take_in(detector, version, column, PAGING))
    later = [args for args in alone if args[2].time > START + 2.0 * DAY]  # what is usual is known
    assert 0 < len(later) < 0.1 * len(fed) / 2.0
