"""What is wrong with exports: each has a reason with its file and line, the rest is read, and the exit code says so."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

DAY = "2025-06-15"


def read(*paths: Path) -> tuple[list[dict[str, Any]], FileReport]:
    with Imported(paths, HowToRead()) as imported:
        (report,) = imported.reports
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()], report


def written(path: Path, *records: dict[str, Any] | bytes) -> Path:
    path.write_bytes(b"\n".join(each if isinstance(each, bytes) else orjson.dumps(each) for each in records))
    return path


def observation(number: int, kind: str, at: str, trace: str = "t1", **more: Any) -> dict[str, Any]:
    ids = {"id": f"o{number}", "trace_id": trace, "parent_observation_id": None, "session_id": "c1"}
    return {**ids, "type": kind, "start_time": at, "end_time": at, **more}


def texts(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["text"] for turn in turns]


@pytest.mark.parametrize("end", ['{"conversation_id": "c1", "tur', ""])
@pytest.mark.parametrize("command", ["replay", "convert"])
def test_an_array_that_ends_early_is_said_and_ends_with_1(command: str, end: str, tmp_path: Path) -> None:
    lines = Path("tests/data/golden.jsonl").read_text().splitlines()
    (cut := tmp_path / "cut.json").write_text("[" + ",\n".join(lines) + f",\n{end}")
    done = CliRunner().invoke(turnsignal, [command, str(cut), "--out", str(tmp_path / "out")])
    whole = f"warning: {cut}: expected a JSON array to its end, got a file that ends early, within line "
    assert (done.exit_code, whole in done.output) == (1, True)
    cut.write_text("[" + ",\n".join(lines) + "]")
    assert CliRunner().invoke(turnsignal, [command, str(cut), "--out", str(tmp_path / "out")]).exit_code == 0


def test_a_span_that_comes_a_day_late_in_another_file_joins_its_trace(tmp_path: Path) -> None:
    answer = observation(1, "GENERATION", f"{DAY} 12:00:01", input="How?", output="So.")
    others = [
        observation(number, "GENERATION", "2025-06-16 12:00:00", f"t{number}", input=f"q{number}", output="A")
        for number in range(2, 50)
    ]
    late = observation(99, "RETRIEVER", f"{DAY} 12:00:00", output=["d1"])
    first = written(tmp_path / "monday.jsonl", answer)
    turns, report = read(first, written(tmp_path / "tuesday.jsonl", *others, late))
    assert report.refused == {}
    assert (turns[1]["text"], turns[1]["retrieved"]) == ("So.", [{"doc_id": "d1"}])
    assert turns[0]["timestamp"].startswith(f"{DAY}T12:00:00")


def test_times_in_three_zones_and_without_one_are_in_one_order(tmp_path: Path) -> None:
    stamps = [f"{DAY}T14:00:00+02:00", f"{DAY} 12:00:01", f"{DAY}T07:00:02-05:00", f"{DAY}T12:00:03Z"]
    calls = [
        observation(number, "GENERATION", at, f"t{number}", input=f"q{number}", output=f"a{number}")
        for number, at in enumerate(stamps)
    ]
    turns, _ = read(written(tmp_path / "log.jsonl", *calls[::-1]))
    assert texts(turns) == ["q0", "a0", "q1", "a1", "q2", "a2", "q3", "a3"]
    assert [turn["timestamp"][:19] for turn in turns[1::2]] == [f"{DAY}T12:00:0{second}" for second in range(4)]


def run(number: int, kind: str, asked: str, answered: str, **more: Any) -> dict[str, Any]:
    ids = {"id": f"r{number}", "trace_id": f"r{number}", "parent_run_id": None, "run_type": kind, "name": "lamps"}
    times = {"start_time": f"{DAY}T12:00:0{number}", "end_time": f"{DAY}T12:00:0{number}"}
    said = {"inputs": {"question": asked}, "outputs": {"answer": answered}}
    return {**ids, **times, **said, "session_id": "a-project", **more}


def test_the_project_of_langsmith_is_no_conversation(tmp_path: Path) -> None:
    turns, _ = read(written(tmp_path / "runs.jsonl", run(1, "chain", "a", "A"), run(2, "chain", "b", "B")))
    assert len({turn["conversation_id"] for turn in turns}) == 2
    assert "a-project" not in str(turns)


@pytest.mark.parametrize(
    "judged",
    [
        observation(2, "EVALUATOR", f"{DAY} 12:00:02", "t2", input="Is it good?", output="Yes."),
        run(2, "evaluator", "Is it good?", "Yes."),
        run(2, "chain", "Is it good?", "Yes.", name="faithfulness_evaluator"),
        {
            "traceId": "t2",
            "spanId": "s2",
            "startTimeUnixNano": "1749988802000000000",
            "attributes": {
                "openinference.span.kind": "EVALUATOR",
                "input.value": "Is it good?",
                "output.value": "Yes.",
            },
        },
    ],
    ids=["langfuse", "langsmith", "langsmith by name", "openinference"],
)
def test_what_an_evaluator_said_is_no_answer(judged: dict[str, Any], tmp_path: Path) -> None:
    answers = {
        "type": observation(1, "GENERATION", f"{DAY} 12:00:01", input="How?", output="So."),
        "run_type": run(1, "chain", "How?", "So."),
        "traceId": {
            "traceId": "t1",
            "spanId": "s1",
            "startTimeUnixNano": "1749988801000000000",
            "attributes": {"openinference.span.kind": "LLM", "input.value": "How?", "output.value": "So."},
        },
    }
    (answer,) = [record for key, record in answers.items() if key in judged]
    turns, report = read(written(tmp_path / "log.jsonl", judged, answer))
    assert texts(turns) == ["How?", "So."]
    assert [what for what in report.assumed if what.startswith("evaluators' ")]


def test_a_log_of_whole_histories_and_one_of_last_messages_are_the_same_conversation(tmp_path: Path) -> None:
    said = ["a", "A", "b", "B", "c", "C"]
    spoken = [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(said)]

    def calls(begin: int | None) -> list[dict[str, Any]]:
        return [
            observation(number, "GENERATION", f"{DAY} 12:00:0{number}", f"t{number}", output=said[number])
            | {"input": spoken[:number][begin or 0 :]}
            for number in (1, 3, 5)
        ]

    whole, _ = read(written(tmp_path / "whole.jsonl", *calls(None)))
    last, _ = read(written(tmp_path / "last.jsonl", *calls(-1)))
    assert texts(whole) == texts(last) == said
    assert len({turn["conversation_id"] for turn in (*whole, *last)}) == 1


GOOD = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}


@pytest.mark.slow
@pytest.mark.parametrize("filling", [b"x", b"[", b'"'])
def test_a_line_that_unpacks_to_a_thousand_times_its_size_is_refused_and_the_rest_is_read(
    filling: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl.gz"
    good = orjson.dumps(GOOD) + b"\n"
    path.write_bytes(gzip.compress(good + filling * (40 << 20) + b"\n" + good, 1))
    turns, report = read(path)
    assert texts(turns) == ["a", "b", "a", "b"]
    assert {reason: line for reason, (line, _) in report.first.items()} == {"too_large": 2}


def test_a_number_in_the_name_of_an_attribute_makes_no_list_of_that_length(tmp_path: Path) -> None:
    prompt = {"gen_ai.prompt.99999999.role": "user", "gen_ai.prompt.99999999.content": "hi"}
    prompt |= {"gen_ai.prompt." + ".".join(["0"] * 5_000): "x", "gen_ai.completion.0.role": "assistant"}
    span = {"traceId": "t", "spanId": "s", "attributes": {**prompt, "gen_ai.completion.0.content": "So."}}
    span["attributes"] |= {"traceloop.workflow.name": "lamps"}
    turns, report = read(written(tmp_path / "spans.jsonl", span))
    assert texts(turns) == ["So."]
    assert report.refused == {}


def test_half_a_character_within_json_within_a_text_is_replaced(tmp_path: Path) -> None:
    broken = observation(1, "GENERATION", f"{DAY} 12:00:00", output="So.")
    broken["input"] = '[{"role": "user", "content": "\\ud83d", "score": NaN}]'
    turns, _ = read(written(tmp_path / "log.jsonl", broken))
    assert texts(turns) == ["\ufffd", "So."]


@pytest.mark.parametrize(
    ("broken", "code", "told"),
    [
        (orjson.dumps(GOOD), 0, "dead letters, not_json: 1; the first: {path}, line 2: "),
        (b'{"messages": [{"role": "us', 1, "not_json"),
    ],
    ids=["the rest is read", "nothing is left"],
)
def test_the_exit_code_says_whether_anything_was_read(broken: bytes, code: int, told: str, tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", broken, b'{"messages": [{"role": "us')
    options = ["--format", "openai", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(turnsignal, ["replay", str(path), *options])
    assert done.exit_code == code, done.output
    assert told.format(path=path) in done.output
