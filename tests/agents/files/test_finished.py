"""Records of whole conversations: those that begin alike are of several; those that grow are of one."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

GREETING = [("user", "Hello"), ("assistant", "Hello! How can I help you today?")]
Said = list[tuple[str, str]]


def conversations(greetings: int, many: int) -> list[Said]:
    """Greetings that nobody goes on from, among conversations that begin with one."""
    long = [
        [
            *GREETING,
            *(pair for n in range(1 + at % 4) for pair in (("user", f"Why {at}.{n}?"), ("assistant", f"So {at}.{n}."))),
        ]
        for at in range(many)
    ]
    return [*long, *[GREETING] * greetings]


def read(path: Path, records: list[dict[str, Any]]) -> list[Said]:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    said: dict[str, Said] = {}
    with Imported([path], HowToRead()) as imported:
        for line, _ in Recording(imported.sources).lines():
            turn = orjson.loads(line)
            said.setdefault(turn["conversation_id"], []).append((turn["role"], turn["text"]))
    return sorted(said.values())


def record(said: Said, **beside: Any) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text} for role, text in said], **beside}


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("greetings", [3, 30])
def test_a_conversation_that_another_begins_like_is_one_of_its_own(
    tmp_path: Path, greetings: int, has_ids: bool
) -> None:
    known = conversations(greetings, 40)[::-1]
    records = [record(said, **({"id": f"x{at}"} if has_ids else {})) for at, said in enumerate(known)]
    assert read(tmp_path / "log.jsonl", records) == sorted(known)


def test_a_conversation_that_is_kept_anew_after_each_answer_is_one(tmp_path: Path) -> None:
    known = conversations(3, 40)
    records = [record(said[:length]) for said in known for length in range(2, len(said) + 1, 2)]
    assert read(tmp_path / "log.jsonl", records) == sorted(known)


def test_a_record_that_grows_under_its_id_among_others_is_one_conversation(tmp_path: Path) -> None:
    known = conversations(3, 40)
    records = [record(said, id=f"x{at}") for at, said in enumerate(known)]
    grown = [*known[3], ("user", "And then?"), ("assistant", "Nothing more.")]
    assert read(tmp_path / "log.jsonl", [*records, record(grown, id="x3")]) == sorted([*known[:3], grown, *known[4:]])
