"""A log without versions says whether a release hurt, once it is said when that came: `replay --released TIME`."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

import turnsignal as library
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.simulating import write_simulation
from turnsignal.agents.replaying import run
from turnsignal.agents.replaying.checkpoints import ReplayCheckpoints
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.simulation import Regression, Traffic
from turnsignal.stream.suite import load_suite

NOW = 1_790_000_000.0
AT = datetime(2026, 1, 1, 4, tzinfo=UTC)
BEFORE, SINCE = "before 2026-01-01 04:00", "since 2026-01-01 04:00"


@pytest.fixture(scope="module")
def versioned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations over some hours; from four o'clock on a release retrieves worse."""
    path = tmp_path_factory.mktemp("traffic") / "versioned.jsonl"
    worse = Regression(AT.hour * 60, "v2", "retrieves_worse")
    write_simulation(Traffic(seed=11, turns=1_500, rate=0.05, day_night=False, regression=worse), path)
    return path


@pytest.fixture(scope="module")
def turns(versioned: Path) -> Path:
    """The same, where nothing names a version, in no order of time."""
    path = versioned.with_name("turns.jsonl")
    lines = [orjson.loads(line) for line in versioned.read_bytes().splitlines()]
    bare = [{key: value for key, value in each.items() if key not in ("version", "model")} for each in lines]
    path.write_bytes(b"\n".join(map(orjson.dumps, reversed(bare))))
    return path


def replayed(*arguments: str | Path) -> Result:
    return CliRunner().invoke(turnsignal, ["replay", *map(str, arguments), "--workers", "1"])


def findings(*arguments: str | Path) -> list[str]:
    done = replayed(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return [finding["sentence"] for finding in orjson.loads(done.stdout)["findings"]]


def test_a_release_that_nothing_names_is_found_worse(turns: Path, tmp_path: Path) -> None:
    first, *_ = findings(turns, "--out", tmp_path, "--released", "2026-01-01T05:00+01:00")
    assert first.startswith(f"{SINCE} retrieves worse")


def test_without_it_the_option_is_named(turns: Path, tmp_path: Path) -> None:
    said = "no version on any answer, so no releases are compared: --released TIME compares before and after a time"
    assert said in findings(turns, "--out", tmp_path)


def test_a_check_of_the_log_names_the_option_too(turns: Path) -> None:
    done = CliRunner().invoke(turnsignal, ["convert", str(turns), "--check"])
    assert "releases cannot be compared" in done.output
    assert "`replay FILE --released TIME`" in done.output


def test_versions_of_their_own_stay_and_that_is_said(versioned: Path, tmp_path: Path) -> None:
    sentences = findings(versioned, "--out", tmp_path, "--released", "2026-01-01T04:00")
    assert (
        "no release could be told apart by --released: nearly every answer names its version, and keeps it" in sentences
    )


def test_a_time_after_the_recording_tells_nothing_apart_and_that_is_said(turns: Path, tmp_path: Path) -> None:
    sentences = findings(turns, "--out", tmp_path, "--released", "2026-02-01")
    said = "every conversation without a version began before 2026-02-01 00:00, so --released tells none apart"
    assert said in sentences


def test_rows_summaries_report_and_comparison_know_the_releases(turns: Path, tmp_path: Path) -> None:
    assert replayed(turns, "--out", tmp_path / "a", "--released", "2026-01-01T04:00").exit_code == 0
    for name in ("scores.jsonl", "conversations.jsonl"):
        rows = [orjson.loads(line) for line in (tmp_path / "a" / name).read_bytes().splitlines()]
        assert {row["version"] for row in rows if row.get("responses", 1)} >= {BEFORE, SINCE}
    report = CliRunner().invoke(turnsignal, ["report", str(tmp_path / "a")]).stdout
    assert f"{SINCE} against {BEFORE}" in report
    assert "Since 2026-01-01 04:00, " in report
    same = CliRunner().invoke(turnsignal, ["compare", str(tmp_path / "a"), str(tmp_path / "a")])
    assert same.exit_code == 0, same.output


def test_verdicts_on_answers_without_a_version_are_of_their_release(turns: Path, tmp_path: Path) -> None:
    verdicts = tmp_path / "verdicts.jsonl"
    options = ["--rubric", "groundedness", "--model", "scripted:overlap", "--out", str(verdicts)]
    assert CliRunner().invoke(turnsignal, ["judge", str(turns), *options]).exit_code == 0
    done = replayed(turns, "--out", tmp_path / "a", "--verdicts", verdicts, "--released", "2026-01-01T04:00", "--json")
    assert {row["version"] for row in orjson.loads(done.stdout)["judged"]} == {BEFORE, SINCE}


def files(turns: Path, out: Path, **how: object) -> list[bytes]:
    replay_files([turns], out, load_suite(None), NOW, released=[AT.timestamp()], **how)  # type: ignore[arg-type]
    return [path.read_bytes() for path in sorted(out.iterdir())]


def test_ids_that_live_on_are_said_to_hold_answers_of_the_release_in_conversations_of_before() -> None:
    def asked(user: int, hours: int) -> list[dict[str, str]]:
        at = datetime(2026, 1, 1 + hours // 24, hours % 24, user, tzinfo=UTC)
        name = f"user {user}"
        roles = (("user", "How do I pay?"), ("assistant", "Open the menu."), ("user", "Thanks!"))
        return [
            {
                "conversation_id": name,
                "turn_id": f"{hours}:{n}",
                "role": role,
                "text": text,
                "timestamp": at.isoformat(),
            }
            for n, (role, text) in enumerate(roles)
        ]

    daily = [turn for hours in (0, 20, 40, 60) for user in range(40) for turn in asked(user, hours)]
    said = "80 of 160 answers came after a release in conversations that began before it, and count as before it"
    result = library.replay(daily, released="2026-01-02T12:00")
    assert any(finding.sentence.startswith(said) for finding in result.findings())
    rare = [turn for hours in (0, 48, 96, 144) for user in range(40) for turn in asked(user, hours)]
    result = library.replay(rare, released="2026-01-04")
    assert not any("began before it" in finding.sentence for finding in result.findings()), (
        "each is forgotten in between"
    )
    assert {row["version"] for row in result.rows()} == {"before 2026-01-04 00:00", "since 2026-01-04 00:00"}


@pytest.mark.slow
def test_the_files_are_the_same_with_several_processes(turns: Path, tmp_path: Path) -> None:
    assert files(turns, tmp_path / "two", workers=2) == files(turns, tmp_path / "one", workers=1)


@pytest.mark.slow
def test_a_resumed_replay_remembers_when_conversations_began(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(run, "EVERY", 300)
    monkeypatch.setattr("turnsignal.stream.replay._BATCH", 16)
    whole = files(turns, tmp_path / "whole", workers=1)
    with monkeypatch.context() as patch:
        written = ReplayCheckpoints.write

        def write(*given):  # type: ignore[no-untyped-def]
            written(*given)
            raise KeyboardInterrupt

        patch.setattr(ReplayCheckpoints, "write", write)
        with pytest.raises(KeyboardInterrupt):
            files(turns, tmp_path / "resumed", workers=1, resume=True)
    assert files(turns, tmp_path / "resumed", workers=1, resume=True) == whole


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--released", "tuesday"], "--released: expected a time such as 2026-11-20T14:00"),
        (["--released", "9999-12-31T23:59:59.999999"], "--released: expected a time such as 2026-11-20T14:00"),
        (["--released", "2026-01-01", "--as-is"], "which turn is a conversation's first, only times say"),
    ],
)
def test_what_names_no_release_is_refused(turns: Path, tmp_path: Path, options: list[str], why: str) -> None:
    done = replayed(turns, "--out", tmp_path / "a", *options)
    assert done.exit_code != 0
    assert why in f"{done.stderr} {done.exception}"
    assert not (tmp_path / "a").exists()


def test_the_library_takes_the_time_too(turns: Path) -> None:
    result = library.replay(turns, released="2026-01-01T04:00")
    assert {row["version"] for row in result.rows()} >= {BEFORE, SINCE}
    with pytest.raises(library.ConfigError, match="released: expected a time such as"):
        library.replay(turns, released=["tuesday"])
