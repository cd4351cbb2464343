"""`turnsignal judge` on files: what it would send, what it sends, what it writes, and how it goes on."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from tests.agents.providers.conftest import Served, serve
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.judging import read_verdicts
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.verdicts import Unjudged
from turnsignal.stream.testing import make_record

SUITE = """
[judging.prices."dear"]
input = 1000.0
output = 1000.0
[[judges]]
name = "grounded"
rubric = "groundedness"
model = "scripted:overlap"
[[judges]]
rubric = "follow_up"
model = "scripted:rules"
share = 0.5
"""
DOCUMENTS = [{"doc_id": "kb/1", "text": "The warranty of the kettle is two years."}]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Served]:
    with serve() as served:
        yield served


@pytest.fixture
def turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six conversations of a question, an answer, and a follow-up with an address in it."""
    lines = []
    for n in range(6):
        said = (
            ("user", "How long is the warranty of the kettle?", {}),
            ("assistant", "The warranty of the kettle is two years [1].", {"retrieved": DOCUMENTS}),
            ("user", "Thanks, mail it to ann@example.org!", {}),
        )
        for second, (role, text, more) in enumerate(said):
            record = make_record(0, second + 10 * n, f"c{n}", turn_id=f"t{second}", role=role, text=text, **more)
            lines.append(record.value or b"")
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    (tmp_path / "suite.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return path


def run(turns: Path, *arguments: str, fine: bool = True) -> Result:
    suite = str(turns.with_name("suite.toml"))
    result = CliRunner().invoke(turnsignal, ["judge", str(turns), "--suite", suite, *arguments])
    if fine:
        assert result.exit_code == 0, result.output
    return result


def as_json(turns: Path, *arguments: str) -> Any:
    return orjson.loads(run(turns, "--json", *arguments).stdout)


def test_the_suites_judges_are_asked_and_their_figures_shown(turns: Path) -> None:
    shown = as_json(turns)
    grounded, follow_up = shown["judges"]
    assert (grounded["judge"], grounded["judged"], grounded["mean"]) == ("grounded", 6, 1.0)
    assert grounded["also"] == {"strict": 1.0}
    assert follow_up["labels"] == {"thanks": follow_up["judged"]}
    assert follow_up["judged"] + follow_up["unscored"].get("sampled_out", 0) == 6
    assert 0 < follow_up["judged"] < 6
    assert {verdict["inclusion"] for verdict in shown["verdicts"]} == {1.0, 0.5}
    assert "grounded" in run(turns).stdout


def test_a_dry_run_shows_prompts_without_what_identifies_people_and_the_greatest_price(turns: Path) -> None:
    shown = as_json(turns, "--dry-run", "--rubric", "follow_up", "--model", "dear", "--limit", "2")
    (plan,) = shown["judges"]
    assert (plan["exchanges"], plan["calls"], len(plan["prompts"])) == (2, 2, 2)
    assert plan["greatest_price"] > plan["likely_price"] > 0
    assert orjson.loads(plan["prompts"][0]["material"])["follow_up"] == "Thanks, mail it to [email]!"
    assert shown["redacted"] == {"email": 2}
    text = run(turns, "--dry-run").stdout
    assert "material" in text
    assert "Taken out before sending: email 6." in text
    assert "ann@" not in text


def test_a_dry_run_needs_no_model_and_says_so(turns: Path) -> None:
    assert "by nobody yet (--model): 6 exchanges" in run(turns, "--dry-run", "--rubric", "task_utility").stdout


def test_a_dry_run_says_the_price_before_the_prompts_and_where_prices_stand(turns: Path) -> None:
    asked = ("--dry-run", "--rubric", "task_utility")
    told = run(turns, *asked).stdout
    assert "price not known: give --price-in and --price-out" in told.splitlines()[0]
    assert '[judging.prices."gpt-4o-mini"]' in run(turns, *asked, "--model", "gpt-4o-mini").stdout
    told = run(turns, *asked, "--price-in", "100", "--price-out", "200").stdout
    assert told.index("at most") < told.index("── task_utility, prompt 1 of 6: instructions")
    (plan,) = as_json(turns, *asked, "--model", "gpt-4o-mini", "--price-in", "100", "--price-out", "200")["judges"]
    assert plan["greatest_price"] > plan["likely_price"] > 0
    assert "together; got one of them" in run(turns, *asked, "--price-in", "1", fine=False).output


def test_texts_are_sent_as_they_are_where_the_suite_says_so(turns: Path) -> None:
    suite = turns.with_name("suite.toml")
    suite.write_text("[judging]\nredact = false\n" + SUITE)
    assert as_json(turns, "--dry-run")["redacted"] == {}


def test_what_the_file_holds_is_not_asked_for_again(turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    first = as_json(turns, "--rubric", "grounded", "--limit", "4", "--out", str(out))
    with out.open("ab") as file:
        file.write(b'{"schema":1,"id":"cut o')  # a run that was stopped while it wrote
    second = as_json(turns, "--rubric", "grounded", "--out", str(out))
    assert [row["judges"][0]["cached"] for row in (first, second)] == [0, 4]
    assert len(read_verdicts(out)) == len(out.read_bytes().splitlines()) == 6
    values = {verdict["id"]: verdict["value"] for verdict in second["verdicts"]}
    assert {verdict["id"]: verdict["value"] for verdict in first["verdicts"]}.items() <= values.items()


def test_a_run_in_which_all_is_lost_that_it_asked_about_fails_whatever_the_file_holds(
    turns: Path, tmp_path: Path, endpoint: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNSIGNAL_JUDGE_LAB_URL", f"http://127.0.0.1:{endpoint.port}/v1")
    out, suite = tmp_path / "verdicts.jsonl", turns.with_name("suite.toml")
    suite.write_text(SUITE + '[[judges]]\nrubric = "task_utility"\nmodel = "lab:401"\nattempts = 1\n')
    run(turns, "--rubric", "grounded", "--out", str(out))
    both = ("--rubric", "grounded", "--rubric", "task_utility", "--limit", "3", "--out", str(out))
    failed = run(turns, *both, fine=False)
    assert failed.exit_code == 1
    assert "none of the 3 that were asked about now could be: provider 3" in failed.output
    assert "Next: turnsignal replay" in failed.output, "the verdicts of before are there"
    assert "Next:" not in run(turns, "--rubric", "task_utility", "--out", str(out), fine=False).output


def test_a_dry_run_says_why_there_is_nothing_to_ask(turns: Path) -> None:
    turns.write_bytes(turns.read_bytes().replace(b'"text":"The warranty of the kettle is two years."', b'"score":1'))
    shown = run(turns, "--rubric", "grounded", "--dry-run").stdout
    assert "grounded: nothing to ask: no_retrieval 6\ngrounded: 6 times the documents came without their texts" in shown


def test_two_runs_at_once_do_not_write_one_file(turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    with out.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = run(turns, "--rubric", "grounded", "--out", str(out), fine=False)
        assert "expected that nobody writes there, got another run that does" in str(refused.exception)
    assert len(as_json(turns, "--rubric", "grounded", "--out", str(out))["verdicts"]) == len(read_verdicts(out)) > 0


def test_verdicts_are_kept_where_nobody_says_where(turns: Path, tmp_path: Path) -> None:
    first = run(turns, "--rubric", "grounded", "--limit", "4").stdout
    assert "Wrote 4 verdicts to out/verdicts/turns.jsonl;" in first
    assert f"Next: turnsignal replay {turns} --verdicts out/verdicts/turns.jsonl" in first
    again = run(turns, "--rubric", "grounded", "--limit", "3").stdout
    assert "It held 1 more, of other exchanges or judges, and keeps them" in again
    kept = (tmp_path / "out" / "verdicts" / "turns.jsonl").read_bytes().splitlines()
    assert len(kept) == 4
    assert as_json(turns, "--rubric", "grounded")["file"] == "out/verdicts/turns.jsonl"


@pytest.mark.parametrize("options", [["--dry-run"], ["--probe"], ["--recorded", "none.jsonl"]])
def test_nothing_is_written_where_no_verdict_is_paid_for(turns: Path, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "none.jsonl").touch()
    run(turns, "--rubric", "grounded", *options, fine=False)
    assert not (tmp_path / "out").exists()


def test_recorded_verdicts_answer_in_the_place_of_the_endpoint(turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    first = as_json(turns, "--rubric", "grounded", "--limit", "4", "--out", str(out))
    again = as_json(turns, "--rubric", "grounded", "--recorded", str(out))
    assert again["judges"][0]["judged"] == 4
    assert again["judges"][0]["unscored"] == {"provider": 2}
    assert [v["value"] for v in again["verdicts"][:4]] == [v["value"] for v in first["verdicts"]]


def test_a_rubric_of_ones_own_is_a_file(turns: Path, tmp_path: Path) -> None:
    own = tmp_path / "tone.toml"
    own.write_text(
        'name = "tone"\nversion = 1\ntitle = "Kind?"\nstage = "response"\nneeds = ["response"]\n'
        'question = "Is it kind?"\n'
        '[[labels]]\nname = "kind"\nvalue = 1.0\nsays = "Yes."\n[[labels]]\nname = "curt"\nvalue = 0.0\nsays = "No."\n'
    )
    (row,) = as_json(turns, "--rubric", str(own), "--model", "scripted:any")["judges"]
    assert (row["judge"], row["rubric"], row["judged"]) == ("tone", "tone", 6)
    renamed = own.rename(tmp_path / "manner.toml")
    refused = run(turns, "--rubric", str(renamed), "--model", "scripted:any", fine=False)
    assert "manner.toml: name: expected 'manner', as the file is called, got 'tone'" in str(refused.exception)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:9/v1", "lab: expected to reach 127.0.0.1:9, got ConnectError"),
        ("{served}/v1", "lab: it refuses the key (HTTP status 401)"),
        ("{served}/v2", "lab: it refuses the model or the URL (HTTP status 404)"),
    ],
)
def test_why_an_endpoint_fails_stands_beside_the_reason(
    turns: Path, endpoint: Served, monkeypatch: pytest.MonkeyPatch, url: str, why: str
) -> None:
    monkeypatch.setenv("TURNSIGNAL_JUDGE_LAB_URL", url.format(served=f"http://127.0.0.1:{endpoint.port}"))
    suite = turns.with_name("suite.toml")
    suite.write_text('[[judges]]\nrubric = "task_utility"\nmodel = "lab:401"\nattempts = 1\n')
    result = run(turns, "--limit", "2", fine=False)
    assert result.exit_code == 1
    assert f"task_utility: not judged: provider 2\n  provider, most often: {why}" in result.output


def test_a_budget_that_is_used_up_leaves_the_rest_unscored(turns: Path) -> None:
    suite = turns.with_name("suite.toml")
    suite.write_text('[judging.prices."scripted:overlap"]\ninput = 1000.0\noutput = 1000.0\n' + SUITE)
    result = run(turns, "--json", "--rubric", "grounded", "--budget", "0.01", fine=False)
    assert result.exit_code == 1
    (row,) = orjson.loads(result.stdout)["judges"]
    assert (row["judged"], row["cost"], row["unscored"]) == (0, 0.0, {"budget": 6})


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--rubric", "groundednes"), "expected who answers for groundednes"),
        (("--rubric", "groundednes", "--model", "x"), "did you mean groundedness?"),
        (("--rubric", "task_utility", "--model", "Nope:x"), "expected MODEL or ENDPOINT:MODEL"),
        (("--rubric", "task_utility", "--model", "lab:x"), "TURNSIGNAL_JUDGE_LAB_URL"),
        (("--rubric", "task_utility", "--model", "dear"), "TURNSIGNAL_JUDGE_OPENAI_KEY"),
        (("--rubric", "nowhere.toml", "--model", "scripted:x"), "nowhere.toml: expected a rubric in TOML"),
        (("--rubric", "task_utility", "--model", "python:nowhere:make"), "expected python:MODULE:FUNCTION"),
        (("--rubric", "task_utility", "--model", "gpt-4o", "--budget", "5"), 'add [judging.prices."gpt-4o"]'),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_asked(
    turns: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    result = run(turns, *arguments, fine=False)
    assert isinstance(result.exception, ConfigError)
    assert complaint in str(result.exception)


def test_a_budget_that_is_no_number_is_refused(turns: Path) -> None:
    result = run(turns, "--rubric", "task_utility", "--model", "scripted:x", "--budget", "nan", fine=False)
    assert result.exit_code == 2
    assert "expected an amount, got nan" in result.output


def test_a_line_that_is_no_verdict_is_named(turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    out.write_text('{"schema":1}\n')
    with pytest.raises(TurnsignalError, match=r"verdicts.jsonl:1: expected a verdict"):
        read_verdicts(out)


def test_nothing_that_could_be_judged_ends_with_one(turns: Path) -> None:
    result = run(turns, "--rubric", "factual_correctness", "--model", "scripted:x", fine=False)
    assert result.exit_code == 1
    assert "none of 6 exchanges could be judged" in result.output


def test_a_provider_of_ones_own_answers(turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_for_judges.py").write_text(
        "from turnsignal.agents.providers.protocol import ProviderReply\n"
        "class Mine:\n"
        "    async def ask(self, call):\n"
        '        return ProviderReply(\'{"intent": "a", "reasoning": "b", "label": "partly"}\')\n'
        "    async def close(self):\n"
        "        pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    model = "python:mine_for_judges:Mine"
    (row,) = as_json(turns, "--rubric", "task_utility", "--model", model)["judges"]
    assert (row["labels"], row["mean"]) == ({"partly": 6}, 0.5)
    assert Unjudged.PARSE not in row["unscored"]
    assert "TURNSIGNAL_JUDGE_OPENAI_KEY" not in os.environ


def test_a_probe_says_how_often_an_answer_flips_in_other_words(turns: Path) -> None:
    grounded, follow_up = as_json(turns, "--probe")["probed"]
    rates = {probe["probe"]: (probe["compared"], probe["flipped"]) for probe in grounded["probes"]}
    # Word overlap, the scripted answer, falls with every sentence that stands in no document.
    assert rates == {"again": (6, 0), "position": (0, 0), "padding": (6, 6), "injection": (6, 6)}
    assert follow_up["judge"] == "follow_up"
    assert "padding" in run(turns, "--probe").stdout
    assert "expected no --out" in run(turns, "--probe", "--dry-run", fine=False).output


def test_a_probe_without_money_says_so(turns: Path) -> None:
    suite = turns.with_name("suite.toml")
    suite.write_text('[judging.prices."scripted:overlap"]\ninput = 1000.0\noutput = 1000.0\n' + SUITE)
    probed = run(turns, "--probe", "--rubric", "grounded", "--budget", "0.01", fine=False)
    assert (probed.exit_code, "grounded: not judged: budget 6" in probed.stdout) == (1, True)


def test_a_cascade_says_which_step_decided_and_how_far_it_agrees_with_the_last_one(turns: Path) -> None:
    cascade = "cascade = { rules = 0.5, anchor = 1.0 }"
    judge = f'[[judges]]\nname = "cascade"\nrubric = "follow_up"\nmodel = "scripted:rules"\n{cascade}\n'
    turns.with_name("suite.toml").write_text(judge)
    (row,) = as_json(turns)["judges"]
    assert (row["judged"], row["decided_by"]) == (6, {"judge": 6})
    turns.with_name("suite.toml").write_text(judge.replace("anchor = 1.0", "anchor = 0.0"))
    (row,) = as_json(turns)["judges"]
    assert (row["decided_by"], row["attempts"], row["cascade"]) == ({"rules": 6}, 0, None)
    assert "decided by rules 6" in run(turns).stdout
    (plan,) = as_json(turns, "--dry-run")["judges"]
    assert (plan["exchanges"], plan["not_asked"]) == (0, {"rules": 6})


def test_a_dry_run_counts_who_is_asked_in_a_run(turns: Path) -> None:
    half = '[[judges]]\nrubric = "task_utility"\nmodel = "scripted:words"\nshare = 0.5\n'
    turns.with_name("suite.toml").write_text(half)
    (plan,), (row,) = as_json(turns, "--dry-run")["judges"], as_json(turns)["judges"]
    assert 0 < plan["exchanges"] == row["judged"] < 6
    assert plan["not_asked"] == {"sampled_out": 6 - row["judged"]}
    small = 'cascade = { small = "scripted:small" }\n'
    turns.with_name("suite.toml").write_text(half.replace("share = 0.5\n", small))
    (plan,) = as_json(turns, "--dry-run")["judges"]
    assert (plan["exchanges"], plan["calls"]) == (6, 12)
    assert "up to 12 calls" in run(turns, "--dry-run").stdout


def test_judges_of_one_endpoint_share_a_budget_that_does_not_pay_for_all(turns: Path) -> None:
    price = '[judging.prices."scripted:words"]\ninput = 0.0\noutput = 1.0\n'
    judge = (
        '[[judges]]\nname = "{}"\nrubric = "task_utility"\nmodel = "scripted:words"\nattempts = 1\nmax_output = 1000\n'
    )
    turns.with_name("suite.toml").write_text(price + judge.format("one") + judge.format("two"))
    rows = as_json(turns, "--budget", "0.001")["judges"]
    assert sum(row["judged"] for row in rows) < 12
    assert abs(rows[0]["judged"] - rows[1]["judged"]) <= 1


def test_a_cascade_that_has_lost_what_needs_a_model_has_no_mean(turns: Path) -> None:
    judge = '[[judges]]\nname = "cascade"\nrubric = "follow_up"\nmodel = "gone:m"\nattempts = 1\ndeadline = "1s"\n'
    lines = turns.read_bytes().replace(b"Thanks, mail it to ann@example.org!", b"And the toaster?", 3)
    turns.write_bytes(lines)
    turns.with_name("suite.toml").write_text(judge + "cascade = { rules = 0.95, anchor = 0.0 }\n")
    env = {"TURNSIGNAL_JUDGE_GONE_URL": "http://127.0.0.1:9/v1"}
    done = CliRunner(env=env).invoke(
        turnsignal, ["judge", str(turns), "--suite", str(turns.with_name("suite.toml")), "--json"]
    )
    (row,) = orjson.loads(done.stdout)["judges"]
    assert row["decided_by"].keys() == {"rules"}
    assert row["unscored"].keys() == {"provider"}
    assert (row["mean"], "3 of 6 exchanges were not judged" in row["no_mean"]) == (None, True)
