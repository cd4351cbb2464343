"""Replaying files: sorted in bounded memory, compressed or not, the same whatever the number of processes."""

import gzip
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.reading import MAX_LINE, Recording, read_lines
from turnsignal.agents.files.sample import write_sample
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.errors import ConfigError, Refused, TurnsignalError
from turnsignal.stream.records.decisions import ACCEPT, Decision
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.replay import Indexer
from turnsignal.stream.simulation import Regression, Traffic, simulate
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0
RESULTS = ("scores.jsonl", "conversations.jsonl", "dead-letters.jsonl", "summary.json", "worst.jsonl")


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six hundred turns in disorder, some of them unreadable."""
    knobs = Traffic(seed=5, turns=600, rate=1.0, disorder=0.1, duplicates=0.02, conflicts=0.02, malformed=0.03)
    values = [record.value.replace(b"\n", b" ") for record in simulate(knobs) if record.value is not None]
    path = tmp_path_factory.mktemp("traffic") / "turns.jsonl"
    path.write_bytes(b"\n".join(values) + b"\n")
    return path


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample: v3 retrieves worse in all three assistants, and nothing else."""
    return write_sample(tmp_path_factory.mktemp("sample"))


def results(directory: Path) -> list[bytes]:
    return [(directory / name).read_bytes() for name in RESULTS]


@pytest.mark.slow
@pytest.mark.parametrize("as_is", [False, True])
def test_the_files_are_the_same_whatever_the_number_of_processes(traffic: Path, tmp_path: Path, as_is: bool) -> None:
    for workers in (1, 2):
        replay_files([traffic], tmp_path / str(workers), Suite(), NOW, workers=workers, as_is=as_is)
    assert results(tmp_path / "1") == results(tmp_path / "2")
    assert (tmp_path / "1" / "scores.jsonl").stat().st_size > 100_000
    assert {path.name for path in (tmp_path / "1").iterdir()} == set(RESULTS)


@pytest.mark.slow
@pytest.mark.parametrize("as_is", [False, True])
def test_feedback_is_taken_in_among_the_turns_by_as_many_processes_as_there_are(
    traffic: Path, tmp_path: Path, as_is: bool
) -> None:
    answers = []
    for line in traffic.read_bytes().splitlines():
        with suppress(Refused):
            turn = decode_turn(line)
            if turn.role == "assistant":
                answers.append(turn)
    votes = [
        {"id": f"f{n}", "conversation_id": turn.conversation_id, "turn_id": turn.turn_id, "kind": "vote"}
        | {"vote": -1 if n % 3 else 1}
        | {"timestamp": datetime.fromtimestamp(turn.time + 1_000 * (n % 5), UTC).isoformat()}
        for n, turn in enumerate(answers)
    ]
    lines = [orjson.dumps(vote) for vote in votes]
    (tmp_path / "feedback.jsonl").write_bytes(b"\n".join([*lines, b"not json", lines[0]]))
    (tmp_path / "feedback.jsonl.gz").write_bytes(gzip.compress((tmp_path / "feedback.jsonl").read_bytes()))
    for workers, name in ((1, "feedback.jsonl"), (2, "feedback.jsonl.gz")):
        out = tmp_path / str(workers)
        replay_files([traffic], out, Suite(), NOW, feedback=[tmp_path / name], workers=workers, as_is=as_is)
    assert results(tmp_path / "1")[:2] == results(tmp_path / "2")[:2]
    rows = [orjson.loads(line) for line in (tmp_path / "1" / "scores.jsonl").read_bytes().splitlines()]
    heard = [row["feedback"]["id"] for row in rows if row["stage"] == "feedback"]
    assert sorted(heard) == sorted({vote["id"] for vote in votes})
    summary = orjson.loads((tmp_path / "1" / "summary.json").read_bytes())
    assert sum(row["n"] for row in summary["feedback"]) == len(votes) > 100
    assert sum(row["up"] + row["down"] for row in summary["votes"]) > 0.9 * len(votes)
    (letter,) = [line for line in results(tmp_path / "1")[2].splitlines() if b"feedback.jsonl" in line]
    assert orjson.loads(letter)["line"] == len(lines) + 1


def test_a_compressed_file_gives_the_same_rows(traffic: Path, tmp_path: Path) -> None:
    half = len(traffic.read_bytes().splitlines()) // 2
    lines = traffic.read_bytes().splitlines(keepends=True)
    zipped = tmp_path / "turns.jsonl.gz"  # of two members, as `cat a.gz b.gz` makes it
    zipped.write_bytes(gzip.compress(b"".join(lines[:half])) + gzip.compress(b"".join(lines[half:])))
    replay_files([traffic], tmp_path / "plain", Suite(), NOW, workers=1)
    replay_files([zipped], tmp_path / "zipped", Suite(), NOW, workers=1)
    assert results(tmp_path / "plain")[:2] == results(tmp_path / "zipped")[:2]


def test_a_dead_letter_names_file_line_and_reason(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"turn_id": "t"}\n')
    (tmp_path / "b.jsonl").write_bytes(b"\n\xff not json\n")
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    summary = replay_files(files, tmp_path / "out", Suite(), NOW)
    dead = [orjson.loads(line) for line in (tmp_path / "out" / "dead-letters.jsonl").read_bytes().splitlines()]
    assert [(Path(row["file"]).name, row["line"], row["reason"]) for row in dead] == [
        ("a.jsonl", 1, "missing_field"),
        ("b.jsonl", 2, "not_json"),
    ]
    assert "value" not in dead[1]  # it still stands in the file
    assert summary["dead_letters"] == {"missing_field": 1, "not_json": 1}


def test_sorting_in_little_memory_gives_the_same_order(traffic: Path) -> None:
    def offsets(memory: int) -> list[int]:
        with Recording([traffic]).in_order(Indexer(NOW), memory) as ordered:
            return [record.offset for record in ordered]

    spilled = offsets(20_000)
    assert spilled == offsets(1_000_000_000)
    assert len(spilled) == len(traffic.read_bytes().splitlines())
    assert spilled != sorted(spilled)


def test_equal_times_keep_the_order_of_the_files(tmp_path: Path) -> None:
    """Whether they are held, or lie in as many sorted runs as there are files."""
    line = '{{"conversation_id": "{}", "timestamp": "2025-06-15T12:00:00Z"}}\n'
    paths = [tmp_path / f"{number}.jsonl" for number in range(10)]
    for number, path in enumerate(paths):
        path.write_text("".join(line.format(5 * number + n) for n in range(5)))
    for memory in (500, 1_000_000):
        with Recording(paths).in_order(Indexer(NOW), memory) as ordered:
            assert [(record.offset, record.key) for record in ordered] == [(n, b"%d" % n) for n in range(50)]


@pytest.mark.parametrize("zipped", [False, True])
def test_lines_that_are_read_again_are_what_they_were(tmp_path: Path, zipped: bool) -> None:
    """Byte order marks, line ends of every kind, blocks that end anywhere, and more files than are kept open."""
    line = '{{"conversation_id": "c", "timestamp": "2025-06-15T{:02d}:{:02d}:00Z", "text": "{}"}}'
    paths, written = [], []
    for number in range(70):
        lines = [line.format(23 - minute % 20, number % 60, "x" * 40_000).encode() for minute in range(30)]
        content = b"\xef\xbb\xbf" + b"\n".join(lines[:3]) + b"\n\r\n" + b"\r\n".join(lines[3:])
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_bytes(gzip.compress(content, 1) if zipped else content)
        written += lines
    with Recording(paths).in_order(Indexer(NOW)) as ordered:
        again = [record.value for record in ordered]
    assert sorted(again) == sorted(written)
    assert ordered.count == len(written)


def test_a_file_that_changes_while_it_is_replayed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"conversation_id": "c", "timestamp": "2025-06-15T12:00:00Z"}\n' * 3)
    with Recording([path]).in_order(Indexer(NOW)) as ordered:
        path.write_text("{}\n")
        with pytest.raises(TurnsignalError, match=r"turns\.jsonl: expected 61 bytes at 0 as before"):
            list(ordered)


def test_lines_come_whole_whatever_the_blocks_ends_and_marks(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\n\n" + b"c" * 3_000_000 + b"\nlast")
    lines = [line for block in read_lines(path) for line in block.lines]
    assert lines == [b"a", b"b", b"", b"c" * 3_000_000, b"last"]


def test_a_line_without_end_is_cut_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl.gz"
    path.write_bytes(gzip.compress(b"first\n" + b"x" * (MAX_LINE + 5_000_000) + b"\nlast\n", 1))
    lengths = [len(line) for block in read_lines(path) for line in block.lines]
    assert lengths[0] == 5
    assert MAX_LINE <= lengths[1] < MAX_LINE + 4_000_000
    assert lengths[2:] in ([4], [4, 0])


@pytest.mark.parametrize("spoil", [lambda data: data[:-20], lambda data: data[:50] + b"\0\0\0\0" + data[54:]])
def test_a_damaged_file_is_named_and_nothing_is_written(tmp_path: Path, spoil) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "turns.jsonl.gz"
    path.write_bytes(spoil(gzip.compress(b"".join(b"line %d\n" % n for n in range(10_000)))))
    with pytest.raises(TurnsignalError, match=r"turns\.jsonl\.gz: expected (a whole )?gzip"):
        replay_files([path], tmp_path / "out", Suite(), NOW)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_process_that_fails_ends_the_replay_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 1000)[:-9])
    with pytest.raises(TurnsignalError, match="ends early"):
        replay_files([path], tmp_path / "out", Suite(), NOW, workers=2)


def test_an_empty_file_is_an_empty_replay(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_bytes(b"")
    summary = replay_files([tmp_path / "none.jsonl"], tmp_path / "out", Suite(), NOW)
    assert summary["turns"] == {}
    assert (tmp_path / "out" / "scores.jsonl").read_bytes() == b""


def test_a_recording_of_another_environment_says_what_it_holds_and_lets_one_pick(tmp_path: Path) -> None:
    golden = [orjson.loads(line) for line in Path("tests/data/golden.jsonl").read_bytes().splitlines()]
    turns = tmp_path / "turns.jsonl"
    turns.write_bytes(b"\n".join(orjson.dumps(turn | {"environment": "synthetic"}) for turn in golden))
    out = tmp_path / "out"

    def told(*arguments: str) -> str:
        done = CliRunner().invoke(turnsignal, [*arguments])
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    plain = told("replay", str(turns), "--out", str(out), "--workers", "1")
    said = "No turn is of production; there are 43 of synthetic: --environment synthetic shows their figures."
    assert said in plain
    assert "No turn could be read" not in plain
    assert said in told("review", str(out))
    assert len((out / "scores.jsonl").read_bytes().splitlines()) > 20
    picked = told("replay", str(turns), "--out", str(out), "--workers", "1", "--environment", "synthetic")
    assert "No turn is of" not in picked
    assert "43 turns" in picked
    assert orjson.loads((out / "summary.json").read_bytes())["environment"] == "synthetic"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of one assistant, whose answers break on the third."""
    regression = Regression(minute=2 * 1440, version="v2", kind="breaks_format")
    knobs = Traffic(seed=4, turns=5_000, rate=0.0195, assistants=("support",), regression=regression)
    path = tmp_path_factory.mktemp("broken") / "turns.jsonl"
    path.write_bytes(b"".join(record.value + b"\n" for record in simulate(knobs) if record.value is not None))
    return path


@pytest.fixture(scope="module")
def back_tested(broken: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The directory of a back test of these days in one process, and what the command printed."""
    out = tmp_path_factory.mktemp("back-tested")
    asked = CliRunner().invoke(turnsignal, ["replay", str(broken), "--out", str(out), "--alerts", "--workers", "1"])
    assert asked.exit_code == 0
    return out, asked.output


def kept_series(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (directory / "series").iterdir()}


@pytest.mark.slow
def test_a_back_test_says_the_same_whatever_the_number_of_processes(
    broken: Path, back_tested: tuple[Path, str], tmp_path: Path
) -> None:
    two = replay_files([broken], tmp_path / "2", Suite(), NOW, workers=2, alerts=True)["alerts"]
    assert orjson.loads((back_tested[0] / "summary.json").read_bytes())["alerts"] == orjson.loads(orjson.dumps(two))
    assert len(two["incidents"]) == 1
    assert {path.name for path in (tmp_path / "2").iterdir()} == {*RESULTS, "series"}
    assert kept_series(back_tested[0]) == kept_series(tmp_path / "2") != {}


@pytest.mark.slow
def test_a_back_test_says_when_would_have_been_called_and_why(back_tested: tuple[Path, str]) -> None:
    out, printed = back_tested
    text = " ".join(printed.split())  # terminals break lines where they will
    assert "1 page and 0 tickets would have fired in " in text
    assert "citation.format: lower, from" in text
    assert "one page in 30 days of the 3 scorers that page of this assistant at most" in text
    (incident,) = orjson.loads((out / "summary.json").read_bytes())["alerts"]["incidents"]
    assert (incident["assistant"], incident["tier"]) == ("support", "page")
    assert {path.name for path in out.iterdir()} == {*RESULTS, "series"}


@pytest.mark.slow
def test_a_back_test_hears_what_operators_decided(broken: Path, back_tested: tuple[Path, str], tmp_path: Path) -> None:
    command = ["replay", str(broken), "--out", str(tmp_path), "--alerts", "--workers", "1"]
    called = orjson.loads((back_tested[0] / "summary.json").read_bytes())["alerts"]["incidents"][0]
    accepted = Decision(ACCEPT, "support", 0, called["opened"] + 1.0, called["id"]).encode()
    unknown = Decision(ACCEPT, "support", 0, called["opened"] + 2.0, "5d0c").encode()
    (tmp_path / "decisions.jsonl.gz").write_bytes(gzip.compress(unknown + b"\n" + accepted + b"\n"))
    heard = CliRunner().invoke(turnsignal, [*command, "--decisions", str(tmp_path / "decisions.jsonl.gz")])
    assert "2 decisions of operators were heard; 1 of them are about nothing here." in heard.output
    incident = orjson.loads((tmp_path / "summary.json").read_bytes())["alerts"]["incidents"][0]
    assert (incident["id"], incident["closed_by"]) == (called["id"], "accepted")


def test_decisions_that_are_none_or_that_nobody_hears_are_refused(traffic: Path, tmp_path: Path) -> None:
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_bytes(b'\n{"schema": 1}\n')
    command = ["replay", str(traffic), "--out", str(tmp_path / "out"), "--decisions", str(decisions)]
    alone = CliRunner().invoke(turnsignal, command)
    assert (alone.exit_code, "--decisions go with --alerts: give both" in alone.output) == (2, True)
    broken = CliRunner().invoke(turnsignal, [*command, "--alerts"])
    assert isinstance(broken.exception, ConfigError)
    assert "decisions.jsonl:2: expected a decision" in str(broken.exception)


def test_nothing_is_said_of_a_back_test_unasked(traffic: Path, tmp_path: Path) -> None:
    assert "called" not in CliRunner().invoke(turnsignal, ["replay", str(traffic), "--out", str(tmp_path)]).output
    assert "alerts" not in orjson.loads((tmp_path / "summary.json").read_bytes())


def test_feedback_of_which_nothing_can_be_read_ends_the_replay_with_1(tmp_path: Path) -> None:
    feedback = tmp_path / "feedback.jsonl"
    feedback.write_text("hello\n")
    command = ["replay", "tests/data/golden.jsonl", "--out", str(tmp_path / "out"), "--feedback", str(feedback)]
    done = CliRunner().invoke(turnsignal, command)
    assert (done.exit_code, f"{feedback}: no record of feedback could be read" in done.output) == (1, True)
    feedback.write_text("")
    assert CliRunner().invoke(turnsignal, command).exit_code == 0, "a day without feedback is no fault"


def test_verdicts_of_which_none_can_be_read_end_the_replay_with_1(tmp_path: Path) -> None:
    turns = "tests/data/golden.jsonl"
    command = ["replay", turns, "--out", str(tmp_path / "out"), "--verdicts", turns]
    done = CliRunner().invoke(turnsignal, command)
    assert (done.exit_code, f"{turns}: no verdict could be read" in done.output) == (1, True)


@pytest.mark.parametrize(
    ("content", "options", "got"),
    [
        ("", [], "got none"),
        (None, ["--environment", "synthetic"], "got 43 of production"),
        ('{"conversation_id": "c"}\n', [], "got 1 missing_field"),
    ],
)
def test_a_replay_of_nothing_leaves_what_an_earlier_one_wrote(
    tmp_path: Path, content: str | None, options: list[str], got: str
) -> None:
    out, turns = tmp_path / "out", Path("tests/data/golden.jsonl")
    assert CliRunner().invoke(turnsignal, ["replay", str(turns), "--out", str(out)]).exit_code == 0
    before = results(out)
    if content is not None:
        (turns := tmp_path / "nothing.jsonl").write_text(content)
    done = CliRunner().invoke(turnsignal, ["replay", str(turns), "--out", str(out), *options])
    assert isinstance(done.exception, TurnsignalError)
    assert got in str(done.exception)
    assert "nothing was scored, so what an earlier replay wrote there stays" in str(done.exception)
    assert results(out) == before


@pytest.mark.parametrize("command", ["review", "report"])
def test_a_file_in_the_place_of_a_replays_directory_is_answered_with_the_command(command: str) -> None:
    done = CliRunner().invoke(turnsignal, [command, "tests/data/golden.jsonl"])
    assert done.exit_code == 2
    typed = f"turnsignal replay tests/data/golden.jsonl --out out/replay && turnsignal {command} out/replay"
    assert typed in " ".join(done.output.split())


def test_records_that_came_again_are_told(tmp_path: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    twice.write_bytes(Path("tests/data/golden.jsonl").read_bytes() * 2)
    done = CliRunner().invoke(turnsignal, ["replay", str(twice), "--out", str(tmp_path / "out")])
    assert "came again, and counted once: " in done.output


def test_conversations_that_are_said_to_be_whole_are_compared_though_the_recording_ends_with_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_bytes(
        b"\n".join(
            orjson.dumps(
                {"conversation_id": str(n // 2), "turn_id": str(n % 2), "role": role, "text": f"Is it {n}?"}
                | {"timestamp": 1_700_000_000 + n, "version": version}
            )
            for version, first in (("v1", 0), ("v2", 80))
            for n, role in enumerate(("user", "assistant") * 40, first)
        )
    )
    compared = []
    for options in ([], ["--whole-conversations"], ["--whole-conversations", "--baseline", "v2"]):
        done = CliRunner().invoke(turnsignal, ["replay", str(path), *options, "--out", str(tmp_path / "out"), "--json"])
        assert done.exit_code == 0
        compared += [[(row["before"], row["after"]) for row in orjson.loads(done.stdout)["comparisons"]]]
    assert compared == [[], [("v1", "v2")], [("v2", "v1")]]
    done = CliRunner().invoke(turnsignal, ["replay", str(path), "--baseline", "v3", "--out", str(tmp_path / "out")])
    assert str(done.exception) == "baseline: expected one of v1, v2; got 'v3'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "code", "words"),
    [
        ("nDCG@5, cited", 3, "Worse: nDCG@5 of billing v3, nDCG@5 of search v3, nDCG@5 of support v3."),
        ("any", 3, "Worse: nDCG@5 of billing v3, nDCG@10 of billing v3,"),
        ("follow_up", 0, ""),
        ("table.cells", 4, "billing v3 has too few conversations with table.cells"),
        ("ndcg", 2, "--fail-if-worse: no score is called 'ndcg'; did you mean nDCG@5?"),
        ("helpfulness", 2, "--fail-if-worse: expected scores that releases are compared by (resolved,"),
    ],
)
def test_a_replay_fails_where_a_newest_release_is_worse_in_what_it_is_asked_for(
    sample: Path, tmp_path: Path, scores: str, code: int, words: str
) -> None:
    how = ["replay", str(sample), "--out", str(tmp_path), "--fail-if-worse", scores]
    done = CliRunner().invoke(turnsignal, how)
    assert done.exit_code == code, done.output
    assert words in " ".join(done.stderr.split())


def test_a_score_that_is_misspelt_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_text("")
    how = [
        "replay",
        str(tmp_path / "turns.jsonl"),
        "--out",
        str(tmp_path / "out"),
        "--fail-if-worse",
        "cited, folow_up",
    ]
    done = CliRunner().invoke(turnsignal, how)
    assert done.exit_code == 2
    assert "no score is called 'folow_up'; did you mean follow_up?" in done.stderr
    assert not (tmp_path / "out").exists()
    (tmp_path / "labels.jsonl").write_text("")
    with_labels = CliRunner().invoke(turnsignal, [*how, "--feedback", str(tmp_path / "labels.jsonl")])
    assert "no score is called" not in with_labels.stderr, "labels may bring it"


def test_times_without_a_zone_and_numbers_as_versions_are_read_and_said(tmp_path: Path) -> None:
    turns = [{"turn_id": "1", "role": "user", "text": "How?"}, {"turn_id": "2", "role": "assistant", "text": "So."}]
    more = {"conversation_id": "c-1", "timestamp": "2026-01-01T00:00:00", "version": 1.1, "user_id": 7}
    lines = [orjson.dumps(turn | more) for turn in turns] + [
        orjson.dumps({**more, **turns[0], "version": None, "user_id": None})
    ]
    (tmp_path / "turns.jsonl").write_bytes(b"\n".join(lines))
    done = CliRunner().invoke(turnsignal, ["replay", str(tmp_path / "turns.jsonl"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "a number as version is a text, and 1.10 the same as 1.1 (2)" in done.output
    assert "times without a zone are UTC (3)" in done.output
    (tmp_path / "turns.jsonl").write_bytes(lines[2])
    done = CliRunner().invoke(turnsignal, ["replay", str(tmp_path / "turns.jsonl"), "--out", str(tmp_path / "more")])
    assert "times without a zone are UTC (1).\n" in done.output, "--strict refuses none"
    assert {row["version"] for row in orjson.loads((tmp_path / "out" / "summary.json").read_bytes())["quality"]} == {
        "1.1"
    }


def test_a_replay_of_one_release_knows_nothing_of_worse(tmp_path: Path) -> None:
    knobs = Traffic(seed=5, turns=60, rate=1.0, versions=("v1",))
    (tmp_path / "turns.jsonl").write_bytes(b"\n".join(one.value for one in simulate(knobs) if one.value is not None))
    how = ["replay", str(tmp_path / "turns.jsonl"), "--out", str(tmp_path / "out"), "--fail-if-worse", "any"]
    done = CliRunner().invoke(turnsignal, how)
    assert done.exit_code == 4
    assert "Not known whether it is worse: no assistant has two releases." in done.stderr
