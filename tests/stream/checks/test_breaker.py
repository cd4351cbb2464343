"""What a check costs beyond its place stays within a tenth of the last minute."""

from stream.checks.breaker import CircuitBreaker


def test_a_check_that_was_charged_with_nothing_is_asked() -> None:
    assert not CircuitBreaker().is_open(1000.0)


def test_every_second_overrun_of_360_ms_uses_six_seconds_of_a_minute_and_no_more() -> None:
    breaker, charged, now = CircuitBreaker(), 0, 0.0
    for _ in range(300):  # one turn each 100 ms and what its check takes: half a minute of nothing but this
        if not breaker.is_open(now):
            now += 0.36
            charged += 1
            breaker.charge(now, 0.36)
        now += 0.1
    assert charged == 17  # 6.12 s
    assert now < 60.0


def test_it_closes_as_the_minute_moves_on_and_opens_at_the_next_overrun() -> None:
    breaker = CircuitBreaker()
    breaker.charge(10.0, 4.0)
    breaker.charge(30.0, 2.0)
    assert breaker.is_open(30.0)
    assert breaker.is_open(69.9)
    assert not breaker.is_open(70.0)
    breaker.charge(71.0, 4.0)
    assert breaker.is_open(71.0)
    assert not breaker.is_open(90.0)


def test_one_call_longer_than_the_share_is_one_a_minute() -> None:
    breaker = CircuitBreaker()
    breaker.charge(10.0, 10.0)
    assert breaker.is_open(69.0)
    assert not breaker.is_open(70.0)


def test_nothing_is_left_of_charges_that_have_gone_by() -> None:
    breaker = CircuitBreaker()
    for number in range(1000):
        breaker.charge(number * 0.01, 0.1)
    assert not breaker.is_open(70.0)
    breaker.charge(80.0, 5.9999)
    assert not breaker.is_open(80.0)
