"""What comes through a pipe is read whole, whatever it is, though each reading step opens its file anew."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.journal import name_run
from turnsignal.agents.files.labelled import read_labelled
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.errors import ConfigError, TurnsignalError

MANY = 4_000  # more than one block of bytes
Write = Callable[[bytes], Path]


def call_of(number: int) -> dict[str, object]:
    answer = {"choices": [{"message": {"role": "assistant", "content": f"a{number} " + "x" * 300}}]}
    asked = [{"role": "user", "content": f"q{number}"}]
    return {"session_id": f"s{number}", "timestamp": 1_790_000_000 + number, "messages": asked, "response": answer}


LOG = b"".join(orjson.dumps(call_of(number)) + b"\n" for number in range(MANY))
TURNS = b"".join(
    orjson.dumps({"conversation_id": f"c{n}", "turn_id": "1", "role": "user", "text": "x" * 300, "timestamp": n})
    + b"\n"
    for n in range(MANY)
)


@pytest.fixture
def pipe(tmp_path: Path) -> Write:
    """Returns a pipe into which the bytes are written as long as somebody reads."""

    def write(content: bytes) -> Path:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    return write


@pytest.mark.parametrize(
    ("content", "turns"),
    [(LOG, 2 * MANY), (gzip.compress(LOG), 2 * MANY), (LOG[: LOG.index(b"\n")], 2), (TURNS, MANY)],
    ids=["a log", "gzip", "one record", "turns"],
)
def test_a_pipe_is_read_from_its_beginning_to_its_end(content: bytes, turns: int, pipe: Write) -> None:
    path = pipe(content)
    with Imported([path], HowToRead()) as imported:
        recording = Recording(imported.sources)
        assert sum(1 for _ in recording.lines()) == turns
        assert recording.names() == [str(path)]


@pytest.mark.slow
def test_convert_reads_what_bash_puts_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(LOG)
    turnsignal = f"{sys.executable} -m turnsignal.agents.cli"
    convert = (
        f"{turnsignal} convert <(cat log.jsonl) --out out.jsonl && cat log.jsonl | {turnsignal} convert /dev/stdin"
    )
    done = subprocess.run(
        ["bash", "-c", f"{convert} --out again.jsonl"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("out.jsonl", "again.jsonl"):
        assert (tmp_path / name).read_bytes().count(b"\n") == 2 * MANY


def test_a_pipe_is_read_once_and_a_run_through_it_cannot_be_taken_up_again(pipe: Write) -> None:
    path = pipe(LOG)
    with pytest.raises(ConfigError, match=r"expected files, got .*, a pipe, which cannot be read again"):
        name_run([TurnFile(path)], ())
    with pytest.raises(ConfigError, match="once, got it 2 times"), Imported([path, path], HowToRead()):
        pass


def test_an_error_names_a_pipe_as_the_user_did(pipe: Write) -> None:
    path = pipe(b'{"a": 1}\n' * 3)
    with pytest.raises(TurnsignalError) as raised, Imported([path], HowToRead()):
        pass
    assert str(raised.value).startswith(f"{path}: expected one of the formats")
    assert f"convert {path} --propose" in str(raised.value)


def test_labelled_queries_may_come_through_a_pipe(pipe: Write) -> None:
    queries = [{"id": str(number), "labels": ["billing"], "text": "x" * 300} for number in range(MANY)]
    assert len(read_labelled(pipe(orjson.dumps(queries)))) == MANY
