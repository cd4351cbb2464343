"""Reasons: each is news once, and its end is."""

from turnsignal.stream.judging.reasons import QUIET, ReasonChange, ReasonWatch
from turnsignal.stream.records.verdicts import Unjudged

REFUSED = ReasonChange("groundedness", Unjudged.PROVIDER, "401", over=False)


def test_a_reason_is_news_once_until_it_has_been_quiet() -> None:
    watch = ReasonWatch()
    assert watch.on_verdict("groundedness", Unjudged.PROVIDER, "401", 0.0) == REFUSED
    assert watch.on_verdict("groundedness", Unjudged.PROVIDER, "401", 50.0) is None
    assert watch.on_time(50.0 + QUIET - 1) == []
    assert watch.on_time(50.0 + QUIET) == [REFUSED._replace(detail="", over=True)]
    assert watch.on_verdict("groundedness", Unjudged.PROVIDER, "401", 200.0) == REFUSED


def test_what_was_asked_for_and_what_an_exchange_lacks_is_no_news() -> None:
    watch = ReasonWatch()
    for reason in (None, Unjudged.SAMPLED_OUT, Unjudged.NO_RETRIEVAL, Unjudged.NO_SIGNAL):
        assert watch.on_verdict("groundedness", reason, "", 0.0) is None
