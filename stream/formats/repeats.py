"""What a call repeats of its conversation, and what the user typed where more was sent.

Most calls repeat all that was said, word by word, or the end of it. Those of a search often do not: documents stand
around the question while it is asked, and the next call has the question alone.

    call 1   sends: "Context: … Question: How?"                     gets: So.
    call 2   sends: How? So. "Context: … Question: Why?"            gets: Because.

A question is the same where what was sent holds it and an answer follows both. Where words do not tell, the answers do:
they come back as they were given. Once a question came back alone, what stands around it is known, so that the last
one, which never does, is taken out of it as well.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from html import unescape
from itertools import islice, takewhile
from typing import NamedTuple

from turnsignal.stream.formats.protocol import Message

TELLING = 64  #: characters of answers that nobody is given by chance
_SUMMARY = 2  #: messages that stand for those that are left out
CUT = 20  #: characters of an answer that comes back cut, at least
_SEARCHED = 1000  #: last messages of a history in which a call's is looked for that does not go on from their end
_EDITS = 20  #: places in it where the last question may have been edited
_DOTS = " .…"
_COMPARED = 6  #: last messages that have to be alike,
_ALIKE = 24  #: and letters that they have together at least
READ = 3_000  #: characters of each
_MARKUP = re.compile(r"<[^<>]{0,80}>|\[[^\[\]]{0,40}\]")
_SPEAKER = re.compile(r"^\W{0,4}(?:user|human|customer|assistant|ai|bot|agent) ?: ", re.IGNORECASE)
_FRAMES = 1_000  #: that are counted,
_USUAL_FRAMES = 4  #: those that are tried,
_SHOWN = 3  #: and conversations that showed one
_NUMBER = re.compile(r"\d+")
_FIRST = re.compile(r"\W*\w+")
Digested = tuple[str, bytes]  #: a role, and a digest of what was said


class Frame(NamedTuple):
    """What stands around a question. first: the word that it begins with; before, after: next to the question."""

    first: str
    before: str
    after: str


class Passage(NamedTuple):
    """Messages in their order, beside the role and the digest of each."""

    messages: list[Message]
    digests: list[Digested]


class UsualFrames:
    """What stands around questions in a log, as several conversations showed it; for those that show nothing."""

    def __init__(self) -> None:
        self._shown: Counter[Frame] = Counter()

    def add(self, frame: Frame) -> None:
        """Take in what one conversation showed."""
        if frame in self._shown or len(self._shown) < _FRAMES:
            self._shown[frame] += 1

    def take_out(self, text: str) -> str:
        """Return the question in a text that has a usual frame, else the text."""
        for frame, times in self._shown.most_common(_USUAL_FRAMES):
            if (
                times >= _SHOWN
                and (frame.before + frame.after).strip()
                and (question := taken_out(text, frame)) != text
            ):
                return question
        return text


def overlap(history: Passage, asked: Passage, *, is_alone: bool = False, has_history: bool = False) -> tuple[int, int]:
    """Say how much of the history stays, and how many of the messages that were asked it holds already.

    The last of what stays is what the last of those that it holds repeats. is_alone: no call sends more than its
    question, so that one that was answered and comes back is asked once more; has_history: others of the conversation
    do, so that it is the first one, which was edited, and is answered anew.
    """
    prefix = _prefix(history, asked)
    length = len(history.digests)
    back = len(asked.digests) - 1
    if 0 < back < length and history.digests[-back:] == asked.digests[:-1] != history.digests[:back]:
        return length, back  # word by word the end of it, though it may begin alike
    if prefix == length:
        return prefix, prefix
    if len(asked.digests) == 1 and has_history and history.digests[-2:-1] == asked.digests:
        return length - 1, 1
    if len(asked.digests) == 1 and (length > 2 or is_alone):
        return length, int(history.digests[-1] == asked.digests[0])
    for restore in (_as_sent, _as_given):
        shown = restore(history, asked)
        taken = _aligned(history, shown, prefix)
        if taken > prefix:
            return length, taken
        if history.digests[-1][0] == "assistant" and shown.digests:
            before = Passage(history.messages[:-1], history.digests[:-1])
            if _aligned(before, shown, prefix) == len(shown.digests) > prefix:
                return length - 1, len(shown.digests)  # the last question, which is answered anew
    for find in (_by_answers, _by_questions, _by_likeness, _before_an_edit):
        kept, taken = find(history, shown)
        if taken > prefix:
            return kept, taken
    return (prefix, prefix) if prefix else (length, 0)


def typed(sent: str, plain: str) -> bool:
    """Say whether a text that was sent holds what the user typed, and more around it.

    What it begins with has to be a paragraph, for a history may be cut: "How do I" is no question.
    """
    at = _last(sent, plain) if len(plain) < len(sent) and _FIRST.match(plain) else -1
    if at < 0:
        return False
    end = at + len(plain)
    if not sent[:at].strip() and not sent[end:].startswith("\n"):
        return False
    return not (at and sent[at - 1].isalnum() and plain[0].isalnum()) and not sent[end : end + 1].isalnum()


def frame_of(sent: str, plain: str) -> Frame:
    """Return what stands around a question, of which `typed` says that it was sent."""
    at = _last(sent, plain)
    lead, tail = sent[:at], sent[at + len(plain) :]
    before = lead[lead.rstrip().rfind("\n") + 1 :]
    beyond = tail[: len(tail) - len(tail.lstrip())]
    after = beyond + tail.strip().partition("\n")[0]
    first = _FIRST.match(lead)
    return Frame(first.group() if first else "", before, after)


def taken_out(text: str, frame: Frame) -> str:
    """Return the question in a text that has the same frame, else the text.

    >>> taken_out("Context:\\nnone\\n\\nQuestion: Why?", frame_of("Context:\\na\\nb\\n\\nQuestion: How?", "How?"))
    'Why?'
    """
    start = _last(text, frame.before) + len(frame.before)
    if not text.startswith(frame.first) or frame.before not in text:
        return text
    if not frame.before.strip():  # the question comes first
        start = 0
    end = text.find(frame.after, start) if frame.after.strip() else len(text)
    return text[start : max(end, start)].strip() or text


def _last(text: str, part: str) -> int:
    """Return where a part stands last in a text, -1 where it does not; `rfind` takes the product of their lengths."""
    at = text[::-1].find(part[::-1])
    return len(text) - at - len(part) if at >= 0 else -1


def _prefix(history: Passage, asked: Passage) -> int:
    """Return how many first messages are the same; an answer may come back as it was shown."""
    prefix = 0
    for old, new in zip(history.digests, asked.digests, strict=False):
        if old != new and not (old[0] == new[0] == "assistant" or _is_typed(history, asked, prefix)):
            break
        prefix += 1
    return prefix


def _is_typed(history: Passage, asked: Passage, at: int) -> bool:
    """Say whether two questions at the same place are one: one holds the other, or they are alike and so answered."""
    pair = history.digests[at : at + 2], asked.digests[at : at + 2]
    old, new = history.messages[at].text, asked.messages[at].text
    roles = [[role for role, _ in digests] for digests in pair]
    if roles[1] == ["user", "user"] and roles[0] in (["user"], ["user", "user"]):  # nobody answered
        return typed(old, new)
    if any(sides != ["user", "assistant"] for sides in roles):
        return False
    return typed(old, new) or (pair[0][1] == pair[1][1] and _share(old, new))


def _share(text: str, other: str) -> bool:
    """Say whether texts have half of the shorter one in common, at their beginning and at their end."""
    return 2 * (alike(text, other) + alike(text[::-1], other[::-1])) >= min(len(text), len(other))


def alike(text: str, other: str) -> int:
    """Return how many first characters are the same."""
    size = min(len(text), len(other))
    return next((at for at in range(size) if text[at] != other[at]), size)


def _by_answers(history: Passage, asked: Passage) -> tuple[int, int]:
    """Say the same as `overlap` by the answers alone: those that the history ends with are the first of those asked."""
    old, new = _answers(history), _answers(asked)
    ends = _matches([asked.digests[at] for at in new], [history.digests[at] for at in old])
    same = next((taken for taken in range(len(ends) - 1, 0, -1) if ends[taken] == taken), 0)
    if not same:
        return 0, 0
    kept, taken = old[-1] + 1, new[same - 1] + 1
    last = min(kept, taken) >= 2 and typed(history.messages[kept - 2].text, asked.messages[taken - 2].text)
    if not last and not _is_telling([asked.messages[at] for at in new[:same]]):
        return 0, 0
    return kept, taken


def _by_questions(history: Passage, asked: Passage) -> tuple[int, int]:
    """Say the same by the questions alone: where answers come back altered, those before the last are the last ones."""
    places = [at for at, (role, _) in enumerate(asked.digests) if role == "user"]
    before = [asked.digests[at] for at in places[:-1]]
    known = [digest for digest in history.digests if digest[0] == "user"]
    length = sum(len(asked.messages[at].text) for at in places[:-1])
    if known[-len(before) :] != before or (len(before) < 2 and length < TELLING):
        return 0, 0
    return len(history.digests), places[-1]


def _by_likeness(history: Passage, asked: Passage) -> tuple[int, int]:
    """Say the same where all comes back altered: cut, escaped, masked, with who said it or when before it.

    Only what was said before: a question that is asked again is sent as it was, or is another one.
    """
    for back, again in ((0, 1), (0, 0), (1, 0)):  # a new question, one without an answer, one that is answered anew
        known, repeated = (
            history.messages[: len(history.messages) - back],
            asked.messages[: len(asked.messages) - again],
        )
        pairs = list(zip(reversed(known), reversed(repeated), strict=False))[:_COMPARED]
        if not again and pairs and pairs[0][0].text != pairs[0][1].text:
            continue
        letters = sum(len(likeness_of(old.text)) for old, _ in pairs)
        if len(pairs) > 1 and letters >= _ALIKE and all(map(_are_alike, *zip(*pairs, strict=True))):
            return len(known), len(repeated)
    return 0, 0


def _are_alike(old: Message, new: Message) -> bool:
    (known, known_digits), (repeated, digits) = (signs_of(message.text) for message in (old, new))
    if old.role != new.role or not known.startswith(repeated) or (known and not repeated):
        return False
    return known_digits.startswith(digits) or digits.endswith(known_digits)  # cut or masked, or behind those of a time


def likeness_of(text: str) -> str:
    """Return the letters of a text, without what programs change: case, markup, numbers, who spoke and when.

    >>> likeness_of("[10:05] User: <p>What&#x27;s due on 3 May?</p>"), likeness_of("What’s due on [DATE] May?")
    ('whatsdueonmay', 'whatsdueonmay')
    """
    return signs_of(text)[0]


def signs_of(text: str) -> tuple[str, str]:
    """Return the letters of a text as `likeness_of` does, and its numbers; of the first of its characters."""
    return _signs_of(text[:READ])


@lru_cache(4096)
def _signs_of(text: str) -> tuple[str, str]:
    plain = _SPEAKER.sub("", _MARKUP.sub("", unescape(text))).casefold()
    return "".join(filter(str.isalpha, plain)), " ".join(_NUMBER.findall(plain))


def _answers(spoken: Passage) -> list[int]:
    return [at for at, (role, _) in enumerate(spoken.digests) if role == "assistant"]


def _aligned(history: Passage, asked: Passage, prefix: int) -> int:
    """Return how many first messages of those asked end where the history ends, 0 where none do.

    What stands before those that are the same is the beginning of the history, which some apps always send, or its
    summary. prefix: messages that both begin with.
    """
    ends = _matches(asked.digests, history.digests)
    for taken in range(len(ends) - 1, 0, -1):
        same = ends[taken]
        if same == taken or (same > 1 and taken - same <= max(prefix, _SUMMARY)):
            return taken
    return 0


def _before_an_edit(history: Passage, asked: Passage) -> tuple[int, int]:
    """Say where in the history all but the last question of those asked ends, which is asked instead, or again."""
    taken = len(asked.digests) - 1
    if taken < 2:
        return 0, 0
    begun = max(len(history.digests) - _SEARCHED, 0)
    recent = history.digests[begun:]
    ends = (end for end in range(len(recent) - 1, 0, -1) if recent[end - 1] == asked.digests[taken - 1])
    for end in islice(ends, _EDITS):
        behind = zip(reversed(recent[:end]), reversed(asked.digests[:taken]), strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], behind))
        if same == taken or (same > 1 and taken - same <= max(_prefix(history, asked), _SUMMARY)):
            is_again = recent[end] == asked.digests[taken]
            return begun + end + is_again, taken + is_again
    return 0, 0


def _matches(asked: Sequence[Digested], history: Sequence[Digested]) -> list[int]:
    """Return for each number of first messages how many of their last are the last of the history (Gusfield's Z)."""
    joined: list[Digested | None] = [*reversed(history[-len(asked) :]), None, *reversed(asked)]
    size = len(asked)
    same = [0] * len(joined)
    left = right = 0
    for at in range(1, len(joined)):
        length = min(right - at, same[at - left]) if at < right else 0
        while at + length < len(joined) and joined[length] == joined[at + length]:
            length += 1
        same[at] = length
        if at + length > right:
            left, right = at, at + length
    return [0, *reversed(same[len(joined) - size :])] if size else [0]


def _as_sent(_: Passage, asked: Passage) -> Passage:
    """Return what was asked as it was sent."""
    return asked


def _as_given(history: Passage, asked: Passage) -> Passage:
    """Return what was asked with answers as they were given, where they come back cut."""
    digests = list(asked.digests)
    recent = zip(history.messages[-_SEARCHED:], history.digests[-_SEARCHED:], strict=True)
    given = sorted((message.text, digest) for message, digest in recent if digest[0] == "assistant")
    for at, (message, digest) in enumerate(zip(*asked, strict=True)):
        cut = message.text.rstrip(_DOTS)
        if digest[0] != "assistant" or len(cut) < CUT:
            continue
        place = bisect_left(given, (cut,))
        if place < len(given) and given[place][0].startswith(cut):
            digests[at] = given[place][1]
    return Passage(asked.messages, digests)


def _is_telling(messages: Sequence[Message]) -> bool:
    return sum(len(message.text) for message in messages if message.role == "assistant") >= TELLING
