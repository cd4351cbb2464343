"""Thumbs: votes that stand in the record of a call, beside its answer, and become the answer's own.

{messages, response: "text", feedback: "thumbs_down"}
{request_body, response_body, feedback_rating: false}       requests of Helicone, as its API and exports have them
{request, response, feedback: {rating: true}}               and as its dashboard does
"""

from collections.abc import Sequence
from typing import Any

from turnsignal.stream.formats.human_scores import vote_of
from turnsignal.stream.formats.protocol import Assumed, Message, Record
from turnsignal.stream.formats.values import first, mapping, nested

NO_VOTES = "ratings beside answers that are no votes left out"
UNANSWERED = "votes on calls without an answer left out"
UNCLEAR = "votes beside several answers left out"
_NAMES = ("vote", "thumbs", "thumb", "user_feedback", "feedback_rating", "feedback")
_RATINGS = ("rating", "vote", "thumbs", "thumb")


def give_vote(outputs: Sequence[Message], record: Record, assumed: Assumed, inputs: Sequence[Message] = ()) -> None:
    """Give the answer of a call the vote beside it; a rating that is none is counted, as is a vote on no answer.

    inputs: which may be all that was said, with the answer; of several it is not told which one is meant.
    """
    given = [rating for name in _NAMES if (rating := _rating_in(record.get(name))) not in (None, "")]
    vote = next((vote for rating in given if (vote := vote_of(rating)) is not None), None)
    if vote is None:
        assumed[NO_VOTES] += bool(given)
        return
    answers = outputs[:1] or [message for message in inputs if message.role == "assistant"]
    if len(answers) == 1:
        answers[0].fields = {**answers[0].fields, "vote": vote}
    else:
        assumed[UNCLEAR if answers else UNANSWERED] += 1


def _rating_in(value: Any) -> Any:
    """Return what was given: the rating in an object, which holds its own id and time as well."""
    value = nested(value)
    return first(mapping(value), *_RATINGS) if isinstance(value, dict) else value
