r"""Paragraphs: the patterns of checks that count the paragraphs of an answer as a person does.

Paragraphs are separated by an empty line. A table is none, and neither is code between fences, whatever empty lines
stand in it: "two paragraphs" may have a table between them. Where at least so many are asked for, any piece counts.
"""

MOST = 50  #: paragraphs that a pattern counts up to
_BLANK = r"\n[ \t\r]*\n\s*"
_FENCE = r"[ \t]*```[^\n]*\n(?:[ \t]*`{0,2}(?:[^`\s][^\n]*|\r)?\n)*[ \t]*```[^\n]*"
_MORE = rf"(?:\n(?:{_FENCE}|[ \t]*`{{0,2}}[^`\s][^\n]*))*"  #: the further lines of a piece
_OTHERS = rf"(?:(?:{_FENCE}|[ \t]*\|[^\n]*){_MORE}{_BLANK})*"  #: tables and code
_FIRST = r"[ \t]*`{0,2}[^`|\s]"  #: how a paragraph begins
_START = rf"\A\s*(?:{_OTHERS}"
_LEAST = rf"(?s)\S(?:.*?{_BLANK}\S)"


def at_least(count: int) -> str:
    """Return the pattern that finds so many pieces of text in an answer."""
    return f"{_LEAST}{{{count - 1}}}"


def more_than(count: int) -> str:
    """Return the pattern that finds more paragraphs than so many, tables and code not counted."""
    return rf"{_START}{_FIRST}[^\n]*{_MORE}{_BLANK}){{{count}}}{_OTHERS}{_FIRST}"


def counts_paragraphs(regex: str) -> bool:
    """Return whether a pattern is one of those that count the paragraphs of an answer."""
    return bounds_paragraphs(regex) or regex.startswith(_LEAST)


def bounds_paragraphs(regex: str) -> bool:
    """Return whether a pattern is one of those that find more paragraphs than so many."""
    return regex.startswith(_START)
