"""Quotations: what a message may quote of another, so that a call about a question is known by it.

    Is the following message safe? Answer yes or no.
    <message>Where is my card?</message>

What stands on a line of its own, behind a label, between tags or between fences may be what somebody else asked. Only
the beginning and the end of a message are looked at, and digests are kept.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b

SHORT = 8  #: bytes of a digest
_LINES = 4  #: at the beginning of a message, and as many at its end
_READ = 4_000  #: characters at the beginning of a message, and as many at its end
_TITLE = 40  #: characters of the first line of a prompt, to know others like it by
_LABEL = 40  #: characters of a label
_AROUND = "\"'”’“‘«»*` \t"
_TRANSCRIPT = re.compile(r"^[ *#-]{0,8}(?:user|human|follow[ -]?up (?:input|question))[*\"]{0,3}: ?(.+)$", re.I | re.M)
_FENCES = ('"""', "```", "'''", "---")


def digest_of(text: str) -> bytes:
    """Return a short digest of a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=SHORT).digest()


def quotations_in(text: str) -> bytes:
    """Return digests of what a message may quote, SHORT bytes each, each once; none where it is one plain line.

    >>> digest_of("How?") in quotations_in("Is this safe?\\nMessage: How?")
    True
    """
    whole = text.strip()
    digests = {digest_of(part): None for part in _parts(whole) if part and part != whole}
    return b"".join(digests)


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
        label, mark, rest = plain.partition(":")
        if mark and len(label) <= _LABEL:
            yield rest.strip(_AROUND)
    yield from _TRANSCRIPT.findall(tail)[-1:]
    for fence in _FENCES:
        _, _, begun = tail.partition(fence)
        yield begun.rpartition(fence)[0].strip(_AROUND)
    before, _, name = tail.rpartition(">")[0].rpartition("</")
    yield before.rpartition(f"<{name}>")[2].strip(_AROUND)


def _untagged(line: str) -> str:
    """Return what stands between the first tag of a line and the last, else the line."""
    start, end = line.find(">") + 1, line.rfind("</")
    return line[start:end] if "<" in line[:start] and start < end else line
