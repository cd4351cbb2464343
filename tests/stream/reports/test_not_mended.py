"""A release that guesses where the one before said that it knows nothing is no better one, as a mended one is.

Nor does the way in which a log is written hide a release that is worse.
"""

import html
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from tests.replayed import replayed
from turnsignal.stream.reports.findings import find
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0
BEGIN = datetime(2025, 6, 1, 9, tzinfo=UTC)
QUESTIONS = ("How do I change my address?", "When is my parcel due?", "Can I pay by invoice?", "Where is my voucher?")
RIGHT, WRONG = "Under Settings, then Address [d1].", "Open the form for returns and send it by post [d1]."
PAGES = ("profile", "orders", "help", "basket", "history", "returns", "payments", "letters", "tickets", "gifts")
UNKNOWN = "I could not find anything about that in our documents."
COMPLAINTS = ("That's not what I asked.", "No, that's wrong, I meant the other one.", "This does not work.")
#: what users do behind each answer: share that complains, goes on, and thanks; the others leave
BEHIND = {RIGHT: (0.05, 0.35, 0.2), WRONG: (0.55, 0.1, 0.05), UNKNOWN: (0.05, 0.15, 0.25)}


def turns(version: str, day: int, answers: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Give 400 conversations of a release; answers: text → share of the questions that get it."""
    draw = random.Random(version)
    for number in range(400):
        time, at = BEGIN + timedelta(days=day, minutes=2 * number), 0
        texts, platform = [draw.choice(QUESTIONS)], draw.choice(("web", "app"))
        while texts and at < 8:
            (answer,) = draw.choices(list(answers), list(answers.values()))
            documents = [] if answer == UNKNOWN else [{"doc_id": f"d{rank}"} for rank in (1, 2)]
            first, *others = draw.sample(PAGES, 4)
            full = f"Open {first}. {answer} Then choose {' or '.join(others)}." if documents else answer
            for role, text in (("user", texts.pop()), ("assistant", full)):
                turn = {"conversation_id": f"{version}-{number}", "turn_id": f"{version}-{number}-{at}", "role": role}
                when = (time + timedelta(seconds=20 * at)).isoformat()
                turn |= {"text": text, "timestamp": when, "version": version, "platform": platform}
                yield turn | ({"retrieved": documents} if role == "assistant" else {})
                at += 1
            complain, go_on, thank = BEHIND[answer]
            does = draw.choices(
                ("complain", "go on", "thank", "leave"), (complain, go_on, thank, 1 - sum(BEHIND[answer]))
            )
            if does[0] != "leave":
                texts = [
                    draw.choice({"complain": COMPLAINTS, "go on": QUESTIONS, "thank": ("Thanks a lot!",)}[does[0]])
                ]


def findings(
    before: dict[str, float], after: dict[str, float], log: Callable[[dict[str, Any]], dict[str, Any]] = dict
) -> dict[str, list[str]]:
    """Return sentences by what they call the second release; log: how its turns are written down."""
    lines = [*turns("v1", 0, before), *map(log, turns("v2", 2, after))]
    found: dict[str, list[str]] = {"better": [], "worse": [], "changed": [], "note": []}
    for finding in find(replayed(map(orjson.dumps, lines), Suite(), NOW).summary(Suite())):
        found[finding.change].append(finding.sentence)
    return found


DECLINES, GUESSES, MENDED = {RIGHT: 0.75, UNKNOWN: 0.25}, {RIGHT: 0.75, WRONG: 0.25}, {RIGHT: 1.0}


def test_who_guesses_what_was_declined_is_worse_by_who_complains_and_not_better_by_what_fails() -> None:
    found = findings(DECLINES, GUESSES)
    assert found["better"] == []
    assert any(sentence.startswith("v2 helps its users less") for sentence in found["worse"])


def test_who_answers_what_was_declined_is_better() -> None:
    found = findings(DECLINES, MENDED)
    assert found["worse"] == []
    assert any(sentence.startswith("v2 fails to answer less often") for sentence in found["better"])


@pytest.mark.parametrize("before", [GUESSES, MENDED], ids=["guesses", "knew"])
def test_who_declines_is_worse_and_told_that_these_are_refusals_which_may_be_right(before: dict[str, float]) -> None:
    """Users in another mood complain less of the answers that are left, too: that excuses no refusal."""
    assert any("mostly refusals: if they ought to be" in sentence for sentence in findings(before, DECLINES)["worse"])


@pytest.mark.parametrize(
    "log",
    [
        lambda turn: turn | {"text": f"<p>{html.escape(turn['text'])}</p>"},
        lambda turn: turn | {"platform": None},
        lambda turn: turn | {"platform": f"chat-{turn['platform']}"},
    ],
    ids=["as pages", "no platforms", "other names of platforms"],
)
def test_a_log_that_is_written_otherwise_hides_no_release_that_is_worse(
    log: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    assert findings(MENDED, GUESSES, log)["worse"]
    usual = findings(MENDED, MENDED, log)
    assert usual["worse"] == usual["better"] == []
