"""A release that leaves messages without an answer is worse, whatever users write while they wait."""

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


def turns(left: float, complaint: str, version: str, day: int) -> Iterator[dict[str, Any]]:
    """Give 150 conversations; left: share of those whose first message gets no answer, so that users complain of it."""
    draw = random.Random(version)
    for number in range(150):
        begin = BEGIN + timedelta(days=day, minutes=2 * number)
        said = [("user", "How do I change my address?", 0)]
        if version == "v2" and draw.random() < left:
            said.append(("user", complaint, 60))
            if draw.random() < 0.5:
                said.append(("assistant", "Under Settings, then Address.", 70))
        else:
            said.append(("assistant", "Under Settings, then Address.", 10))
            said.append(("user", draw.choice(("Thanks a lot!", "And my phone number?", "That is wrong.")), 40))
            said.append(("assistant", "You will find it in the same place.", 50))
        for at, (role, text, seconds) in enumerate(said):
            head = {"conversation_id": f"{version}-{number}", "turn_id": f"{version}-{number}-{at}", "role": role}
            time = (begin + timedelta(seconds=seconds)).isoformat()
            yield {**head, "text": text, "timestamp": time} | ({"version": version} if role == "assistant" else {})


@pytest.mark.parametrize("complaint", ["this is broken", "hello?", "useless"])
def test_a_release_that_leaves_messages_without_an_answer_is_worse_whatever_users_say_of_it(complaint: str) -> None:
    lines = [orjson.dumps(turn) for day, name in enumerate(("v1", "v2")) for turn in turns(0.5, complaint, name, day)]
    suite = Suite()
    worse = [
        finding.sentence for finding in find(replayed(lines, suite, NOW).summary(suite)) if finding.change == "worse"
    ]
    assert any(sentence.startswith("v2 fails to answer more often") for sentence in worse), worse
