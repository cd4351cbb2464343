"""Quotations: what a message may quote of another, so that a call about a question is known by it.

    Is the following message safe? Answer yes or no.
    <message>Where is my card?</message>

What stands on a line of its own, behind a label, between tags or between fences may be what somebody else asked. Only
the beginning and the end of a message are looked at, and digests are kept.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

SHORT = 8  #: bytes of a digest
NUMBER = np.dtype("<u8")  #: that one is, where many stand in a table; 0 for none
MIXED = 0x9E3779B97F4A7C15  #: odd: what numbers are multiplied by before others are added, and no two become one
_LINES = 4  #: at the beginning of a message, and as many at its end, that may be a quotation each
_EDGES = 3  #: lines at the beginning, and at the end, that may stand around one
_LONGEST = 8  #: lines at the end that may be one
_READ = 4_000  #: characters at the beginning of a message, and as many at its end
_TITLE = 40  #: characters of the first line of a prompt, to know others like it by
_TELLING = 8  #: characters that are no quotation by chance
_LABEL = 40  #: characters of a label
_AROUND = "\"'”’“‘«»*` \t\n"
_TRANSCRIPT = re.compile(r"^[ *#-]{0,8}(?:user|human|follow[ -]?up (?:input|question))[*\"]{0,3}: ?(.+)$", re.I | re.M)
_FENCES = ('"""', "```", "'''", "---")


def digest_of(text: str) -> bytes:
    """Return a short digest of a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=SHORT).digest()


def number_of(digest: bytes) -> int:
    """Return a digest as the number that it is in a table of NUMBER."""
    return int.from_bytes(digest, "little")


def digests_quoted(text: str) -> bytes:
    """Return digests of what a message may quote, SHORT bytes each, each once; none where it is one plain line.

    >>> digest_of("Where is it?") in digests_quoted("Is this safe?\\nMessage: Where is it?")
    True
    """
    return b"".join(digest_of(part) for part in quoted_in(text) if len(part) >= _TELLING)


def quoted_in(text: str) -> list[str]:
    """Return what a message may quote, each part once.

    >>> quoted_in("Message: How?")
    ['How?']
    """
    whole = text.strip()
    return [part for part in dict.fromkeys(_parts(whole)) if part and part != whole]


def stands_in(part: str, text: str) -> bool:
    """Say whether a part stands in a text, within a line or over several, with other words or none beside it.

    >>> stands_in("How?", "A title for: How?"), stands_in("art", "What a party")
    (True, False)
    """
    at = text.find(part) if part else -1
    while at >= 0:
        end = at + len(part)
        begins = at == 0 or not (text[at - 1].isalnum() and part[0].isalnum())
        if begins and not (text[end : end + 1].isalnum() and part[-1].isalnum()):
            return True
        at = text.find(part, at + 1)
    return False


def template_of(text: str) -> str:
    """Return how a prompt begins that is the same for each message that it quotes."""
    line = text.strip().partition("\n")[0][:_TITLE]
    ends = [at for mark in ':<"“`' if (at := line.find(mark)) >= 0]
    return line[: min(ends, default=_TITLE)]


def _parts(text: str) -> Iterator[str]:
    head, tail = text[:_READ], text[-_READ:]
    first, last = ([line for line in part.splitlines() if line.strip()] for part in (head, tail))
    for line in (*first[:_LINES], *last[-_LINES:]):
        plain = _untagged(line)
        yield plain.strip(_AROUND)
        yield _unlabelled(plain)
    if len(last) > 1:
        yield from _passages(text if len(text) <= _READ else tail, is_whole=len(text) <= _READ)
    yield from (quoted.strip(_AROUND) for quoted in _TRANSCRIPT.findall(tail)[-1:])
    for fence in _FENCES:
        _, _, begun = tail.partition(fence)
        yield begun.rpartition(fence)[0].strip(_AROUND)
    before, _, name = tail.rpartition(">")[0].rpartition("</")
    yield before.rpartition(f"<{name}>")[2].strip(_AROUND)


def _passages(text: str, *, is_whole: bool) -> Iterator[str]:
    """Give passages of several lines: what stands between the first lines and the last, and what comes last."""
    lines = text.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if line.strip()]
    firsts = starts[:_EDGES] if is_whole else []
    for begin in dict.fromkeys((*firsts, *starts[-_LONGEST:])):
        for end in (*starts[-_EDGES + 1 :], len(lines)):
            if end > begin + 1:
                passage = "".join(lines[begin:end])
                yield passage.strip(_AROUND)
                yield _unlabelled(passage)


def _unlabelled(text: str) -> str:
    """Return what stands behind a label, empty where there is none."""
    label, _, rest = text.partition(":")
    return rest.strip(_AROUND) if len(label) <= _LABEL else ""


def _untagged(line: str) -> str:
    """Return what stands between the first tag of a line and the last, else the line."""
    start, end = line.find(">") + 1, line.rfind("</")
    return line[start:end] if "<" in line[:start] and start < end else line
