"""Phrases: what answers start or end with, word for word, or must not.

White space between the words, markup around them and a full stop behind them are the answer's own affair, unless the
prompt says that nothing else may stand there.
"""

from collections.abc import Iterator
from typing import Any

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import SAYS, Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.literals import literal, spaced
from turnsignal.stream.prompts.wording import QUOTED, negated

TAIL = r"[^\pL\pN?]*"  #: what may stand behind the last words: a full stop, quotation marks, bold, an emoji
_HEAD = r"[^\pL\pN]*"  #: … and before the first: the sign of a heading, bold, a quotation mark


def edge_phrases(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the checks of what answers start or end with, or must not."""
    for pattern, at_end in ((SAYS["end"], True), (SAYS["start"], False)):
        for match in pattern.finditer(sentence.masked):
            is_second = SAYS["starts_first"].search(sentence.masked[: match.start()]) is not None
            reach = match.start() if is_second else max(0, match.start() - 30)
            before = SAYS["with_the"].sub("", sentence.masked[reach : match.end()])
            before = SAYS["last_line"].sub("", before)
            quotes = _alternatives(sentence, match.end() - 1)
            contrast = (
                SAYS["but_not_with"].search(sentence.masked[match.start() : quotes[0].start()]) if quotes else None
            )
            is_denied = contrast is not None or negated(sentence.masked, match.start())
            each = (
                None if at_end or SAYS["of_some_sentences"].search(match[0]) else SAYS["of_sentences"].search(match[0])
            )
            of_sentences = each is not None
            is_part = SAYS["of_a_part"].search(before) is not None or SAYS["a_sentence"].search(match[0]) is not None
            if not quotes or quotes[0].start() - match.end() > 30 or (is_part and not (of_sentences and is_denied)):
                continue
            phrases = [next(part for part in quote.groups() if part).strip() for quote in quotes]
            other = SAYS["starts_too" if at_end else "ends_too"]
            if not all(phrases) or other.search(sentence.masked[match.start() + 1 : quotes[0].start()]) is not None:
                continue  # "Start with one sentence and end with …"
            more = SAYS["more_after"].search(sentence.masked[quotes[-1].end() :]) if at_end else None
            doubt = None if more is None else f"more may follow it ({more[0].strip(' ,')} …)"
            phrase = "|".join(stopped(one) for one in phrases)
            phrase = f"(?:{phrase})" if len(phrases) > 1 else phrase
            if of_sentences:
                name = write_name("pattern.forbid", {"regex": _at_sentences(phrases)})
            elif is_denied:
                edge = rf"{phrase}{TAIL}\z" if at_end else rf"\A\W*{phrase}(?:\W|\z)"
                name = write_name("pattern.forbid", {"regex": f"(?i){edge}"})
            elif at_end and len(phrases) == 1 and SAYS["to_the_letter"].search(sentence.masked) is not None:
                name = write_name("startend.end_checker", {"phrase": phrases[0]})
            else:
                edge = rf"{phrase}{TAIL}\z" if at_end else rf"\A{_opened(phrases)}"
                name = write_name("pattern.require", {"regex": f"(?i){edge}"})
            spans = [(match.start(), match.start() + 1), *(quote.span() for quote in quotes)]
            if each is not None:
                spans.append((match.start() + each.start(), match.start() + each.end()))
            if contrast is not None:  # "…, not with a preamble such as"
                spans.append((match.start() + contrast.start(), quotes[0].start()))
            yield from asked([name], "edges", *spans, doubt=doubt)
            break


def stopped(phrase: str) -> str:
    """Return the pattern of a phrase with any white space between its words, and a full stop or none at its end."""
    return spaced(phrase.rstrip("."))


def _at_sentences(phrases: list[str]) -> str:
    """Return the pattern of words that begin a sentence: the first one, or one with a capital behind a stop or a line.

    A single letter before the full stop is of an abbreviation: "at 9 p.m. I …".
    """
    small = "|".join(stopped(one) for one in phrases)
    capital = "|".join(f"(?-i:{literal(one[0].upper())}){stopped(one[1:])}" for one in phrases)
    behind = rf"(?:\n|[\pL\pN]{{2}}\.{_HEAD}\s|[!?]{_HEAD}\s){_HEAD}"
    return rf"(?i)(?:\A{_HEAD}(?:{small})|{behind}(?:{capital}))(?:\W|\z)"


def _opened(phrases: list[str]) -> str:
    """Return the pattern of the first words of an answer, with any markup around them: "**Summary:** …"."""
    opened = []
    for phrase in phrases:
        bare = phrase.rstrip(".:;,!?")
        opened.append(
            stopped(bare) + "[*_]*" + stopped(phrase[len(bare) :]) if bare and bare != phrase else stopped(phrase)
        )
    return _HEAD + (f"(?:{'|'.join(opened)})" if len(opened) > 1 else opened[0])


def _alternatives(sentence: Sentence, start: int) -> list[Any]:
    """Return the first quoted text from an offset on, with those that follow it as its alternatives."""
    quotes: list[Any] = []
    for quote in QUOTED.finditer(sentence.text, start):
        if quotes and not SAYS["alternative"].fullmatch(sentence.masked[quotes[-1].end() : quote.start()]):
            break
        quotes.append(quote)
    return quotes
