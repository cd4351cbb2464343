"""Structured answers: objects of which users see one field, as a program shows it and keeps it in the history.

    call 1   sends: "How?"                gets: {"text": "So.", "sources": ["kb1"]}
    call 2   sends: "How?" "So." "Why?"   gets: {"text": "Because.", "sources": []}

The history of call 2 tells the field. Where histories repeat whole objects, or there are none, a field whose name says
so is it, where all that users are answered are objects with one. What else of them names documents that were retrieved
for the answer are its citations.
"""

import re
from collections import Counter
from collections.abc import Iterator
from struct import Struct
from typing import Any

import numpy as np

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import found_by_tools, spoken_in, without_thoughts
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import NUMBER, SHORT, number_of
from turnsignal.stream.formats.values import first, mapping, nested
from turnsignal.stream.text.visible import one_line

READ = "answers that are objects, of which the field that users saw was read"
_NAMED = ("answer", "final_answer", "response", "reply", "message")  #: fields that users see, by their names
_CITED = ("sources", "citations", "references", "documents", "source_ids", "cited_ids", "cited_documents")
_SOURCES = "\0sources"  #: under which they stand until it is known what was retrieved
_NAMES = ("doc_id", "id", "document_id", "source", "url", "title", "name", "file_id", "filename")
_MOST = 0.95  #: of what users are answered
_BACK = 50  #: of so many fields one may come back by chance
_TELLING = 16  #: characters of a field that no other text is
_FIELDS, _PATHS = 12, 1_000  #: texts of an object, and places where they stand in a log's, that are looked at
_DEEP = 2  #: objects within one another
_LONGEST = 200_000  #: characters of an object
_SHOWN = 60
_UNTOLD = 0.5  #: of a log's answers; where more are objects that are read as they stand, that is told
_FENCE = re.compile(r"```(?:json)?[ \t]*\n?", re.IGNORECASE)
_PAIR = Struct("<QQ")

Path = tuple[str, ...]


class StructuredAnswers:
    """What the answers of a log are, and which of their fields users see."""

    def __init__(self) -> None:
        self._returned = bytearray()  # answers that histories end with
        self._answers = bytearray()  # of each answer: what it is, and its digest
        self._fields = bytearray()  # of each text of an object: where it stands, and its digest
        self._paths: dict[Path, int] = {}
        self._chosen: list[Path] | None = None
        self._times = Counter[bool]()  # answers, by whether they are objects
        self._shown = ""

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `take`."""
        spoken, answers = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
        if len(spoken) > 1 and spoken[-2].role == "assistant":
            self._returned += digested(spoken[-2])[1][:SHORT]
        if call.partial or not answers or call.kind not in ("answer", "whole"):
            return
        held = _object_in(answers[0].text)
        self._times[bool(held)] += 1
        is_named = any(isinstance(held.get(name), str) for name in _NAMED)
        self._answers += _PAIR.pack(is_named, number_of(digested(answers[0])[1][:SHORT]))
        for path, text in _texts_in(held):
            if len(text) >= _TELLING and (path in self._paths or len(self._paths) < _PATHS):
                digest = number_of(digested(Message("assistant", text))[1][:SHORT])
                self._fields += _PAIR.pack(self._paths.setdefault(path, len(self._paths)), digest)
        self._shown = self._shown or (one_line(answers[0].text, _SHOWN) if held else "")

    def take(self, call: Call, assumed: Assumed) -> None:
        """Give a call's answers, the history's too, as users saw them."""
        if self._chosen is None:
            self._chosen = self._find()
            self._returned, self._answers, self._fields = bytearray(), bytearray(), bytearray()
        if not self._chosen or call.kind not in ("answer", "whole", "inner"):
            return
        for message in call.inputs:
            self._take(message)
        for message in call.outputs:
            assumed[READ] += self._take(message)

    def cite(self, answer: Call) -> None:
        """Make of the sources that answers name their citations, as far as these were retrieved for it."""
        for message in (*answer.inputs, *answer.outputs) if self._chosen else ():
            if not message.metadata or (named := message.metadata.pop(_SOURCES, None)) is None:
                continue
            documents = message.documents or answer.documents or found_by_tools(answer.inputs)
            ids = {
                str(document[key]): document["doc_id"] for document in documents for key in document if key in _NAMES
            }
            if cited := [{"doc_id": ids[name]} for name in dict.fromkeys(named) if name in ids]:
                message.metadata.setdefault("citations", cited)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say that answers are objects of which no field is known to be it. quoted: with the first of them."""
        if self._chosen or self._times[True] <= _UNTOLD * self._times.total():
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._times[True]:,} of {self._times.total():,} answers are objects{shown}, read as they stand, as no "
            "history tells which field users saw: where one of them is what they read, write that alone into the "
            "place of the answer (jq, or before it is logged) and convert again"
        )
        return [doubt]

    def _find(self) -> list[Path]:
        """Return where what users saw stands in objects, the likeliest first."""
        returned = np.unique(np.frombuffer(bytes(self._returned), NUMBER))
        fields: Any = np.frombuffer(bytes(self._fields), NUMBER).reshape(-1, 2)
        times = Counter[int](fields[:, 0].tolist())
        back = Counter[int](fields[np.isin(fields[:, 1], returned), 0].tolist())
        paths = list(self._paths)
        if chosen := [paths[number] for number, n in back.most_common() if n * _BACK >= times[number]]:
            return chosen
        answers: Any = np.frombuffer(bytes(self._answers), NUMBER).reshape(-1, 2)
        seen = answers[np.isin(answers[:, 1], returned)] if len(returned) else answers
        are_named = len(seen) > 0 and int(seen[:, 0].sum()) >= _MOST * len(seen)
        return [(name,) for name in _NAMED] if are_named else []

    def _take(self, message: Message) -> bool:
        """Give a message the text of the field that users saw; False where it has none."""
        if message.role != "assistant" or message.called or not (held := _object_in(message.text)):
            return False
        texts = (_at(held, path) for path in self._chosen or ())
        text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
        if text is None:
            return False
        message.text = text
        if sources := [name for key in _CITED for name in _named_in(held.get(key))]:
            message.metadata = {**(message.metadata or {}), _SOURCES: sources}
        return True


def _object_in(text: str) -> dict[str, Any]:
    """Return the object that an answer is, also between fences; {} where it is none."""
    begun = text[:16].lstrip()
    if not begun.startswith(("{", "```", "<think>")) or len(text) > _LONGEST:
        return {}
    words = without_thoughts(text).strip()
    if fence := _FENCE.match(words):
        words = words[fence.end() :].removesuffix("```").strip()
    return mapping(nested(words)) if words.startswith("{") and words.endswith("}") else {}


def _texts_in(held: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Give the texts of an object with their places, those within objects behind the others."""
    for key, value in list(held.items())[:_FIELDS]:
        if isinstance(value, str) and value:
            yield (*path, str(key)), value
    for key, value in list(held.items())[:_FIELDS] if len(path) < _DEEP else ():
        if isinstance(value, dict):
            yield from _texts_in(value, (*path, str(key)))


def _at(held: dict[str, Any], path: Path) -> object:
    value: object = held
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _named_in(sources: object) -> Iterator[str]:
    """Give the names of sources: texts, numbers, or objects with one."""
    for item in sources if isinstance(sources, list) else ():
        name = first(item, *_NAMES) if isinstance(item, dict) else item
        if isinstance(name, str | int) and not isinstance(name, bool):
            yield str(name)
