"""What all checks together cost beyond their place stays within a tenth of the last minute."""

from turnsignal.stream.checks.time_quota import CheckQuota


def test_a_check_that_was_charged_with_nothing_is_asked() -> None:
    assert not CheckQuota(["one"]).is_exhausted("one", 1000.0)


def test_every_second_overrun_of_360_ms_uses_six_seconds_of_a_minute_and_no_more() -> None:
    quota, charged, now = CheckQuota(["one"]), 0, 0.0
    for _ in range(300):  # one turn each 100 ms and what its check takes: half a minute of nothing but this
        if not quota.is_exhausted("one", now):
            now += 0.36
            charged += 1
            quota.charge("one", now, 0.36)
        now += 0.1
    assert charged == 17  # 6.12 s
    assert now < 60.0


def test_it_is_there_again_as_the_minute_moves_on_and_used_up_by_the_next_overrun() -> None:
    quota = CheckQuota(["one"])
    quota.charge("one", 10.0, 4.0)
    quota.charge("one", 30.0, 2.0)
    assert quota.is_exhausted("one", 30.0)
    assert quota.is_exhausted("one", 69.9)
    assert not quota.is_exhausted("one", 70.0)
    quota.charge("one", 71.0, 4.0)
    assert quota.is_exhausted("one", 71.0)
    assert not quota.is_exhausted("one", 90.0)


def test_one_call_longer_than_the_share_is_one_a_minute() -> None:
    quota = CheckQuota(["one"])
    quota.charge("one", 10.0, 10.0)
    assert quota.is_exhausted("one", 69.0)
    assert not quota.is_exhausted("one", 70.0)


def test_nothing_is_left_of_charges_that_have_gone_by() -> None:
    quota = CheckQuota(["one"])
    for number in range(1000):
        quota.charge("one", number * 0.01, 0.1)
    assert not quota.is_exhausted("one", 70.0)
    quota.charge("one", 80.0, 5.9999)
    assert not quota.is_exhausted("one", 80.0)


def run_minutes(costs: dict[str, float], responses: int) -> tuple[dict[str, list[float]], float]:
    """Ask checks that always cost so many seconds, a response each 100 ms; return when each was asked and the end."""
    quota, asked, now = CheckQuota(costs), {name: list[float]() for name in costs}, 0.0
    for _ in range(responses):
        for name, cost in costs.items():
            if not quota.is_exhausted(name, now):
                asked[name].append(now)
                now += cost
                if cost:
                    quota.charge(name, now, cost)
        now += 0.1
    return asked, now


def test_twelve_checks_that_hang_use_a_tenth_of_the_minute_together_and_each_is_asked_now_and_then() -> None:
    asked, end = run_minutes({f"hang{number}": 0.36 for number in range(12)}, 6000)  # ten minutes
    spent = 0.36 * sum(len(times) for times in asked.values())
    assert 600.0 + 30.0 < end < 600.0 + 0.11 * end
    assert abs(end - 600.0 - spent) < 0.001
    for minute in range(int(end) - 60):
        assert 0.36 * sum(minute <= at < minute + 60 for times in asked.values() for at in times) <= 6.0 + 0.36
    counts = [len(times) for times in asked.values()]
    assert max(counts) <= 2 * min(counts)


def test_a_good_check_beside_twelve_that_hang_is_always_asked() -> None:
    asked, _ = run_minutes({f"hang{number}": 0.36 for number in range(12)} | {"good": 0.0}, 3000)
    assert len(asked["good"]) == 3000


def test_calls_of_ten_seconds_are_a_tenth_of_the_time_in_the_long_run() -> None:
    asked, end = run_minutes({f"hang{number}": 10.0 for number in range(12)}, 72_000)  # two hours
    assert (end - 7200.0) / end < 0.12
    assert min(len(times) for times in asked.values()) >= 5


def test_a_check_that_seldom_overruns_is_asked_though_another_uses_all_that_is_left() -> None:
    quota, now = CheckQuota(["hang", "seldom"]), 0.0
    for number in range(3000):
        if not quota.is_exhausted("hang", now):
            now += 0.36
            quota.charge("hang", now, 0.36)
        assert not quota.is_exhausted("seldom", now)
        if number % 300 == 0:
            now += 0.36
            quota.charge("seldom", now, 0.36)
        now += 0.1


def test_a_check_alone_in_going_wrong_is_lent_what_the_others_leave() -> None:
    asked, end = run_minutes({"hang": 0.36} | {f"good{number}": 0.0 for number in range(11)}, 6000)
    assert 0.08 < 0.36 * len(asked["hang"]) / end < 0.11
