"""A release that ceases to ask whether it helped is excused for replies that fail to come, not for bad answers."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from tests.replayed import replayed
from turnsignal.stream.reports.findings import find
from turnsignal.stream.suite import Suite

BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
NOW = BEGIN.timestamp() + 30 * 86400
RIGHT, WRONG = "Open Settings and choose Billing there [d1].", "Our shops are open from nine to six [d1]."
ASKS = " Did that help?"
COMPLAINTS = ("No, I meant the invoice.", "That's wrong.", "That is not what I asked.", "That didn't work.")


def turns(version: str, day: int, right: float, *, asks: bool) -> Iterator[dict[str, Any]]:
    """Give conversations of which so many are answered rightly; users behave alike, whether they are asked or not."""
    draw = random.Random(day)
    for number in range(250):
        is_right, mood = draw.random() < right, draw.random()
        content = "Yes, thanks!" if asks else "Thanks, that worked!"
        if is_right:
            reply = content if mood < 0.3 else "And how long does it take?" if mood < 0.55 else ""
        else:
            reply = draw.choice(COMPLAINTS) if mood < 0.5 else "" if mood < 0.8 else "And how long does it take?"
        said = [("user", f"Where is invoice {number}?"), ("assistant", (RIGHT if is_right else WRONG) + ASKS * asks)]
        said += [("user", reply)] if reply else []
        begin = BEGIN + timedelta(days=day, minutes=5 * number)
        for at, (role, text) in enumerate(said):
            head = {"conversation_id": f"{version}-{number}", "turn_id": f"{version}-{number}-{at}", "role": role}
            more = (
                {"version": version, "retrieved": [{"doc_id": "d1"}, {"doc_id": "d2"}]} if role == "assistant" else {}
            )
            yield {**head, "text": text, "timestamp": (begin + timedelta(seconds=10 * at)).isoformat()} | more


def compared(*releases: tuple[float, bool]) -> tuple[list[str], dict[str, Any]]:
    lines = [
        orjson.dumps(turn)
        for day, (right, asks) in enumerate(releases)
        for turn in turns(f"v{day + 1}", day, right, asks=asks)
    ]
    suite = Suite()
    found = replayed(lines, suite, NOW).summary(suite)
    return [finding.change for finding in find(found)], found["comparisons"][0]


def test_a_release_that_answers_worse_is_worse_though_it_no_longer_asks_whether_it_helped() -> None:
    changes, row = compared((0.8, True), (0.4, False))
    assert "worse" in changes
    assert not any("left out" in note for note in row["record"]), "users thanked before: they replied to the question"
    assert row["deltas"]["clarification_free(per=conversation)"]["verdict"] == "worse"


def test_a_release_that_answers_as_before_is_not_worse_for_no_longer_asking() -> None:
    changes, row = compared((0.8, True), (0.8, False))
    assert "worse" not in changes
    assert not any("left out" in note for note in row["record"])
