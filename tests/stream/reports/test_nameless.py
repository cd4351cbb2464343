"""Errors that name no version, beside two releases that do, hide no release that fails, and make none better."""

from typing import Any

import orjson
import pytest

from tests.replayed import replayed
from turnsignal.stream.reports.findings import find
from turnsignal.stream.reports.newest_release import newest_releases
from turnsignal.stream.suite import Suite

ERROR = "Something went wrong. Please try again later."


def conversations(fails: float, *, again: bool) -> list[dict[str, Any]]:
    """Deal conversations to v1 and v2; those of v2 fail without a version; again: who fails asks once more."""
    turns: list[dict[str, Any]] = []
    for at in range(400):
        version = ("v1", "v2")[at % 2]
        dead = version == "v2" and at % 20 < 20 * fails
        texts = [(f"When does the shop in {'abcdefghij'[at % 10] * 5} Street open?", "user", None)]
        texts += (
            [(ERROR, "assistant", None)] if dead else [(f"At nine, {'klmnopqrst'[at % 10] * 4}.", "assistant", version)]
        )
        if dead and again:
            texts += [(texts[0][0], "user", None), (f"At nine, {'klmnopqrst'[at % 10] * 4}.", "assistant", version)]
        texts += [] if dead else [("Thanks!", "user", None)]
        for number, (text, role, own) in enumerate(texts):
            clock = f"2026-11-02T{8 + at // 60:02}:{at % 60:02}:{10 * number:02}Z"
            turn = {
                "conversation_id": f"c{at}",
                "turn_id": f"t{number}",
                "role": role,
                "text": text,
                "timestamp": clock,
            }
            turns.append(turn | {"assistant": "shop"} | ({"version": own} if own else {}))
    return turns


def summary(turns: list[dict[str, Any]]) -> dict[str, Any]:
    suite = Suite()
    return replayed(map(orjson.dumps, turns), suite, 1_800_000_000.0).summary(suite)


def test_a_release_whose_errors_name_no_version_is_worse_where_its_users_ask_on() -> None:
    found = summary(conversations(0.4, again=True))
    (compared,) = found["comparisons"]
    assert (compared["before"], compared["after"]) == ("v1", "v2")
    assert compared["deltas"]["failed"]["verdict"] == "worse"
    assert {finding.change for finding in find(found)}.isdisjoint({"better"})


@pytest.mark.parametrize(("fails", "is_known"), [(0.4, False), (0.02, True)])
def test_where_they_do_not_nobody_can_tell_whose_the_errors_are(fails: float, *, is_known: bool) -> None:
    found = summary(conversations(fails, again=False))
    (compared,) = found["comparisons"]
    assert (compared["before"], compared["after"]) == ("v1", "v2")
    assert {finding.change for finding in find(found)}.isdisjoint({"better"})
    (newest,) = newest_releases(found)
    assert (newest.not_known([]) == newest.not_known(["unanswered"]) == "") is is_known
    assert newest.not_known(["clarification_free"]) == ""
    said = [one.sentence for one in find(found) if "name no version, and may be of v1 or of v2" in one.sentence]
    assert bool(said) is not is_known
