"""Permissions: sentences that let some text take a form or a length that the rules forbid, wherever they stand.

"Contracts may be as long and as structured as needed" lets bullets, headings and tables in as well as words. So it
frees every rule that it could touch, and not only the one before it.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.paragraphs import counts_paragraphs
from turnsignal.stream.prompts.proposals import NAMED_THINGS
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import mask, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("permissions.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], **_BUILT["words"])
#: what a text is laid out by, in the words of which bans of it are known
_LAYOUT = "Markdown, headings, bullet points, lists, numbered lists, tables, bold, italics, code blocks, line breaks"
_MARKS = tuple(regex for regex, words in NAMED_THINGS.items() if words.search(_LAYOUT) is not None)
_LISTS = tuple(
    regex for regex in _MARKS if NAMED_THINGS[regex].search("bullet points, lists, numbered lists") is not None
)
_PIECES = ("length.number_sentences", "length.number_paragraphs")
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def permitted(proposals: list[Proposal], placed: Sequence[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what a sentence elsewhere permits some text; in time linear in the prompt."""
    granted = [
        (grants, one.sentence) for one in placed if not one.is_heading and (grants := _grants(mask(one.sentence)))
    ]
    return [
        one._replace(doubt=f"has an exception (“{other[:_SHOWN]}{'…' if len(other) > _SHOWN else ''}”)")
        if one.doubt is None and granted and (other := _other(one, granted))
        else one
        for one in proposals
    ]


def permits(masked: str) -> bool:
    """Return whether a sentence permits some text a form or a length."""
    return bool(_grants(masked))


def _grants(masked: str) -> frozenset[str]:
    """Return what a sentence permits: "form", "lists", "length" or "anyhow"; nothing if it denies, or of others."""
    if _SAYS["denied"].search(masked) is not None or _SAYS["of_others"].search(masked) is not None:
        return frozenset()
    return frozenset(what for what in ("form", "lists", "length", "anyhow") if _SAYS[what].search(masked) is not None)


def _other(one: Proposal, granted: Sequence[tuple[frozenset[str], str]]) -> str:
    """Return the first sentence that permits what a check rules out, "" without one."""
    touched = _touched(one.check)
    own = set(one.sentences)
    return next((sentence for grants, sentence in granted if sentence not in own and grants & touched), "")


def _touched(check: str) -> frozenset[str]:
    """Return which permissions let an answer off a check."""
    params = parse_name(check).params
    regex = str(params.get("regex", ""))
    is_count = check.startswith(("length.", "format.number_")) or is_character_limit(check) or counts_paragraphs(regex)
    is_most = "at_most" in params or (is_count and check.startswith("pattern.forbid"))
    is_laid_out = check.startswith("pattern.forbid") and regex in _MARKS
    touched = {"length"} if is_count and is_most else set()
    if is_laid_out or check.startswith(("format.number_", *_PIECES)) or counts_paragraphs(regex):
        touched.add("form")
    if regex in _LISTS and is_laid_out:
        touched.add("lists")
    return frozenset({*touched, "anyhow"} if is_count or is_laid_out or check.startswith(("case.", "format.")) else ())
