"""Bots that say one sentence again and again: what users say of it is theirs, and what programs ask is left out."""

from datetime import UTC, datetime
from pathlib import Path

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.asides import LEFT_OUT

FALLBACK = "Sorry, I did not find anything about that. Please try other words."
COMPLAINT = "No, that did not answer my question. Show me something else."
ERRAND = "Suggest three things that the user may want to ask next, one in each line."
BEGUN = 1_770_000_000
SESSIONS = 60


def write_log(path: Path) -> int:
    """Write a log in which most users complain, a third of them last, with errands; return how many errands it has."""
    records, errands = [], 0
    for session in range(SESSIONS):
        history: list[dict[str, str]] = []
        script = [
            (f"How {session}?", FALLBACK),
            (COMPLAINT, FALLBACK),
            (f"And where is it {session}?", f"At {session}."),
        ]
        for place, (question, answer) in enumerate(script[: 2 + (session % 3 > 0)]):
            history = [*history, {"role": "user", "content": question}]
            asked = [(history, answer, 0)]
            history = [*history, {"role": "assistant", "content": answer}]
            if session % 2:
                errand = [*history, {"role": "user", "content": ERRAND}]
                asked.append((errand, f"What of {session}{place}?\nAnd {place}?", 2))
                errands += 1
            for messages, got, late in asked:
                created = BEGUN + 1_000 * session + 60 * place + late
                response = {"created": created, "choices": [{"message": {"role": "assistant", "content": got}}]}
                records.append({"session_id": f"c{session}", "request": {"messages": messages}, "response": response})
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return errands


def test_complaints_keep_their_calls_times_and_the_count_is_of_what_is_missing(tmp_path: Path) -> None:
    errands = write_log(tmp_path / "log.jsonl")
    with Imported([tmp_path / "log.jsonl"], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
        (report,) = imported.reports
    assert [turn["text"] for turn in turns].count(COMPLAINT) == SESSIONS
    assert not any(turn["text"] == ERRAND for turn in turns)
    asked = {turn["timestamp"] for turn in turns if turn["text"] == COMPLAINT}
    begun = (BEGUN + 1_000 * session + 60 for session in range(SESSIONS))
    assert asked == {datetime.fromtimestamp(time, UTC).isoformat() for time in begun}
    assert report.assumed[LEFT_OUT] == errands
    assert [warning for warning in report.warnings if warning.startswith(f"{errands:,} calls are left out")]
    assert len(turns) == 2 * (report.records - errands)
