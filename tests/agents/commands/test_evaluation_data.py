"""S1's EvaluationData folder goes in and out of `turnsignal report`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.agents.providers.conftest import Served, endpoint
from turnsignal.agents.cli import turnsignal
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.reports.evaluation_data import FILES

__all__ = ["endpoint"]  # a fixture


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(turnsignal, [str(argument) for argument in arguments])


def folder(into: Path, **files: Any) -> Path:
    for name, value in files.items():
        path = into / "EvaluationData" / FILES[name].path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return into / "EvaluationData"


def queries(n: int = 40) -> dict[str, Any]:
    """Queries of which each fourth fails at routing, then retrieval, then chunks, then nowhere."""
    ids = [f"q{number}" for number in range(n)]
    wrong = {stage: [name for at, name in enumerate(ids) if at % 4 == place] for place, stage in enumerate("rdc")}
    passage = "Refunds take five working days"
    return {
        "queries": [{"id": name, "query": f"Where is refund {name}?"} for name in ids],
        "metadata": [{"id": name, "domain": "money", "query_type": "where"} for name in ids],
        "agents": [{"id": name, "labels": ["faq", "billing"]} for name in ids],
        "routed_to": [{"id": name, "labels": "faq" if name in wrong["r"] else "billing, FAQ"} for name in ids],
        "links": [{"id": name, "links": ["https://a.example/refunds?utm_source=x"]} for name in ids],
        "retrieved": {
            name: ["https://a.example/jobs" if name in wrong["d"] else "https://A.example/refunds"] for name in ids
        },
        "chunks": [{"query_id": name, "chunks": [{"text": passage}]} for name in ids],
        "retrieved_chunks": [
            {"id": name, "chunks": ["We hire." if name in wrong["c"] or name in wrong["d"] else f"{passage}, always."]}
            for name in ids
        ],
        "reference": dict.fromkeys(ids, "After five working days."),
        "response": [{"id": name, "response": "It takes five days [1]."} for name in ids],
    }


def test_a_folder_goes_through_the_gate(tmp_path: Path) -> None:
    done = run("report", "--evaluation-data", folder(tmp_path, **queries()), "--outdir", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert {stage["stage"]: stage["failed"] for stage in made["waterfall"]["stages"]} == {
        "routing": 10,
        "retrieval": 10,
        "chunks": 10,
        "generation": 0,
        "format": 0,
    }
    routing = made["routing"]
    assert routing["exact_match"]["value"] == 0.75
    assert [(gain["missed"], gain["n"]) for gain in routing["gains"]] == [("billing", 10)]
    assert made["known_by"]["chunks"] == {"truth": 20, "diagnosis": 0}
    for overlap in ("ROUGE-L", "BLEU", "chrF"):
        assert made["labelled"]["figures"][f"reference: {overlap}"]["answers"] == 40


def test_the_page_of_a_folder_has_all_parts_and_the_terminal_too(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    given = folder(tmp_path, **queries())
    done = run("report", "--evaluation-data", given, "--outdir", tmp_path / "out", "--html", page)
    assert done.exit_code == 0, done.output
    assert "sent to exactly their agents" in done.stdout
    text = page.read_text(encoding="utf-8")
    for part in ("fail at", "What mending a stage would gain", "Routing", "The cited article", "reference: ROUGE-L"):
        assert part in text, part


def test_what_is_written_is_read_again_with_the_same_stages(tmp_path: Path) -> None:
    first = folder(tmp_path, **queries())
    out = tmp_path / "EvaluationData2"
    made, again = (
        json.loads(run("report", "--evaluation-data", of, "--outdir", tmp_path / name, *more, "--json").stdout)
        for of, name, more in ((first, "a", ["--write-evaluation-data", out]), (out, "b", []))
    )
    assert made["waterfall"] == again["waterfall"]
    assert made["labelled"] == again["labelled"]
    assert json.loads((out / FILES["agents"].path).read_bytes())[0]["labels"] == ["faq", "billing"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "expected what a system did with queries"),
        (
            {"agents": [{"id": "1", "labels": ["a"]}]},
            "model_predictions.json, Generation/system_responses.json), got none",
        ),
        ({"response": "{"}, "system_responses.json: expected JSON with an entry for each query"),
        ({"response": ["text"]}, "expected an object with an id, got 'text'"),
        ({"response": [{"id": 1, "said": "x"}]}, "expected one of answer, response, reference"),
        ({"response": [{"id": "a\n", "answer": "x"}]}, "query 'a\\n': expected ids of printable characters"),
    ],
)
def test_folders_that_cannot_be_read_are_refused_with_where_and_why(
    tmp_path: Path, files: dict[str, Any], reason: str
) -> None:
    (tmp_path / "EvaluationData").mkdir()
    done = run("report", "--evaluation-data", folder(tmp_path, **files), "--outdir", tmp_path / "out")
    assert done.exit_code == 1
    assert reason in " ".join(str(done.exception).split())


def test_answers_are_compared_with_references_by_a_models_embeddings_where_one_is_named(
    tmp_path: Path, endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNSIGNAL_JUDGE_GATEWAY_URL", endpoint.url)
    given = ("report", "--evaluation-data", folder(tmp_path, **queries()), "--outdir", tmp_path / "out", "--json")
    done = run(*given, "--embeddings", "gateway:embed")
    assert done.exit_code == 0, done.output
    figure = json.loads(done.stdout)["labelled"]["figures"]["reference: cosine by embed"]
    assert figure["answers"] == 40
    assert 0 < figure["value"] < 1
    (sent, *_) = endpoint.calls("embed")
    assert sent["body"]["input"][:2] == ["After five working days.", "It takes five days [1]."]
    nowhere = run(*given, "--embeddings", "elsewhere:embed")
    assert isinstance(nowhere.exception, ConfigError)
    assert "TURNSIGNAL_JUDGE_ELSEWHERE_URL" in str(nowhere.exception)
