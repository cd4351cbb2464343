"""Client labels: what a client writes before or behind each message of a user, such as a speaker, a time or a page.

Whatever stands before both of two messages of one conversation is the client's: `User: `, `[Web 10:22] `, `Case 4 | `,
`## Message 3`, `Page: /products/12` on a line of its own, `<context>…</context>`, a file's name; or behind both, as
`[no attachments]`, the lines of a form, or a paragraph that tells the assistant how to answer. What users say stands
between. Of a message that is all tags, it is what stands in `<query>`, `<message>` or the like.
"""

import re

_READ = 1_000  #: characters at the beginning of a message in which labels are looked for
_MOST = 4  #: labels before a message
_BRACKET = re.compile(r"\[[^\[\]\n]{1,80}\](?!\()[ \t]*\n?(?=\s*\S)")
_ELEMENT = re.compile(r"<(\w[\w-]{0,30})\b[^<>\n]{0,200}>[^<]{0,600}</\1>\s*(?=\S)")
#: a number with what it counts, as a heading, before a colon or a bar, or behind a "#"; a date, a time
_NUMBER = re.compile(
    r"(?:[#*_]{1,6} ?)?((?:[^\W\d_]{1,30} ){0,2})\(?(?:[^\W\d_]{1,30} )?#?\d{1,20}\)?"
    r"(?:[*_]{1,3}\s?|[ \t]{0,9}\n| ?[|:] |[.)] )\s*(?=\S)"
    r"|()#\d{1,20} (?=\S)"
    r"|()(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[ T,]{0,2})?(?:\d{1,2}:\d\d(?::\d\d)?)Z?[ ,:|–-]{1,3}(?=\S)"
    r"|()\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[ ,:|–-]{1,3}(?=\S)"
)
_WHOLE = re.compile(r"(?:<(\w[\w-]{0,30})\b[^<>\n]{0,200}>[^<]{0,10000}</\1>\s*){1,8}")
_ASKED = re.compile(
    r"<((?:(?:user|human|customer|client|the)[_-]?)?(?:query|question|message|msg|text|input|prompt|content|utterance)"
    r"|user|human|customer)\b[^<>\n]{0,200}>([^<]{1,10000})</\1>",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[:|=\[\]{}]")
_BEHIND = re.compile(r"[\[(][^\[\]()\n]{1,60}[\])]\Z")
_DIGITS = re.compile(r"\d+")
_KEY = re.compile(r"([^\W\d_][\w .-]{0,30}):[ \t]+(?=\S)")
_FILE = re.compile(
    r"\W{0,4}[\w(][\w (),.-]{0,80}\.(?:jpe?g|png|heic|webp|gif|pdf|docx?|xlsx?|txt|csv|log|mp4|mov)\W{0,4}\n"
)
#: what users write before what went wrong
_OWN = re.compile(r"error|exception|warning|problem|issue|bug|fehler|erreur|errore|erro|fout|problema", re.IGNORECASE)
_CLOSED = ("]", ")")
_LINES = 8  #: behind a message
_MOST_BEHIND = 62  #: characters in brackets behind a message
_LAST = 10  #: characters that a paragraph has at least to be no word of leave


def without_labels(text: str, other: str) -> tuple[str, str]:
    """Return two messages of a conversation without the labels that both have; the same texts where they have none.

    >>> without_labels("User: thanks!", "User: How do I pay?"), without_labels("Note: thanks!", "How do I pay?")
    (('thanks!', 'How do I pay?'), ('Note: thanks!', 'How do I pay?'))
    """
    text, other = _without_last(_within(text), _within(other))
    for _ in range(_MOST):
        shorter = _without_one(text, other)
        if shorter is None:
            break
        text, other = shorter
    return text, other


def _without_one(text: str, other: str) -> tuple[str, str] | None:
    text, other = text.lstrip(), other.lstrip()
    mine, others = text[:_READ], other[:_READ]
    if _is_bare(mine) and _is_bare(others):
        return None  # as nearly all are
    for pattern in (_BRACKET, _ELEMENT, _NUMBER):
        here, there = pattern.match(mine), pattern.match(others)
        if here and there:
            return (text[here.end() :], other[there.end() :]) if here.groups() == there.groups() else None
    files = [_FILE.match(of) if "\n" in of else None for of in (mine, others)]  # one message may have one alone
    if any(files):
        mine_ends, others_end = (0 if file is None else file.end() for file in files)
        return text[mine_ends:], other[others_end:]
    here, there = _KEY.match(mine), _KEY.match(others)
    if not (here and there) or here[1] != there[1] or _OWN.fullmatch(here[1]):
        return None
    ends = _end_of_value(text, here.end()), _end_of_value(other, there.end())
    values = text[here.end() : ends[0]].strip(), other[there.end() : ends[1]].strip()
    is_field = all(end < len(of) for end, of in zip(ends, (text, other), strict=True)) and (
        values[0] == values[1] or not any(map(_has_words, values))
    )
    if is_field:
        return text[ends[0] :].lstrip(), other[ends[1] :].lstrip()
    label = "\n" + here[0].strip()  # before each of several messages
    return text[here.end() :].replace(label, "\n"), other[there.end() :].replace(label, "\n")


def _is_bare(text: str) -> bool:
    """Say whether a message cannot begin with a label."""
    head = text[:40]
    return head[:1].isalpha() and ":" not in head and "|" not in head and "\n" not in text


def _end_of_value(text: str, start: int) -> int:
    """Return where a line ends, or the text where nothing stands beneath."""
    end = text.find("\n", start, start + _READ)
    return len(text) if end < 0 or not text[end : end + _READ].strip() else end


def _has_words(value: str) -> bool:
    return any(map(str.isspace, value))


def _within(text: str) -> str:
    """Return what a user asks of a message that is all tags, and any other message as it is."""
    if not text.startswith("<") or not _WHOLE.fullmatch(text):
        return text
    asked = [part[2] for part in _ASKED.finditer(text)]
    return asked[0].strip() if len(asked) == 1 else text


def _without_last(text: str, other: str) -> tuple[str, str]:
    """Leave out what stands in brackets at the end, or the last lines, where both have the same."""
    if text.endswith(_CLOSED) and other.endswith(_CLOSED):
        here, there = _BEHIND.search(text, len(text) - _MOST_BEHIND), _BEHIND.search(other, len(other) - _MOST_BEHIND)
        if here and there and here.start() and there.start() and _masked(here[0]) == _masked(there[0]):
            return text[: here.start()].rstrip(), other[: there.start()].rstrip()
    if "\n" not in text or "\n" not in other:
        return text, other  # as nearly all are
    mine, others = (of.rstrip().rsplit("\n", _LINES) for of in (text, other))
    most = min(len(mine), len(others)) - 1
    same = next((n for n in range(most) if _masked(mine[-1 - n]) != _masked(others[-1 - n])), most)
    above, last = "\n".join(mine[: len(mine) - same]), "\n".join(mine[len(mine) - same :])
    theirs = "\n".join(others[: len(others) - same])
    # One line that a user repeats is no form: it has two lines or a blank one, or the marks of a field.
    is_form = len(last.strip()) >= _LAST and (same > 1 or _FIELD.search(last))
    is_repeated = _masked(above) == _masked(theirs)  # a message that is sent again, or nothing but a form
    return (text, other) if is_repeated or not is_form else (above.rstrip(), theirs.rstrip())


def _masked(label: str) -> str:
    return _DIGITS.sub("0", label.strip())
