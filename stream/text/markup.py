"""Markup: find text in a response that only looks like a marker: code, links, definitions, array indexes.

Small linear scanners, because this runs on every response with a bracket; a full Markdown parse costs far more.
"""

import re
import sys
from bisect import bisect_right

Spans = list[tuple[int, int]]
MAX_URL = 2_048  #: characters of a link's destination
_WORD_BEFORE = re.compile(r"[A-Za-z_$][\w$]*$")
_CODE_AFTER = re.compile(r"\.[a-z_]|\s?[-+*/]?=|\{")
#: names of variables that are no words
_VARIABLES = re.compile(
    r"(?:argc|args|argv|arr|bufs?|cols|ctx|df|dict|elems?|idxs?|kwargs|lst|nums|objs?|params|ptr|res|rets|stdin|strs?"
    r"|tmp|vals|vec|xs)$"
)
_CAMEL = re.compile(r"[a-z]{2,}\d*[A-Z][a-z]|[a-z]\d{1,2}$")
_NAMES_OF_FILES = frozenset(
    ("docx", "html", "info", "java", "json", "toml", "xlsx", "yaml")
)  #: "data.json[1]" is prose
_COMMAND = re.compile(r"\\[A-Za-z]{1,30}\s?$")  #: LaTeX's
_INTERVAL = re.compile(r"(\d{1,9})\s*[,;]\s*(\d{1,9})")
_OF_INTERVALS = re.compile(
    r"(?i)(?:\bintervals?|\b(?:the|closed|open|unit|valid|target|value|integer|numeric|an? inclusive)\s(?:ranges?"
    r"|interval|domain|scale|bounds|segment)|\b(?:normali[sz]ed|scaled|rescaled|mapped|clipped|clamped|restricted) to"
    r"|[∈⊂⊆]|\b(?-i:[a-z])\s?in|\brange of)(?:\s(?:the|of|is|from))?\s?$"
)
_OF_NUMBERS = re.compile(r"(?i)\b(?:between|within|from|in|over|on|values?|probabilit(?:y|ies)|scores?|numbers?)\s?$")
_OF_LISTS = re.compile(
    r"(?i)(?:(?:[)`]|\b(?:function|method|code|script|query|command|expression|loop|it|this|call))"
    r" (?:returns|prints|outputs|yields|gives|is)|(?:^|\n)\s{0,8}return|\b(?:arrays?|vectors?|tuples?|matrix"
    r"|lists? of (?:numbers|integers|values)|(?:python|json) lists?))\s$"
)
_BEFORE = 40  #: characters before a bracket that say what it is
_BRACES = 300  #: characters before a bracket in which braces are looked for
_TICKS = re.compile(r"`+")
_INK = re.compile(r"\S")
_TICKS_OR_TILDES = re.compile(r"`+|~~~+")
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")


def is_index(text: str, start: int, end: int) -> bool:
    """Return whether the bracketed number `text[start:end]` indexes an array: `a[1]`, `my_list[0]`, `word[2].name`.

    A number right after an ordinary word is a citation, as in `blood tests[1]`, which assistants write far more often.
    """
    word = _WORD_BEFORE.search(text, max(0, start - 40), start)
    if word is None:
        return False
    first, name = word.start(), word[0]
    before = text[max(0, first - 2) : first]
    if before[-1:] == "\\" or name[0] == "$" or _VARIABLES.match(name) or _CAMEL.match(name):
        return True
    if before[-1:] == "." and before[:1].isalnum() and len(name) > 3 and name.islower() and name not in _NAMES_OF_FILES:
        return True  # sys.argv[1]
    lone_letter = (
        word.end() - first == 1
        and word[0].islower()
        and not (first and (text[first - 1].isalnum() or text[first - 1] in "'’"))
    )
    return lone_letter or "_" in word[0] or _CODE_AFTER.match(text, end) is not None


def is_literal(text: str, start: int, end: int, *, zero_based: bool) -> bool:
    """Return whether the bracketed numbers `text[start:end]` are data, code or mathematics by their context.

    That is: a value after `=` or a JSON key, an argument, an element of a list of lists, part of a regular expression
    or of LaTeX, an interval. A bracket in a JSON string is text like any other. zero_based: whether 0 may be a rank.
    """
    near, after = text[max(0, start - _BEFORE) : start], text[end : end + 12]
    before = near.rstrip(" ")
    last = before[-1:]
    if after[:1] in ("+", "{", "$", "\\", "^") or near[-1:] in ("^", "$") or near[-2:] == "\\\\" or last == "=":
        return True
    if (last == ":" and before[-2:-1] in ("'", '"')) or _COMMAND.search(near):
        return True
    if near[-1:] == "(" and (before[-2:-1].isalnum() or before[-2:-1] == "_"):
        return True
    if near[-1:] == "[" and after.startswith((", [", ",[")):
        return True
    if _is_in_braces(text, start):
        return True
    inside = text[start + 1 : end - 1]
    if inside.isdecimal():
        return False
    if inside == "0-9" and not zero_based:
        return True
    pair = _INTERVAL.fullmatch(inside.strip())
    if pair is not None and int(pair[1]) < int(pair[2]):
        if _OF_INTERVALS.search(near) or after.lstrip().startswith(("interval", "range", "scale")):
            return True
        if int(pair[1]) == 0 and not zero_based and _OF_NUMBERS.search(near):
            return True
    return near.rstrip()[-1:].isalpha() and _OF_LISTS.search(near) is not None  # each of them ends with a word


def _is_in_braces(text: str, start: int) -> bool:
    opened = text.rfind("{", max(0, start - _BRACES), start)
    if opened < 0:
        return False
    between = text[opened:start]
    return ":" in between and "}" not in between and "\n\n" not in between and between.count('"') % 2 == 0


def is_definition(text: str, start: int) -> bool:
    """Return whether a bracket before a colon begins its line, so that it defines a link: `[1]: https://…`."""
    line = text[max(0, start - 4) : start].rstrip(" ")
    return line.endswith("\n") or (not line and start < 4)


def link_destination(text: str, start: int) -> tuple[str, int] | None:
    """Read `(url)` or `(url "title")` from its opening bracket: the URL and where the bracket ends, or None."""
    stop = min(len(text), start + MAX_URL)
    close = text.find(")", start, stop)
    if close != -1 and text.count("(", start + 1, close):
        close = max(close, text.find(")", close + 1, stop))
    inside = text[start + 1 : close].split(None, 1) if close != -1 else []
    if not inside or (len(inside) == 2 and inside[1][0] not in "\"'("):
        return None
    return inside[0].strip("<>"), close + 1


def code_spans(text: str) -> Spans:
    """Find fenced blocks and inline code: spans in order, end exclusive, linear in the text.

    As in CommonMark: a fence runs to its like or to the end of the text; a run of backticks closes with an equal run in
    its paragraph. Fences may be indented further than CommonMark allows, as assistants do in lists.
    """
    spans: Spans = []
    runs: Spans = []
    opened = ""
    opened_at = after = 0
    for match in (_TICKS_OR_TILDES if "~~~" in text else _TICKS).finditer(text):
        start, end = match.span()
        run = match[0]
        rest = _rest_of_fence_line(text, start, end, after) if len(run) > 2 else None
        if opened:
            if rest is not None and run.startswith(opened) and not rest.strip():
                spans.append((opened_at, end))
                opened = ""
        elif rest is not None and (run[0] == "~" or "`" not in rest):
            spans += _inline(runs)
            runs = []
            opened, opened_at = run, start
        elif run[0] == "`":
            if runs and _BLANK_LINE.search(text, runs[-1][1], start):
                spans += _inline(runs)
                runs = []
            runs.append((start, end))
        after = end
    return [*spans, (opened_at, len(text))] if opened else spans + _inline(runs)


def join_spans(spans: Spans, more: Spans) -> Spans:
    """Merge two lists of spans, in order; overlapping spans become one."""
    joined: Spans = []
    for start, end in sorted([*spans, *more]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def covers(spans: Spans, offset: int) -> bool:
    """Return whether an offset lies in one of the spans, which must be in order."""
    before = bisect_right(spans, (offset, sys.maxsize))
    return before > 0 and offset < spans[before - 1][1]


def blank_code(text: str) -> str:
    """Put spaces for code, so that offsets and lines stay."""
    pieces, end = [], 0
    for start, stop in code_spans(text):
        pieces += [text[end:start], _INK.sub(" ", text[start:stop])]
        end = stop
    return "".join([*pieces, text[end:]])


def _rest_of_fence_line(text: str, start: int, end: int, after: int) -> str | None:
    """Return what follows a run on its line when only blanks stand before it; `after` is where the last run ended."""
    before = text[after:start].rstrip(" \t")
    if (before or after) and not before.endswith("\n"):
        return None
    stop = text.find("\n", end)
    return text[end:] if stop == -1 else text[end:stop]


def _inline(runs: Spans) -> Spans:
    """Pair each run of backticks with the next one of its length in the paragraph."""
    partner: dict[int, int] = {}
    following = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        following[index] = partner.get(length, -1)
        partner[length] = index
    spans = []
    index = 0
    while index < len(runs):
        if following[index] != -1:
            spans.append((runs[index][0], runs[following[index]][1]))
            index = following[index]
        index += 1
    return spans
