"""Batches of OpenAI: the input file and the output file are joined by custom_id, whichever is given first."""

from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead


def request(custom_id: str, asked: str) -> dict[str, Any]:
    body = {"model": "m1", "messages": [{"role": "user", "content": asked}]}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def reply(custom_id: str, answered: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": answered}}
    body = {"id": f"chatcmpl-{answered}", "object": "chat.completion", "created": 1_794_992_400, "choices": [choice]}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def read(folder: Path, **files: list[dict[str, Any]]) -> tuple[list[list[str]], FileReport]:
    """What is said in each conversation of files, and what is reported of them."""
    paths = [folder / f"{name}.jsonl" for name in files]
    for path, records in zip(paths, files.values(), strict=True):
        path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    with Imported(paths, HowToRead()) as imported:
        said: dict[str, list[str]] = {}
        for line, _ in Recording(imported.sources).lines():
            turn = orjson.loads(line)
            said.setdefault(turn["conversation_id"], []).append(turn["text"])
        return sorted(said.values()), imported.reports[0]


def test_answers_of_a_batch_get_the_questions_of_its_input_file(tmp_path: Path) -> None:
    asked, answered = [request("1", "a"), request("2", "b")], [reply("2", "B"), reply("1", "A")]
    for files in ({"input": asked, "output": answered}, {"output": answered, "input": asked}):
        said, report = read(tmp_path, **files)
        assert said == [["a", "A"], ["b", "B"]]
        assert report.warnings == []


def test_answers_of_a_batch_without_its_input_file_say_which_file_is_wanted(tmp_path: Path) -> None:
    said, report = read(tmp_path, output=[reply("1", "A"), reply("2", "B")])
    assert said == [["A"], ["B"]]
    (warning,) = report.warnings
    assert warning.startswith("the questions of 2 answers of a batch are missing: give the batch's input file")


def test_batches_that_number_their_requests_alike_are_paired_in_their_order(tmp_path: Path) -> None:
    first, second = [request("1", "a")], [request("1", "other")]
    said, _ = read(tmp_path, in1=first, in2=second, out1=[reply("1", "A")], out2=[reply("1", "Other")])
    assert said == [["a", "A"], ["other", "Other"]]


def test_a_request_that_failed_in_one_of_two_batches_gives_no_answer_to_the_question_of_the_other(
    tmp_path: Path,
) -> None:
    said, report = read(tmp_path, in1=[request("1", "a")], in2=[request("1", "other")], out2=[reply("1", "Other")])
    assert said == [["Other"], ["a"], ["other"]]
    assert report.assumed["requests and answers of several batches under one id, not paired"] == 3


def test_a_request_that_was_sent_again_is_the_question_of_both_answers(tmp_path: Path) -> None:
    said, _ = read(tmp_path, input=[request("1", "a")], out1=[reply("1", "A")], out2=[reply("1", "better")])
    assert said == [["a", "A"], ["a", "better"]]


def test_requests_that_nobody_answered_are_read_as_questions(tmp_path: Path) -> None:
    said, report = read(tmp_path, input=[request("1", "a"), request("2", "b")], output=[reply("2", "B")])
    assert said == [["a"], ["b", "B"]]
    assert report.assumed["requests of a batch whose answers are in another file"] == 1
