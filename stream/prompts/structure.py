"""Structure: a prompt as blocks of text, each with the chain of what stands above it.

Headings of Markdown, titles on lines of their own, lines that end with a colon, list items with items below them, the
first cells of table rows and XML tags: all of them may narrow what stands under them. Whether they do is for
`stream.prompts.headings`. Examples are left out: text between code fences, and transcripts.
"""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.stream.prompts.examples import examples
from turnsignal.stream.prompts.plain_lines import MAX_LINES, is_rule_after
from turnsignal.stream.prompts.rows import is_ban, is_order, narrows
from turnsignal.stream.prompts.titles import (
    MAX_HEADING,
    PLAIN,
    TITLE,
    forbids,
    is_bare,
    is_bold,
    is_ruled,
    leads,
    title_level,
)
from turnsignal.stream.prompts.wording import mask, read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("structure.toml").read_text(encoding="utf-8"))["patterns"])
TAG, _CLAUSE, _LEAD, _ITEM = 0, 8, 10, 11  #: levels of what may stand above, beside those of titles; 1–6: Markdown's
HEADINGS = range(1, _ITEM)  #: levels of headings, titles and lines that end with a colon
_CLAUSES = 4  #: numbers in that of a clause, at most, as in "2.3.1.1"
_SHORT = 70  #: characters; a longer line may be one that is wrapped
_TYPED = 100  #: characters; so may a longer one in a prompt of plain lines


class Above(NamedTuple):
    """What stands above a block.

    label: its words; parent: the index of what stands above it, -1 for nothing; number: see PromptBlock.
    """

    label: str
    parent: int
    level: int
    number: int = 0


class PromptBlock(NamedTuple):
    """A paragraph, a list item, a cell or a heading, lines joined and markers dropped.

    above: the index of what stands above it, -1 for nothing; is_heading: whether it is one itself; is_item: whether it
    is a list item, or alone in a tag; number: its own, as in "2. …" or "Rule 2: …", or that of what stands above it; 0
    for none; may_rule: whether it is a heading by its place alone, and may be a rule without a verb; is_shown: whether
    it is a heading of what answers look like, as below "Use this template:".
    """

    text: str
    above: int
    is_heading: bool
    is_item: bool
    number: int = 0
    may_rule: bool = False
    is_shown: bool = False


def read_structure(text: str) -> tuple[list[PromptBlock], list[Above]]:
    """Read a prompt into blocks, in its order, and all that stands above one of them; linear in the text."""
    reading = _BlockReader()
    lines = _lines(text)
    following = _following(lines)
    skipped = examples(lines, following)
    for index, line in enumerate(lines):
        if index in skipped:
            reading.skip()
        elif isinstance(line, _Tag):
            reading.tag(line)
        else:
            after = lines[following[index]] if following[index] >= 0 else ""
            near = lines[index + 1] if index + 1 < len(lines) else ""
            reading.read(line, near if isinstance(near, str) else "", after if isinstance(after, str) else "")
    reading.read("", "", "")
    return reading.blocks, reading.above


class _Tag(NamedTuple):
    name: str
    label: str
    opens: bool


def _lines(text: str) -> list[str | _Tag]:
    """Split a prompt at its lines, and at its tags that hold something; a tag named within a sentence is text."""
    tags: list[_Tag | None] = []
    matches = list(_SAYS["tag"].finditer(text))
    opened: list[int] = []
    unclosed: list[int] = []
    names: dict[str, int] = {}
    written = [match.groups() for match in matches]
    for index, (match, (close, name, attributes)) in enumerate(zip(matches, written, strict=True)):
        folded = name.casefold()
        tags.append(None)
        if not close:
            line = text[max(0, match.start() - 80) : match.start()].rpartition("\n")[2]
            begins = _SAYS["before_a_tag"].search(line) is not None
            if begins and not attributes.endswith("/"):
                label = "rule" if _SAYS["of_a_rule"].fullmatch(folded) is not None else name
                words = " ".join(_SAYS["word"].findall(f"{label} {attributes}"))
                tags[index] = _Tag(folded, words[:MAX_HEADING], True)
            opened.append(index)
            names[folded] = names.get(folded, 0) + 1
        elif names.get(folded):
            last = opened.pop()
            while written[last][1].casefold() != folded:
                names[written[last][1].casefold()] -= 1
                unclosed.append(last)
                last = opened.pop()
            names[folded] -= 1
            if tags[last] is not None:
                tags[index] = _Tag(folded, "", False)
    for index in opened + unclosed:
        match = matches[index]
        before = text[max(0, match.start() - MAX_HEADING) : match.start()].rpartition("\n")[2]
        after = text[match.end() : match.end() + MAX_HEADING].partition("\n")[0]
        if before.strip() or after.strip():
            tags[index] = None  # a tag that nothing closes, within a sentence
    lines: list[str | _Tag] = []
    end = 0
    for match, tag in zip(matches, tags, strict=True):
        if tag is not None:
            lines += [*text[end : match.start()].split("\n"), tag]
            end = match.end()
    return [*lines, *text[end:].split("\n")]


def _following(lines: list[str | _Tag]) -> list[int]:
    """Return for each line the index of the next that is not empty, -1 if there is none."""
    following, after = [-1] * len(lines), -1
    for index in range(len(lines) - 1, -1, -1):
        following[index] = after
        line = lines[index]
        if isinstance(line, _Tag) or line.strip():
            after = index
    return following


class _BlockReader:
    """The blocks and what stands above them, as lines come in."""

    def __init__(self) -> None:
        self.blocks: list[PromptBlock] = []
        self.above: list[Above] = []
        self._chain: list[int] = []  # what stands above the next block, outermost first
        self._names: list[str] = []  # of the tags in the chain
        self._sentence: list[str] = []
        self._columns: list[str] = []
        self._item = -1  # the level of the list item that is being read, -1 for none
        self._after_blank = True
        self._marked = 0  # the number of the list item that is being read
        self._plain = 0  # the last plain number of an item, as "3."
        self._led_by = -1  # how far the list item is indented that ends with a colon and leads its neighbours, or -1
        self._is_led = False  # whether the last block ends with a colon, or stands above a list as if it did
        self._leads = False  # whether the block that is being read stands above a list
        self._is_literal = False  # whether the lines that come are the text that answers end or start with
        self._is_used = False  # whether a block stands under what came last
        self._is_template = False  # whether the headings that come are those of answers, as below "Format:"
        self._in_clause = False  # whether the list items are clauses, as "2.3"

    def tag(self, tag: _Tag) -> None:
        """Open or close a tag, with all that was opened in it."""
        self._flush()
        self._item, self._after_blank = -1, True
        if tag.opens:
            self._push(tag.label, TAG)
            self._names.append(tag.name)
        elif tag.name in self._names[-50:]:
            while self._names.pop() != tag.name:
                self._pop_tag()
            self._pop_tag()

    def _pop_tag(self) -> None:
        self._pop(1)
        self._chain.pop()

    def skip(self) -> None:
        """Leave out a line of an example."""
        self.read("", "", "")
        self._is_used = True

    def read(self, line: str, near: str, after: str) -> None:
        """Read a line; near: the one below; after: the next that is not empty."""
        bare = line.strip()
        if not bare:
            self._is_literal = self._is_literal and not self._sentence  # an empty line may come before it
            self._flush()
            self._after_blank = True
            return
        marker = _marker(bare)
        is_title = marker is None and is_bold(bare)
        self._is_literal = self._is_literal and marker is None
        if self._is_literal:
            self._sentence.append(bare)
            return
        is_own = bool(self._sentence) and (
            _begins(self._sentence[-1], bare) or (self._is_whole(_TYPED) and is_rule_after(self._open(), bare))
        )
        is_banned = marker is None and self._is_in_ban()
        if self._sentence and (marker is not None or is_title or is_own or (is_banned and self._is_whole())):
            self._flush()
        if is_ruled(bare):
            self._flush()
            return
        is_clause = marker is not None and _SAYS["clause"].fullmatch(marker[0]) is not None
        is_number = is_clause or (marker is not None and marker[0].strip(" (.)").strip("→⇒➔➜➤1234567890") == "")
        next_marker = _marker(after.strip())
        is_list = next_marker is not None
        above_clauses = next_marker is not None and _SAYS["clause"].fullmatch(next_marker[0]) is not None
        if marker is None and above_clauses and not self._sentence:
            marker = _SAYS["numbered"].match(bare)
            is_number = marker is not None
        is_section = is_number and (next_marker is None or above_clauses)
        if marker is not None and marker[0].startswith("#"):
            self._flush()
            self._heading(bare[marker.end() :].strip(" #"), marker[0].count("#"), is_shown=self._is_template)
        elif marker is not None and marker[0] == "|":
            self._row(bare)
        elif is_section and title_level(bare[marker.end() :], near, after, is_list=is_list):  # "1.2 Refunds"
            self._heading(bare[marker.end() :], _CLAUSE if is_clause else TITLE)
        elif marker is not None:
            self._begin_item(line, bare, marker[0])
        elif self._sentence:
            self._sentence.append(bare)
        elif is_banned:
            self._begin_item(line, bare, "")
        elif level := 0 if self._is_beside(bare) else title_level(bare, near, after, is_list=is_list):
            is_under = not near.strip() and not self._after_blank and bool(self.blocks) and self.blocks[-1].is_heading
            may_rule = bare[0] not in "*_=[~【" and not bare.isupper() and (is_under or self._is_above_bare_line(near))
            self._heading(bare.replace("**", "").strip("*_: "), level, may_rule=may_rule)
        else:
            is_above_list = (near_marker := _marker(near.strip())) is not None and near_marker[0][0] not in "#|>"
            self._leads = is_above_list and bool(self.blocks) and leads(bare)
            self._begin_paragraph(line, bare)
        if self._sentence and (bare.endswith(":") or self._leads):
            self._flush()

    def _is_beside(self, bare: str) -> bool:
        """Return whether a line goes on with lines like it, "Links – bullet points" below "Title – no colon"."""
        beside = self.blocks[-1].text if self.blocks and not self._after_blank else ""
        return all(_SAYS["dashed"].match(line) is not None for line in (bare, beside))

    def _is_in_ban(self) -> bool:
        """Return whether a tag as <dont> is the innermost above, whose lines are what is forbidden."""
        outer = [self.above[index] for index in self._chain if self.above[index].level < _ITEM]
        return bool(outer) and outer[-1].level == TAG and forbids(outer[-1].label)

    @staticmethod
    def _is_above_bare_line(near: str) -> bool:
        """Return whether nothing but a line of a few words without a stop stands right below."""
        return _marker(near.strip()) is None and is_bare(near)

    def _is_whole(self, short: int = _SHORT) -> bool:
        """Return whether the line before does not go on; short: characters of one that may be wrapped."""
        line = self._sentence[-1]
        return len(line) < short and (_SAYS["goes_on"].search(line) is None or _SAYS["set_to"].search(line) is not None)

    def _open(self) -> list[str]:
        """Return the lines behind the last that ends a sentence, or that line if there are none."""
        first = max(0, len(self._sentence) - MAX_LINES - 2)  # of more, none is a rule
        for index in range(len(self._sentence) - 2, first - 1, -1):
            if self._sentence[index].endswith((".", "!", "?")):
                return self._sentence[index + 1 :]
        return self._sentence[first:]

    def _heading(self, label: str, level: int, *, may_rule: bool = False, is_shown: bool = False) -> None:
        self._flush()
        self._pop(level)
        if label:
            self.blocks.append(PromptBlock(label, self._top(), True, False, self._number(label), may_rule, is_shown))
            is_title = level in (PLAIN, TITLE)
            self._is_template = is_shown or (is_title and _SAYS["template"].search(f"{label}:") is not None)
        self._push(label, level)
        self._item, self._after_blank, self._in_clause = -1, False, False

    def _row(self, bare: str) -> None:
        cells = [cell.strip() for cell in bare.strip("|").split("|")][:50]
        if all(not cell.strip(":- ") for cell in cells):
            return
        if self._after_blank or not self._columns:
            self._columns, self._after_blank = cells, False
            return
        if is_ban(cells, self._columns):
            self.blocks.append(PromptBlock(f"{cells[0].strip('*_: ')}: {cells[1]}", self._top(), False, True))
            return
        for index, cell in enumerate(cells):
            above, label = self._top(), " ".join([cells[0], *self._columns[index : index + 1]])
            if narrowing := narrows(cells, self._columns, index):
                self.above.append(Above(narrowing[:MAX_HEADING], above, _ITEM))
                above = len(self.above) - 1
            if index:
                self.above.append(Above(label[:MAX_HEADING], above, _ITEM))
                above = len(self.above) - 1
            if cell and (index or len(cells) == 1 or is_order(cell)):
                self.blocks.append(PromptBlock(cell, above, False, True))

    def _begin_item(self, line: str, bare: str, marker: str) -> None:
        indent = len(line) - len(line.lstrip())
        is_dash = not any(map(str.isalnum, marker))
        if _SAYS["clause"].fullmatch(marker) is not None:
            depth = marker.strip(" (.):").count(".")
            is_of_item = self._plain > 0 and marker.strip(" (.):§").split(".")[0] == str(self._plain)
            self._in_clause = not is_of_item
            indent += depth if is_of_item else max(0, depth - 1)  # "2.3.1" is of "2.3", and "3.1" of an item "3."
        elif self._in_clause and not is_dash:
            indent += _CLAUSES  # so is "(a)"
        if bare.endswith(":") or (self._item < 0 and self._after_blank):
            self._led_by = -1
        elif self._is_led and self._item == _ITEM + 2 * min(indent, 39) + is_dash and not self._after_blank:
            self._led_by = indent  # "- Do not:" stands above the items after it, although they are not indented
        level = _ITEM + 2 * min(indent + (indent == self._led_by), 40) + is_dash
        if self._after_blank and self._item < 0 and self._is_used and not indent:
            level_left = _LEAD
        else:
            level_left = level - 1 if self._after_blank and is_dash and not indent else level
        self._pop(level_left)
        self._item, self._after_blank = level, False
        digits = marker.strip(" (.):§")
        self._marked = int(digits) if digits.isdigit() else 0
        self._plain = self._marked or self._plain
        sign = marker if marker[:1] in "❌🚫✗✘⛔" else ""
        self._sentence.append(f"{sign}{bare[len(marker) :]}")

    def _begin_paragraph(self, line: str, bare: str) -> None:
        self._in_clause = self._in_clause and line[:1] in " \t"
        self._plain = self._plain if line[:1] in " \t" else 0
        if self._item >= 0 and (line[:1] in " \t" or (self._is_led and not self._after_blank)):
            pass  # goes on with the list item above
        elif self._item >= 0:
            self._pop(PLAIN if self._after_blank else _LEAD)
        else:
            self._pop(PLAIN if self._after_blank and self._is_used else _ITEM)
        self._item, self._after_blank = -1, False
        self._sentence.append(bare)

    def _flush(self) -> None:
        """End a block; one that ends with a colon stands above what comes next."""
        if not self._sentence:
            return
        text = " ".join(self._sentence)
        self._sentence, self._is_led = [], text.endswith(":") or self._leads
        self._is_template = self._is_template or _SAYS["template"].search(text) is not None
        in_tag = bool(self._chain) and self.above[self._chain[-1]].level == TAG
        sign = text[0] if text[0] in "❌🚫✗✘⛔" else ""
        top = self._top()
        if sign:
            self.above.append(Above("never", top, _ITEM))
            top = len(self.above) - 1
        number = self._marked or self._number(text)
        self._marked, self._leads = 0, False
        self.blocks.append(PromptBlock(text.lstrip("❌🚫✗✘⛔\ufe0f "), top, False, self._item >= 0 or in_tag, number))
        if self._item >= 0:
            self._push(text, self._item, number)
            self._is_used = True
        elif self._is_led and _SAYS["literal"].search(text) is not None:
            self._is_literal = True
        elif self._is_led:
            self._pop(_LEAD)
            self._push(_SAYS["last_sentence"].search(mask(text[-2 * MAX_HEADING :]))[0], _LEAD)
        else:
            self._is_used = True

    def _top(self) -> int:
        return self._chain[-1] if self._chain else -1

    def _number(self, text: str) -> int:
        """Return the number at a text's head, "2. Tone" or "Rule 2: …", or that of what stands above; 0 for none."""
        match = _SAYS["number"].match(text)
        return int(match[1]) if match is not None else self.above[self._top()].number if self._chain else 0

    def _push(self, label: str, level: int, number: int = 0) -> None:
        self.above.append(Above(label[:MAX_HEADING], self._top(), level, number or self._number(label)))
        self._chain.append(len(self.above) - 1)
        self._is_used = False

    def _pop(self, level: int) -> None:
        """Leave what stands above down to a level, within the innermost tag; a plain title stands above clauses."""
        kept = PLAIN if level == _CLAUSE else TAG
        while self._chain and max(level, 1) <= self.above[self._chain[-1]].level != kept:
            self._chain.pop()


def _marker(bare: str) -> Any:
    """Return what marks a line as an item, a heading or a row, as a match; None for plain text."""
    clause = _SAYS["clause"].match(bare)
    if clause is not None and _SAYS["of_a_clause"].match(bare[clause.end() :]) is not None:
        return clause
    return None if _SAYS["more_than"].match(bare) is not None else _SAYS["marker"].match(bare)


def _begins(before: str, line: str) -> bool:
    """Return whether a line begins a new sentence although neither an empty line nor a full stop comes before it."""
    is_short = len(before) < _SHORT or before.endswith(("}", "]"))  # a line that closes a template is not wrapped
    return is_short and line[:1].isupper() and before[-1:] not in ",;(–-"
