"""`turnsignal alarms`: what a recording would have called, the same as a replay and as the detectors live."""

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.detection.incidents import newest
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.records.regressions import read_incident
from turnsignal.stream.records.wire import REGRESSIONS
from turnsignal.stream.simulation import Regression, Traffic, simulate
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A replay with its series: three days of one assistant, whose answers break on the third."""
    made = tmp_path_factory.mktemp("alarms")
    regression = Regression(minute=2 * 1440, version="v2", kind="breaks_format")
    knobs = Traffic(seed=4, turns=5_000, rate=0.0195, assistants=("support",), regression=regression)
    path = made / "turns.jsonl"
    path.write_bytes(b"".join(record.value + b"\n" for record in simulate(knobs) if record.value is not None))
    replay_files([path], made / "out", Suite(), NOW, workers=1, alerts=True)
    return made


def alarms(*arguments: object) -> Result:
    return CliRunner().invoke(turnsignal, ["alarms", *map(str, arguments)])


def as_json(*arguments: object) -> dict[str, Any]:
    done = alarms(*arguments, "--json")
    assert done.exit_code == 0, done.output
    described: dict[str, Any] = orjson.loads(done.stdout)
    return described


def test_what_is_called_of_a_replay_is_what_the_replay_said(replayed: Path) -> None:
    summary = orjson.loads((replayed / "out" / "summary.json").read_bytes())
    assert as_json(replayed / "out") == summary["alerts"]
    assert len(summary["alerts"]["incidents"]) == 1


def test_what_is_called_of_a_topic_is_what_was_called_live_id_by_id(replayed: Path, tmp_path: Path) -> None:
    parts = sorted((replayed / "out" / "series").iterdir())
    topic = [line for part in parts for line in part.read_bytes().splitlines() if line]
    topic.sort(key=lambda line: orjson.loads(line)["times"][0])
    processor, live = SeriesProcessor({}, "series", 0, policy=policy_of(Suite())), []
    for start in range(0, len(topic), 200):
        batch = processor.process([FakeRecord(at, b"support", topic[at]) for at in range(start, len(topic))[:200]])
        processor.accept(batch)
        live += [read_incident(out.value or b"") for out in batch.outputs if out.topic == REGRESSIONS]
    with gzip.open(tmp_path / "series.bin", "wb") as file:  # what a file is stands in it, whatever its name ends with
        file.write(b"\n".join(topic) + b"\n")
    past = as_json(tmp_path / "series.bin")["incidents"]
    assert [incident["id"] for incident in past] == list(newest(live))
    assert past == [incident.as_json() for incident in newest(live).values()]


def test_a_record_that_is_none_is_set_aside_with_its_line_and_the_rest_is_read(replayed: Path, tmp_path: Path) -> None:
    (part, *_) = (path for path in sorted((replayed / "out" / "series").iterdir()) if path.stat().st_size)
    topic = sorted(filter(None, part.read_bytes().splitlines()), key=lambda line: orjson.loads(line)["times"][0])
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(b"\n".join(topic) + b"\n")
    uneven = orjson.dumps(orjson.loads(topic[0]) | {"times": []})
    bad.write_bytes(b"\n".join([topic[0], uneven, *topic[1:], b"nothing"]) + b"\n")
    described, refused = as_json(bad), as_json(bad)["refused"]
    assert {key: value for key, value in described.items() if key != "refused"} == as_json(good)
    assert refused["records"] == 2
    assert [line.split(": ")[0] for line in refused["first"]] == [f"{bad}:2", f"{bad}:{len(topic) + 2}"]
    assert "2 records were set aside" in alarms(bad).output
    batches = tmp_path / "out" / "series"
    batches.mkdir(parents=True)
    (batches / "00.jsonl").write_bytes(b"\n".join([topic[0], b"", uneven, topic[1], b""]) + b"\n")
    assert as_json(batches.parent)["refused"]["first"][0].startswith(f"{batches / '00.jsonl'}:3: ")


def test_a_packed_file_that_is_cut_is_named_as_what_it_is(replayed: Path, tmp_path: Path) -> None:
    (part, *_) = (path for path in sorted((replayed / "out" / "series").iterdir()) if path.stat().st_size)
    cut = tmp_path / "series.jsonl"
    cut.write_bytes(gzip.compress(part.read_bytes())[:-20])
    done = alarms(cut)
    assert done.exit_code == 1
    assert str(done.exception).startswith(f"{cut}: expected a whole gzip file")


def test_a_recording_too_short_to_watch_anything_says_so_instead_of_how_many_alerts_fired(
    replayed: Path, tmp_path: Path
) -> None:
    turns = (replayed / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "turns.jsonl").write_bytes(b"".join(turns[:600]))
    replay_files([tmp_path / "turns.jsonl"], tmp_path / "out", Suite(), NOW, workers=1, alerts=True)
    text = " ".join(alarms(tmp_path / "out", "--tune").output.split())
    assert text.startswith("No series was watched, so nothing could fire: fewer than 1,000 values, or a day, before")
    assert "would have fired" not in text
    assert "No setting of alerts.assistants was tried, as no series was watched." in text
    series = as_json(tmp_path / "out")["series"]
    assert (series["watched"], series["from"]) == (0, None)
    assert {short["scorer"] for short in series["not_watched"][:3]} == {"compliance", "nDCG@5", "follow_up"}
    assert all(short["values"] < 1_000 and short["days"] < 1.0 for short in series["not_watched"])


@pytest.mark.slow
def test_known_incidents_are_hits_misses_or_outside_with_their_delay(replayed: Path, tmp_path: Path) -> None:
    (incident,) = as_json(replayed / "out")["incidents"]
    began = incident["opened"] - 7_200
    known = tmp_path / "known.jsonl"
    stamp = "1970-01-01T00:00:00Z"
    lines: list[dict[str, Any]] = [{"name": "format", "assistant": "support", "began": iso(began)}]
    lines += [{"name": "sales", "assistant": "sales", "began": iso(began)}, {"name": "long ago", "began": stamp}]
    known.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    matched = as_json(replayed / "out", "--known", known)["known"]
    assert [(hit["name"], hit["id"], hit["delay"]) for hit in matched["hits"]] == [("format", incident["id"], 7_200)]
    assert [[known["name"] for known in matched[key]] for key in ("misses", "unwatched", "outside")] == [
        [],
        ["sales"],
        ["long ago"],
    ]
    assert matched["false"] == []
    text = " ".join(alarms(replayed / "out", "--known", known, "--tune").output.split())
    assert "1 known incidents began before any series of their assistants was watched" in text
    assert "1 of 1 other known incidents would have raised an alert." in text
    assert "format: page after 2.0 hours" in text
    assert "alerts.assistants = 1: 0 false pages" in text


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"no JSON", "known.jsonl:2: expected an incident such as"),
        (b'{"name": "x"}', "missing required field `began`"),
        (b'{"began": "yesterday"}', "Invalid RFC3339"),
        (b'{"began": "2026-01-02T00:00:00Z", "ended": "2026-01-01T00:00:00Z"}', "expected `ended` to be after `began`"),
    ],
)
def test_a_line_of_the_list_that_is_no_incident_is_named(
    replayed: Path, tmp_path: Path, line: bytes, expected: str
) -> None:
    known = tmp_path / "known.jsonl"
    known.write_bytes(b'{"began": "2026-01-02T00:00:00Z"}\n' + line)
    done = alarms(replayed / "out", "--known", known)
    assert done.exit_code == 1
    assert expected in str(done.exception)


def test_a_replay_without_series_says_what_to_do_and_other_files_are_refused(replayed: Path, tmp_path: Path) -> None:
    some = b"".join((replayed / "turns.jsonl").read_bytes().splitlines(keepends=True)[:100])
    (tmp_path / "turns.jsonl").write_bytes(some)
    replay_files([tmp_path / "turns.jsonl"], tmp_path / "out", Suite(), NOW, workers=1)
    assert "replay again with --alerts" in str(alarms(tmp_path / "out").exception)
    refused = alarms(replayed / "turns.jsonl")
    assert refused.exit_code == 1
    assert "expected records of series" in str(refused.exception)


def test_rules_that_page_for_nothing_call_tickets(replayed: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[alerts]\npage = []\n")
    described = as_json(replayed / "out", "--rules", rules)
    assert described["page"] == 0
