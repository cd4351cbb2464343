"""Escapes: what a log makes of an apostrophe or a letter, when it writes a text for a page, a database or in bytes.

    That didn&#39;t work.    That didn\\u2019t work.    That didn''t work.    That didnâ€™t work.    <p>No.</p>

Whoever looks for words ("didn't work") finds none of these, and a release whose log begins to escape looks as if its
users ceased to complain.
"""

import html
import re

_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_DOUBLED = re.compile(r"(?<=\w)''(?=\w)")
#: what stands around a text that was written as a page: all of it lies within tags
_TAGGED = re.compile(r"\s*<(?:p|div|span|br|html|body)\b[^<>]{0,200}>")
_TAG = re.compile(r"</?(?:p|div|span|br|b|i|u|em|strong|font|a|html|body)(?:\s[^<>]{0,200})?/?>")
_READ = 2_000  #: characters at each end of a text
_MISREAD = "â€"  #: how marks such as ’ begin where UTF-8 was read as Windows-1252
#: the most frequent of these, for a text that has other letters as well
_MARKS = {"â€™": "’", "â€˜": "‘", "â€œ": "“", "â€\x9d": "”", "â€“": "–", "â€”": "—", "â€¦": "…"}


def unescaped(text: str) -> str:
    """Return a text with the letters that a log has escaped or misread; the same one where there are none.

    Of a long text, those at its ends: nobody reads more of it for what it says.

    >>> unescaped("That didn&#39;t work, and I can''t find it."), unescaped("It isn\\u2019t there.")
    ("That didn't work, and I can't find it.", 'It isn’t there.')
    >>> unescaped('<div dir="ltr">No, the other one.<br></div>'), unescaped("<p> is a tag")
    ('No, the other one.', '<p> is a tag')
    """
    if len(text) <= 2 * _READ:
        return _unescaped(text)
    head, tail = text[:_READ], text[-_READ:]
    read = _unescaped(head), _unescaped(tail)
    return text if read == (head, tail) else read[0] + text[_READ:-_READ] + read[1]


def _unescaped(text: str) -> str:
    if text.rstrip().endswith(">") and _TAGGED.match(text):
        text = _TAG.sub(" ", text).strip()
    if "&" in text and ";" in text:
        text = html.unescape(html.unescape(text))  # a page's text may be escaped once more on its way
    if "\\" in text:
        text = _CODE.sub(_letter, text).replace("\\'", "'").replace('\\"', '"')
    if "''" in text:
        text = _DOUBLED.sub("'", text)
    return _read_again(text) if _MISREAD in text else text


def _letter(code: re.Match[str]) -> str:
    letter = chr(int(code[1], 16))
    return letter if letter.isprintable() else code[0]


def _read_again(text: str) -> str:
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        for misread, mark in _MARKS.items():
            text = text.replace(misread, mark)
        return text
