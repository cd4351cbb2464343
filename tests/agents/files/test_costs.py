"""Small files cost little: what is held and looked at is bounded by bytes, whatever they hold."""

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from turnsignal.agents.files import loose_messages
from turnsignal.agents.files.containers import SAMPLED_PARTS, Kind, kind_of, read_items, sample_of
from turnsignal.agents.files.human_scores import in_shares
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.items import MAX_OBJECTS, Item
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead, as_records
from turnsignal.agents.files.scanning import Scanner
from turnsignal.agents.files.spool import Spool
from turnsignal.stream.errors import Refused
from turnsignal.stream.formats import values
from turnsignal.stream.formats.human_scores import HumanScore
from turnsignal.stream.text.loose_json import load_json

ASKED = {"role": "user", "content": "And now?"}


@pytest.mark.parametrize("piece", [b"\\n", b'\\"', b"\\\\", b"x", b'\\\\\\"'])
def test_a_long_text_of_escapes_takes_a_few_times_its_bytes(piece: bytes) -> None:
    record = b'{"a": "' + piece * (2_000_000 // len(piece)) + b'", "b": [1]}'
    whole = b"[" + record + b", " + record + b"]"
    blocks = [whole[at : at + 99_999] for at in range(0, len(whole), 99_999)]
    tracemalloc.start()
    items = [item.value for item in Scanner(is_array=True, is_wrapped=False).items(iter(blocks))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert items == [record, record]
    assert peak < 5 * len(record)


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_a_text_ends_where_it_ends_wherever_blocks_do(block: int) -> None:
    records = [b'{"a": "}\\\\"}', b'{"b": "\\\\\\"]}"}', b'{"c": ["\\u0022", "{"]}']
    whole = b'[\n"between \\" }",' + b",\n".join(records) + b"]"
    blocks = [whole[at : at + block] for at in range(0, len(whole), block)]
    items = [item.value for item in Scanner(is_array=True, is_wrapped=False).items(iter(blocks))]
    assert [item for item in items if isinstance(item, bytes) and item.startswith(b"{")] == records


def test_a_line_of_countless_objects_is_refused_before_it_is_read() -> None:
    with pytest.raises(Refused, match="at most 500,000 objects"):
        Item(1, b"[" + b"{}," * MAX_OBJECTS + b"{}]").load(Counter())


def test_a_sample_is_bounded_by_bytes_and_records(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    page = orjson.dumps({"data": [{"id": n, "text": "x" * 400} for n in range(1_500)]}) + b"\n"
    path.write_bytes(page * 4)
    assert len(sample_of(path, Kind.LINES, as_records)) == SAMPLED_PARTS
    path.write_bytes((orjson.dumps({"text": "x" * 5_000_000}) + b"\n") * 4)
    assert len(sample_of(path, Kind.LINES, as_records)) == 1


@pytest.mark.parametrize("name", ["observations", "conversations"])
def test_a_large_object_around_a_list_is_read_record_by_record(name: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    records = [{"id": str(n), "text": "x" * 1000} for n in range(1_500)]
    path.write_bytes(orjson.dumps({name: records}, option=orjson.OPT_INDENT_2))
    kind = kind_of(path)
    assert kind is Kind.WRAPPED
    assert [item.load(Counter()) for item in read_items(path, kind)] == records


@pytest.mark.parametrize(
    "record",
    [
        {"id": "t1", "observations": [{"id": "o", "text": "x" * 2_000_000}]},
        {"conversations": [{"from": "human", "value": "x" * 2_000_000}]},
    ],
)
def test_a_large_record_that_holds_a_list_of_its_own_stays_one(record: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
    assert [item.load(Counter()) for item in read_items(path, kind_of(path))] == [record]


def test_messages_that_stand_alone_are_not_all_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loose_messages, "_MOST", 10)
    path = tmp_path / "messages.jsonl"
    said = [{"role": ("user", "assistant")[n % 2], "content": f"m{n}"} for n in range(35)]
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in said))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        (report,) = imported.reports
    assert sorted(int(turn["text"][1:]) for turn in turns) == list(range(35))
    assert len({turn["conversation_id"] for turn in turns}) == 4
    assert any("another conversation" in what for what in report.assumed)


def test_scores_are_taken_in_shares_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnsignal.agents.files.human_scores._SHARE", 4)
    kept = Spool(msgspec.msgpack.Decoder(HumanScore))
    for number in range(10):
        kept.put(HumanScore(str(number), [], "vote"))
    shares = list(in_shares(kept.all()))
    kept.close()
    assert [len(share) for share in shares] == [4, 4, 2]
    assert [score.id for share in shares for score in share] == [str(number) for number in range(10)]


def test_json_within_a_text_is_read_once_for_all_that_is_looked_up_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: bytes | str) -> tuple[Any, str]:
        read.append(len(text))
        return load_json(text)

    monkeypatch.setattr(values, "load_json", counted)
    record = {"meta": '{"session": "s1", "pad": "' + "x" * 10_000 + '"}'}
    assert {values.at_path(record, "meta.session") for _ in range(100)} == {"s1"}
    assert len(read) == 1


def test_a_log_with_nan_in_it_is_read_and_it_is_said(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        for number in range(3):
            yield (
                f'{{"conversation_id": "c{number}", "score": NaN, "messages": '
                '[{"role": "user", "content": "q"}, {"role": "assistant", "content": "NaN?"}]}\n'
            )

    path = tmp_path / "log.jsonl"
    path.write_text("".join(lines()))
    with Imported([path], HowToRead()) as imported:
        assert sum(1 for _ in Recording(imported.sources).lines()) == 6
        (report,) = imported.reports
    assert report.assumed["NaN or Infinity, which JSON does not have, read as null"] == 3


def test_a_question_that_nearly_holds_another_is_compared_in_no_more_than_its_length(tmp_path: Path) -> None:
    size = 300_000
    asked, plain = "a" * (2 * size), "ab" + "a" * size  # the product of their lengths is 10^11
    answer = {"role": "assistant", "content": "Here is the answer that you wanted from me."}
    records = [
        {"session_id": "s", "messages": [{"role": "user", "content": asked}], "response": answer["content"]},
        {"session_id": "s", "messages": [{"role": "user", "content": plain}, answer, ASKED], "response": "So."},
    ]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        assert sum(1 for _ in Recording(imported.sources).lines()) > 0
