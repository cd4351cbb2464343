"""Kinds: what a prompt as a whole makes answers of, where its rules are not about the answers.

A judge or proofreader is given the rules that other texts have to keep; a prompt for "three replies" says "replies" of
what one answer holds. Nothing that such a prompt asks for is known to bind its own answers. Where a quiz, a form or
training data is made, or a note is written beside the reply, that is so only of what is said of "answers", and of
lengths.
"""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.wording import negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], **_BUILT["people"])
_HELD = read_patterns(_BUILT["held"], **_BUILT["people"], **_BUILT["beside"])
_HELD_ALONE = tuple(kind for kind in _HELD if kind != "listed_parts")  #: kinds that one sentence tells
_NAMES = read_patterns(_BUILT["names"])
_REASONS = {
    "judges": "the prompt is about other texts",
    "rewriters": "the prompt is about other texts",
    "coaches": "the prompt is about answers of others",
    "makers": "the prompt makes rules for others",
    "items": "an answer holds several texts",
}
_SHOWN = 80  #: characters of the sentence in the reason for a doubt


class PromptKind(NamedTuple):
    """Why checks of a prompt may not bind its answers.

    reason: why; is_items: whether only because one answer holds several texts; are_replies: whether those are called
    answers themselves, as in "three replies", so that "reply in 50 words" may be of each.
    """

    reason: str
    is_items: bool
    are_replies: bool = False

    def doubt(self, check: str, masked: str) -> str | None:
        """Return why a check that a sentence asks for may not bind the answers, None if it does nevertheless."""
        if self.is_items:
            responds = not self.are_replies and _NAMES["responds"].search(masked) is not None
            binds = is_of_all_texts(check) or (responds and check.startswith("length."))
        else:
            binds = is_own_form(check, masked)
        return None if binds else self.reason


def prompt_kind(sentences: Iterable[str]) -> PromptKind | None:
    """Return why no check of a prompt is known to bind its answers; None if there is no reason.

    sentences: with quoted text masked.
    """
    kinds = [
        (kind, sentence)
        for sentence in sentences
        for kind in _REASONS
        if (match := _SAYS[kind].search(sentence)) is not None and not negated(sentence, match.start())
    ]
    others = [one for one in kinds if one[0] != "items"] or kinds
    if not others:
        return None
    kind, sentence = others[0]
    are_replies = any(_NAMES["replies"].search(other) is not None for _, other in others)
    return PromptKind(f"{_REASONS[kind]} ({_shown(sentence)})", kind == "items", are_replies)


class OthersAnswers(NamedTuple):
    """That "answers" may be others than the assistant's: those of a quiz, of a form, of training data; or parts.

    reason: why; is_made: whether a text is made that holds them, so that a length without a subject may be theirs;
    is_part: whether they are a part of what the assistant writes, beside a note or its reasoning.
    """

    reason: str
    is_made: bool
    is_part: bool = False

    def named(self, masked: str) -> bool:
        """Return whether a sentence names them."""
        if not self.is_part:
            return _NAMES["yours"].search(masked) is None and _NAMES["answers"].search(masked) is not None
        return _NAMES["part"].search(_NAMES["answering"].sub("", masked)) is not None and not self.exceeded(masked)

    def exceeded(self, masked: str) -> bool:
        """Return whether a sentence says that it is of all parts: "in either part"."""
        return self.is_part and _NAMES["all_parts"].search(masked) is not None


def held_answers(sentences: Sequence[str]) -> OthersAnswers | None:
    """Return whose answers may be meant beside the assistant's; None if there are no others.

    sentences: with quoted text masked.
    """
    for sentence in sentences:
        kind = next((kind for kind in _HELD_ALONE if _HELD[kind].search(sentence) is not None), None)
        if kind == "parts":
            return _part(sentence)
        if kind is not None:
            return OthersAnswers(f"may be about other answers ({_shown(sentence)})", kind == "makes")
    lead = _HELD["listed_parts"].search("\n".join(sentences))
    return None if lead is None else _part(lead["lead"].strip())


def _part(sentence: str) -> OthersAnswers:
    return OthersAnswers(f"may concern a part of the answer ({_shown(sentence)})", is_made=True, is_part=True)


def is_of_all_texts(check: str) -> bool:
    """Return whether a check holds of all of several texts in one answer, as it forbids a sign or a word."""
    name = parse_name(check)
    regex = str(name.params.get("regex", ""))
    is_edge_or_count = r"\A" in regex or r"\z" in regex or regex.startswith(("(?s)", "(?ms)"))
    forbids = name.family == "pattern.forbid" and not is_edge_or_count
    return forbids or name.family in ("keywords.forbidden_words", "language.is")


def is_own_form(check: str, masked: str) -> bool:
    """Return whether a check is of what the assistant itself gives, whatever it judges: "Respond with JSON"."""
    return check == "format.json" and _NAMES["responds"].search(masked) is not None


def whose_answers(check: str, masked: str, held: OthersAnswers | None, *, is_named: bool) -> str | None:
    """Return why a check may be of the answers that are held; None if it is not.

    is_named: whether its sentence names them, or goes on about them.
    """
    if held is None or held.exceeded(masked) or (not held.is_part and _NAMES["yours"].search(masked) is not None):
        return None
    is_theirs = held.is_made and (check.startswith("length.") or is_character_limit(check))
    return held.reason if is_theirs or is_named else None


def _shown(sentence: str) -> str:
    return f"“{sentence[:_SHOWN]}{'…' if len(sentence) > _SHOWN else ''}”"
