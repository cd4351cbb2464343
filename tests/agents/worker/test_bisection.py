"""What a partition that failed does next, and how a take-over knows of it."""

import pytest

from turnsignal.agents.worker.bisection import COMPUTED, Bisection, Caution
from turnsignal.agents.worker.checkpoints import Checkpoint

AT = {"turns": 40, "forget": 2}


def take_over(before: Checkpoint, waiting: int = 9000) -> Bisection:
    bisection = before.bisection_at(AT)
    bisection.take_over(2000, waiting=waiting)
    return bisection


def sizes_until_exhausted(caution: Caution) -> list[int]:
    sizes = [caution.size]
    while not caution.exhausted:
        caution = caution.failed("turns")
        sizes.append(caution.size)
    return sizes


def test_a_batch_that_comes_to_nothing_shrinks_to_one_record_which_has_two_tries() -> None:
    assert sizes_until_exhausted(Caution.first(2000)) == [62, 1, 1, 1]


def test_a_single_record_of_another_input_has_tries_of_its_own() -> None:
    caution = Caution(1, 10).failed("turns").failed("forget")
    assert (caution.failures, caution.exhausted) == (1, False)


def test_caution_grows_with_each_batch_that_is_committed_and_ends() -> None:
    caution: Caution | None = Caution(1, 2000)
    sizes = []
    while caution is not None:
        sizes.append(caution.size)
        caution = caution.passed(caution.size)
    assert sizes == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert Caution.first(100).passed(100) is None


def test_after_a_record_that_was_set_aside_the_next_one_is_tried_alone_too() -> None:
    assert Caution(1, 50, "turns", 2, ends=2).passed(1, set_aside=True) == Caution(1, 49, ends=2)


def test_the_error_of_the_last_try_outlives_the_worker() -> None:
    caution = Caution(1, 9, "turns", 1, "ValueError (x.py:1)")
    before = Checkpoint(positions=AT, starts=4, caution=caution, begun="turns")
    assert take_over(before).caution == Caution(1, 9, "turns", 2, "ValueError (x.py:1)", 1)


def test_a_first_take_over_is_not_careful() -> None:
    assert take_over(Checkpoint()) == Bisection(None, 1)


def test_the_second_take_over_at_one_position_with_records_waiting_is_careful() -> None:
    before = Checkpoint(positions=AT, starts=1)
    assert take_over(before) == Bisection(Caution.first(2000), 2)


def test_take_overs_of_a_quiet_partition_are_not_suspicious() -> None:
    before = Checkpoint(positions=AT, starts=0)
    assert take_over(before, waiting=0) == Bisection()


def test_a_batch_that_was_committed_ends_suspicion() -> None:
    before = Checkpoint(positions={"turns": 20, "forget": 2}, starts=3, caution=Caution(1, 5))
    assert take_over(before) == Bisection(None, 1)


def test_a_batch_that_began_and_was_never_committed_has_ended_its_worker() -> None:
    before = Checkpoint(positions=AT, starts=4, caution=Caution(1, 9, "turns", 1), begun="turns")
    assert take_over(before) == Bisection(Caution(1, 9, "turns", 2, ends=1), 5)


def test_a_batch_that_was_computed_and_never_committed_is_made_smaller_and_blames_no_record() -> None:
    before = Checkpoint(positions=AT, starts=4, caution=Caution(500, 2000), begun=COMPUTED)
    assert take_over(before).caution == Caution(15, 2000)
    single = Caution(1, 9, "turns", 1)
    assert take_over(Checkpoint(positions=AT, caution=single, begun=COMPUTED)).caution == single


def test_a_part_of_what_failed_is_a_part_of_the_records_that_there_were() -> None:
    assert take_over(Checkpoint(positions=AT, starts=1), waiting=80).caution == Caution(2, 80)
    assert Caution(62, 2000).within(40).ended("turns") == Caution(1, 2000, ends=1)


def test_a_careful_take_over_that_began_nothing_is_as_careful_as_before() -> None:
    before = Checkpoint(positions=AT, starts=4, caution=Caution(7, 9))
    assert take_over(before).caution == Caution(7, 9)


def test_what_a_record_alone_did_to_two_workers_sets_it_aside_and_the_next_one_is_tried() -> None:
    bisection = Bisection(Caution(1, 50))
    for _ in range(2):
        bisection.begin("turns", 1)
        bisection = take_over(Checkpoint.make(AT, {}, None, bisection))
    assert bisection.exhausted("turns")
    assert not bisection.exhausted("forget")
    assert bisection.ended_workers
    assert bisection.why == "it ended each worker that worked on it and on nothing else"
    assert bisection.after(1, set_aside=True) == Bisection(Caution(1, 49, ends=2), aside=1)


def test_a_batch_that_failed_in_time_blames_nobody_when_another_ends_the_worker() -> None:
    bisection = Bisection(Caution(1, 50))
    bisection.begin("turns", 1)
    bisection.failed("turns", 1, "ValueError (x.py:1)")
    bisection.end(computed=False)
    assert take_over(Checkpoint.make(AT, {}, None, bisection)).caution == Caution(
        1, 50, "turns", 1, "ValueError (x.py:1)"
    )


def test_a_partition_slows_down_over_many_records_set_aside_and_says_so_until_one_passes() -> None:
    bisection = Bisection(Caution(1, 50))
    for _ in range(10):
        bisection = bisection.after(1, set_aside=True)
    assert (bisection.pause_seconds(), bisection.trouble(0.0)) == (0.0, "")
    bisection = bisection.after(1, set_aside=True)
    assert (bisection.pause_seconds(), bisection.trouble(0.0)) == (2.0, "slow, as 11 records in a row are set aside")
    bisection = bisection.after(1, set_aside=False)
    assert (bisection.pause_seconds(), bisection.trouble(0.0)) == (0.0, "")


def read_again(pill: int, records: int) -> list[tuple[int, int, bool]]:
    """Work through records whose position stands at 0, restart at each end of a worker; return each batch's range."""
    at, bisection, batches = {"exchanges": 0}, Bisection(), list[tuple[int, int, bool]]()
    for _ in range(12):
        bisection = Checkpoint.make(at, {}, None, bisection).bisection_at(at)
        bisection.take_over(records, waiting=records)
        first = 0
        while first < records:
            passed = max(0, bisection.suspected_from - first)
            last = min(records, first + bisection.batch_limit(500, passed))
            aside = bisection.exhausted("exchanges", first)
            batches.append((first, last, aside))
            if bisection.caution is not None and not aside:
                bisection.begin("exchanges", last - first, first)
            if first <= pill < last and not aside:
                break
            bisection.end(computed=True)
            bisection = bisection.after(last - first, set_aside=aside, moved=False)
            first = last
        else:
            return batches
        if bisection.caution is None:
            bisection.begun = ""
    raise AssertionError(batches)


@pytest.mark.parametrize("pill", [0, 1, 17, 126, 318, 700, 999])
def test_where_records_are_read_again_the_one_to_blame_is_set_aside_after_five_ends_at_most(pill: int) -> None:
    batches = read_again(pill, records=1000)
    assert [batch for batch in batches if batch[2]] == [(pill, pill + 1, True)]
    assert sum(first <= pill < last for first, last, _ in batches) <= 6


def test_a_position_that_stands_keeps_take_overs_in_mind_unless_the_partition_was_given_up_in_order() -> None:
    assert Bisection(starts=2).after(7, set_aside=False, moved=False).starts == 2
    assert Bisection(starts=2).after(7, set_aside=False).starts == 0
    left = Bisection(starts=2)
    left.leave()
    assert left.starts == 0


def test_time_that_passes_is_no_batch_that_went_well() -> None:
    careful = Bisection(Caution(3, 90))
    assert careful.after(0, set_aside=False, moved=False).caution == Caution(3, 90)
