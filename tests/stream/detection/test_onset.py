"""When a change began, and how large it is, where both are known."""

from statistics import median

import msgspec
import pytest

from tests.stream.detection.simulated import START, traffic
from turnsignal.stream.detection.detector import LOWER, Alarm, Detector, Paging

PAGING = Paging(frozenset({LOWER}), 1)
RUNS = 40

decode = msgspec.msgpack.Decoder(Detector).decode


def call(learned: bytes, seed: int, drop: float, start: float) -> Alarm | None:
    detector = decode(learned)
    for observation in traffic(seed, 4.3, 3_000.0, start=start, drop=drop, drop_at=start + 25_000.0):
        for alarm in detector.update("v1", observation, PAGING):
            if alarm.direction == LOWER:
                return alarm
    return None


@pytest.mark.parametrize("drop", [0.05, 0.55, *(pytest.param(n, marks=pytest.mark.slow) for n in (0.1, 0.2, 0.35))])
def test_a_change_is_dated_and_measured_whatever_its_size(drop: float) -> None:
    """What came before it is not counted among it: that dated large changes early, and made them small."""
    detector = Detector()
    for observation in traffic(1, 4.0, 3_000.0):
        detector.update("v1", observation, PAGING)
    learned, began = msgspec.msgpack.encode(detector), START + 4 * 86_400.0 + 25_000.0
    called = [call(learned, seed, drop, began - 25_000.0) for seed in range(10, 10 + RUNS)]
    alarms = [alarm for alarm in called if alarm is not None and alarm.opened >= began]
    assert len(alarms) >= RUNS - 2
    assert sum(alarm.low <= drop <= alarm.high for alarm in alarms) >= 0.8 * len(alarms)
    off = sorted((alarm.since - began) / 60.0 for alarm in alarms)
    assert abs(off[len(off) // 2]) <= (60.0 if drop < 0.1 else 10.0)
    assert abs(median(alarm.change for alarm in alarms) - drop) <= 0.25 * max(drop, 0.2)
