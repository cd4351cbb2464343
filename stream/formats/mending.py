"""Mending: texts, names, times, documents, labels of turns that deviate a little → the spelling that a topic takes."""

import re
from typing import Any

from turnsignal.stream.formats.documents import read_document
from turnsignal.stream.formats.labels import read_labels
from turnsignal.stream.formats.messages import refusal_of, role_of, text_of
from turnsignal.stream.formats.protocol import Assumed
from turnsignal.stream.formats.times import spell_time
from turnsignal.stream.formats.values import first, mapping, seconds, timestamp, unwrapped
from turnsignal.stream.records.turns import LABELS

_NAMES = ("assistant", "version", "model", "platform", "user_id")  #: that a log may hold as numbers
_NUMBER = re.compile(r"[0-9]{9,19}(\.[0-9]{1,9})?")  #: since 1970
_CLOCK = re.compile(r"[0-9]:[0-9]{2}")
_TIMES = ("created_at", "createdAt", "time", "ts", "date")  #: names of the time, where it is not called timestamp
_EARLIEST = 1e8  #: a smaller number under one of them is a duration, or counted from elsewhere


def mend_text(turn: dict[str, Any], assumed: Assumed) -> None:
    """Take `content` for the text, and the text of blocks, or the words by which an assistant declines."""
    if first(turn, "text", "content") is None and role_of(turn.get("role")) == "assistant":
        turn |= {"text": words} if (words := refusal_of(turn)) else {}
    if "text" not in turn and "content" in turn:
        turn["text"] = turn.pop("content")
        assumed["content is text"] += 1
    if isinstance(turn.get("text"), list | dict):
        metadata = dict(turn["metadata"]) if isinstance(turn.get("metadata"), dict) else {}
        turn["text"] = text_of(turn["text"], metadata, assumed)
        assumed["text is that of its blocks"] += 1
        if metadata:
            turn["metadata"] = metadata


def mend_names(turn: dict[str, Any], assumed: Assumed) -> None:
    """Spell as a text what a log may hold as a number, such as its version."""
    for key in _NAMES:
        if isinstance(turn.get(key), int | float) and not isinstance(turn[key], bool):
            same = ", and 1.10 the same as 1.1" if isinstance(turn[key], float) else ""  # JSON's numbers do not tell
            turn[key] = str(turn[key])
            assumed[f"a number as {key} is a text{same}"] += 1


def mend_time(turn: dict[str, Any], assumed: Assumed) -> None:
    """Take the time by another name, and in any spelling that is read."""
    _take_time(turn, assumed)
    if "timestamp" in turn:
        turn["timestamp"] = spell_time(turn["timestamp"], assumed)


def _take_time(turn: dict[str, Any], assumed: Assumed) -> None:
    """Take the time by another of its names, where it is one to the minute at least: days alone put turns in no order.

    An object with $date is what exports of MongoDB have.
    """
    if turn.get("timestamp") not in (None, ""):
        return
    for name in _TIMES:
        value = unwrapped(turn.get(name))
        if (time := seconds(value)) is None:
            continue
        text = value if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()) else None
        if abs(time) >= _EARLIEST if text is None else ":" in text:
            turn["timestamp"] = timestamp(time) if text is not None and text.endswith(" UTC") else value
            assumed[f"{name} is timestamp"] += 1
            return
    for name in _TIMES:
        value = turn.get(name)
        if isinstance(value, str) and _CLOCK.search(value):  # it is refused, and shown
            turn["timestamp"] = value
            assumed[f"{name} is timestamp"] += 1
            return


def mend_documents(turn: dict[str, Any], assumed: Assumed) -> None:
    """Take texts for ids of documents, and ids by another name."""
    if turn.get("retrieved", []) is None:
        del turn["retrieved"]
    if not isinstance(turn.get("retrieved"), list):
        return
    documents = turn["retrieved"] = list(turn["retrieved"])
    for number, document in enumerate(documents):
        if not (isinstance(document, dict) and "doc_id" in document) and (read := read_document(document)) is not None:
            documents[number] = read
            assumed["a text is a document's id" if isinstance(document, str) else "id is doc_id"] += 1


def mend_labels(turn: dict[str, Any], assumed: Assumed) -> None:
    """Leave labels that can be read, and what stands beside them under names of its own, such as the id of a case."""
    if "truth" in turn:
        given = turn["truth"]
        beside = {name: value for name, value in mapping(given).items() if name not in LABELS}
        turn["truth"] = {**beside, **read_labels(given, assumed)} or None
