"""Stream time: moved by records, carried on by the wall clock only over a silence."""

from stream.clocks import StreamClock


def test_stream_time_is_the_largest_event_time() -> None:
    clock = StreamClock()
    assert [clock.advance(time) for time in (10.0, 30.0, 20.0)] == [10.0, 30.0, 30.0]


def test_an_event_time_counts_at_most_as_much_as_the_brokers() -> None:
    clock = StreamClock()
    assert clock.advance(1000.0, 100.0) == 100.0
    assert clock.advance(50.0, 200.0) == 100.0


def test_the_wall_clock_carries_stream_time_on_after_a_silence() -> None:
    clock = StreamClock(silence=60.0)
    clock.advance(1000.0)
    clock.saw(5_000_000.0)
    assert clock.read(5_000_059.0) == 1000.0
    assert clock.read(5_000_060.0) == 1060.0
    clock.saw(5_000_061.0)
    assert clock.read(5_000_062.0) == 1000.0


def test_after_a_restart_silence_begins_with_the_first_look() -> None:
    clock = StreamClock(silence=60.0, time=1000.0)
    assert clock.read(5_000_000.0) == 1000.0
    assert clock.read(5_000_100.0) == 1100.0


def test_a_wall_clock_that_is_set_back_carries_nothing() -> None:
    clock = StreamClock(silence=60.0, time=1000.0)
    clock.saw(5000.0)
    assert clock.read(1000.0) == 1000.0


def test_before_the_first_record_there_is_no_time() -> None:
    clock = StreamClock(silence=60.0)
    clock.saw(5.0)
    assert clock.read(1e9) == float("-inf")
