"""Human scores: votes, scores and annotations that people gave, which exports hold beside the answers they are about.

They become feedback. What an evaluator or a judge said is none: judges must not be taken for people.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.times import read_time
from turnsignal.stream.formats.values import bounded_id, first, mapping, short_name

_UP = (
    "up",
    "1",
    "1.0",
    "true",
    "yes",
    "like",
    "liked",
    "positive",
    "good",
    "helpful",
    "thumbs_up",
    "thumbsup",
    "👍",
    "+1",
)
_DOWN = ("down", "0", "0.0", "-1", "-1.0", "false", "no", "dislike", "disliked", "negative", "bad", "not_helpful")
_VOTES = {**dict.fromkeys(_UP, 1), **dict.fromkeys((*_DOWN, "unhelpful", "thumbs_down", "thumbsdown", "👎"), -1)}
#: Words in the names of votes.
VOTED = frozenset(("thumb", "thumbs", "vote", "feedback", "like", "liked", "helpful"))
JUDGED = "scores by evaluators and judges left out"
_MACHINES = ("eval", "model", "auto_eval", "llm", "code", "evaluator")  #: sources that are no people
_MOST = 1_000  #: characters of the reason


class HumanScore(msgspec.Struct, omit_defaults=True):
    """What somebody said of an answer, by the ids of its source.

    id: unique in the source; about: ids of the answer, or of its trace, the nearest first; summed: as its run sums it
    up, which counts only where the score itself is not given; the rest as in feedback.
    """

    id: str
    about: list[str]
    kind: str
    time: float | None = None
    vote: int | None = None
    value: float | None = None
    label: str | None = None
    scorer: str | None = None
    reason: str | None = None
    rater: str | None = None
    summed: bool = False


def vote_of(value: object) -> int | None:
    """Return 1 or −1 for a vote by any of its names; None for what is none.

    >>> vote_of("thumbs_up"), vote_of(False), vote_of("perhaps")
    (1, -1, None)
    """
    if isinstance(value, str | int | float):
        return _VOTES.get(str(value).strip().lower().replace(" ", "_"))
    return None


def is_score(record: Record) -> bool:
    """Say whether a record is a score, as Langfuse exports them."""
    return "name" in record and ("data_type" in record or "dataType" in record)


def human_scores_of(record: Record, origin: str, keys: Sequence[str], assumed: Assumed) -> Iterator[HumanScore]:
    """Give the score that a score of Langfuse or a feedback of LangSmith is; a machine's is left out and counted.

    origin: the format's name; keys: of the ids of what it is about, the nearest first.
    """
    about = [str(record[key]) for key in keys if record.get(key)]
    if not about:
        assumed["scores that name no answer left out"] += 1
        return
    source = mapping(record.get("feedback_source"))
    if is_machine(str(first(source, "type") or record.get("source") or "")):
        assumed[JUDGED] += 1
        return
    titled = short_name(first(record, "name", "key")) or "score"
    given, text = first(record, "value", "score"), first(record, "string_value", "stringValue", "label")
    if record.get("score") is not None and isinstance(given, str):  # LangSmith has a score and a value in words
        given, text = record["score"], given
    if isinstance(given, str) and not _is_number(given):
        given, text = None, given
    vote = _vote(titled, given, text, str(first(record, "data_type", "dataType")).upper())
    number = float(given) if given is not None and _is_number(given) else None
    score = HumanScore(
        id=bounded_id(f"{origin}:{record.get('id') or about[0] + titled}"),
        about=about,
        kind="vote" if vote is not None else "label",
        time=read_time(first(record, "timestamp", "created_at", "createdAt"), assumed),
        vote=vote,
        reason=str(first(record, "comment") or "")[:_MOST] or None,
        rater=short_name(
            first(record, "author_user_id", "authorUserId") or first(source, "user_id") or record.get("user_id")
        ),
    )
    if vote is None:
        score.scorer, score.label = titled, short_name(text)
        score.value = number if number is not None and 0 <= number <= 1 else None
        if score.value is None and score.label is None:
            assumed["scores that are neither 0 to 1 nor a word left out"] += 1
            return
    yield score


def is_machine(source: str) -> bool:
    """Say whether a score's source is no person."""
    return source.lower() in _MACHINES


def names_vote(titled: str) -> bool:
    """Say whether the name of a score is one of a vote.

    >>> names_vote("user-feedback"), names_vote("user_score"), names_vote("correctness")
    (True, True, False)
    """
    words = {"".join(filter(str.isalpha, word)) for word in titled.lower().replace("-", "_").split("_")}
    return not words.isdisjoint(VOTED) or words == {"user", "score"}  # LangSmith's word for a thumb


def _vote(titled: str, given: Any, text: Any, kind: str) -> int | None:
    """Say whether a score is a vote: a truth value, or up or down under a name that says so.

    That it is true that a thumb is down is a vote against an answer; that it is not true is none.
    """
    if kind == "BOOLEAN" or isinstance(given, bool) or names_vote(titled):
        vote = vote_of(text) or vote_of(given)
        if vote_of(titled.replace("-", "_")) == -1:
            return -1 if vote == 1 else None
        return vote
    return None


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
