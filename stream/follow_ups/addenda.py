"""Addenda: what a program puts around every answer, whatever it says: an envelope, thoughts, notes, what else to ask.

A refusal with a line about mistakes of AIs behind it is still a refusal; a product that begins, or ceases, to add such
a line answers as before.
"""

import re
import tomllib
from importlib.resources import files

import orjson
import re2

from turnsignal.stream.text.escapes import unescaped
from turnsignal.stream.text.leftovers import THOUGHTS
from turnsignal.stream.text.patterns import options

_TABLE = tomllib.loads(files(__package__).joinpath("addenda.toml").read_text(encoding="utf-8"))
_FOOTERS = re2.compile("|".join(_TABLE["footers"]).encode(), options())
_SUGGESTIONS = re2.compile("|".join(_TABLE["suggestions"]).encode(), options())
#: where one begins: at a line's, or behind the end of a sentence
_ASIDE = re2.compile(
    ('(?:^|\\n|[.!?\\])"][ \\t\\n]+)\\W{0,4}(?:' + "|".join(_TABLE["aside"]) + ")").encode(), options()
)
_THOUGHTS = re.compile(rf"\s*<({THOUGHTS})>")
_ITEM = re.compile(r"\s*(?:[-*•‣◦▪●–]|\d{1,2}[.)]|[a-z][.)]|\|)\s*\S|[^.!?\n]{3,120}\?\s*$")
_KEYS = ("answer", "response", "reply", "text", "message", "content", "output", "result")
_ENVELOPE = 20_000  #: characters of an answer that may be one
_END = 700  #: characters at an answer's end that addenda stand in
_LINES = 12  #: at an answer's end that may be footers, or a list of suggestions


def unwrapped(answer: str) -> str:
    """Return an answer without the envelope, the thoughts and the entities of a markup that it was logged in.

    >>> unwrapped('{"answer": "It is 9 euros.", "confidence": 0.8}')
    'It is 9 euros.'
    """
    if answer[:1] == "{" and len(answer) <= _ENVELOPE:
        answer = _contents(answer)
    opened = _THOUGHTS.match(answer) if "<" in answer[:40] else None
    if opened is not None:
        behind = answer.find(f"</{opened[1]}>", opened.end())
        answer = answer[behind + len(opened[1]) + 3 :].strip() if behind >= 0 else answer
    return unescaped(answer)


def _contents(answer: str) -> str:
    try:
        fields = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return answer
    texts = [fields[key] for key in _KEYS if isinstance(fields.get(key), str)] if isinstance(fields, dict) else []
    return texts[0] if len(texts) == 1 and len(texts[0].split()) > 1 else answer


def without_footers(answer: str) -> str:
    """Return an answer without the lines at its end that go with all; the same one where there is none.

    Those are a list of what else might be asked, with the line above it, and footers.

    >>> without_footers("I can't help with that.\\n\\nSuggested questions:\\n- Where is it?\\n\\n— Your team")
    "I can't help with that."
    """
    at = max(0, len(answer) - _END)
    lines = answer[at:].split("\n")
    kept, in_list = len(lines), False
    for back in reversed(range(max(0, kept - _LINES), kept)):
        line, read = lines[back], _encode(lines[back])
        if _SUGGESTIONS.search(read):
            kept, in_list = back, False
        elif not in_list and (not line.strip() or _FOOTERS.search(read)):
            kept = back
        elif line.strip() and not _ITEM.match(line):
            break
        else:
            in_list = True  # goes with the rest only if a line above it says so
    rest = (answer[:at] + "\n".join(lines[:kept])).rstrip()
    return rest if rest and len(rest) < len(answer.rstrip()) else answer


def divided(answer: str) -> tuple[str, str]:
    """Divide an answer from an aside at its end, such as a note that answers may be wrong; "" where there is none.

    >>> divided("I can't help with that. This answer was generated automatically.")
    ("I can't help with that.", 'This answer was generated automatically.')
    """
    at = max(0, len(answer) - _END)
    read = _encode(answer[at:])
    aside = _ASIDE.search(read)
    if aside is None:
        return answer, ""
    before = len(read[: aside.start()].decode("utf-8", "replace"))
    split = at + before + (answer[at + before : at + before + 1] in '.!?)"]')
    kept = answer[:split].rstrip()
    return (kept, answer[split:].strip()) if kept else (answer, "")


def _encode(text: str) -> bytes:
    """Encode a text in lower case, sign for sign."""
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text  # a few letters become two, and offsets would be wrong
    return lower.replace("’", "'").encode("utf-8", "replace")
