"""Proposed votes: the line of a mapping for what people say of answers in one word, or in stars.

People vote on few answers. A column in which most have 0 or 1 may well mean by 0 that nobody did, and stars mean up and
down to those alone who read them so: such a line is written as a comment, to be taken in by somebody who knows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from turnsignal.stream.formats.columns import Columns
from turnsignal.stream.formats.hints import votes_like
from turnsignal.stream.formats.human_scores import vote_of
from turnsignal.stream.text.toml import write_value as toml

_EITHER = frozenset(("0", "1", "0.0", "1.0", "true", "false"))  #: of which one may mean that nobody voted
_STARS = frozenset(("1", "2", "3", "4", "5"))
_MEANT = (("5", 1), ("4", 1), ("2", -1), ("1", -1))  #: most likely
_MOST = 0.5  #: of the answers that people vote on


class ProposedVote(NamedTuple):
    """A line for votes, and the path that it is about. is_sure: whether it is to be read without a second look."""

    path: str
    line: str
    is_sure: bool


def propose_vote(seen: Columns, answers: int) -> ProposedVote | None:
    """Return the line for the first path of votes, or else of what may be votes; None without any."""
    proposed = [line for path in votes_like(seen) if (line := _line_of(path, seen[path], answers)) is not None]
    return next((line for line in proposed if line.is_sure), proposed[0] if proposed else None)


def _line_of(path: str, values: Sequence[Any], answers: int) -> ProposedVote | None:
    if any(isinstance(value, list | dict) for value in values):
        return None
    voted = [value for value in values if value not in (None, "")]
    given = {str(value).strip().lower() for value in voted}
    if not given:
        return None
    if all(vote_of(value) is not None for value in given):
        if given & {"-1", "-1.0"} and given & {"0", "0.0"}:
            nothing = min(given & {"0", "0.0"})
            return ProposedVote(path, f"vote = {{ path = {toml(path)}, {toml(nothing)} = {toml('none')} }}", True)
        if len(voted) <= _MOST * answers or not given <= _EITHER:
            return ProposedVote(path, f"vote = {toml(path)}", True)
        why = "most answers have one: take the # away unless one of the two means that nobody voted"
        return ProposedVote(path, f"# vote = {toml(path)}   # {why}", False)
    if {value.removesuffix(".0") for value in given} <= _STARS and len(given) > 1:
        end = ".0" if any(value.endswith(".0") for value in given) else ""
        words = ", ".join(f"{toml(star + end)} = {vote}" for star, vote in _MEANT)
        why = "stars: take the # away where these are up and down"
        return ProposedVote(path, f"# vote = {{ path = {toml(path)}, {words} }}   # {why}", False)
    return None
