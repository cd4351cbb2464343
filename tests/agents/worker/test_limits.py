"""What a topic does not take is cut, or set aside, before the broker could refuse the whole transaction."""

import pytest

from turnsignal.agents.worker.limits import LEAST, RecordLimits, check_sizes
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.wire import OutputRecord, size_of

TOPICS = {"scores": "t-scores", "dead_letters": "t-dead-letters"}


def make_limits(**sizes: int) -> RecordLimits:
    limits = RecordLimits(None, ())
    limits.sizes, limits.revision = {TOPICS[name]: size for name, size in sizes.items()}, 3
    return limits


def test_what_fits_is_written_as_it_is() -> None:
    outputs = [OutputRecord("scores", b"c-1", b"x" * 100)]
    fitted = make_limits(scores=2_000).fit(outputs, TOPICS, 0)
    assert fitted.outputs is outputs
    assert (fitted.large, fitted.revision) == (False, 3)


def test_a_topic_of_which_nothing_is_known_takes_any() -> None:
    outputs = [OutputRecord("scores", b"c-1", b"x" * 10_000_000)]
    assert make_limits().fit(outputs, TOPICS, 0) == (outputs, False, 3)


def test_what_may_just_fit_is_written_and_looked_after() -> None:
    outputs = [OutputRecord("scores", b"c-1", b"x" * 1_500)]
    assert make_limits(scores=2_000).fit(outputs, TOPICS, 0) == (outputs, True, 3)


def test_what_is_too_large_is_a_dead_letter_and_its_neighbours_stay() -> None:
    outputs = [OutputRecord("scores", b"c-1", b"x" * 3_000), OutputRecord("scores", b"c-2", b"row")]
    letter, row = make_limits(scores=2_000, dead_letters=1_000).fit(outputs, TOPICS, 0).outputs
    assert (letter.topic, row) == ("dead_letters", outputs[1])
    assert dict(letter.headers or ())["reason"] == b"output_too_large"
    assert size_of(letter) < 1_000
    assert outputs[0].topic == "scores", "the batch may be written again"


def test_a_topic_that_takes_less_than_a_row_may_need_is_a_wrong_setting() -> None:
    check_sizes({"t-scores": LEAST})
    with pytest.raises(ConfigError, match=r"^expected a max\.message\.bytes of t-series of at least 65536, got 1200: "):
        check_sizes({"t-scores": LEAST, "t-series": 1_200})
