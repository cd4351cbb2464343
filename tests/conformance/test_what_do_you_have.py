"""Each row of the README's table "what do you have?" is typed as it stands, in a folder that holds such files alone."""

import re
import shlex
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from tests.agents.files.test_votes_of_tools import TOLD, chat
from turnsignal.agents.cli import turnsignal

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "data" / "formats"
GENUINE = FORMATS / "genuine"
SCORE = b'{"id": "s1", "trace_id": "t1", "name": "thumbs", "value": 1, "data_type": "NUMERIC", "source": "API"}\n'
FEEDBACK = b'{"id": "f1", "run_id": "r1", "key": "user_score", "score": 1, "feedback_source": {"type": "app"}}\n'
CSV = b"session,question,answer,created_at\ns1,How?,So.,2025-06-15T12:00:00Z\ns1,Why?,Because.,2025-06-15T12:01:00Z\n"
#: how a row begins → the folders that it is tried in: name of a file in them → what it is copied from, or holds
FOLDERS: dict[str, list[dict[str, Path | bytes]]] = {
    "turns as the pipeline": [{"turns.jsonl": ROOT / "tests" / "data" / "golden.jsonl"}],
    "messages of OpenAI": [
        {"log.jsonl": path}
        for path in (
            *(GENUINE / f"{name}.jsonl" for name in ("openai", "responses", "anthropic", "langchain")),
            FORMATS / "sharegpt.jsonl",
        )
    ]
    + [{"log.jsonl": orjson.dumps([chat(talk) for talk in TOLD])}],
    "an export of Langfuse or LangSmith": [
        {"export.jsonl": FORMATS / "langfuse.jsonl", "scores.jsonl": SCORE},
        {"export.jsonl": FORMATS / "langsmith.jsonl", "scores.jsonl": FEEDBACK},
    ],
    "Google's conversational agents": [{"rows.jsonl": FORMATS / "dialogflow.jsonl"}],
    "OpenTelemetry GenAI": [
        {"spans.json": GENUINE / f"{name}.jsonl"}
        for name in ("otel-old", "otel-new", "openinference", "openinference-langchain", "openllmetry")
    ]
    + [{"spans.json": FORMATS / "adk.jsonl"}],
    "messages of Pydantic AI": [{"messages.jsonl": FORMATS / "pydanticai.jsonl"}],
    "traces of MLflow": [{"traces.jsonl": FORMATS / "mlflow.jsonl"}],
    "the language models' log of Azure API Management": [{"rows.jsonl": FORMATS / "apim.jsonl"}],
    "other JSON or CSV": [{"log.csv": CSV}],
    "a log on standard input": [{"log.jsonl": GENUINE / "openai.jsonl"}],
    "telemetry that may lack something": [{"FILE": GENUINE / "otel-new.jsonl"}],
}


def table() -> dict[str, list[str]]:
    """What one has → the commands to type."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("### What do you have?")[1].split("\n## ")[0]
    rows = [line.replace("\\|", "\0").split("|")[1:3] for line in section.splitlines() if line.startswith("| ")]
    return {have.strip(): re.findall("`([^`]+)`", typed) for have, typed in rows[1:]}


def folders_of(have: str) -> list[dict[str, Path | bytes]]:
    return next(folders for begin, folders in FOLDERS.items() if have.startswith(begin))


def test_every_row_of_the_table_is_typed() -> None:
    assert len(table()) == len(FOLDERS)
    assert all(folders_of(have) for have in table())


@pytest.mark.parametrize(
    ("have", "number"), [(have, number) for have in table() for number in range(len(folders_of(have)))]
)
def test_what_the_row_says_reads_such_a_file(
    have: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, source in folders_of(have)[number].items():
        (tmp_path / name).write_bytes(source if isinstance(source, bytes) else source.read_bytes())
    monkeypatch.chdir(tmp_path)
    commands = [command for command in table()[have] if "turnsignal " in command]
    assert commands
    for command in commands:
        before, _, typed = command.rpartition("\0")
        piped = (tmp_path / "log.jsonl").read_bytes() if before else None
        done = CliRunner().invoke(turnsignal, shlex.split(typed)[1:], input=piped)
        assert done.exit_code == 0, done.output
    assert "turns" in done.output or "answers with documents" in done.output
