"""Redaction: remove what identifies people from texts, before anything is stored, written or forwarded.

Each match is replaced by its kind in brackets, `[email]`, in a turn's text, in the text, title and URL of its
documents, in the strings of its metadata, and in the chunks and the reference answer of its `truth`. Names stay,
because they are keys: ids of conversations, turns, users and documents, and the fields that become labels (assistant,
version, model, platform). So citation markers still name the same documents, and the offsets of annotations are moved
with the text.

Redaction changes what scorers read, so it can change scores and is part of a suite's fingerprint (`Suite.redacted_by`):
means never mix redacted and plain texts, and a row says under which reading it was scored. It still has a file of its
own beside the suite, because other people decide about it and it must survive a change of the suite. A redacted turn
depends on that turn alone, so a replay gives the same.

The cost of a turn is bounded, and beyond a bound nothing personal stays: a match is replaced even if it is part of a
document's id (`MAX_LOOKS`), and strings of metadata are emptied unread (`MAX_STRINGS`).
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain, islice
from operator import itemgetter
from typing import Annotated, Any, Literal, NamedTuple

import orjson
import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from turnsignal.stream.citations.annotations import move_annotations
from turnsignal.stream.records.feedback import Feedback
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.text.identifiers import FINDERS, VERSION, Finder, Span, compile_pattern

MAX_LOOKS = 100_000  #: comparisons of matches with document ids in one turn: 1,000 ids times 100 markers
MAX_STRINGS = 10_000  #: distinct strings read in the metadata of one turn

_GIVEN = itemgetter(2)  #: of where a string of metadata stands
_DOCUMENT_TEXTS = ("text", "title", "url")
_APART = b"\n\0\n"  #: between texts that are read together: to built-in finders it is as if one ended

Builtin = Literal["secret", "email", "iban", "card", "phone"]
#: Letters and underscores alone: a digit could make `[kind]` a citation marker.
Kind = Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,31}$")]


def _readable(regex: str) -> str:
    """Refuse expressions that RE2 does not read, that match the empty text, or that repeat without a bound.

    One search of RE2 is linear; a thousand searches that each read to the end of the text are not.
    """
    try:
        pattern = compile_pattern(regex)
    except (re2.error, UnicodeEncodeError) as error:
        why = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
        msg = f"expected a regular expression that RE2 reads (no look-around), got {regex!r}: {why}"
        raise ValueError(msg) from None
    if (sign := _unbounded(regex)) is not None:
        msg = f"expected bounded repetition such as {{1,64}}, for linear time, and no \\Q; got {sign} in {regex!r}"
        raise ValueError(msg)
    if pattern.search(b"") is not None or pattern.groups > 1:
        msg = f"expected a pattern of at least one character with one group at most, got {regex!r}"
        raise ValueError(msg)
    return regex


def _unbounded(regex: str) -> str | None:
    r"""Return the first `*`, `+` or `{n,}` of an expression that RE2 reads, or a `\Q`, that would hide one; or None."""
    at = 0
    while at < len(regex):
        char = regex[at]
        if regex.startswith("\\Q", at):
            return "\\Q"
        if char in "*+" or (char == "{" and regex[at:].partition("}")[0].endswith(",")):
            return char
        at = _end_of_class(regex, at) if char == "[" else at + 1 + (char == "\\")
    return None


def _end_of_class(regex: str, at: int) -> int:
    """Return where a class of characters ends; at: of its bracket. A first `]` and those of `[:alpha:]` are within."""
    at += 1 + regex.startswith("^", at + 1)
    at += regex.startswith("]", at)
    while at < len(regex) and regex[at] != "]":
        if regex.startswith("[:", at) and (end := regex.find(":]", at)) > 0:
            at = end + 2
        else:
            at += 1 + (regex[at] == "\\")
    return at + 1


class _RedactionPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class OwnPattern(_RedactionPart):
    """A pattern from the operator: its kind and its RE2 expression; a group marks the part that is replaced."""

    kind: Kind
    regex: Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_readable)]


class _Named(NamedTuple):
    """A finder, and what stands for what it finds."""

    name: bytes
    find: Finder


class Redacted(NamedTuple):
    """A redacted text. moves: (start, end, new length) of each replaced part, in bytes of the original text."""

    text: str
    moves: list[tuple[int, int, int]]


class Redaction(_RedactionPart):
    """The kinds that are replaced: built-in kinds, by default all of them, and the operator's own patterns."""

    builtin: Annotated[tuple[Builtin, ...], Field(strict=False)] = ("secret", "email", "iban", "card", "phone")
    patterns: Annotated[tuple[OwnPattern, ...], Field(strict=False, max_length=100)] = ()

    @model_validator(mode="after")
    def _each_once(self) -> "Redaction":
        kinds = [*self.builtin, *(own.kind for own in self.patterns)]
        if not kinds or len(kinds) > len(set(kinds)):
            msg = f"expected each kind once and one at least, got {', '.join(kinds) or 'none'}"
            raise ValueError(msg)
        return self

    @cached_property
    def fingerprint(self) -> str:
        """Return a digest of everything that decides a redacted text: 12 hex digits."""
        return self._digest(VERSION)

    @cached_property
    def chosen(self) -> str:
        """Return a digest of what the operator has chosen: a version that finds more makes no other judge of one.

        Else its upgrade would have everything asked again that a docket holds.
        """
        return self._digest(2)  # of the first version whose judges are remembered

    def _digest(self, version: int) -> str:
        content: dict[str, Any] = {
            "builtin": [kind for kind in FINDERS if kind in self.builtin],
            "patterns": [own.model_dump() for own in self.patterns],
            "version": version,
        }
        return blake2b(orjson.dumps(content), digest_size=6).hexdigest()

    @cached_property
    def _finders(self) -> "list[_Named]":
        """Return the finder of each kind, own kinds first: if two matches overlap, the earlier kind names them."""
        finders: dict[str, Finder] = {
            part.kind: partial(_find, compile_pattern(part.regex)) for part in self.patterns
        } | {kind: find for kind, find in FINDERS.items() if kind in self.builtin}
        return [_Named(f"[{kind}]".encode(), find) for kind, find in finders.items()]

    def redact(
        self,
        text: str,
        counts: MutableMapping[str, int],
        keep: "Kept | None" = None,
        finders: "Sequence[_Named] | None" = None,
    ) -> Redacted:
        """Replace all matches in a text and count them by kind.

        keep: matches within document ids, which stay; finders: those that may find something, None for all.

        Linear in the text.
        """
        finders = self._finders if finders is None else finders
        data = text.encode("utf-8", "replace")
        spans = sorted(
            (start, priority, end)
            for priority, (_, find) in enumerate(finders)
            for start, end in find(data)
            if keep is None or not keep.holds(data, start, end)
        )
        if not spans:
            return Redacted(text, [])
        pieces: list[bytes] = []
        moves: list[tuple[int, int, int]] = []
        at = 0
        for start, priority, end in _united(spans):
            name = finders[priority][0]
            counts[name[1:-1].decode()] = counts.get(name[1:-1].decode(), 0) + 1
            pieces += data[at:start], name
            moves.append((start, end, len(name)))
            at = end
        return Redacted(b"".join((*pieces, data[at:])).decode("utf-8", "replace"), moves)

    def apply(self, turn: Turn, counts: MutableMapping[str, int]) -> None:
        """Redact a turn in place; ids stay."""
        ids = [document.doc_id for document in turn.retrieved]
        finders = self._finding(chain(ids, _texts_of(turn)))
        keep = self._kept(ids, finders) if ids else None
        before = turn.text
        turn.text, moves = self.redact(before, counts, keep, finders)
        if turn.metadata:
            if moves:
                move_annotations(turn.metadata, before, moves)
            # before documents: metadata names their ids, and comparisons are bounded
            self._redact_within(turn.metadata, keep)
        if not finders:
            return
        if (known := turn.truth) is not None:
            known.reference = known.reference and self.redact(known.reference, counts, keep, finders).text
            known.chunks = known.chunks and [self.redact(chunk, counts, keep, finders).text for chunk in known.chunks]
        for document in turn.retrieved:
            for name in _DOCUMENT_TEXTS:
                if given := getattr(document, name):
                    setattr(document, name, self.redact(given, counts, keep, finders).text)

    def apply_to_feedback(self, feedback: Feedback, counts: MutableMapping[str, int]) -> None:
        """Redact the texts that a person wrote with feedback, in place."""
        for name in ("reason", "label"):
            if given := getattr(feedback, name):
                setattr(feedback, name, self.redact(given, counts).text)

    def _redact_within(self, given: Any, keep: "Kept | None") -> None:
        """Redact every string in nested lists and objects, outer levels first; keys stay.

        Each distinct string is read once; beyond `MAX_STRINGS`, strings are emptied unread. Matches are not counted,
        because metadata repeats the text and the documents.
        """
        places: list[tuple[Any, Any, str]] = []
        waiting: deque[Any] = deque([given])
        while waiting:
            container = waiting.popleft()
            for key, value in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(value, str):
                    places.append((container, key, value))
                elif isinstance(value, dict | list):
                    waiting.append(value)
        distinct = dict.fromkeys(map(_GIVEN, places))
        distinct.pop("", None)
        read = list(islice(distinct, MAX_STRINGS))
        finders = self._finding(read)
        if not finders and len(read) == len(distinct):
            return
        known = dict(zip(read, read, strict=True))
        if finders:
            known = {value: self.redact(value, defaultdict(int), keep, finders).text for value in read}
        for container, key, value in places:
            container[key] = known.get(value, "")

    def _finding(self, texts: Iterable[str]) -> "list[_Named]":
        """Return the finders that find something in any of the texts: mostly none.

        Reading them together is several times faster than each by itself. Own patterns are always among them, as they
        may ask where a text begins or ends, or reach over the end of one.
        """
        joined = _APART.join(text.encode("utf-8", "replace") for text in texts if text)
        return [
            named
            for number, named in enumerate(self._finders)
            if number < len(self.patterns) or any(True for _ in named.find(joined))
        ]

    def _kept(self, ids: Sequence[str], finders: "Sequence[_Named]") -> "Kept | None":
        """Return the matches within document ids, which must stay so that markers name their documents; None: none."""
        joined = "\n".join(ids).encode("utf-8", "replace")
        if not any(True for _, find in finders for _ in find(joined)):
            return None  # nearly always
        kept = Kept()
        for doc_id in ids:
            data = doc_id.encode("utf-8", "replace")
            kept.add(data, chain.from_iterable(find(data) for _, find in finders))
        return kept


class Kept:
    """The document ids of one turn that contain a match."""

    def __init__(self) -> None:
        self._ids: set[bytes] = set()
        self._offsets: defaultdict[bytes, set[Span]] = defaultdict(
            set
        )  # match → its offset in each id, and that id's length
        self._looks = MAX_LOOKS

    def add(self, doc_id: bytes, spans: Iterable[Span]) -> None:
        """Add an id and the spans of its matches."""
        for start, end in spans:
            self._ids.add(doc_id)
            self._offsets[doc_id[start:end]].add((start, len(doc_id)))

    def holds(self, data: bytes, start: int, end: int) -> bool:
        """Return whether a match is part of such an id; False once the turn has used up `MAX_LOOKS`."""
        offsets = self._offsets.get(data[start:end], ())
        if len(offsets) > self._looks:
            return False
        self._looks -= len(offsets)
        return any(
            before <= start and data[start - before : start - before + length] in self._ids
            for before, length in offsets
        )


def _texts_of(turn: Turn) -> Iterator[str]:
    """Yield the texts of a turn that are redacted, but those of its metadata."""
    yield turn.text
    if (known := turn.truth) is not None:
        yield known.reference or ""
        yield from known.chunks or ()
    for document in turn.retrieved:
        for name in _DOCUMENT_TEXTS:
            yield getattr(document, name) or ""


def _find(pattern: Any, data: bytes) -> Iterator[Span]:
    """Yield the spans where a pattern, or its group if it has one, matches at least one character."""
    for match in pattern.finditer(data):
        start, end = match.span(pattern.groups)
        if start < end:
            yield start, end


def _united(spans: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Merge overlapping spans, sorted by start, under the smallest priority."""
    held: tuple[int, int, int] | None = None
    for start, priority, end in spans:
        if held is not None and start < held[2]:
            held = (held[0], min(held[1], priority), max(held[2], end))
            continue
        if held is not None:
            yield held
        held = (start, priority, end)
    if held is not None:
        yield held
