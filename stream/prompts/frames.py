"""Frames: what stands beside a text and is not meant where its paragraphs or sentences are counted.

A title, a subject line, a salutation, a sign-off, a disclaimer, a postscript, a list, a table, code, sources. The
checks count them: "two paragraphs" of a letter are four pieces of text. So where a prompt asks for one of them, how
many paragraphs or sentences an answer has at most is for a person, and so is what it starts with, and where its
citations stand. A list or a longer text behind the answer makes a limit of words one for a person, too. A greeting or a
question that the assistant words itself is one of its sentences; one whose words are prescribed is not.
"""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.edges import is_first, is_last, puts
from turnsignal.stream.prompts.leftover import part_named
from turnsignal.stream.prompts.paragraphs import bounds_paragraphs
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import QUOTED, mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("frames.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], ASK=_BUILT["ask"])
_ASKED = ("title", "greeting", "sign_off", "postscript", "sources", "letter")
_ADDED = ("notice", "list", "table", "code", "beside")  #: what is added to a text whose length a prompt bounds
#: what a bound of sentences would count; a title and a salutation end with no full stop, and so are one with the next
_OF_SENTENCES = ("sign_off", "postscript", "sources", "closing", "opening", *_ADDED)
#: … and one of paragraphs, which takes no table and no code for one
_OF_PARAGRAPHS = (*_ASKED, "closing", "notice", "list", "beside")
#: doubts of what may end something else: "The caption ends with …"
_OF_OTHERS = ("says more than", "may concern a part", "stands under", "may be about", "an answer holds")
#: … and one of words or characters
_OF_WORDS = ("sources", "beside", "twice")
_OWN = ("", "greeting", "closing", "signature")  #: what words of a frame may be said to be, and no other part
_FEW = 4  #: words of a signature, at most
_BRIEF = 8  #: words that hardly matter to a limit of words
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt

#: kind of frame → the sentences that ask for it
_Frames = dict[str, list[str]]


def framed(proposals: list[Proposal], placed: Sequence[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what counts a frame as a part of the text, and starts that stand behind one; in linear time."""
    frames: _Frames = {}
    for kind, sentence in [*_asked(placed), *_worded(placed), *_prescribed(proposals)]:
        frames.setdefault(kind, []).append(sentence)
    return [
        one._replace(doubt=doubt) if one.doubt is None and (doubt := _doubt(one, frames)) is not None else one
        for one in proposals
    ]


def _asked(placed: Sequence[PlacedSentence]) -> Iterator[tuple[str, str]]:
    """Yield the frames that sentences ask for by their names, each with its sentence."""
    for one in placed:
        masked = mask(one.sentence)
        for kind in () if one.is_heading else (*_ASKED, *_ADDED, "twice"):
            match = _SAYS[kind].search(masked)
            is_named = kind == "title" and match is not None and _SAYS["title_of"].match(masked[match.end() :].strip())
            is_no_text = kind == "beside" and match is not None and _SAYS["no_text"].search(masked) is not None
            if match is not None and not (is_named or is_no_text) and not negated(masked, match.end()):
                yield kind, one.sentence


def _worded(placed: Sequence[PlacedSentence]) -> Iterator[tuple[str, str]]:
    """Yield the frames whose words sentences give, whatever check was read: what a person counts is no matter of that.

    "The caption ends with …" is of a part, and no frame.
    """
    for one in placed:
        quote = None if one.is_heading else QUOTED.search(one.sentence)
        before = "" if quote is None else _SAYS["own_line"].sub("", mask(one.sentence)[: quote.start()])
        for edge in ("last", "first") if quote is not None and part_named(before) in _OWN else ():
            at = puts(edge, mask(one.sentence))
            if at >= 0 and not negated(mask(one.sentence), at):
                yield from _kinds(edge, one.sentence)
        if not one.is_heading and _SAYS["named_line"].search(one.sentence) is not None:
            yield "sign_off", one.sentence


def _kinds(edge: str, sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of frame that the words which a sentence quotes for an edge of the answer are."""
    quotes = [quote[0].strip("\"'“”„‘’` ") for quote in QUOTED.finditer(sentence)]
    if not quotes:
        return
    # The full stop in 'Close with "Your Acme team."' may be the sentence's own.
    own = sentence.rstrip().endswith(('."', ".”", ".'", ".’")) and len(quotes[-1].split()) <= _FEW
    is_sentence = _SAYS["stops"].search(quotes[-1]) is not None and not own
    if edge == "last":
        yield "closing" if is_sentence else "sign_off", sentence
        return
    if is_sentence:
        yield "opening", sentence
    if any(_hails(quote) or _SAYS["heads"].search(quote) for quote in quotes):
        yield "greeting", sentence


def _prescribed(proposals: Sequence[Proposal]) -> Iterator[tuple[str, str]]:
    """Yield the frames that are prescribed word for word: a salutation, and whatever answers end with."""
    for one in proposals:
        is_edge = is_first(one.check) or is_last(one.check)
        if not is_edge or (one.doubt or "").startswith(_OF_OTHERS):
            continue
        for sentence in one.sentences:
            yield from _kinds("first" if is_first(one.check) else "last", sentence)


def _forbids_a_start(check: str) -> bool:
    """Return whether a check forbids how answers start; behind a subject line or salutation it could never fail."""
    return check.startswith("pattern.forbid") and str(parse_name(check).params.get("regex", "")).startswith(
        r"(?i)\A\W*"
    )


def _hails(text: str) -> bool:
    return _SAYS["hails"].search(text) is not None


def _doubt(one: Proposal, frames: _Frames) -> str | None:
    """Return why a check is doubtful by a frame, None where none touches it."""
    if any(_SAYS["includes"].search(mask(sentence)) for sentence in one.sentences):
        return None
    other = _other(one, frames, _touching(one))
    if not other:
        return None
    shown = f"“{other[:_SHOWN]}”"
    if is_first(one.check) or _forbids_a_start(one.check):
        return f"something else is put first in {shown}"
    is_counted = not one.check.startswith("citation.")
    return f"would count what {shown} adds" if is_counted else f"sources stand behind the text, too, in {shown}"


def _touching(one: Proposal) -> tuple[str, ...]:
    """Return the kinds of frames that a check would count, or that take its place."""
    if _forbids_a_start(one.check):
        return ("title", "greeting", "letter")
    if is_first(one.check):
        is_greeting = any(_hails(quote[0]) for sentence in one.sentences for quote in QUOTED.finditer(sentence))
        return ("title",) if is_greeting else ("title", "greeting")
    if one.check.startswith("citation.placement"):
        return ("sources",)
    params = parse_name(one.check).params
    if bounds_paragraphs(str(params.get("regex", ""))):
        return _OF_PARAGRAPHS
    if one.check.startswith("length.number_words") or is_character_limit(one.check):
        return _OF_WORDS if one.check.startswith("pattern.forbid") or "at_most" in params else ()
    return _OF_SENTENCES if "at_most" in params and one.check.startswith("length.number_sentences") else ()


def _other(one: Proposal, frames: _Frames, kinds: Sequence[str]) -> str:
    """Return the first sentence that asks for a frame of one of the kinds, and not for the check itself."""
    sentences = (sentence for kind in kinds for sentence in frames.get(kind, ()))
    if kinds is _OF_WORDS:
        sentences = (sentence for sentence in sentences if not _is_short(sentence))
    return next((sentence for sentence in sentences if sentence not in one.sentences), "")


def _is_short(sentence: str) -> bool:
    """Return whether all that a sentence has added is a few words that it quotes: 'Append "Your Acme team"'."""
    quotes = [quote[0] for quote in QUOTED.finditer(sentence)]
    is_appended = _SAYS["beside"].search(mask(sentence)) is not None
    return is_appended and bool(quotes) and sum(len(quote.split()) for quote in quotes) <= _BRIEF
