"""Records of all that was said until then: lists of messages that end with the answer, in any file and any order."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

FIRST, SECOND = "How do I change the plan of my team?", "Can I get a refund for the last month?"
PLAN, REFUND = "Open Settings, choose Plan, and confirm.", "Yes, within 14 days of the payment."
OTHER = "You change it under Settings, in the section about plans."
EDITED = "How do I change the plan of my workspace?"


def state(number: int, *texts: str, at: str | None = None) -> dict[str, Any]:
    messages = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
    time = {"timestamp": at or f"2026-11-18T09:{number:02d}:00Z"} if at != "" else {}
    return {"session_id": "t1", **time, "messages": messages}


def read(path: Path, records: list[dict[str, Any]]) -> list[str]:
    """Return the texts in the order of their times, from lines or, of a file .json, an array in one line."""
    data = orjson.dumps(records) if path.suffix == ".json" else b"\n".join(map(orjson.dumps, records))
    path.write_bytes(data)
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    return [turn["text"] for turn in sorted(turns, key=lambda turn: turn["timestamp"])]


@pytest.mark.parametrize(
    ("states", "texts"),
    [
        ([(FIRST, PLAN), (FIRST, PLAN, SECOND, REFUND)], [FIRST, PLAN, SECOND, REFUND]),
        ([(FIRST, PLAN), (FIRST, OTHER), (FIRST, OTHER, SECOND, REFUND)], [FIRST, PLAN, OTHER, SECOND, REFUND]),
        ([(FIRST, PLAN, SECOND, REFUND), (FIRST, PLAN, SECOND, OTHER)], [FIRST, PLAN, SECOND, REFUND, OTHER]),
        (
            [(FIRST, "Open Set"), (FIRST, PLAN), (FIRST, PLAN, SECOND, REFUND)],
            [FIRST, "Open Set", PLAN, SECOND, REFUND],
        ),
        (
            [(FIRST, PLAN), (EDITED, OTHER), (EDITED, OTHER, SECOND, REFUND)],
            [FIRST, PLAN, EDITED, OTHER, SECOND, REFUND],
        ),
        ([(FIRST, PLAN), (FIRST, PLAN)], [FIRST, PLAN]),
    ],
    ids=["grown", "regenerated", "regenerated later", "half written", "edited", "twice"],
)
def test_states_say_each_message_once_and_each_answer_that_was_given(
    states: list[tuple[str, ...]], texts: list[str], tmp_path: Path
) -> None:
    records = [state(number, *each) for number, each in enumerate(states)]
    assert read(tmp_path / "log.jsonl", records) == texts


@pytest.mark.parametrize("time", ["", "2026-11-18T09:00:00Z"], ids=["no times", "one time"])
@pytest.mark.parametrize("name", ["log.json", "log.jsonl"])
def test_an_array_in_one_line_is_in_the_order_in_which_it_stands(name: str, time: str, tmp_path: Path) -> None:
    texts = [text for number in range(9) for text in (f"Question {number}?", f"Answer {number}.")]
    records = [state(0, *texts[at : at + 2], at=time) for at in range(0, len(texts), 2)]
    assert read(tmp_path / name, records) == texts


def test_a_history_that_ends_with_a_question_nobody_answered_drops_no_question(tmp_path: Path) -> None:
    def spoken(*texts: str) -> list[dict[str, str]]:
        return [{"role": "assistant" if text in (OTHER, REFUND) else "user", "content": text} for text in texts]

    histories = [spoken(), spoken(EDITED, OTHER, FIRST), spoken(EDITED, OTHER, FIRST, SECOND, REFUND)]
    exchanges = [(EDITED, OTHER), (SECOND, REFUND), ("And by card?", "By card, too.")]
    records = [
        {"session_id": "t1", "ts": f"2026-11-18T09:0{n}:00Z", "history": history, "question": asked, "answer": given}
        for n, (history, (asked, given)) in enumerate(zip(histories, exchanges, strict=True))
    ]
    assert read(tmp_path / "log.jsonl", records) == [EDITED, OTHER, FIRST, SECOND, REFUND, *exchanges[-1]]


@pytest.mark.parametrize("nothing", ["{}", "null", "None", "", '{"detail": "overloaded"}', '{"error": {"code": 429}}'])
def test_a_cell_in_which_no_answer_came_is_no_answer(nothing: str, tmp_path: Path) -> None:
    cells = [(FIRST, PLAN), (SECOND, nothing)]
    lines = ["session_id,created_at,messages,response"]
    for number, (question, answer) in enumerate(cells):
        messages = orjson.dumps([{"role": "user", "content": question}]).decode()
        quoted = ['"' + cell.replace('"', '""') + '"' for cell in (messages, answer)]
        lines.append(f"t1,2026-11-18T09:0{number}:00Z,{','.join(quoted)}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    assert [turn["text"] for turn in turns] == [FIRST, PLAN, SECOND]


@pytest.mark.parametrize("empty", [0, 1, 2, 8])
def test_answers_that_are_mostly_empty_are_told(empty: int, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    turn = {"conversation_id": "c", "timestamp": "2026-11-18T09:00:00Z", "role": "assistant"}
    path.write_bytes(b"\n".join(orjson.dumps({**turn, "id": n, "content": PLAN * (n >= empty)}) for n in range(10)))
    with Imported([path], HowToRead()) as imported:
        (report,) = imported.reports
    assert any("answers are empty" in warning for warning in report.warnings) == (empty > 1)
