"""What a suite exempts is no failure of a release, and more refusals are said to be what nobody can judge."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from tests.replayed import replayed
from turnsignal.stream.reports.findings import find
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0
BEGIN = datetime(2025, 6, 1, 9, tzinfo=UTC)
ANSWER = "Under Settings, then Address [d1]."
REFUSAL = "I'm afraid I can't help with that request."
EXEMPT = Suite(exempt=(REFUSAL,))


def turns(text: str, share: float, version: str, day: int) -> Iterator[dict[str, Any]]:
    """Give 200 conversations; text: what v2 answers to so large a share of questions, out of no documents."""
    draw = random.Random(version)
    for number in range(200):
        begin = BEGIN + timedelta(days=day, minutes=2 * number)
        is_plain = version == "v1" or draw.random() >= share
        said = [("user", "How do I change my address?"), ("assistant", ANSWER if is_plain else text)]
        if is_plain or draw.random() < 0.5:
            said += [("user", draw.choice(("Thanks a lot!", "And my phone number?"))), ("assistant", ANSWER)]
        for at, (role, line) in enumerate(said):
            head = {"conversation_id": f"{version}-{number}", "turn_id": f"{version}-{number}-{at}", "role": role}
            time = (begin + timedelta(seconds=10 * at)).isoformat()
            documents = [{"doc_id": f"d{rank}"} for rank in (1, 2)] if line == ANSWER else []
            more = {"version": version, "retrieved": documents} if role == "assistant" else {}
            yield {**head, "text": line, "timestamp": time} | more


def summary(text: str, share: float, suite: Suite) -> dict[str, Any]:
    lines = [orjson.dumps(turn) for day, name in enumerate(("v1", "v2")) for turn in turns(text, share, name, day)]
    return replayed(lines, suite, NOW).summary(suite)


def worse(found: dict[str, Any]) -> list[str]:
    return [finding.sentence for finding in find(found) if finding.change == "worse"]


@pytest.mark.parametrize(
    ("text", "says"),
    [(REFUSAL, True), ("No puedo dar datos de otros clientes.", True), ("Internal error 500.", False), ("", False)],
)
def test_where_more_refusals_fail_it_is_said_that_they_may_be_right_and_how_to_tell(text: str, says: bool) -> None:
    sentence = next(one for one in worse(summary(text, 0.15, Suite())) if one.startswith("v2 fails to answer more"))
    assert ("refusals" in sentence, "`exempt`" in sentence) == (says, says)


def test_what_a_suite_exempts_is_no_failure() -> None:
    found = summary(REFUSAL, 0.15, EXEMPT)
    deltas = found["comparisons"][0]["deltas"]
    assert worse(found) == []
    assert (deltas["failed"]["value"], deltas["unanswered"]["value"]) == (0.0, 0.0)
    assert deltas["answers_with_documents"]["verdict"] == "changed"


def test_a_search_that_breaks_is_seen_though_its_fallback_is_exempt() -> None:
    assert any("finds documents less often" in sentence for sentence in worse(summary(REFUSAL, 0.8, EXEMPT)))
