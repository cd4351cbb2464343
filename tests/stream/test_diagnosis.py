from itertools import product

import pytest

from turnsignal.stream.diagnosis import DIAGNOSES, Diagnosis, Level, WorkOn, describe_decline, diagnose, level

HIGH, LOW, UNKNOWN = Level.HIGH, Level.LOW, Level.UNKNOWN


def test_good_documents_and_asking_users_point_to_generation() -> None:
    found = diagnose(HIGH, LOW, HIGH)
    assert isinstance(found, Diagnosis)
    assert found.row == "high/low/high"
    assert found.work_on is WorkOn.GENERATION
    assert "Retrieval is good" in found.sentence


@pytest.mark.parametrize(
    ("levels", "work_on"),
    [
        ((LOW, HIGH, HIGH), WorkOn.RETRIEVAL),
        ((HIGH, HIGH, LOW), WorkOn.PROMPT),
        ((HIGH, HIGH, HIGH), WorkOn.NONE),
        ((LOW, LOW, LOW), WorkOn.RETRIEVAL),
        ((UNKNOWN, UNKNOWN, UNKNOWN), WorkOn.UNKNOWN),
    ],
)
def test_each_row_of_the_seed_names_where_to_work(levels: tuple[Level, Level, Level], work_on: WorkOn) -> None:
    assert diagnose(*levels).work_on is work_on


def test_all_27_combinations_have_their_own_row_and_sentence() -> None:
    found = [diagnose(*levels) for levels in product(Level, repeat=3)]
    assert len({one.row for one in found}) == 27
    assert len({one.sentence for one in found}) == 27
    assert len(DIAGNOSES) == 27


def test_every_sentence_that_calls_for_work_names_the_part() -> None:
    for found in DIAGNOSES.values():
        if found.work_on in (WorkOn.GENERATION, WorkOn.RETRIEVAL, WorkOn.PROMPT):
            assert f"work on {found.work_on}" in found.sentence.replace("the prompt", "prompt"), found


def test_rows_are_precomputed() -> None:
    assert diagnose(LOW, LOW, HIGH) is diagnose(LOW, LOW, HIGH)


def test_a_low_signal_never_reads_as_all_is_well() -> None:
    for levels, found in DIAGNOSES.items():
        assert not (LOW in levels and found.work_on is WorkOn.NONE), found


def test_a_level_is_high_from_the_threshold_on() -> None:
    assert level(0.8, 0.8) is HIGH
    assert level(0.79, 0.8) is LOW
    assert level(0.0, 0.0) is HIGH


def test_what_was_not_scored_is_unknown_and_never_low() -> None:
    assert level(None, 0.8) is UNKNOWN
    assert level(float("nan"), 0.8) is UNKNOWN


@pytest.mark.parametrize("worse", list(product([False, True], repeat=3)))
def test_a_decline_says_of_what_did_not_decline_only_that_it_did_not(worse: tuple[bool, bool, bool]) -> None:
    """Answers that fail cite nothing, and no ranking falls: "retrieval is good" would send people the wrong way."""
    said = describe_decline(*worse)
    assert "good" not in said
    assert "content" not in said
    assert worse[0] or ("errors and refusals" in said) is worse[1]
