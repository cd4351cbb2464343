"""What holds of every format of logs, whoever adds one: ids lead back, no word alone is a format, long texts stay."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_importing import ASKED, DATA, EXPECTED, read
from tests.agents.files.test_recognising import EXPORTS, records_of
from turnsignal.stream.formats import FORMATS

APART = ("otel-events.jsonl",)  #: exports in which the ids stand in another record than the texts
#: keys by which alone, whatever stands there, records are known: nobody else writes them
OWN_KEYS = {"langsmith": {"run_type"}, "langfuse": {"parent_observation_id", "provided_model_name"}}
ANYTHING: tuple[Any, ...] = ("x", 1, True, None, ["x"], {"x": 1}, [{"x": 1}], "2025-06-15T12:00:00Z")


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Each value of a record, with the key above it, also of JSON that stands in a text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            yield key, value
            return
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from leaves(inside, name)
    elif isinstance(value, list):
        for inside in value:
            yield from leaves(inside, key)
    else:
        yield key, str(value)


def is_named(key: str, value: str, name: str, wanted: str) -> bool:
    """Whether an id stands under an origin's name, spelled otherwise, under `id`, or in a path: sessions/c1."""
    plain, asked = (text.lower().replace("_", "") for text in (key, name))
    is_own = value == wanted and (plain == asked or (plain == "id" and asked.endswith("id")))
    return is_own or value.endswith(f"/{name}s/{wanted}")


def holds(record: dict[str, Any], named: dict[str, str], text: str) -> bool:
    """Whether a record has all ids of an origin under their names, and the text, which may be cut into blocks."""
    values = list(leaves(record))
    by_key: dict[str, str] = {}
    for key, value in values:
        by_key[key] = by_key.get(key, "") + value
    return any(text in whole for whole in by_key.values()) and all(
        any(is_named(key, value, name, wanted) for key, value in values) for name, wanted in named.items()
    )


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in (*APART, "turns.csv")])
def test_an_origin_names_the_record_that_holds_the_answer_as_its_source_does(name: str) -> None:
    turns, report = read(DATA / name)
    answers = [turn for turn in turns if turn["role"] == "assistant"]
    origins = [(FORMATS[report.format].origin(turn["turn_id"]), turn["text"]) for turn in answers]
    assert answers
    assert [
        (named, text)
        for named, text in origins
        if not named or not any(holds(record, named, text) for record in records_of(name))
    ] == []


@pytest.mark.parametrize("name", FORMATS)
def test_no_record_is_known_by_a_key_alone_that_others_may_have(name: str) -> None:
    keys = {key for export in EXPORTS[name] for record in records_of(export) for key in record}
    known = {key for key in keys for value in ANYTHING if FORMATS[name].looks_like([{key: value}])}
    assert known <= OWN_KEYS.get(name, set())


@pytest.mark.parametrize("length", [450, 30_000])
@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "turns.csv"])
def test_a_question_is_kept_however_long_it_is(name: str, length: int, tmp_path: Path) -> None:
    asked = ASKED.replace("?", f" {'on a shared machine ' * (length // 20)}?")
    path = tmp_path / name
    path.write_text((DATA / name).read_text(encoding="utf-8").replace(ASKED, asked), encoding="utf-8")
    turns, report = read(path)
    texts = [turn["text"] for turn in EXPECTED[name]]
    assert asked in [turn["text"] for turn in turns]
    assert [turn["text"] for turn in turns] == [asked if text == ASKED else text for text in texts]
    assert report.refused == {}
