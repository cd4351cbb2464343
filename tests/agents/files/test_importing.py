"""Files of every known format become turns: field by field, whatever holds the records and whatever is wrong."""

import csv
import gzip
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
from backports import zstd

from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.formats import FORMATS
from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.times import ZONELESS
from turnsignal.stream.text.loose_json import HALF_CHARACTERS

DATA = Path(__file__).parents[2] / "data" / "formats"

ASKED, AGAIN = "How do I reset my password?", "Which page?"
ANSWERED, ANSWERED_AGAIN = "Open the settings page [1].", "Settings, then Security [1]."
NOON = "2025-06-15T12:00:{:02d}+00:00"
TRACE = "5b8efff798038103d269b633813fc60"
NAMED = {"assistant": "helpdesk", "version": "v7", "user_id": "u-1", "model": "gpt-4.1-mini"}
TWO = [{"doc_id": "d-reset"}, {"doc_id": "d-login"}]


def read(path: Path, how: HowToRead | None = None) -> tuple[list[dict[str, Any]], FileReport]:
    """The turns of a file that is not one of turns, and what is said of it."""
    with Imported([path], how or HowToRead()) as imported:
        (report,) = imported.reports
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()], report


def user(turn_id: str, text: str, second: int, **more: Any) -> dict[str, Any]:
    turn = {"conversation_id": "c1", "turn_id": turn_id, "role": "user", "text": text}
    return turn | {"timestamp": NOON.format(second)} | more


def answer(turn_id: str, text: str, second: int, **more: Any) -> dict[str, Any]:
    return user(turn_id, text, second, **more) | {"role": "assistant"}


def without_times(ids: list[str], conversation: str, minute: int) -> list[dict[str, Any]]:
    texts = (ASKED, ANSWERED, AGAIN, ANSWERED_AGAIN)
    return [
        {"conversation_id": conversation, "turn_id": turn_id, "role": ("user", "assistant")[number % 2], "text": text}
        | {"timestamp": f"1970-01-01T00:0{minute}:0{number}+00:00"}
        for number, (turn_id, text) in enumerate(zip(ids, texts, strict=True))
    ]


CLAUDE = {**NAMED, "model": "claude-sonnet-4-5"}
CLAUDES = [{"doc_id": "d-login", "title": "Login"}, {"doc_id": "d-reset", "title": "Reset"}]
CITED = {"type": "search_result_location", "source": "d-reset", "title": "Reset", "cited_text": "…"}
NO_USER = {key: value for key, value in NAMED.items() if key != "user_id"}
LIVE = {**NAMED, "environment": "production"}
LIVE_NO_USER = {**NO_USER, "environment": "production"}

EXPECTED: dict[str, list[dict[str, Any]]] = {
    "openai.jsonl": [
        user("openai:chatcmpl-1#0", ASKED, 0, **NAMED),
        answer(
            *("openai:chatcmpl-1", ANSWERED, 2),
            retrieved=[{"doc_id": "d-reset", "title": "Reset", "score": 0.9}, {"doc_id": "d-login"}],
            **NAMED,
        ),
        user("openai:chatcmpl-2#2", AGAIN, 30, **NAMED),
        answer("openai:chatcmpl-2", ANSWERED_AGAIN, 33, retrieved=[{"doc_id": "d-security"}], **NAMED),
    ],
    "messages.json": without_times([f"openai:s1#{number}" for number in range(4)], "openai:s1", 1),
    "sharegpt.jsonl": without_times([f"sharegpt:s1#{number}" for number in range(4)], "sharegpt:s1", 1),
    "responses.jsonl": [
        turn | {"conversation_id": "responses:resp_1"}
        for turn in (
            user("responses:resp_1#0", ASKED, 0, **NO_USER),
            answer(
                *("responses:resp_1", ANSWERED, 2),
                retrieved=[
                    {"doc_id": "d-reset", "title": "reset.md", "text": "Reset it.", "score": 0.9},
                    {"doc_id": "d-login", "title": "login.md", "text": "Log in.", "score": 0.4},
                ],
                metadata={
                    "annotations": [
                        {"type": "file_citation", "file_id": "d-reset", "filename": "reset.md", "index": 25}
                    ]
                },
                **NO_USER,
            ),
            user("responses:resp_2#0", AGAIN, 30, **NO_USER),
            answer("responses:resp_2", ANSWERED_AGAIN, 33, **NO_USER),
        )
    ],
    "agents.jsonl": [
        user("agents:trace_1/span_5#0", ASKED, 0, **NAMED),
        answer(
            *("agents:trace_1/span_5", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "title": "Reset", "text": "Reset it."},
                {"doc_id": "d-login", "text": "Log in."},
            ],
            **NAMED,
        ),
        user("agents:trace_2/span_7#2", AGAIN, 30, **NAMED),
        answer("agents:trace_2/span_7", ANSWERED_AGAIN, 33, **NAMED),
    ],
    "anthropic.jsonl": [
        user("anthropic:msg_1#0", ASKED, 0, **CLAUDE),
        answer(
            *("anthropic:msg_1", "Open the settings page.", 2),
            retrieved=CLAUDES,
            metadata={"citations": [CITED | {"doc_id": "d-reset", "start_index": 9, "end_index": 23}]},
            **CLAUDE,
        ),
        user("anthropic:msg_2#2", AGAIN, 30, **CLAUDE),
        answer("anthropic:msg_2", ANSWERED_AGAIN, 33, retrieved=CLAUDES, **CLAUDE),
    ],
    "langfuse.jsonl": [
        user("langfuse:t1/o1#0", ASKED, 0, **LIVE),
        answer(
            *("langfuse:t1/o1", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "title": "Reset", "score": 0.9},
                {"doc_id": "d-login", "score": 0.4},
            ],
            **LIVE,
        ),
        user("langfuse:t2/o5#0", AGAIN, 30, **LIVE),
        answer("langfuse:t2/o5", ANSWERED_AGAIN, 33, **LIVE),
    ],
    "langfuse-traces.json": [
        user("langfuse:t1#0", ASKED, 0, **NAMED),
        answer("langfuse:t1", ANSWERED, 2, retrieved=TWO, **NAMED),
    ],
    "langsmith.jsonl": [
        user("langsmith:r1#0", ASKED, 0, **NAMED),
        answer(
            *("langsmith:r1", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "title": "Reset", "text": "Reset it."},
                {"doc_id": "d-login", "text": "Log in."},
            ],
            **NAMED,
        ),
        user("langsmith:r4#0", AGAIN, 30, **NAMED),
        answer("langsmith:r4", ANSWERED_AGAIN, 33, **NAMED),
    ],
    "langchain.json": [
        user("langchain:s1#0", ASKED, 0) | {"timestamp": "2025-06-15T11:59:59.997000+00:00"},
        answer("langchain:run-1", ANSWERED, 0) | {"timestamp": "2025-06-15T11:59:59.998000+00:00"},
        user("langchain:s1#2", AGAIN, 0) | {"timestamp": "2025-06-15T11:59:59.999000+00:00"},
        answer("langchain:s1#3", ANSWERED_AGAIN, 0),
    ],
    "otel.jsonl": [
        user(f"otel:{TRACE}c/eee19b7ec3c1b174#0", ASKED, 0, **LIVE_NO_USER),
        answer(
            *(f"otel:{TRACE}c/eee19b7ec3c1b174", ANSWERED, 2),
            retrieved=[{"doc_id": "d-reset", "score": 0.9}, {"doc_id": "d-login", "score": 0.4}],
            **LIVE_NO_USER,
        ),
        user(f"otel:{TRACE}d/eee19b7ec3c1b175#2", AGAIN, 30, **LIVE_NO_USER),
        answer(f"otel:{TRACE}d/eee19b7ec3c1b175", ANSWERED_AGAIN, 33, **LIVE_NO_USER),
    ],
    "otel-events.jsonl": [
        turn | {"conversation_id": f"otel:{TRACE}c/b36fefb9bb1d7f1c"}
        for turn in (
            user(f"otel:{TRACE}c/b36fefb9bb1d7f1c#0", ASKED, 0, **NO_USER),
            answer(f"otel:{TRACE}c/b36fefb9bb1d7f1c", ANSWERED, 2, **NO_USER),
            user(f"otel:{TRACE}d/4a6abdb711f5baf3#2", AGAIN, 30, **NO_USER),
            answer(f"otel:{TRACE}d/4a6abdb711f5baf3", ANSWERED_AGAIN, 33, **NO_USER),
        )
    ],
    "openinference.json": [
        user(f"openinference:{TRACE}c/a1#0", ASKED, 0, **LIVE),
        answer(
            *(f"openinference:{TRACE}c/a1", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "text": "Reset it.", "score": 0.9, "retrieval_rank": 2},
                {"doc_id": "d-login", "score": 0.5, "retrieval_rank": 1},
            ],
            **LIVE,
        ),
        user(f"openinference:{TRACE}d/a5#0", AGAIN, 30, **LIVE),
        answer(f"openinference:{TRACE}d/a5", ANSWERED_AGAIN, 33, **LIVE),
    ],
    "openllmetry.jsonl": [
        user(f"openllmetry:{TRACE}c/b2#0", ASKED, 0, assistant="helpdesk", model="gpt-4.1-mini", version="v7"),
        answer(
            *(f"openllmetry:{TRACE}c/b2", ANSWERED, 2),
            retrieved=[{"doc_id": "d-reset", "text": "Reset it.", "score": 0.9}, {"doc_id": "d-login", "score": 0.4}],
            assistant="helpdesk",
            model="gpt-4.1-mini",
            version="v7",
        ),
    ],
    "dialogflow.jsonl": [
        user("dialogflow:c1/1#0", ASKED, 0, assistant="helpdesk"),
        answer(
            *("dialogflow:c1/1", "Open the settings page.", 0),
            timestamp="2025-06-15T12:00:00.001000+00:00",
            retrieved=[
                {"doc_id": "https://help.example/login", "title": "Login", "url": "https://help.example/login"}
                | {"text": "Log in."},
                {"doc_id": "https://help.example/reset", "title": "Reset", "url": "https://help.example/reset"}
                | {"text": "Reset it."},
            ],
            metadata={"citations": [{"doc_id": "https://help.example/reset", "start_index": 0, "end_index": 23}]},
            assistant="helpdesk",
            vote=1,
        ),
        user("dialogflow:c1/2#0", AGAIN, 30, assistant="helpdesk"),
        answer(
            *("dialogflow:c1/2", ANSWERED_AGAIN, 30),
            timestamp="2025-06-15T12:00:30.001000+00:00",
            assistant="helpdesk",
        ),
    ],
    "pydanticai.jsonl": [
        user("pydanticai:run-1#0", ASKED, 0, **NAMED),
        answer(
            *("pydanticai:run-1/resp-2", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "text": "Reset it.", "score": 0.9},
                {"doc_id": "d-login", "text": "Log in."},
            ],
            **NAMED,
        ),
        user("pydanticai:run-2#0", AGAIN, 30, **NAMED),
        answer("pydanticai:run-2/resp-3", ANSWERED_AGAIN, 33, **NAMED),
    ],
    "adk.jsonl": [
        user("adk:a1/s4#0", ASKED, 0, **NO_USER),
        answer(
            *("adk:a1/s4", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "text": "Reset it.", "score": 0.9},
                {"doc_id": "d-login", "text": "Log in."},
            ],
            **NO_USER,
        ),
        user("adk:a2/s6#2", AGAIN, 30, **NO_USER),
        answer("adk:a2/s6", ANSWERED_AGAIN, 33, **NO_USER),
    ],
    "apim.jsonl": [
        turn | {"conversation_id": "apim:7f1"}
        for turn in (
            user("apim:7f1#0", ASKED, 0, model="gpt-4.1-mini"),
            answer("apim:7f1", ANSWERED, 2, model="gpt-4.1-mini"),
            user("apim:7f2#2", AGAIN, 30, model="gpt-4.1-mini"),
            answer("apim:7f2", ANSWERED_AGAIN, 33, model="gpt-4.1-mini"),
        )
    ],
    "mlflow.jsonl": [
        user("mlflow:tr-1/f1#0", ASKED, 0, **NAMED),
        answer(
            *("mlflow:tr-1/f1", ANSWERED, 2),
            retrieved=[
                {"doc_id": "d-reset", "text": "Reset it."},
                {"doc_id": "d-login", "text": "Log in."},
            ],
            **NAMED,
        ),
        user("mlflow:tr-2/f4#0", AGAIN, 30, **NAMED),
        answer("mlflow:tr-2/f4", ANSWERED_AGAIN, 33, **NAMED),
    ],
    "turns.csv": [
        user("turns:2", "How do I reset, please?", 0),
        answer("turns:3", "Open the settings page.", 2),
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_export_becomes_the_turns_that_it_holds(name: str) -> None:
    turns, report = read(DATA / name)
    assert turns == EXPECTED[name]
    assert report.refused == {}
    assert report.turns.total() == len(turns)


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in ("turns.csv", "messages.json")])
def test_every_format_has_an_export_by_which_it_is_recognised_and_no_other_is(name: str) -> None:
    _, report = read(DATA / name)
    assert report.format == name.partition(".")[0].partition("-")[0]


def test_every_format_has_an_export() -> None:
    assert {name.partition(".")[0].partition("-")[0] for name in EXPECTED} >= FORMATS.keys() - {"turnsignal"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_turn_id_leads_back_to_the_ids_of_its_source(name: str) -> None:
    turns, report = read(DATA / name)
    ids = FORMATS[report.format].origin(turns[-1]["turn_id"])
    assert ids
    assert all(value in (DATA / name).read_text() or report.format == "turnsignal" for value in ids.values())


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".jsonl")])
@pytest.mark.parametrize(
    "held", ["array", "pretty", "one line", "gzip", "zstd", "shuffled and twice", "byte order mark"]
)
def test_whatever_holds_the_records_the_turns_are_the_same(name: str, held: str, tmp_path: Path) -> None:
    lines = (DATA / name).read_bytes().splitlines()
    records = [orjson.loads(line) for line in lines]
    path = tmp_path / name
    path.write_bytes(
        {
            "array": orjson.dumps(records),
            "pretty": b"\n".join(orjson.dumps(record, option=orjson.OPT_INDENT_2) for record in records),
            "one line": orjson.dumps({"object": "list", "data": records}),
            "gzip": gzip.compress(b"\n".join(lines)),
            "zstd": zstd.compress(b"\n".join(lines)),
            "shuffled and twice": b"\n".join([*lines[::-1], *lines]),
            "byte order mark": b"\xef\xbb\xbf" + b"\r\n".join(lines),
        }[held]
    )
    turns, report = read(path)
    assert report.refused == {}
    if name == "sharegpt.jsonl" or held == "shuffled and twice":
        assert [(turn["turn_id"], turn["text"]) for turn in turns] == [
            (turn["turn_id"], turn["text"]) for turn in EXPECTED[name]
        ]
    else:
        assert turns == EXPECTED[name]


def test_observations_of_langfuse_in_csv_are_what_they_are_in_json(tmp_path: Path) -> None:
    records = [orjson.loads(line) for line in (DATA / "langfuse.jsonl").read_bytes().splitlines()]
    path = tmp_path / "observations.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for record in records for key in record)))
        writer.writeheader()
        writer.writerows(records)
    turns, report = read(path)
    assert turns == EXPECTED["langfuse.jsonl"]
    assert report.format == "langfuse"


def test_a_line_of_csv_is_read_by_a_mapping_with_its_commas_quotes_and_line_breaks() -> None:
    mapping = parse_format_mapping((DATA / "mapped.toml").read_text(), "mapped.toml")
    turns, report = read(DATA / "mapped.csv", HowToRead(mapping=mapping))
    assert [(turn["conversation_id"], turn["role"], turn["text"], turn["version"]) for turn in turns] == [
        ("17", "user", 'How do I reset; my "password"?', "v7"),
        ("17", "assistant", "Open the settings page [1].", "v7"),
        ("17", "user", "Which\npage?", "v7"),
        ("17", "assistant", "Settings.", "v7"),
    ]
    assert [turn["timestamp"] for turn in turns][::2] == [NOON.format(0), NOON.format(30)]
    assert report.refused == {}


BROKEN = {
    "a first line that is cut": (
        b'{"messages":[{"role":"user","con\n{"messages":[{"role":"user","content":"a"}]}',
        *("not_json", 1, 1),
    ),
    "cut": (b'[{"messages":[{"role":"user","content":"a"}]},\n{"messages":[{"role":"us', "not_json", 2, 1),
    "depth bomb": (
        b'{"messages":[{"role":"user","content":"a"}]}\n' + b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        *("too_deep", 2, 1),
    ),
    "a number": (b'{"messages":[{"role":"user","content":"a"}]}\n17\n', "wrong_type", 2, 1),
    "a text too long": (
        b'{"messages":[{"role":"user","content":"a"}]}\n{"messages":[{"role":"user","content":"'
        + b"x" * 5_000_000
        + b'"}]}',
        *("too_large", 2, 1),
    ),
}


@pytest.mark.parametrize("text", [b"\\ud83d.", b"\\ude00", b"\\\\\\ud83d", b"\\ud83d\\ud83d\\ude00"])
def test_half_a_character_is_replaced_and_it_is_said(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"messages":[{"role":"user","content":"%b"},{"role":"assistant","content":"b"}]}' % text)
    with Imported([path], HowToRead()) as imported:
        (report,) = imported.reports
        (turn, _), _ = Recording(imported.sources).lines()
    assert report.turns.total() == 2
    assert report.assumed[HALF_CHARACTERS] == 1
    assert orjson.loads(turn)["text"].count("\ufffd") == 1


@pytest.mark.parametrize("name", BROKEN)
def test_a_record_that_cannot_be_read_is_refused_with_its_line_and_the_rest_is_read(name: str, tmp_path: Path) -> None:
    content, reason, line, others = BROKEN[name]
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with Imported([path], HowToRead()) as imported:
        (report,) = imported.reports
        letters = [orjson.loads(row) for row in imported.refused.read_bytes().splitlines()] if imported.refused else []
    assert report.refused == {reason: 1}
    assert report.first[reason][0] == line
    assert [(letter["file"], letter["line"], letter["reason"]) for letter in letters] == [(str(path), line, reason)]
    assert report.turns.total() == others


WRONG = [None, 17, "", "text", [], {}, [[]], [{}], [None], {"a": None}, True, -1e300, "\x00", [[[[[]]]]], {"id": [1]}]


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".jsonl")])
def test_whatever_stands_in_the_place_of_a_field_nothing_crashes(name: str, tmp_path: Path) -> None:
    """Each value anywhere in a record is replaced by values of every other kind."""
    records = [orjson.loads(line) for line in (DATA / name).read_bytes().splitlines()]
    spoiled = [variant for record in records[:2] for variant in spoil(record)]
    path = tmp_path / name
    path.write_bytes(b"\n".join(orjson.dumps(record) for record in [*records, *spoiled]))
    turns, report = read(path)
    assert report.records == len(records) + len(spoiled)
    assert not [detail for _, detail in report.first.values() if "built otherwise" in detail]
    assert len(turns) == report.turns.total() > 0


def spoil(value: Any) -> list[Any]:
    """Copies of a value, in each of which one value within it is another."""
    spoiled: list[Any] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            spoiled += [{**value, key: wrong} for wrong in WRONG] + [{**value, key: bad} for bad in spoil(inner)]
    elif isinstance(value, list):
        for number, inner in enumerate(value[:3]):
            cut = [[*value[:number], wrong, *value[number + 1 :]] for wrong in WRONG[:6]]
            spoiled += cut + [[*value[:number], bad, *value[number + 1 :]] for bad in spoil(inner)]
    return spoiled[:400]


def span(number: int, kind: str, parent: str | None = None, trace: str = "t", **more: Any) -> dict[str, Any]:
    """A Langfuse observation that begins at a second of its own."""
    stamp = f"2025-06-15 12:{number // 60 % 60:02d}:{number % 60:02d}.{number // 3600:06d}"
    ids = {"id": f"o{number}", "trace_id": trace, "parent_observation_id": parent, "session_id": "c1"}
    return {**ids, "type": kind, "start_time": stamp, "end_time": stamp, **more}


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def test_a_trace_of_ten_thousand_spans_is_one_exchange_with_its_documents_in_order(tmp_path: Path) -> None:
    steps = [
        span(number, "RETRIEVER" if number % 2 else "GENERATION", "o0", input=f"step {number}")
        | {"output": [f"d{number % 50}"] if number % 2 else f"thought {number}"}
        for number in range(1, 10_000)
    ]
    root = span(0, "CHAIN", input="How?", output="So.", end_time="2025-06-15 13:00:00")
    turns, report = read(written(tmp_path / "log.jsonl", [*steps[::-1], root]))
    assert [turn["text"] for turn in turns] == ["How?", "So."]
    assert [document["doc_id"] for document in turns[1]["retrieved"]] == [f"d{number}" for number in range(1, 50, 2)]
    assert report.assumed == {"calls on the way to an answer left out": 4998, ZONELESS: 20_000}


def test_half_a_trace_gives_the_half_that_is_there(tmp_path: Path) -> None:
    answer_only = span(1, "GENERATION", "missing", "t1", input="How?", output="So.")
    retrieved_only = span(2, "RETRIEVER", "missing", "t2", output=["d1"])
    asked_only = span(3, "CHAIN", None, "t3", input="Why?")
    turns, report = read(written(tmp_path / "log.jsonl", [answer_only, retrieved_only, asked_only]))
    assert [turn["text"] for turn in turns] == ["How?", "So.", "Why?"]
    assert report.assumed == {
        "traces that are retrievals alone left out": 1,
        "traces that hold a question alone, or an answer alone": 1,
        ZONELESS: 6,
    }


def test_two_roots_of_one_trace_are_two_exchanges(tmp_path: Path) -> None:
    roots = [span(10, "CHAIN", input="b", output="B"), span(1, "CHAIN", input="a", output="A")]
    turns, _ = read(written(tmp_path / "log.jsonl", roots))
    assert [turn["text"] for turn in turns] == ["a", "A", "b", "B"]


def test_an_attribute_of_five_megabytes_is_refused_where_it_is_said_and_passed_over_where_it_is_not(
    tmp_path: Path,
) -> None:
    said = span(1, "GENERATION", input="x" * 5_000_000, output="So.")
    beside = span(2, "GENERATION", trace="t2", input="How?", output="So.", metadata={"page": "x" * 5_000_000})
    turns, report = read(written(tmp_path / "log.jsonl", [said, beside]))
    assert [turn["text"] for turn in turns] == ["So.", "How?", "So."]
    assert report.refused == {"too_large": 1}
    assert report.first["too_large"][0] == 1


def test_json_within_strings_within_json_is_read_through_three_layers(tmp_path: Path) -> None:
    asked: Any = [{"role": "user", "content": "How?"}]
    for _ in range(3):
        asked = orjson.dumps(asked).decode()
    turns, _ = read(written(tmp_path / "log.jsonl", [span(1, "GENERATION", input=asked, output="So.")]))
    assert [turn["text"] for turn in turns] == ["How?", "So."]


def test_one_id_in_two_conversations_and_twice_in_one_keeps_every_message(tmp_path: Path) -> None:
    spoken = [{"role": role, "content": f"{role} {n}", "id": "m"} for n in range(3) for role in ("user", "assistant")]
    records = [{"metadata": {"session_id": name}, "messages": spoken} for name in ("c1", "c2")]
    turns, _ = read(written(tmp_path / "log.jsonl", records))
    assert len({(turn["conversation_id"], turn["turn_id"]) for turn in turns}) == len(turns) == 12


def test_a_csv_with_a_comma_unquoted_refuses_that_line_and_reads_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(
        "conversation_id,turn_id,role,text,timestamp,retrieved,vote\n"
        "c1,t1,user,Hello, you,2025-06-15T12:00:00Z,,\n"
        'c1,t2,assistant,"Hello, you",2025-06-15T12:00:01Z,"[""d1""]",-1\n'
        "c1,t3,user,caf\u00e9,2025-06-15T12:00:02Z,,\n",
        encoding="utf-8",
    )
    turns, report = read(path)
    assert [(turn["turn_id"], turn["text"]) for turn in turns] == [("t2", "Hello, you"), ("t3", "café")]
    assert (turns[0]["vote"], turns[0]["retrieved"]) == (-1, [{"doc_id": "d1"}])
    assert report.first == {
        "wrong_type": (2, "expected 7 fields, as the first line names them, got 8: a comma unquoted?")
    }


def test_bytes_of_a_csv_that_are_no_utf_8_are_replaced_and_told(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_bytes(b"conversation_id,turn_id,role,text,timestamp\nc1,t1,user,caf\xe9,2025-06-15T12:00:00Z\n")
    turns, report = read(path)
    assert [turn["text"] for turn in turns] == ["caf\ufffd"]
    assert report.assumed == {"lines with bytes that are no UTF-8, which were replaced": 1}


def test_of_a_packed_log_that_is_cut_what_stands_before_is_kept_and_a_warning_says_where_it_ends(
    tmp_path: Path,
) -> None:
    lines = [{"messages": [{"role": "user", "content": sha256(b"%d" % n).hexdigest() * 9}]} for n in range(3_000)]
    packed, path = gzip.compress(b"\n".join(map(orjson.dumps, lines))), tmp_path / "log.jsonl.gz"
    size = len(packed) * 2 // 3
    path.write_bytes(packed[:size])
    turns, report = read(path)
    assert 1_000 < len(turns) < 3_000
    assert report.refused == {"undecodable": 1}
    assert "ends early" in report.first["undecodable"][1]
    assert any(f"after {size:,} bytes" in told and "is missing" in told for told in report.warnings)


def test_what_fits_two_formats_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    both = {"messages": [{"role": "user", "content": "a"}], "conversations": [{"from": "human", "value": "a"}]}
    path.write_bytes(orjson.dumps(both) + b"\n")
    with (
        pytest.raises(ConfigError, match=r"fits openai .* sharegpt .*choose one with --format"),
        Imported([path], HowToRead()),
    ):
        pass
    turns, _ = read(path, HowToRead(format="sharegpt"))
    assert [turn["text"] for turn in turns] == ["a"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'[{"frage": "a", "antwort": "b"}]', "a JSON array with frage, antwort; write a mapping"),
        (b"frage,antwort\na,b\n", "CSV with frage, antwort"),
        (b'{\n "frage": "a"\n}\n', "pretty-printed JSON with frage"),
        (b"\x28\xb5\x2f\xfd....", "expected zstd, got data that is damaged"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "got gzip or zstd within another"),
    ],
)
def test_what_nobody_knows_is_named_with_its_shape_and_its_keys(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(TurnsignalError, match=told), Imported([path], HowToRead()):
        pass


def test_an_array_is_refused_by_name_where_lines_are_to_be_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "turns.json"
    path.write_bytes(orjson.dumps([user("t", "a", 1)]))
    with (
        pytest.raises(ConfigError, match="got a JSON array; leave --strict out"),
        Imported([path], HowToRead(strict=True)),
    ):
        pass


def stored(session: str, kind: str, text: str, row: int, **more: Any) -> dict[str, Any]:
    """A row of LangChain's message store."""
    return {"id": row, "session_id": session, "message": {"type": kind, "data": {"content": text}}, **more}


ROWS = [
    stored("s1", "human", "Hi", 0),
    stored("s1", "ai", "Hello!", 1),
    stored("s2", "human", "Hi", 2),
    stored("s1", "human", "Hi", 3),
    stored("s1", "ai", "", 4),
    stored("s1", "tool", "found d1", 5),
    stored("s1", "ai", "Hello again!", 6),
]


@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("has_times", [False, True])
def test_rows_of_langchains_store_are_turns_of_their_sessions(
    tmp_path: Path, *, is_text: bool, has_times: bool
) -> None:
    rows = [{**row, "created_at": f"2026-11-01T09:00:0{row['id']}Z"} if has_times else row for row in ROWS]
    rows = [{**row, "message": orjson.dumps(row["message"]).decode()} if is_text else row for row in rows]
    (tmp_path / "store.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    turns, report = read(tmp_path / "store.jsonl")
    turns.sort(key=lambda turn: str(turn["turn_id"]))
    assert report.format == "langchain"
    assert [(turn["conversation_id"], turn["role"], turn["text"]) for turn in turns] == [
        ("s1", "user", "Hi"),
        ("s1", "assistant", "Hello!"),
        ("s2", "user", "Hi"),
        ("s1", "user", "Hi"),
        ("s1", "assistant", "Hello again!"),
    ]
    assert [turn["turn_id"] for turn in turns] == [f"langchain:{row}" for row in (0, 1, 2, 3, 6)]
    start = "2026-11-01T09:00" if has_times else "1970-01-01T00:00"  # there a second apart, whatever the ids count
    seconds = (0, 1, 2, 3, 6) if has_times else (1, 2, 3, 3, 4)
    assert [turn["timestamp"][:19] for turn in turns] == [f"{start}:0{second}" for second in seconds]


def of_mongo(number: int, object_id: str | None) -> dict[str, Any]:
    """A row of MongoDB's store, which has no time of its own."""
    row = {"SessionId": "s1", "History": orjson.dumps(ROWS[number]["message"]).decode()}
    return row if object_id is None else {"_id": {"$oid": object_id}, **row}


def test_rows_of_mongodbs_store_have_the_time_of_their_ids_and_the_order_of_the_file(tmp_path: Path) -> None:
    ids = ("6743a1f0ffffffffffffffff", "6743a1f00000000000000000", "6743a1f4aaaaaaaaaaaaaaaa")
    rows = [of_mongo(number, object_id) for number, object_id in zip((0, 1, 3), ids, strict=True)]
    (tmp_path / "store.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    turns, report = read(tmp_path / "store.jsonl")
    assert [turn["text"] for turn in turns] == ["Hi", "Hello!", "Hi"]
    assert [turn["timestamp"][:19] for turn in turns] == ["2024-11-24T22:00:16"] * 2 + ["2024-11-24T22:00:20"]
    assert report.refused == {}


@pytest.mark.parametrize("object_id", [None, "ffffffff0000000000000000"])
def test_rows_of_a_store_without_any_time_are_in_the_order_of_the_file(object_id: str | None, tmp_path: Path) -> None:
    rows = [of_mongo(number, object_id and f"{object_id[:-1]}{9 - number}") for number in (0, 1, 3)]
    (tmp_path / "store.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    turns, report = read(tmp_path / "store.jsonl")
    assert [turn["text"] for turn in turns] == ["Hi", "Hello!", "Hi"]
    assert report.assumed["rows without a time, taken as a second apart from 1970 on in the order of the file"] == 3


def test_a_list_of_redis_is_read_from_its_end_under_the_session_of_its_key(tmp_path: Path) -> None:
    pushed = [orjson.dumps(ROWS[number]["message"]).decode() for number in (1, 0)]
    (tmp_path / "dump.jsonl").write_bytes(orjson.dumps({"key": "message_store:s1", "value": pushed}))
    turns, _ = read(tmp_path / "dump.jsonl")
    assert [(turn["conversation_id"], turn["text"]) for turn in turns] == [("s1", "Hi"), ("s1", "Hello!")]


def test_conversations_under_their_ids_in_one_object_are_told_apart(tmp_path: Path) -> None:
    def constructed(kind: str, text: str) -> dict[str, Any]:
        named = ["langchain", "schema", "messages", f"{kind}Message"]
        return {"lc": 1, "type": "constructor", "id": named, "kwargs": {"content": text}}

    held = {f"s{n}": [constructed("Human", f"q{n}"), constructed("AI", f"a{n}")] for n in range(2)}
    (tmp_path / "dump.json").write_bytes(orjson.dumps(held))
    turns, _ = read(tmp_path / "dump.json")
    assert {(turn["conversation_id"], turn["text"]) for turn in turns} == {
        *(("s0", "q0"), ("s0", "a0"), ("s1", "q1"), ("s1", "a1")),
    }


def vercel_span(number: int, asked: str, answered: str) -> dict[str, Any]:
    """A span as Vercel's AI SDK writes it."""
    told = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": orjson.dumps([{"role": "user", "content": asked}]).decode(),
        "ai.response.text": answered,
        "ai.telemetry.metadata.sessionId": "s1",
        "gen_ai.request.model": "gpt-4o",
    }
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
    start = 1_793_523_600 + 60 * number
    times = {"startTimeUnixNano": f"{start}000000000", "endTimeUnixNano": f"{start + 4}000000000"}
    return {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "ai", "attributes": attributes, **times}


@pytest.mark.parametrize("key", ["resourceSpans", "batches"])
def test_spans_of_vercels_sdk_are_read_under_otlps_name_and_under_tempos(key: str, tmp_path: Path) -> None:
    spans = [vercel_span(1, "How?", "So."), vercel_span(2, "Why?", "Because.")]
    (tmp_path / "spans.json").write_bytes(orjson.dumps({key: [{"scopeSpans": [{"spans": spans}]}]}))
    turns, report = read(tmp_path / "spans.json")
    assert report.format == "otel"
    assert [(turn["conversation_id"], turn["role"], turn["text"]) for turn in turns] == [
        ("s1", "user", "How?"),
        ("s1", "assistant", "So."),
        ("s1", "user", "Why?"),
        ("s1", "assistant", "Because."),
    ]
