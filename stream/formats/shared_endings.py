"""Shared endings: what texts of many end with alike, and where that begins.

    How do I pay?                        Where is it?
                                                                               Antworte auf Deutsch.
    Antworte auf Deutsch.                Antworte auf Deutsch.

    Why? [sent 10:00 from Graz]          And then? [sent 18:25 from Leeds]     [sent … ]

An ending begins where a person would say so: on a line of its own, behind a sentence, or with a bracket, a tag or a
mark. What varies in it are numbers, what stands in a bracket or a tag that begins alike, and, on a last line that
begins alike, words of which there are few. What is shared within a sentence ("… in my account?") is somebody's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple

from turnsignal.stream.formats.templates import ASKS

READ = 4_000  #: characters at the end of a text, in which an ending is looked for
_NEARLY_ALL = 0.9  #: of texts that end with the same two words, which share what is found
_HALF = 0.5  #: of these, before which it begins as endings do,
_SENTENCES = 0.2  #: or which end with a mark before it: not everybody writes one
_CLUSTERS = 3  #: groups of texts that end alike, the largest ones
_VALUES = 0.25  #: of what varies in a line, different ones at most: what is asked differs nearly always
_NEAR = 400  #: characters at the end of a text, of which most endings are shorter
_TRIED = 8  #: places in a text where an ending may begin
_ENDS_SENTENCE = frozenset('.!?…。！？؟।:;"”»)]}>）】」*`')
_OPENS = frozenset("[({<#*/—–-|=~【（「")
_CLOSED_BY = {")": "(", "]": "[", "}": "{", "）": "（", "】": "【"}
_QUESTION_MARKS = ("?", "？", "؟")
_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"  # scripts that put no space between words
    r"|\d+|[^\W\d\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]"
)
_TAG = re.compile(r"</([^\W\d_][\w:-]{0,40})>\Z")
_NUMBER = r"\d{1,20}"


class Ending(NamedTuple):
    """How texts end alike.

    head: what it begins with, all of one that does not vary; varies: in nothing, in its numbers, within one line, or in
    whatever a bracket or a tag holds; tail: what it ends with behind that; pattern: of one whose numbers vary; is_line:
    whether it stands on lines of its own; is_doubtful: whether it may be what was asked.
    """

    head: str
    tail: str = ""
    varies: Literal["", "numbers", "line", "closed"] = ""
    pattern: str = ""
    is_line: bool = False
    is_doubtful: bool = False

    def taken_off(self, text: str) -> str | None:
        """Return a text without this ending; None where it has another one, or nothing else.

        >>> Ending("Be brief.").taken_off("Why? Be brief.")
        'Why?'
        """
        text = text.rstrip()
        at = self._start_in(text)
        if at <= 0:
            return None
        rest = text[:at].rstrip()
        is_cut = self.head[0].isalnum() and rest[-1:].isalnum() and len(rest) == at and not _is_unspaced(text[at])
        if is_cut or (self.is_line and "\n" not in text[len(rest) : at]):
            return None
        return rest if any(map(str.isalnum, rest)) else None

    def _start_in(self, text: str) -> int:
        """Return where it begins in a text, -1 where it does not end that."""
        if not self.varies:
            return len(text) - len(self.head) if text.endswith(self.head) else -1
        if not text.endswith(self.tail):
            return -1
        end = len(text)
        for _ in range(_TRIED):
            if (at := text.rfind(self.head, 0, end)) < 0:
                return -1
            if self._is_whole(text, at):
                return at
            end = at + len(self.head) - 1
        return -1

    def _is_whole(self, text: str, at: int) -> bool:
        if self.varies == "numbers":
            return _compiled(self.pattern).fullmatch(text, at) is not None
        return (self.varies == "closed" or "\n" not in text[at:]) and len(text) - at >= len(self.head) + len(self.tail)

    @property
    def words(self) -> int:
        """Count the words that are the same."""
        return len(_words_in(self.head)) + len(_words_in(self.tail))


def endings_of(texts: Sequence[str], fewest: int) -> Iterator[Ending]:
    """Give endings that texts may share, the most frequent first; fewest: texts that share one."""
    kinds = ((_closed_key, _closed), (_last_two, _exact), (_line_key, _line))
    for key_of, find in kinds:
        for cluster in _clusters(texts, key_of, fewest):
            if (ending := find(cluster)) is not None:
                yield ending


def _clusters(texts: Sequence[str], key_of: Callable[[str], str], fewest: int) -> list[list[str]]:
    grouped: dict[str, list[str]] = {}
    for text in texts:
        if key := key_of(text):
            grouped.setdefault(key, []).append(text)
    largest = sorted(grouped.values(), key=len, reverse=True)[:_CLUSTERS]
    return [cluster for cluster in largest if len(cluster) >= fewest]


def _last_two(text: str) -> str:
    tokens = [token for token in _tokens(text[-_TRIED * 10 :]) if not token.isspace()][-2:]
    return " ".join("0" if token.isdigit() else token for token in tokens)


def _closed_key(text: str) -> str:
    at = _opened_at(text)
    return "".join(_tokens(text[at : at + READ])[:2]) if at >= 0 else ""


def _line_key(text: str) -> str:
    line = text[_line_at(text) :]
    return next((token for token in _tokens(line[:READ]) if token.isalpha()), "") if len(line) < len(text) else ""


def _exact(texts: Sequence[str]) -> Ending | None:
    """Return the longest ending that texts share but for numbers, from where one may begin."""
    for read in (_NEAR, READ):
        backward = [_tokens(text[-read:])[::-1] for text in texts]
        shared = _shared(backward, numbers=True)
        if not (is_longer := sum(len(tokens) <= len(shared) for tokens in backward) > _HALF * len(texts)):
            break
    if is_longer:
        return Ending(texts[0][-_NEAR:].lstrip(), is_doubtful=True)
    for size in range(len(shared), 0, -1):
        first, following = shared[size - 1], shared[size - 2] if size > 1 else ""
        if first is None or first.isspace() or not first or (first == "<" and following == "/"):
            continue
        held = shared[size - 1 :: -1]
        is_line, is_begun = _begins(backward, size, first)
        varies = None in held
        words = [each for each in held if each and each[0].isalpha()]
        if not words or not is_begun or (varies and not (is_line or first in _OPENS)):
            continue
        return _spelled(held, is_line=is_line)
    spelled = "" if None in shared else "".join(each for each in shared[::-1] if each is not None).strip()
    return Ending(spelled, is_doubtful=True) if spelled and spelled[0].isalnum() else None


def _spelled(held: Sequence[str | None], *, is_line: bool) -> Ending:
    """Return an ending of tokens, None for each number that varies."""
    last = held[-1] or ""
    if None not in held:
        head = "".join(each or "" for each in held)
        return Ending(head, is_line=is_line, is_doubtful=last in _QUESTION_MARKS)
    pieces = [_NUMBER if each is None or each.isdigit() else re.escape(each) for each in held]
    numbers = [at for at, each in enumerate(held) if each is None or each.isdigit()]
    head = "".join(each or "" for each in held[: numbers[0]])
    tail = "".join(each or "" for each in held[numbers[-1] + 1 :])
    return Ending(head, tail, "numbers", "".join(pieces), is_line=is_line, is_doubtful=last in _QUESTION_MARKS)


def _begins(backward: Sequence[Sequence[str]], size: int, first: str) -> tuple[bool, bool]:
    """Say whether texts have their last so many tokens on lines of their own, and whether these begin as endings do."""
    lines = opened = sentences = 0
    for tokens in backward:
        before = tokens[size : size + 2]
        gap = before[0] if before and before[0].isspace() else ""
        ended = (before[1:] if gap else before)[:1]
        lines += bool(ended) and "\n" in gap
        opened += bool(ended and gap) and first in _OPENS
        sentences += bool(ended) and ended[0][-1] in _ENDS_SENTENCE and (bool(gap) or _is_unspaced(first))
    is_line = lines >= _NEARLY_ALL * len(backward)
    is_sentence = sentences >= _SENTENCES * len(backward) and first[0].isalnum()
    return is_line, is_sentence or max(lines, opened) >= _HALF * len(backward)


def _closed(texts: Sequence[str]) -> Ending | None:
    """Return the ending of texts that end with a bracket or a tag which begins alike, whatever stands in it."""
    starts = [_opened_at(text) for text in texts]
    apart = sum(text[at - 1].isspace() for text, at in zip(texts, starts, strict=True) if at)
    segments = [text[at:] for text, at in zip(texts, starts, strict=True)]
    head, tail = _edges(segments)
    if apart < _HALF * len(texts) or not _words_in(head) or (head.startswith("<") and _asks(head)):
        return None
    tag = _TAG.search(segments[0])
    tail = tail or (tag.group() if tag is not None else segments[0][-1])
    return Ending(head, tail, "closed")


def _line(texts: Sequence[str]) -> Ending | None:
    """Return the last line of texts that begins alike, where few words vary in it."""
    lines = [text[_line_at(text) :] for text in texts]
    head, tail = _edges(lines)
    if len(_words_in(head)) < 1 or len(_TOKEN.findall(head)) <= 1 or _asks(head):
        return None
    varied = [line[len(head) : len(line) - len(tail)] for line in lines if line.startswith(head)]
    values = {re.sub(r"\d+", "0", each) for each in varied}
    is_few = len(values) <= max(1, int(_VALUES * len(varied)))
    return Ending(head, tail, "line", is_line=True) if is_few and any(varied) else None


def _edges(segments: Sequence[str]) -> tuple[str, str]:
    """Return what nearly all segments begin with and end with alike, in whole tokens; numbers vary sooner or later."""
    tokens = [_tokens(segment[:READ]) for segment in segments]
    head = list(takewhile(_is_lasting, _shared(tokens, numbers=False)))
    backward = [_tokens(segment[-READ:])[::-1] for segment in segments]
    room = min(map(len, tokens)) - len(head)
    tail = list(takewhile(_is_lasting, _shared(backward, numbers=False)))[: max(room, 0)]
    return "".join(filter(None, head)), "".join(filter(None, tail[::-1]))


def _is_lasting(token: str | None) -> bool:
    return token is not None and not token.isdigit()


def _shared(sequences: Sequence[Sequence[str]], *, numbers: bool) -> list[str | None]:
    """Return the tokens that nearly all sequences begin with, None for numbers that differ."""
    enough = _NEARLY_ALL * len(sequences)
    alive, shared = list(sequences), list[str | None]()
    while True:
        at = len(shared)
        counted = Counter(tokens[at] for tokens in alive if len(tokens) > at)
        token, times = counted.most_common(1)[0] if counted else ("", 0)
        if times >= enough:
            alive = [tokens for tokens in alive if len(tokens) > at and tokens[at] == token]
            shared.append(token)
        elif numbers and sum(n for each, n in counted.items() if each.isdigit()) >= enough:
            alive = [tokens for tokens in alive if len(tokens) > at and tokens[at].isdigit()]
            shared.append(None)
        else:
            return shared


def _opened_at(text: str) -> int:
    """Return where the bracket or the tag begins that a text ends with, -1 without one."""
    if tag := _TAG.search(text[-50:]):
        return max(text.rfind(f"<{tag[1]}>"), text.rfind(f"<{tag[1]} "))
    closes = text[-1:]
    if (opens := _CLOSED_BY.get(closes)) is None:
        return -1
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == closes) - (text[at] == opens)
        if not depth:
            return at
    return -1


def _line_at(text: str) -> int:
    return text.rfind("\n") + 1


def _asks(head: str) -> bool:
    """Say whether what follows is behind a label of a question."""
    words = _words_in(head.lower())
    return bool(words) and words[-1] in ASKS


def _words_in(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text) if token[0].isalpha()]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _is_unspaced(text: str) -> bool:
    """Say whether a text begins with a script that puts no space between words."""
    character = text[0]
    return "\u3040" <= character <= "\u9fff" or "\u0e00" <= character <= "\u0eff" or "\u1000" <= character <= "\u17ff"


@lru_cache(64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
