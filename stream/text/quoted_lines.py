"""Quoted lines: what a reply by e-mail or in a forum repeats of the message before, each line behind a `>`.

The writer's own words are the others, but for a line that only names whose words follow ("On Monday, Ann wrote:").
"""

import re

from turnsignal.stream.text.escapes import unescaped

_QUOTES = re.compile(r"(?:^|\n)[ \t]{0,3}>")
_LINE = re.compile(r"[ \t]{0,3}>")
#: en, de, es, fr, pt, it, nl; a mail program writes the name and the time around it
_NAMES_WRITER = re.compile(
    r"\b(?:wrote|schrieb|escribió|a écrit|escreveu|ha scritto|schreef)\b[^\n]{0,200}:\s*\Z", re.IGNORECASE
)
_WRITER = 300  #: characters that such a line has at most
_READ = 20_000  #: characters of a text with quoted lines; readers of a message look at less


def own_words(text: str) -> str:
    """Return a text, unescaped, without the lines that it quotes; all of it where nothing else stands in it.

    Of one that quotes, what stands far behind is left out, too.

    >>> own_words("Thanks, that worked!\\n\\nOn Monday, Shop Bot wrote:\\n> Press Reset.")
    'Thanks, that worked!'
    """
    text = unescaped(text)
    if ">" not in text or not _QUOTES.search(text):
        return text
    kept: list[str] = []
    quoting = False
    for line in text[:_READ].split("\n"):
        if _LINE.match(line):
            if not quoting:
                _drop_writer(kept)
            quoting = True
        elif line.strip():
            kept.append(line)
            quoting = False
        elif not quoting:
            kept.append(line)
    return "\n".join(kept).strip() or text


def _drop_writer(kept: list[str]) -> None:
    """Take away the line that names whose words follow, and the empty ones behind it."""
    place = len(kept)
    while place and not kept[place - 1].strip():
        place -= 1
    if place and len(kept[place - 1]) <= _WRITER and _NAMES_WRITER.search(kept[place - 1]):
        del kept[place - 1 :]
