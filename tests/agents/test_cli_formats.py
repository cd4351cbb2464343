"""Any chat log on the command line: what is said of it, what it ends with, and what convert writes and proposes."""

import gzip
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.options import FORMAT_NAMES
from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.formats import FORMATS
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

DATA = Path(__file__).parents[1] / "data" / "formats"
GOLDEN = DATA.parent / "golden.jsonl"
NOW = 1_800_000_000.0
TURN = {"conversation_id": "c", "turn_id": "t", "role": "user", "text": "a", "timestamp": "2025-06-15T12:00:00Z"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(turnsignal, [str(argument) for argument in arguments])


def replay(tmp_path: Path, *arguments: str | Path) -> Result:
    return run("replay", *arguments, "--out", tmp_path / "out", "--workers", "1")


def test_the_names_of_formats_are_those_of_the_table() -> None:
    assert tuple(FORMATS) == FORMAT_NAMES


LOGS = sorted(path.name for path in DATA.iterdir() if path.is_file() and not path.name.startswith("mapped"))


@pytest.mark.parametrize("name", LOGS)
def test_every_kind_of_log_is_replayed_and_named(name: str, tmp_path: Path) -> None:
    done = replay(tmp_path, DATA / name)
    assert done.exit_code == 0, done.output
    assert f"{name}: taken for " in done.output
    assert (tmp_path / "out" / "scores.jsonl").stat().st_size > 0


def test_a_run_in_which_no_line_could_be_read_ends_with_1_and_shows_the_first_of_each_kind(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b'\n{"conversation_id": "c"}\nnot json\nnot json either\n')
    done = replay(tmp_path, path)
    assert done.exit_code == 1
    assert f"dead letters, missing_field: 1; the first: {path}, line 2: expected the field role" in done.output
    assert f"dead letters, not_json: 2; the first: {path}, line 3: expected one JSON object" in done.output


@pytest.mark.parametrize(("most", "code"), [("2", 0), ("1", 1), ("50%", 0), ("0.1", 1), ("0", 1)])
def test_more_rejected_lines_than_allowed_end_with_1(most: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    lines = [orjson.dumps(TURN | {"turn_id": f"t{number}"}) for number in range(4)]
    path.write_bytes(b"\n".join([*lines, b"not json", b"{}"]))
    done = replay(tmp_path, path, "--max-rejected", most)
    assert done.exit_code == code, done.output
    assert "4 turns" in done.output


@pytest.mark.parametrize("most", ["many", "-1", "120%", "1.5"])
def test_a_bound_that_is_none_is_wrong_usage(most: str, tmp_path: Path) -> None:
    done = replay(tmp_path, GOLDEN, "--max-rejected", most)
    assert done.exit_code == 2
    assert "expected a count such as 20, or a share such as 1% or 0.01" in done.output


def test_deviations_are_read_and_told_once_for_each_file_and_refused_when_strict(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    lines = [
        orjson.dumps(TURN | {"turn_id": f"t{number}", "role": ("Human", "bot")[number % 2]}) for number in range(4)
    ]
    path.write_bytes(b"\n".join([*lines, orjson.dumps(TURN)]))
    done = replay(tmp_path, path)
    assert done.exit_code == 0
    assert f"{path}: assumed: role bot is assistant (2); role human is user (2)." in done.output
    assert "5 turns" in done.output
    summary = orjson.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert summary["assumed"] == {str(path): {"role bot is assistant": 2, "role human is user": 2}}
    strict = replay(tmp_path, path, "--strict")
    assert "assumed" not in strict.output
    assert "unknown_role: 4" in strict.output


@pytest.mark.slow
@pytest.mark.parametrize(("zipped", "as_is"), [(False, False), (True, True)])
def test_lines_that_deviate_give_the_rows_of_those_that_do_not(tmp_path: Path, zipped: bool, as_is: bool) -> None:
    """Whatever the number of processes."""
    knobs = Traffic(seed=5, turns=300, rate=1.0, disorder=0.1)
    turns = [orjson.loads(record.value) for record in simulate(knobs) if record.value is not None]
    plain, odd = tmp_path / "plain.jsonl", tmp_path / "odd.jsonl"
    plain.write_bytes(b"\n".join(orjson.dumps(turn) for turn in turns))
    names = {"user": "Human", "assistant": "ai"}
    for turn in turns[::2]:
        turn["role"] = names.get(turn["role"], turn["role"])
        turn["content"] = turn.pop("text")
    content = b"\n".join(orjson.dumps(turn) for turn in turns)
    odd.write_bytes(gzip.compress(content) if zipped else content)
    replay_files([plain], tmp_path / "a", Suite(), NOW, workers=1, as_is=as_is)
    for workers in (1, 2):
        replay_files([TurnFile(odd, lenient=True)], tmp_path / "b", Suite(), NOW, workers=workers, as_is=as_is)
        for name in ("scores.jsonl", "conversations.jsonl"):
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_dead_letter_of_a_converted_file_names_its_own_line(tmp_path: Path) -> None:
    rows = [TURN, TURN | {"turn_id": "t2", "timestamp": "2200-01-01T00:00:00Z"}, TURN | {"turn_id": "t3", "role": "x"}]
    path = tmp_path / "turns.json"
    path.write_bytes(b"[\n" + b",\n".join(map(orjson.dumps, rows)) + b"]")
    done = replay(tmp_path, path)
    letters = [orjson.loads(row) for row in (tmp_path / "out" / "dead-letters.jsonl").read_bytes().splitlines()]
    assert sorted((row["file"], row["line"], row["reason"]) for row in letters) == [
        (str(path), 3, "future_timestamp"),
        (str(path), 4, "unknown_role"),
    ]
    assert "2 dead letters" in done.output


def test_a_log_without_times_has_whole_conversations(tmp_path: Path) -> None:
    replay(tmp_path, DATA / "messages.json")
    outcomes = orjson.loads((tmp_path / "out" / "summary.json").read_bytes())["outcomes"]
    assert not [row for row in outcomes if row["outcome"] == "cut"]


def test_convert_writes_turns_that_a_topic_takes_and_says_what_was_left(tmp_path: Path) -> None:
    out = tmp_path / "turns.jsonl.gz"
    done = run("convert", DATA / "langfuse.jsonl", "--out", out)
    assert done.exit_code == 0, done.output
    assert "6 records, 4 turns in 1 conversation (2 of users, 2 of assistants)" in done.output
    assert "left out: evaluators' observations (1)" in done.output
    assert [decode_turn(line).role for line in gzip.decompress(out.read_bytes()).splitlines()] == [
        "user",
        "assistant",
    ] * 2


def test_convert_checks_what_the_telemetry_lacks_and_says_what_mends_it() -> None:
    done = run("convert", DATA / "sharegpt.jsonl", "--check")
    assert done.exit_code == 0, done.output
    assert "0% answers with documents (0 of 2)" in done.output
    assert "the retriever is not recorded" in done.output
    assert "100% answers with citations (2 of 2)" in done.output
    assert "the log has no times" in done.output


def test_a_proposed_mapping_reads_the_log_that_it_was_proposed_for(tmp_path: Path) -> None:
    log, mapping = tmp_path / "log.csv", tmp_path / "mapping.toml"
    log.write_text(
        "session,question,answer,created_at\ns1,How?,So.,2025-06-15T12:00:00Z\ns1,Why?,Because.,2025-06-15T12:01:00Z\n"
    )
    assert run("convert", log, "--propose", mapping).exit_code == 0
    text = mapping.read_text()
    assert '# s1\nconversation_id = "session"' in text
    assert '# How? · Why?\nquestion = "question"' in text
    done = replay(tmp_path, log, "--mapping", mapping)
    assert "4 turns, 1 conversation," in done.output


def test_what_was_replayed_is_read_again_as_it_was_whatever_became_of_the_mapping_and_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text(
        "session,question,answer,created_at\ns1,How?,So.,2025-06-15T12:00:00Z\ns1,Why?,Because.,2025-06-15T12:01:00Z\n"
    )
    assert run("convert", "log.csv", "--propose", "mapping.toml").exit_code == 0
    for name in ("before", "after"):
        assert run("replay", "log.csv", "--mapping", "mapping.toml", "--out", f"out/{name}").exit_code == 0
    mapping = Path("mapping.toml")
    mapping.write_text(mapping.read_text().replace('conversation_id = "session"', 'conversation_id = "question"'))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    shown = run("conversation", "s1", "--from", "../out/before").output
    assert "Because." in shown
    compared = run("compare", "../out/before", "../out/after", "--systems")
    assert compared.exit_code == 0, compared.output
    assert run("report", "../out/before").exit_code == 0
    (tmp_path / "log.csv").unlink()
    for command in (("compare", "../out/before", "../out/after", "--systems"), ("report", "../out/before")):
        error = str(run(*command).exception)
        assert error.startswith("log.csv: expected the turns that ../out/before was made of, got no such file")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[turns", "expected TOML"),
        ('[turns]\nrole = "r"\ntext = "t"\n', "expected conversation_id in [turns]"),
        ('[turns]\nrole = "r"\ntext = "t"\nconversation_id = "c"\nrank = "x"\n', "unknown field `rank`"),
        ('[exchanges]\nquestion = 3\nanswer = "a"\n', "got `int` - at `$.exchanges.question`"),
        ("", "expected either [turns] or [exchanges], got neither"),
    ],
)
def test_a_mapping_that_is_wrong_is_named_with_its_key(text: str, told: str, tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(text)
    done = run("convert", DATA / "turns.csv", "--mapping", mapping, "--check")
    assert done.exit_code != 0
    assert told in str(done.exception) + done.output


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ('[exchanges]\nquestion = "frage"\nanswer = "answer"\n', "question = frage"),
        ('[exchanges]\nquestion = "question"\nanswer = "answer"\nconversation_id = "sid"\n', "conversation_id = sid"),
        ('[turns]\nconversation_id = "s"\nrole = "who"\ntext = "answer"\ntimestamp = "at"\n', "role = who"),
        ('[exchanges]\nlist = "rounds"\nquestion = "question"\nanswer = "answer"\n', "list = rounds"),
    ],
)
def test_a_column_of_a_mapping_that_no_record_has_is_named_with_those_that_there_are(
    mapping: str, told: str, tmp_path: Path
) -> None:
    log, path = tmp_path / "log.csv", tmp_path / "mapping.toml"
    log.write_text("s,question,answer,at\ns1,How?,So.,2026-11-20\ns1,Why?,Because.,2026-11-20\n")
    path.write_text(mapping)
    done = run("convert", log, "--mapping", path, "--check")
    assert done.exit_code == 1, done.output
    assert f"expected what the mapping names, {told}" in str(done.exception)
    assert "they have s, question, answer, at; name one of these in the mapping" in str(done.exception)


def test_a_mapping_reads_turns_in_lists_with_words_for_roles(tmp_path: Path) -> None:
    mapping, log = tmp_path / "mapping.toml", tmp_path / "log.jsonl"
    mapping.write_text(
        '[turns]\nlist = "events"\nconversation_id = "ticket"\n'
        'role = { path = "by", visitor = "user", desk = "assistant" }\n'
        'text = "body.text"\ntimestamp = "at"\ndocuments = "hits"\nvote = "thumb"\n'
    )
    events = [
        {"by": "visitor", "body": {"text": "How?"}, "at": 1_749_988_800},
        {"by": "desk", "body": {"text": "So."}, "at": 1_749_988_802_000, "hits": ["d1"], "thumb": "up"},
        {"by": "desk", "body": {}, "at": 1_749_988_803},
    ]
    log.write_bytes(orjson.dumps({"ticket": 5, "events": events}))
    out = tmp_path / "turns.jsonl"
    done = run("convert", log, "--mapping", mapping, "--out", out)
    assert done.exit_code == 0, done.output
    turns = [decode_turn(line) for line in out.read_bytes().splitlines()]
    assert [(turn.conversation_id, turn.role, turn.text, turn.vote) for turn in turns] == [
        ("5", "user", "How?", None),
        ("5", "assistant", "So.", 1),
    ]
    assert "refused, missing_field: 1; the first: " in done.output
    assert "expected the text at body.text, got nothing there" in done.output


def message(second: int, role: str, content: str, **more: str) -> bytes:
    stamp = f"2026-11-18T09:00:{second:02}Z"
    return orjson.dumps({**more, "role": role, "content": content, "timestamp": stamp, "version": "1.4"}) + b"\n"


@pytest.mark.parametrize("key", ["session_id", "chat_id", "thread_id"])
def test_messages_that_name_their_session_are_no_single_conversation(key: str, tmp_path: Path) -> None:
    lines = []
    for number, who in enumerate(("a", "b")):
        lines += [message(10 * number, "user", "How do I reset it?", **{key: who})]
        lines += [message(10 * number + 1, "assistant", "Hold the button.", **{key: who})]
        lines += [message(10 * number + 2, "user", "Thanks, that worked!", **{key: who})]
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    done = replay(tmp_path, tmp_path / "log.jsonl")
    assert done.exit_code == 0, done.output
    rows = (tmp_path / "out" / "conversations.jsonl").read_bytes().splitlines()
    assert sorted(orjson.loads(row)["conversation_id"] for row in rows) == ["a", "b"]
    assert {orjson.loads(row)["version"] for row in rows} == {"1.4"}
    assert "assumed: " in done.output
    assert "conversation_id" in done.output


def test_messages_whose_conversation_has_an_unknown_name_are_refused_with_the_way_out(tmp_path: Path) -> None:
    lines = [message(n, ("user", "assistant")[n % 2], f"text {n}", ticket=f"T-{n // 4}") for n in range(12)]
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    done = replay(tmp_path, tmp_path / "log.jsonl")
    assert "'ticket' repeats like one; `turnsignal convert " in str(done.exception)


def test_a_check_can_be_had_as_json_alone_on_standard_output(tmp_path: Path) -> None:
    done = run("convert", DATA / "sharegpt.jsonl", "--check", "--json")
    assert done.exit_code == 0, done.output
    told = orjson.loads(done.stdout)
    (documents,) = [share for share in told["check"] if share["what"] == "answers with documents"]
    assert (documents["n"], documents["of"], documents["is_low"]) == (0, 2, True)
    assert "the retriever is not recorded" in documents["mend"]
    assert told["files"][0]["format"] == "sharegpt"
    assert told["turns"] == 4


@pytest.mark.parametrize("command", ["replay", "convert"])
def test_a_role_that_nobody_knows_is_told_with_what_to_type(command: str, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    roles = ("user", "Narrator", "Narrator")
    path.write_bytes(
        b"\n".join(orjson.dumps(TURN | {"role": role, "turn_id": f"t{n}"}) for n, role in enumerate(roles))
    )
    options = ["--out", tmp_path / "out"] if command == "replay" else ["--check"]
    done = run(command, path, *options)
    assert "got 'Narrator'" in done.output
    assert f"turnsignal convert {path} --propose mapping.toml; there, role = {{" in done.output
    mapping = tmp_path / "mapping.toml"
    assert run("convert", path, "--propose", mapping).exit_code == 0
    assert "3 turns" in replay(tmp_path, path, "--mapping", mapping).output


def piped(content: bytes, *arguments: object) -> Result:
    return CliRunner().invoke(turnsignal, list(map(str, arguments)), input=content)


@pytest.mark.parametrize("name", ["openai.jsonl", "langchain.json"])
def test_a_log_may_come_by_standard_input(name: str, tmp_path: Path) -> None:
    content = (DATA / name).read_bytes()
    done = piped(content, "replay", "-", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "-: taken for " in done.output
    assert "4 turns" in done.output
    assert orjson.loads((tmp_path / "out" / "summary.json").read_bytes())["files"] == ["-"]
    first = orjson.loads((tmp_path / "out" / "scores.jsonl").read_bytes().splitlines()[0])
    shown = run("conversation", first["conversation_id"], "--from", tmp_path / "out")
    assert "texts are not shown of what came by standard input" in shown.output
    assert piped(content, "convert", "-", "--out", tmp_path / "turns.jsonl").exit_code == 0
    assert len((tmp_path / "turns.jsonl").read_bytes().splitlines()) == 4
    assert piped(content, "convert", "-", "--propose", tmp_path / "m.toml").exit_code == 0


def test_turns_may_come_by_standard_input_and_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    done = piped(orjson.dumps(TURN) + b"\nno json\n", "replay", "-", "--out", tmp_path / "out")
    assert "1 turn" in done.output
    assert "the first: -, line 2: expected one JSON object" in done.output


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    done = piped(b"{}", "replay", "-", "-", "--out", tmp_path / "out")
    assert "expected - once, which is standard input, got it 2 times" in str(done.exception)


@pytest.mark.parametrize("name", ["langsmith.jsonl", "own.jsonl"])
def test_user_ids_become_digests_with_a_secret_and_nothing_else_changes(name: str, tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_bytes(b"".join(orjson.dumps(TURN | {"turn_id": f"t{n}", "user_id": "u-1"}) + b"\n" for n in range(3)))
    log = own if name == "own.jsonl" else DATA / name
    for key in ("one", "two"):
        (tmp_path / key).write_text(key * 16)
        done = run("convert", log, "--out", tmp_path / f"{key}.jsonl", "--hash-users", tmp_path / key)
        assert done.exit_code == 0, done.output
    assert run("convert", log, "--out", tmp_path / "plain.jsonl").exit_code == 0
    one, two, plain = (
        [orjson.loads(line) for line in (tmp_path / f"{kind}.jsonl").read_bytes().splitlines()]
        for kind in ("one", "two", "plain")
    )
    assert {turn["user_id"] for turn in plain} == {"u-1"}
    (first,), (second,) = ({turn["user_id"] for turn in turns} for turns in (one, two))
    assert len({first, second, "u-1"}) == 3
    assert [turn | {"user_id": "u-1"} for turn in one] == plain


def test_a_secret_that_could_be_guessed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("salt\n")
    done = run("convert", DATA / "langsmith.jsonl", "--check", "--hash-users", tmp_path / "key")
    assert "expected a secret of 16 bytes or more, got 4; try: openssl rand -hex 32 >" in str(done.exception)


def turn(**given: str) -> bytes:
    return orjson.dumps({**TURN, **given}) + b"\n"


def replayed(tmp_path: Path, content: bytes, name: str = "log.jsonl") -> Result:
    path = tmp_path / name
    path.write_bytes(content)
    return replay(tmp_path, path)


@pytest.mark.parametrize("stamp", ["18.11.2026 09:00", "18-11-2026 09:00", "11/18/2026 09:00 AM"])
def test_a_time_that_is_written_otherwise_is_shown_with_the_way_out_which_reads_it(stamp: str, tmp_path: Path) -> None:
    log = b"".join(turn(turn_id=str(number), timestamp=stamp) for number in range(3))
    told = replayed(tmp_path, log).output
    assert f"it says {stamp!r}; a mapping says how times are written" in told
    assert "date_format =" in told
    mapping = str(tmp_path / "mapping.toml")
    done = CliRunner().invoke(turnsignal, ["convert", str(tmp_path / "log.jsonl"), "--propose", mapping])
    assert "This mapping reads 3 of the first 3 records." in done.output
    done = CliRunner().invoke(turnsignal, ["convert", str(tmp_path / "log.jsonl"), "--mapping", mapping, "--check"])
    assert "100% turns with a plausible time (3 of 3)" in done.output


def test_what_was_set_aside_is_told_on_top_and_does_not_change_the_exit_code(tmp_path: Path) -> None:
    done = replayed(tmp_path, turn(role="assistant") + b"{}\n" * 2)
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "1 turn, 1 conversation, 1 assistant, 1 release, 2 dead letters"
    assert lines[1].startswith("Of 3 records 2 were set aside (67%: missing_field 2).")
    told = CliRunner().invoke(turnsignal, ["convert", str(tmp_path / "log.jsonl"), "--check"])
    assert told.output.startswith("Of 3 records 2 were set aside (67%: missing_field 2).\n")


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    done = replayed(tmp_path, b"\n")
    assert done.exit_code == 1
    assert f"{tmp_path / 'log.jsonl'}: is empty" in done.output


@pytest.mark.parametrize("line", ["User: Hi\nBot: Hello", "[18.11.26, 09:00:00] Anna: Hi", "--- c1 ---\nUser: Hi"])
def test_plain_text_is_told_apart_from_broken_json(line: str, tmp_path: Path) -> None:
    done = replayed(tmp_path, line.encode(), "log.txt")
    assert isinstance(done.exception, TurnsignalError)
    assert 'got plain text, which is not read; a turn is a line such as {"conversation_id"' in str(done.exception)


@pytest.mark.parametrize("name", ["log of a.log", "app.log.gz"])
def test_json_behind_what_a_logger_writes_is_told_and_the_line_that_takes_it_off_works(
    name: str, tmp_path: Path
) -> None:
    lines = b"".join(b"2026-11-18T09:00:00Z INFO [chat] " + turn(turn_id=number) for number in "123")
    done = replayed(tmp_path, gzip.compress(lines) if name.endswith(".gz") else lines, name)
    assert isinstance(done.exception, TurnsignalError)
    assert "got plain text, with JSON behind it; try: " in str(done.exception)
    subprocess.run(str(done.exception).partition("try: ")[2], shell=True, check=True, cwd=tmp_path)
    assert replay(tmp_path, tmp_path / "records.jsonl").exit_code == 0


@pytest.mark.parametrize("answer", ["In depth, number {}: take the first of both, as it costs less.", "billing {}"])
def test_a_call_that_is_left_out_as_beside_the_conversation_is_shown_where_it_says_much_and_may_be_kept(
    answer: str, tmp_path: Path
) -> None:
    records: list[dict[str, Any]] = []
    for number in range(5):
        asked = {"role": "user", "content": f"Which plan is right for family {number}?"}
        given = {"role": "assistant", "content": f"The second, family {number}."}
        own = {"conversation_id": f"c{number}", "timestamp": 1_790_000_000 + 1_000 * number}
        chat, other = ({"role": "system", "content": words} for words in ("You help.", "Look deeper."))
        later = {"role": "user", "content": "Thanks, and how do I order?"}
        records += [
            own | {"messages": [chat, asked], "response": given["content"]},
            own | {"messages": [other, asked], "response": answer.format(number)},
            own | {"messages": [chat, asked, given, later], "response": "In the shop."},
        ]
    for place, record in enumerate(records):
        record["timestamp"] += 30 * (place % 3)
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    done = run("convert", tmp_path / "log.jsonl", "--out", tmp_path / "turns.jsonl")
    assert "calls beside the conversation left out: intents, titles and the like (5)" in done.output
    assert ("--keep-asides" in done.output) == ("In depth" in done.output) == answer.startswith("In depth")
    kept = run("convert", tmp_path / "log.jsonl", "--keep-asides", "--out", tmp_path / "turns.jsonl")
    assert kept.exit_code == 0
    assert answer.format(4) in (tmp_path / "turns.jsonl").read_text()


def test_turns_and_conversations_in_a_list_are_unwrapped(tmp_path: Path) -> None:
    wrapped = b'{"data": [' + turn() + b", " + turn(turn_id="2", role="assistant") + b"]}"
    assert "2 turns, 1 conversation," in replayed(tmp_path, wrapped.replace(b"\n", b"")).output
    said = [
        [{"role": "user", "content": asked}, {"role": "assistant", "content": "So."}] for asked in ("How?", "Where?")
    ]
    conversations = orjson.dumps({"conversations": [{"id": n, "messages": each} for n, each in enumerate(said)]})
    assert "4 turns in 2 conversations" in replayed(tmp_path, conversations).output


def test_answers_alone_say_that_no_follow_up_could_be_read(tmp_path: Path) -> None:
    said = [turn(role="assistant", turn_id=str(number)) for number in range(3)]
    told = replayed(tmp_path, b"".join(said)).output
    assert "No follow-up could be read" in told
    assert "The recording holds no message of a user." in told


def test_exchanges_that_stand_alone_ask_for_one_id_a_conversation(tmp_path: Path) -> None:
    said = [
        turn(conversation_id=str(number), role=role, turn_id=role, timestamp=f"2026-11-18T0{number}:00:0{second}Z")
        for number in range(4)
        for second, role in enumerate(("user", "assistant"))
    ]
    told = " ".join(replayed(tmp_path, b"".join(said)).output.split())
    assert "No message could be read as a reply to an answer: have all turns of a conversation one id?" in told


@pytest.mark.parametrize("own", [{"turn_id": "t"}, {"timestamp": "2026-11-18T09:00:00Z"}])
def test_our_own_turns_without_a_conversation_are_refused_and_not_taken_for_one(
    own: dict[str, str], tmp_path: Path
) -> None:
    records = [own | {"role": role, "text": f"text {n}"} for n in range(6) for role in ("user", "assistant")]
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(record) for record in records))
    done = run("convert", path, "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 1
    assert "refused, missing_field: 12; the first: " in done.output
    assert "a mapping says which field tells conversations apart: turnsignal convert " in done.output


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("session_id", "jq -sc 'group_by(.session_id)[] | {session_id: .[0].session_id, messages: .}'"),
        ("thread_id", "jq -sc 'group_by(.thread_id)[] | {thread_id: .[0].thread_id, messages: .}'"),
        ("session.id", """jq -sc 'group_by(.["session.id"])[] | {"session.id": .[0]["session.id"], messages: .}'"""),
    ],
)
def test_messages_without_times_are_refused_with_a_command_that_groups_them_by_the_id_they_have(
    key: str, command: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    records = [{key: f"s{n // 2}", "role": ("user", "assistant")[n % 2], "content": f"How {n}?"} for n in range(6)]
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    done = run("convert", path, "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 1
    assert "expected the field timestamp, got none" in done.output
    propose, by_hand = (done.output.index(text) for text in (f"convert {path} --propose mapping.toml", command))
    assert propose < by_hand
    if (jq := shutil.which("jq")) is not None:
        grouped = path.with_name("grouped.jsonl")
        grouped.write_bytes(subprocess.check_output([jq, "-sc", command.split("'")[1], path]))
        assert "6 turns in 3 conversations" in run("convert", grouped, "--check").output


def test_a_table_without_times_is_not_told_of_jq(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("thread_id,role,text\nt1,user,How?\n", encoding="utf-8")
    done = run("convert", path, "--out", tmp_path / "out.jsonl")
    assert "--propose mapping.toml" in done.output
    assert "jq" not in done.output


def test_times_by_their_other_usual_names_are_read_and_told(tmp_path: Path) -> None:
    said = [("c1", "user"), ("c1", "assistant"), ("c2", "user"), ("c2", "assistant")]
    path = tmp_path / "log.jsonl"
    for name, times in {
        "created_at": [f"2026-11-01T09:00:0{n}Z" for n in range(4)],
        "createdAt": [{"$date": f"2026-11-01T09:00:0{n}Z"} for n in range(4)],
        "ts": [1_793_523_600 + n for n in range(4)],
    }.items():
        records = [
            {"thread_id": thread, "role": role, "content": [{"type": "text", "text": {"value": "How?"}}], name: time}
            for (thread, role), time in zip(said, times, strict=True)
        ]
        path.write_bytes(b"\n".join(map(orjson.dumps, records)))
        out = tmp_path / "out.jsonl"
        done = run("convert", path, "--out", out)
        assert done.exit_code == 0
        assert f"{name} is timestamp (4)" in done.output
        turns = sorted(map(decode_turn, out.read_bytes().splitlines()), key=lambda turn: turn.time)
        assert [(turn.conversation_id, turn.time - 1_793_523_600, turn.text) for turn in turns] == [
            (thread, float(n), "How?") for n, (thread, _) in enumerate(said)
        ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("response", "Please give the number."),
        ("completion", "Please give the number."),
        ("output", {"role": "assistant", "content": "Please give the number."}),
        ("output", "Please give the number."),
        ("response", {"content": "Please give the number."}),
    ],
)
def test_an_answer_beside_the_messages_is_read_as_a_text_or_a_message(key: str, value: object, tmp_path: Path) -> None:
    path, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    asked = [{"role": "user", "content": "Where is my order?"}]
    again = [*asked, {"role": "assistant", "content": "Please give the number."}, {"role": "user", "content": "5512"}]
    records = [
        {"conversation_id": f"c{n}", "created_at": f"2026-11-01T09:0{n}:{len(messages):02d}Z", "messages": messages}
        | {key: value if len(messages) == 1 else "It is on its way."}
        for n in range(3)
        for messages in (asked, again)
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    done = run("convert", path, "--out", out)
    assert done.exit_code == 0
    assert "6 records, 12 turns in 3 conversations (6 of users, 6 of assistants)" in done.output
    texts = [orjson.loads(line)["text"] for line in out.read_bytes().splitlines()]
    assert texts[:4] == ["Where is my order?", "Please give the number.", "5512", "It is on its way."]


def test_a_text_beside_messages_that_hold_the_answer_is_not_one_more(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    messages = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]
    path.write_bytes(orjson.dumps({"conversation_id": "c", "messages": messages, "completion": "So."}))
    done = run("convert", path, "--check")
    assert "2 turns in 1 conversation" in done.output
    assert "texts beside messages that end with an answer (1)" in done.output


def test_a_format_that_the_file_does_not_have_is_doubted(tmp_path: Path) -> None:
    done = replay(tmp_path, DATA / "openai.jsonl", "--format", "anthropic")
    warning = "warning: these do not look like anthropic, but like openai, by choices of chat completions:"
    assert warning in done.output
    assert "warning" not in replay(tmp_path, DATA / "openai.jsonl", "--format", "openai").output


def test_a_folder_is_refused_with_the_files_to_give_instead(tmp_path: Path) -> None:
    folder = tmp_path / "my logs"
    folder.mkdir()
    assert f"got the folder {folder}; there are no files in it" in " ".join(run("replay", folder).output.split())
    for name in ("a.jsonl.gz", "b.jsonl.gz", "c.txt", "d.txt", "e.txt"):
        (folder / name).touch()
    done = run("convert", folder, "--check")
    assert done.exit_code == 2
    assert f"expected files, got the folder {folder}; give those in it: '{folder}'/*.jsonl.gz" in done.output


def test_a_proposal_for_what_is_read_without_a_mapping_says_so_and_doubts_are_warned_of(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    told = run("convert", DATA / "openai.jsonl", "--propose", mapping)
    assert told.exit_code == 0
    assert f"warning: read as openai, it needs no mapping: turnsignal replay {DATA / 'openai.jsonl'}" in told.output
    lines = (DATA / "openai.jsonl").read_bytes().splitlines()
    hits = [{"_index": "i", "_source": orjson.loads(line)} for line in lines]
    (tmp_path / "hits.jsonl").write_bytes(b"\n".join(map(orjson.dumps, hits)))
    told = run("convert", tmp_path / "hits.jsonl", "--propose", tmp_path / "hits.toml")
    assert "warning: read as openai in _source, it needs no mapping" in told.output
    messages = [
        {"at": f"2026-11-01T09:00:0{n}Z", "who": ("customer", "bot")[n % 2], "body": f"What is {n}?", "case": n}
        for n in range(9)
    ]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, messages)))
    told = run("convert", tmp_path / "log.jsonl", "--propose", tmp_path / "other.toml")
    assert "needs no mapping" not in told.output
    assert "warning: each of 9 conversations has one turn by case: is that the id of a turn?" in told.output


def test_turns_without_a_text_are_told_that_a_mapping_may_name_it(tmp_path: Path) -> None:
    rows = [{"chatId": "c", "role": "user", "pieces": [{"type": "text", "text": "Hi"}], "createdAt": 0}]
    (tmp_path / "log.jsonl").write_bytes(orjson.dumps(rows[0]))
    told = run("convert", tmp_path / "log.jsonl", "--check")
    assert "a mapping says which field it is: turnsignal convert" in told.output


def test_what_is_like_a_known_format_and_gives_no_turn_is_not_said_to_need_no_mapping(tmp_path: Path) -> None:
    rows = [{"type": "message", "ts": f"179352360{n}.0", "user": "U1", "text": f"Hello {n}"} for n in range(3)]
    (tmp_path / "slack.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    assert "needs no mapping" not in run("convert", tmp_path / "slack.jsonl", "--propose", tmp_path / "m.toml").output


def test_the_id_of_a_user_becomes_a_digest_in_all_ids_of_a_conversation_that_hold_it(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 16)
    document = {"doc_id": "d", "metadata": {"owner": "ann@b.c"}}
    turns = [
        TURN | {"conversation_id": "ann@b.c:7", "turn_id": "ann@b.c:7:1", "role": "assistant", "text": "Hello"},
        TURN | {"conversation_id": "ann@b.c:7", "turn_id": "ann@b.c:7:2", "user_id": "ann@b.c"},
        TURN | {"conversation_id": "joann@b.c:8", "turn_id": "9", "user_id": "9", "retrieved": [document]},
    ]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
    done = run("convert", log, "--out", tmp_path / "out.jsonl", "--hash-users", tmp_path / "key")
    assert done.exit_code == 0, done.output
    lines = map(orjson.loads, (tmp_path / "out.jsonl").read_bytes().splitlines())
    first, second, other = sorted(lines, key=lambda turn: bool(turn["conversation_id"] == "joann@b.c:8"))
    digest = second["user_id"]
    assert {first["conversation_id"], second["conversation_id"]} == {f"{digest}:7"}
    assert (first["turn_id"], second["turn_id"]) == (f"{digest}:7:1", f"{digest}:7:2")
    assert (other["conversation_id"], other["turn_id"]) == ("joann@b.c:8", other["user_id"])
    assert other["retrieved"] == [{"doc_id": "d"}]


@pytest.mark.parametrize("named", [True, False])
def test_that_no_turn_names_a_user_to_hide_is_said(named: bool, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 16)
    log = tmp_path / "log.jsonl"
    log.write_bytes(orjson.dumps(TURN | {"conversation_id": "ann@b.c:7"} | ({"user_id": "ann@b.c"} if named else {})))
    done = run("convert", log, "--out", tmp_path / "out.jsonl", "--hash-users", tmp_path / "key")
    assert ("no turn names a user" in done.output) is not named
    assert ("ann@b.c" in (tmp_path / "out.jsonl").read_text()) is not named


def test_hidden_users_stand_in_no_document_and_what_cites_it_still_does(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 16)
    documents = [
        {"doc_id": f"home/{user}/a.md", "url": f"https://d/{user}", "title": user} for user in ("ann@b.c", "bob@b.c")
    ]
    turns = [
        TURN | {"conversation_id": "c2", "user_id": "bob@b.c"},
        TURN
        | {
            "turn_id": "t2",
            "role": "assistant",
            "user_id": "ann@b.c",
            "text": "So [home/ann@b.c/a.md].",
            "retrieved": [*documents, "d"],
            "metadata": {"citations": [{"doc_id": "home/bob@b.c/a.md"}]},
        },
    ]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
    done = run("convert", log, "--out", tmp_path / "out.jsonl", "--hash-users", tmp_path / "key")
    assert done.exit_code == 0, done.output
    written = (tmp_path / "out.jsonl").read_text()
    assert "b.c" not in written
    bob, answer = map(orjson.loads, written.splitlines())
    assert answer["text"] == f"So [home/{answer['user_id']}/a.md]."
    assert answer["metadata"]["citations"] == [{"doc_id": f"home/{bob['user_id']}/a.md"}]
    assert [document["doc_id"] for document in answer["retrieved"][:2]] == [
        f"home/{turn['user_id']}/a.md" for turn in (answer, bob)
    ]


def test_a_hidden_user_stands_in_no_name_and_in_nothing_that_is_said_of_records(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 16)
    call = {"type": "GENERATION", "user_id": "ann@b.c", "trace_name": "chat of Ann@b.c", "input": "Hi", "output": "Ho"}
    calls = [call | {"trace_id": f"t{n}", "id": f"g{n}", "start_time": "ann@b.c"} for n in range(2)]
    plain = TURN | {"user_id": "9", "version": "9"}
    turns = [plain, TURN | {"turn_id": "t2", "user_id": "ann@b.c", "timestamp": "ann@b.c"}]
    for name, records in (("calls", calls), ("turns", turns)):
        log, out = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.out.jsonl"
        log.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
        for more in ((), ("--json",)):
            done = run("convert", log, "--out", out, "--hash-users", tmp_path / "key", *more)
            assert done.exit_code == 0, done.output
            assert "ann@b.c" not in (done.output + out.read_text()).lower()
    assert orjson.loads(out.read_bytes())["version"] == "9"  # a short number is none of a user's there
    done = run("convert", tmp_path / "calls.jsonl", "--check")
    assert "times that cannot be read, such as 'ann@b.c'" in done.output


def node(name: str, role: str, parts: list[str] | None, time: float | None) -> dict[str, Any]:
    message = {"author": {"role": role}, "create_time": time, "content": {} if parts is None else {"parts": parts}}
    return {"id": name, "message": message}


@pytest.mark.parametrize("spoiled", [False, True])
def test_empty_nodes_of_a_tree_are_no_records_that_are_set_aside(spoiled: bool, tmp_path: Path) -> None:
    trees = [
        {
            "conversation_id": f"c{n}",
            "mapping": {
                "r": {"id": "r", "message": None},
                "s": node("s", "system", [""], None),
                "t": node("t", "tool", None, None),
                "u": node("u", "user", ["How do I bake?"], 1.79e9 + n),
                "a": node("a", "assistant", ["With flour."], 1.79e9 + n + 1),
                "l": node("l", "user", ["Thanks"] if spoiled else [""], None),
            },
        }
        for n in range(3)
    ]
    log, mapping = tmp_path / "conversations.json", tmp_path / "mapping.toml"
    log.write_bytes(orjson.dumps(trees))
    paths = {"role": "message.author.role", "text": "message.content.parts", "timestamp": "message.create_time"}
    paths |= {"list": "mapping.*", "conversation_id": "conversation_id", "turn_id": "id"}
    mapping.write_text("\n".join(["[turns]", *(f'{field} = "{path}"' for field, path in paths.items())]))
    done = run("convert", log, "--mapping", mapping, "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 6
    assert "set aside" not in done.output
    assert ("Of 3 records 3 were read in part (100%: bad_timestamp 3)." in done.output) == spoiled
    assert f"items of a list that say nothing ({9 if spoiled else 12})" in done.output


def test_a_mapping_reads_messages_whose_ids_bear_names_that_nobody_knows(tmp_path: Path) -> None:
    rows = [
        {"tree": "c1", "role": ("user", "assistant")[n % 2], "text": f"What is {n}?", "when": f"2026-11-18T09:00:0{n}Z"}
        for n in range(4)
    ]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    paths = {"conversation_id": "tree", "role": "role", "text": "text", "timestamp": "when"}
    lines = ["[turns]", *(f'{field} = "{path}"' for field, path in paths.items())]
    (tmp_path / "mapping.toml").write_text("\n".join(lines))
    done = run(
        "convert", tmp_path / "log.jsonl", "--mapping", tmp_path / "mapping.toml", "--out", tmp_path / "out.jsonl"
    )
    assert done.exit_code == 0, done.output
    turns = [orjson.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert [turn["text"] for turn in turns] == [row["text"] for row in rows]
    assert {turn["conversation_id"] for turn in turns} == {"c1"}


def test_all_users_of_a_conversation_become_digests_in_its_ids_however_they_are_spelled(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 16)
    users = ["ann@b.c", "Bob@b.c", *(f"guest-{n}" for n in range(150))]
    both, crowd = "dm:ann%40b.c+bob@B.C", "room:7"
    turns = [TURN | {"conversation_id": both, "turn_id": f"{n}", "user_id": user} for n, user in enumerate(users[:2])]
    turns += [TURN | {"conversation_id": crowd, "turn_id": f"{user}/1", "user_id": user} for user in users]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
    done = run("convert", log, "--out", tmp_path / "out.jsonl", "--hash-users", tmp_path / "key")
    assert done.exit_code == 0, done.output
    written = (tmp_path / "out.jsonl").read_text()
    assert not [user for user in (*users, "ann%40b.c", "bob@B.C") if user in written]
    hidden = [orjson.loads(line) for line in written.splitlines()]
    assert len({turn["conversation_id"] for turn in hidden}) == 2
    assert len({(turn["conversation_id"], turn["turn_id"]) for turn in hidden}) == len(turns)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    log = tmp_path / "log.csv"
    log.write_text(
        "session,who,message,at\n" + "".join(f"s1,{who},Hi,2026-11-2{n}\n" for n in (0, 1) for who in ("user", "bot"))
    )
    return log


def test_a_mapping_that_was_edited_is_not_written_over_by_a_proposal(table: Path) -> None:
    mapping = table.with_name("mapping.toml")
    for _ in range(2):  # the same proposal may be written again
        assert run("convert", table, "--propose", mapping).exit_code == 0
    mapping.write_text(mapping.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    done = run("convert", table, "--propose", mapping)
    assert isinstance(done.exception, ConfigError)
    assert "expected a file that is not there yet" in str(done.exception)
    assert f"rm {mapping}" in str(done.exception)
    assert mapping.read_text(encoding="utf-8").endswith("# mine\n")


def test_a_dash_in_the_place_of_a_file_to_write_is_standard_output(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    proposed = run("convert", table, "--propose", "-")
    assert proposed.stdout.startswith("# Proposed by")
    assert "Wrote a first mapping to standard output" in proposed.stderr
    Path("mapping.toml").write_text(proposed.stdout, encoding="utf-8")
    done = run("convert", table, "--mapping", "mapping.toml", "--out", "-")
    assert [decode_turn(line.encode()).role for line in done.stdout.splitlines()] == ["user", "assistant"] * 2
    assert "Wrote 4 turns to standard output." in done.stderr
    assert not Path("-").exists()
    assert run("convert", table, "--mapping", "mapping.toml", "--out", "-", "--json").exit_code == 2


def test_what_was_set_aside_is_a_share_of_records_and_not_of_their_turns(tmp_path: Path) -> None:
    log = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": f"{n}"}]} for n in "abc"]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join([*map(orjson.dumps, log), b"no json"]))
    done = run("convert", path, "--out", tmp_path / "turns.jsonl")
    assert "Of 4 records 1 were set aside (25%: not_json 1)." in done.output


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [("e.json", "[]", "empty"), ("h.csv", "a,b\n", "header alone"), ("e.csv", "", "a file that is empty")],
)
def test_a_file_without_a_record_is_said_to_have_none(name: str, content: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    for more in (["--check"], ["--propose", str(tmp_path / "m.toml")]):
        done = run("convert", path, *more)
        assert done.exit_code == 1
        assert f"{path}: expected records, got " in str(done.exception)
        assert what in str(done.exception)
        assert "mapping.toml" not in str(done.exception)


APART: dict[str, list[Any]] = {
    "a table as pandas": [{"columns": ["a", "b"], "index": [0], "data": [[1, 2]]}],
    "Anthropic's batches": [{"custom_id": "1", "params": {"messages": [{"role": "user", "content": "Hi"}]}}],
    "messages of Pydantic AI": [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]}],
    "Slack's export": [{"type": "message", "ts": "1793523600.1", "user": "U1", "text": "Hi"}],
}


@pytest.mark.parametrize("name", APART)
def test_what_no_mapping_reads_is_refused_with_what_to_type(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, APART[name])))
    done = run("convert", path, "--propose", tmp_path / "m.toml")
    assert done.exit_code == 1
    assert f"got {name}" in str(done.exception)
    assert f" {path} > log.jsonl" in str(done.exception)


def test_sets_whose_list_is_called_conversation_are_read_in_the_order_of_the_list(tmp_path: Path) -> None:
    roles = ("user", "assistant", "user")
    log = [
        {
            "conversation_hash": f"h{n}",
            "timestamp": "2026-11-20T09:00:00Z",
            "conversation": [
                {"role": role, "content": f"{n} {k}", "timestamp": f"2026-11-20T09:0{k}:00Z" if k == 1 else None}
                for k, role in enumerate(roles)
            ],
        }
        for n in range(2)
    ]
    path, out = tmp_path / "set.jsonl", tmp_path / "turns.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, log)))
    done = run("convert", path, "--out", out)
    assert "taken for sharegpt, by a conversation with role and content" in done.output
    turns = sorted(map(decode_turn, out.read_bytes().splitlines()), key=lambda each: each.timestamp)
    for n in range(2):
        assert [turn.text for turn in turns if turn.text.startswith(f"{n} ")] == [f"{n} {k}" for k in range(3)]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("empty.jsonl", b"", "expected records, got none at all"),
        ("rows.json", b'[["c1", "user", "Hi"], ["c1", "bot", "Hello"]]', 'as pandas does with orient="records"'),
        ("other.jsonl", b'{"foo": 1}\n{"foo": 2}', "expected one of the formats that --format names, got JSON lines"),
    ],
)
def test_what_holds_nothing_that_is_known_is_said_in_a_short_line(
    name: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = run("convert", path, "--check")
    message = str(done.exception) if isinstance(done.exception, TurnsignalError) else done.output
    assert problem in message
    assert len(message) < 300 + 2 * len(str(path))


def test_an_archive_is_refused_with_what_unpacks_it(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"a": 1}\n')
    path = tmp_path / "log.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / "log.jsonl", "log.jsonl")
    done = run("convert", path, "--check")
    assert str(done.exception).endswith(f"got an archive of files; unpack it first: tar xf {path}")


def test_what_is_not_read_beside_a_log_counts_as_such_and_is_read_by_the_command_that_is_named(tmp_path: Path) -> None:
    asked = [{"messages": [{"role": "user", "content": f"What is {n}?"}], "response": f"It is {n}."} for n in range(60)]
    call = {"type": "GENERATION", "input": "How?", "start_time": "2026-11-18T09:00:00Z"}
    calls = [call | {"trace_id": f"t{n}", "id": f"o{n}", "output": f"So {n}."} for n in range(7)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(map(orjson.dumps, [*asked, *calls])))
    for most, code in (("6", 1), ("5%", 1), ("7", 0), ("15%", 0)):
        done = run("convert", log, "--out", tmp_path / "out.jsonl", "--max-rejected", most)
        assert done.exit_code == code, (most, done.output)
    assert f"to read them: turnsignal convert {log} --format langfuse --out langfuse.jsonl" in done.output
    done = run("convert", log, "--format", "langfuse", "--out", tmp_path / "langfuse.jsonl")
    assert (done.exit_code, len((tmp_path / "langfuse.jsonl").read_bytes().splitlines())) == (0, 14)
    assert "leave --format out" not in done.output


@pytest.mark.parametrize("key", ["ticket_id", "room_id", "case_number", "meta.RoomNo"])
def test_a_proposal_names_what_looks_like_the_id_of_conversations_that_a_format_does_not_know(
    key: str, tmp_path: Path
) -> None:
    of, _, last = key.rpartition(".")
    calls: list[dict[str, Any]] = []
    for number in range(12):
        named = {last: f"n-{number % 4}", "user_id": f"u-{number % 3}", "app_id": f"a-{number % 2}"}
        asked = {"messages": [{"role": "user", "content": f"What is {number}?"}], "created": 1_790_000_000 + number}
        answered = {"choices": [{"message": {"role": "assistant", "content": f"It is {number}."}}]}
        calls.append(asked | {"response": answered} | ({of: named} if of else named))
    log, mapping = tmp_path / "log.jsonl", tmp_path / "mapping.toml"
    log.write_bytes(b"\n".join(map(orjson.dumps, calls)))
    told = run("convert", log, "--propose", mapping).output
    assert "needs no mapping" not in told
    assert (
        f"each of the first 12 requests is a conversation of its own, and {key} looks like the conversation's id; the"
        in told
    )
    assert f'openai reads: sed \'s/"{last}"/"session_id"/g\' {log} > log.jsonl' in told
    assert f'conversation_id = "{key}"' in mapping.read_text()
    assert "24 turns in 4 conversations" in run("convert", log, "--mapping", mapping, "--check").output
    named_well = tmp_path / "named.jsonl"
    named_well.write_text(log.read_text().replace(f'"{last}"', '"session_id"'))
    assert "24 turns in 4 conversations" in run("convert", named_well, "--check").output


def test_a_proposal_says_that_requests_without_any_id_are_conversations_of_their_own(tmp_path: Path) -> None:
    asked = [{"messages": [{"role": "user", "content": f"What is {n}?"}], "response": f"It is {n}."} for n in range(4)]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, asked)))
    told = run("convert", tmp_path / "log.jsonl", "--propose", tmp_path / "mapping.toml").output
    assert "each of the first 4 requests is a conversation of its own; where that is right, it needs no mapping" in told


def test_an_attribute_of_spans_that_looks_like_the_id_of_conversations_is_named_with_what_to_type(
    tmp_path: Path,
) -> None:
    spans = []
    for number in range(6):
        given = {"gen_ai.operation.name": "chat", "app.ticket_id": f"n-{number % 2}"}
        for side, message in (("input", {"role": "user"}), ("output", {"role": "assistant"})):
            given[f"gen_ai.{side}.messages"] = orjson.dumps([message | {"content": f"{side} {number}"}]).decode()
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in given.items()]
        spans.append({"traceId": f"{number:032x}", "spanId": f"{number:016x}", "attributes": attributes})
    log = tmp_path / "log.json"
    log.write_bytes(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    told = run("convert", log, "--propose", tmp_path / "mapping.toml").output
    assert "app.ticket_id looks like the conversation's id; to give it a name that otel reads: sed" in told
    assert f"""sed 's/"app\\.ticket_id"/"session_id"/g' {log} > log.jsonl""" in told


def test_a_user_is_hidden_in_the_id_of_a_conversation_that_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 32)
    names = (("s0", "ann.bee@example.com"), ("web-ann.bee@example.com-7", None), ("web-Bobby-7", None), ("s1", "bobby"))
    names += (("web%3Abobby%3A8", "bobby"),)
    log = tmp_path / "log.jsonl"
    log.write_bytes(
        b"".join(
            turn(conversation_id=session, turn_id=f"{number}")
            if user is None
            else turn(conversation_id=session, turn_id=f"{number}", user_id=user)
            for number, (session, user) in enumerate(names)
        )
    )
    done = run("convert", log, "--out", tmp_path / "out.jsonl", "--hash-users", tmp_path / "key")
    assert done.exit_code == 0
    written = (tmp_path / "out.jsonl").read_text()
    assert written.count("\n") == len(names)
    assert "web-" in written
    assert "bee" not in written.lower()
    assert "bobby" not in written.lower()


@pytest.mark.parametrize(("calls", "is_said"), [(30, True), (3, False)])
def test_converting_calls_that_send_the_question_alone_says_that_conversations_fall_apart(
    calls: int, tmp_path: Path, *, is_said: bool
) -> None:
    path = tmp_path / "log.jsonl"
    sent = [
        [{"role": "user", "content": f"How {n}?"}, {"role": "assistant", "content": f"So {n}."}] for n in range(calls)
    ]
    path.write_bytes(b"\n".join(orjson.dumps({"messages": messages}) for messages in sent))
    said = run("convert", path, "--out", tmp_path / "turns.jsonl").output
    assert ("warning: 0 of 30 answers that a user message follows: conversations fall apart" in said) == is_said


@pytest.mark.parametrize("is_said", [True, False])
def test_converting_answers_that_name_documents_which_are_not_logged_says_so(tmp_path: Path, *, is_said: bool) -> None:
    path, cited = tmp_path / "log.jsonl", " [kb-1]" if is_said else ""
    sent = [
        [{"role": "user", "content": f"How {n}?"}, {"role": "assistant", "content": f"Open page {n}{cited}."}]
        for n in range(6)
    ]
    path.write_bytes(b"\n".join(orjson.dumps({"messages": messages}) for messages in sent))
    said = run("convert", path, "--out", tmp_path / "turns.jsonl").output
    assert ("warning: 6 answers hold brackets such as [doc_4]" in said) == is_said


def test_a_proposal_that_leaves_open_who_speaks_says_so_and_what_to_fill_in(tmp_path: Path) -> None:
    path, mapping = tmp_path / "log.jsonl", tmp_path / "mapping.toml"
    texts = ["How do I pay?", "By card, in your account.", "And how?", "Under Billing."]
    rows = [{"chat": f"c{n // 4}", "by": n % 2, "msg": texts[n % 4], "at": 1_794_218_400 + n} for n in range(8)]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    said = run("convert", path, "--propose", mapping).output
    assert "reads nothing until it says who speaks; then 8 of the first 8 records" in said
    assert '"0" first says “How do I pay?” and "1" first says “By card, in your account.”' in said
    assert run("convert", path, "--mapping", mapping, "--check").exit_code == 1
    text = mapping.read_text(encoding="utf-8")
    mapping.write_text(text.replace('role = "by"', 'role = { path = "by", "0" = "user", "1" = "assistant" }'))
    assert "8 turns (4 of users, 4 of assistants)" in run("convert", path, "--mapping", mapping, "--check").output


def test_a_follow_up_that_no_rule_recognises_is_no_reason_to_look_for_ids(tmp_path: Path) -> None:
    said = [
        turn(turn_id=f"t{n}", role=role, text=text, timestamp=f"2026-11-18T09:00:0{n}Z")
        for n, (role, text) in enumerate((("user", "Hi"), ("assistant", "Hello."), ("user", "blue, size nine")))
    ]
    later = turn(conversation_id="later", turn_id="t9", timestamp="2026-11-18T12:00:00Z")
    told = " ".join(replayed(tmp_path, b"".join([*said, later])).output.split())
    assert "What users wrote next tells nothing of the answers" in told
    assert "have all turns of a conversation one id?" not in told


def test_questions_alone_say_that_nobody_answers(tmp_path: Path) -> None:
    asked = [turn(role="user", turn_id=str(number)) for number in range(3)]
    assert (
        "Nobody answers: the recording holds no message of an assistant." in replayed(tmp_path, b"".join(asked)).output
    )


def test_check_and_replay_say_whose_the_times_are_that_a_mapping_read_without_a_zone(tmp_path: Path) -> None:
    rows = ["Ticket,Zeit,Rolle,Text", "1,20.11.2026 09:00,user,Wo?", "1,20.11.2026 09:01,assistant,Hier."]
    log, mapping = tmp_path / "log.csv", tmp_path / "mapping.toml"
    log.write_text("\n".join(rows), encoding="utf-8")
    lines = ["[turns]", 'conversation_id = "Ticket"', 'role = "Rolle"', 'text = "Text"', 'timestamp = "Zeit"']
    lines.append('date_format = "%d.%m.%Y %H:%M"')
    for zone, whose in (("", "UTC"), ('zone = "Europe/Berlin"', "Europe/Berlin")):
        mapping.write_text("\n".join([*lines, zone]), encoding="utf-8")
        how = ["--mapping", str(mapping)]
        checked = CliRunner().invoke(turnsignal, ["convert", str(log), *how, "--check"])
        replayed = CliRunner().invoke(turnsignal, ["replay", str(log), *how, "--out", str(tmp_path / f"{whose[:3]}")])
        for done in (checked, replayed):
            assert f"times without a zone are {whose} (2)" in done.output
