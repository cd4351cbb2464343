"""Files of one format are read as one, so that a trace may be split over them and a log be cut anywhere."""

from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

TRACE = {
    "id": "t1",
    "timestamp": "2026-11-18T09:00:00Z",
    "sessionId": "s1",
    "release": "v7",
    "input": "How do I reset my password?",
    "output": "Open the settings [d1].",
}
OBSERVATIONS = [
    {"id": "o1", "traceId": "t1", "type": "RETRIEVER", "startTime": "2026-11-18T09:00:01Z", "output": [{"id": "d1"}]},
    {
        "id": "o2",
        "traceId": "t1",
        "type": "GENERATION",
        "startTime": "2026-11-18T09:00:02Z",
        "endTime": "2026-11-18T09:00:03Z",
        "input": "How do I reset my password?",
        "output": "Open the settings [d1].",
    },
]


def completion(number: int, *texts: str) -> dict[str, Any]:
    """A call whose last text is the answer, and all before it the history."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    response = {"id": f"r{number}", "created": 1_794_992_400 + number, "choices": [{"message": messages.pop()}]}
    return {"request": {"messages": messages}, "response": response}


def written(path: Path, *records: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def turns_of(*paths: Path) -> list[dict[str, Any]]:
    with Imported(paths, HowToRead()) as imported:
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]


def test_traces_and_their_observations_in_files_of_their_own_are_joined(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces.jsonl", TRACE)
    observations = written(tmp_path / "observations.jsonl", *OBSERVATIONS)
    for files in ((traces, observations), (observations, traces)):
        turns = turns_of(*files)
        assert [(turn["conversation_id"], turn["role"], turn["version"]) for turn in turns] == [
            ("s1", "user", "v7"),
            ("s1", "assistant", "v7"),
        ]
        assert turns[1]["retrieved"] == [{"doc_id": "d1"}]


def test_a_log_that_is_cut_between_the_calls_of_a_conversation_gives_what_it_gives_whole(tmp_path: Path) -> None:
    calls = [completion(1, "How?", "So."), completion(2, "How?", "So.", "Where?", "There."), completion(3, "Hi", "Hey")]
    whole = turns_of(written(tmp_path / "log.jsonl", *calls))
    cut = turns_of(written(tmp_path / "log-1.jsonl", calls[0]), written(tmp_path / "log-2.jsonl", *calls[1:]))
    assert cut == whole
    assert len(whole) == 6
    assert len({turn["conversation_id"] for turn in whole}) == 2


def test_turns_and_refused_records_are_told_by_the_file_and_line_in_which_they_stood(tmp_path: Path) -> None:
    first = written(tmp_path / "log-1.jsonl", completion(1, "How?", "So."), 17)
    second = written(tmp_path / "log-2.jsonl", 18, completion(2, "How?", "So.", "Where?", "There."))
    with Imported([first, second], HowToRead()) as imported:
        recording = Recording(imported.sources)
        stood = [recording.where(number) for _, number in recording.lines()]
        assert imported.refused is not None
        letters = [orjson.loads(row) for row in imported.refused.read_bytes().splitlines()]
        (report,) = imported.reports
    assert stood == [(str(first), 1)] * 2 + [(str(second), 2)] * 2
    assert [(letter["file"], letter["line"]) for letter in letters] == [(str(first), 2), (str(second), 1)]
    assert (report.name, report.records, report.conversations) == (f"{first}, {second}", 4, 1)


def test_files_of_the_same_name_in_other_folders_do_not_share_ids(tmp_path: Path) -> None:
    logs = []
    for folder, asked in (("a", "How?"), ("b", "Where?")):
        record = {"conversations": [{"from": "human", "value": asked}, {"from": "gpt", "value": "So."}]}
        logs.append(written(tmp_path / folder / "log.jsonl", record))
    turns = turns_of(*logs)
    assert sorted({turn["conversation_id"] for turn in turns}) == ["sharegpt:log-2.1", "sharegpt:log.1"]
    assert len({turn["turn_id"] for turn in turns}) == 4


def test_files_of_turns_stay_where_they_are_beside_files_that_are_joined(tmp_path: Path) -> None:
    turn = {"conversation_id": "c", "turn_id": "1", "role": "user", "text": "Hi", "timestamp": "2026-11-18T09:00:00Z"}
    own = written(tmp_path / "turns.jsonl", turn)
    log = written(tmp_path / "log.jsonl", completion(1, "How?", "So."))
    with Imported([log, own, written(tmp_path / "log-2.jsonl", completion(2, "Hi", "Hey"))], HowToRead()) as imported:
        assert [source.paths for source in imported.sources] == [[log, tmp_path / "log-2.jsonl"], [own]]
        assert [source.path == own for source in imported.sources] == [False, True]


def anthropic(number: int, *texts: str) -> dict[str, Any]:
    """The same call, as another tool logs it."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    content = [{"type": "text", "text": messages.pop()["content"]}]
    response = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": content}
    return {"request": {"model": "claude", "max_tokens": 9, "messages": messages}, "response": response}


def test_the_same_calls_exported_by_two_tools_are_told(tmp_path: Path) -> None:
    said = [(f"Where is parcel {number}?", f"It lies in shop {number}, beside the till.") for number in range(20)]
    one = written(tmp_path / "gateway.jsonl", *(completion(at, *texts) for at, texts in enumerate(said)))
    same = written(tmp_path / "tool.jsonl", *(anthropic(at, *texts) for at, texts in enumerate(said[4:])))
    others = [(question, f"{answer} Bring the code of it.") for question, answer in said]
    apart = written(tmp_path / "apart.jsonl", *(anthropic(at, *texts) for at, texts in enumerate(others)))
    with Imported([one, same], HowToRead()) as imported:
        assert any("100% of the answers stand in" in told for told in imported.reports[1].warnings)
    with Imported([one, apart], HowToRead()) as imported:
        assert not any("of the answers stand in" in told for each in imported.reports for told in each.warnings)
