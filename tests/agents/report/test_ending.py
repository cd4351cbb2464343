"""A replay's result as people read it: a first screen, details, and nothing from the traffic that could harm."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from rich.console import Console

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.sample import write_sample
from turnsignal.agents.replaying.result import ReplayResult, read_result
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.report.details import format_details
from turnsignal.agents.report.ending import format_ending, next_commands
from turnsignal.agents.report.overview import format_overview
from turnsignal.agents.report.program_name import typed_program
from turnsignal.agents.report.review import format_review
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.statistics.directions import FREE_CONVERSATIONS
from turnsignal.stream.suite import Suite

FIGURE = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 50}
SAME = {"value": 0.0, "low": -0.1, "high": 0.1, "n": 50, "verdict": "no difference shown"}
NOW = 1_800_000_000.0


def shown(lines: Any, width: int = 250) -> str:
    console = Console(width=width)
    with console.capture() as captured:
        for line in lines:
            console.print(line, highlight=False)
    return captured.get()


def result(worst: tuple[dict[str, Any], ...] = (), **sections: Any) -> ReplayResult:
    empty: dict[str, Any] = {name: [] for name in ("quality", "comparisons", "position_bias", "review", "diagnosis")}
    empty |= {"scores": [], "feedback": [], "turns": {"user": 2, "assistant": 2}, "relevancy": "nDCG@5"}
    empty |= {"conversations": {"begun": 1, "closed": 1}, "dead_letters": {}, "other_environments": {}}
    empty["suite"] = {"least_change": 0.01, "idle": 1_800.0}
    return ReplayResult(Path("out/replay"), {**empty, "environment": "production", **sections}, worst)


def exchange(**given: Any) -> dict[str, Any]:
    ids = {"conversation_id": "c 1", "turn_id": "t2", "assistant": "a", "version": None, "diagnosis": "low/low/high"}
    values = {"loss": 1.8, "relevancy": 0.0, "compliance": None, "follow_up": 0.2, "label": "correction"}
    texts = {"prompt": "Where?", "answer": "There.", "reply": "No."}
    return {**ids, **values, **texts, "failed": False, "broken": [], **given}


def release(version: str | None, conversations: int = 50, **given: Any) -> dict[str, Any]:
    return {"assistant": "support", "version": version, "conversations": conversations, "left_out": {}, **given}


def score(version: str | None, scorer: str, n: int, mean: float | None, **given: Any) -> dict[str, Any]:
    return {"assistant": "support", "version": version, "scorer": scorer, "n": n, "mean": mean, **given}


def test_every_release_has_its_figures_at_any_n_and_says_why_something_is_unscored() -> None:
    scores = [
        score("[red]v1", "nDCG@5", 5, 0.83, low=0.70, high=0.92, unscored={"no_citations": 1_048, "no_retrieval": 445}),
        score("[red]v1", "cited", 1_053, 0.5, unscored={"no_retrieval": 445}),
    ]
    few = release("[red]v1", 2, left_out={"young": 10}, not_compared="2 whole conversations of 30 needed")
    text = shown(format_overview(result(quality=[few], scores=scores)))
    (row,) = [line for line in text.splitlines() if "[red]v1" in line]
    assert row.split() == ["support", "[red]v1", "12", "1,498", "0.83", "±.11", "0.50"]
    assert "nDCG@5: 5 of 1,498 scored; 1,048 no citations, 445 no retrieval" in text


def test_a_narrow_terminal_has_fewer_figures_names_those_left_out_and_breaks_no_row() -> None:
    names = ("nDCG@5", "follow_up", "clarification_free", "compliance", "cited", "dangling")
    scores = [score("v1", name, 50, 0.5, low=0.4, high=0.6) for name in names]
    narrow, wide = (
        shown(format_overview(result(quality=[release("v1")], scores=scores), width), width) for width in (80, 120)
    )
    left_out = "Narrower than 100 columns: cited, dangling left out; summary.json has them"
    assert (left_out in narrow, "left out" in wide, "dangling" in wide) == (True, False, True)
    exact = shown(format_overview(result(quality=[release("v1")], scores=scores), 100), 100)
    assert ("dangling" in exact, "left out" in exact) == (True, False)
    for text in (narrow, wide):
        assert len([line for line in text.splitlines() if "±" in line]) == 1
        assert max(map(len, text.splitlines())) <= 120


def test_the_finding_stands_above_the_figures_and_the_intervals_below() -> None:
    worse = {"value": -0.5, "low": -0.6, "high": -0.4, "n": 50, "verdict": "worse"}
    slow = {"value": 1.0, "low": 0.8, "high": 1.2, "n": 50, "unit": "ratio - 1", "verdict": "worse"}
    kept = worse | {"value": 0.5, "low": 0.4, "high": 0.6, "verdict": "changed", "why": "not called better: cited fell"}
    deltas = {"nDCG@5": worse, "resolved": SAME, "answer_seconds": slow, "compliance": kept, "silent": SAME}
    row = {"assistant": "a", "before": "v1", "after": "v2", "primary": "resolved", "taken_over": 1_200}
    found = result(comparisons=[row | {"deltas": deltas, "attributed": {"v2": 1_148}, "apart": 40}])
    text = " ".join(shown(format_ending(found)).split())
    assert text.index("▼ v2 retrieves worse (a): nDCG@5 −0.50 (−0.60 to −0.40)") < text.index("From one release")
    for part in (
        "▼ v2 answers more slowly (a): answer_seconds +100% (+80% to +120%)",
        "● v2 keeps instructions more often (a): compliance +0.50 (+0.40 to +0.60), not called better: cited fell",
        "resolved +0.000 −0.100 to +0.100 no difference shown (primary)",
        "nDCG@5 −0.500 −0.600 to −0.400 worse",
        "answer_seconds +100% +80% to +120% worse",
        "compliance +0.500 +0.400 to +0.600 changed: not called better: cited fell",
        "Conversations that began under the release before count for that one: 1,200.",
        "a v1 → v2: conversations without a version that count for v2: 1,148.",
        "a v1 → v2: 40 conversations without an answer or a version count for neither",
        "at most 5 % of such comparisons name any change. That holds for one look",
    ):
        assert part in text
    assert "silent +0" not in text


def test_beside_traffic_that_moved_the_change_within_its_parts_stands_below_the_one_over_all() -> None:
    inside = {"value": -0.05, "low": -0.2, "high": 0.1}
    fell = {"value": -0.5, "low": -0.6, "high": -0.4, "n": 50, "verdict": "no difference shown"}
    row = {"assistant": "a", "before": "v1", "after": "v2", "primary": "resolved"}
    for key, parts in (("within_platforms", "within platforms"), ("within_languages", "within languages")):
        deltas = {"resolved": {**fell, key: inside}, "nDCG@5": {**fell, "verdict": "worse"}}
        text = " ".join(shown(format_details(result(comparisons=[row | {"deltas": deltas}]))).split())
        assert f"no difference shown (primary) {parts} −0.050 −0.200 to +0.100 nDCG@5" in text


def test_how_conversations_ended_is_said_with_what_is_left_out() -> None:
    figures = dict.fromkeys(("resolved", "silent", "unanswered", FREE_CONVERSATIONS), FIGURE)
    row = release("v1", turns_per_conversation=6.25, figures=figures, left_out={"young": 1_200, "headless": 1})
    text = shown(format_details(result(quality=[row, release("v2", 0, left_out={"other_environment": 7})])))
    (ended,) = [line for line in text.splitlines() if "support v1" in line]
    assert ended.split()[2:] == ["50", "50%", "-", "-", "50%", "50%", "50%", "6.2"]
    left_out = (
        "Left out: 1,200 conversations not yet idle for 30 min when the recording ended, 1 without its beginning."
    )
    assert f"{left_out} If they are whole, replay with --whole-conversations" in text
    assert "[aggregates]" in text
    assert "Left out: 7 conversations with turns of another environment." in text
    one = release("v1", figures=figures, left_out={"headless": 1}, turns_per_conversation=6.25)
    assert "Left out: 1 conversation without its beginning. If it is whole, replay" in shown(
        format_details(result(quality=[one]))
    )


def test_the_worst_exchanges_are_shown_with_ids_and_texts_that_can_do_no_harm() -> None:
    rows = (exchange(prompt="a\x1b[31m\nb" + "x" * 900, answer=" ", broken=["table.cells"]), exchange(reply=None))
    text = shown(format_details(result(rows)))
    assert "\x1b" not in text
    assert "a\\x1b[31m b" in text
    assert max(map(len, text.splitlines())) <= 250
    for part in ("c 1 · t2 · a · -", "follow-up 0.20 correction", "breaks table.cells", "(empty)", "No."):
        assert part in text


def test_what_to_type_next_is_quoted_and_leaves_out_ids_that_cannot_be_typed() -> None:
    rows = (exchange(conversation_id="\x1b"), exchange(conversation_id="-x"), exchange())
    assert next_commands(result(rows))[0][0] == "turnsignal conversation 'c 1' --from out/replay"
    suspect = {"check": "a.b", "verdict": "never fails", "fails": 0}
    (review, own) = next_commands(result(review=[suspect]), is_sample=True)
    assert (review[0], own[0]) == ("turnsignal review out/replay", "turnsignal replay turns.jsonl.gz")


def test_the_worst_exchange_to_read_is_of_the_release_that_is_named_worse_and_says_which() -> None:
    row = {"assistant": "a", "before": "v1", "after": "v2", "primary": "resolved"}
    fell = {"value": -0.5, "low": -0.6, "high": -0.4, "n": 50, "verdict": "worse"}
    rows = tuple(exchange(conversation_id=f"c-{name}", version=name) for name in ("v1", "v2"))
    worse = result(rows, comparisons=[row | {"deltas": {"resolved": fell}}])
    command, what_for = next_commands(worse)[0]
    assert (command, what_for) == (
        "turnsignal conversation c-v2 --from out/replay",
        "read the worst one of a v2",
    )
    assert next_commands(result(rows, comparisons=[row | {"deltas": {"resolved": SAME}}]))[0][1].endswith("of a v1")
    assert next_commands(result(rows[:1], comparisons=worse.summary["comparisons"]))[0][1].endswith("of a v1")
    assert next_commands(result((exchange(assistant="default"),)))[0][1] == "read the worst one"


def test_the_next_command_can_be_typed_where_the_environment_is_not_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "turnsignal"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert typed_program(".venv/bin/turnsignal") == ".venv/bin/turnsignal"
    assert typed_program("/opt/my tools/turnsignal") == "'/opt/my tools/turnsignal'"
    assert typed_program("/usr/lib/python3/site-packages/pytest/__main__.py") == "turnsignal"
    monkeypatch.setenv("PATH", str(program.parent))
    assert typed_program(str(program)) == "turnsignal"


def test_nothing_readable_is_said_in_place_of_tables() -> None:
    found = result(turns={}, conversations={"begun": 0, "closed": 0}, dead_letters={"not_json": 1_200})
    text = shown(format_ending(found))
    assert text.startswith("0 turns, 0 conversations, 1,200 dead letters\n")
    assert "dead letters, not_json: 1,200" in text
    assert "No turn could be read" in text
    assert "turnsignal replay --sample" in text
    assert "release" not in text


def test_position_bias_that_is_not_known_is_not_mentioned() -> None:
    places = [{"rank": 1, "value": 1.0, "low": 1.0, "high": 1.0}, {"rank": 2, "value": 0.5, "low": 0.4, "high": 0.6}]
    ndcg = [{"version": "v1", "measure": "nDCG@2", "raw": FIGURE, "debiased": FIGURE | {"value": 0.45}}]
    rows = [
        {"assistant": "a", "source": "shuffles", "n": 1200, "propensities": places, "ndcg": ndcg},
        {"assistant": "b", "silent": "not enough swaps: n = 3"},
    ]
    text = shown(format_details(result(position_bias=rows)))
    assert "rank 1 to 2 looked at 1.00 0.50 (from shuffles, n = 1,200)." in text
    assert "v1: nDCG@2 0.500 (0.400–0.600), debiased 0.450 (0.400–0.600)." in text
    assert "In simulations this took out 31 % to 43 % of the bias" in text
    assert "not enough swaps" not in text


def test_votes_stand_beside_follow_ups() -> None:
    row = {"assistant": "[red]a", "version": None, "up": 1_200, "down": 7, "agree": 30, "disagree": 4, "only_vote": 9}
    text = shown(format_details(result(votes=[row | {"only_follow_up": 50, "agreement": 0.8824}])))
    for part in ("[red]a", "1,200", "Votes beside follow-ups", "0.88, -"):
        assert part in text


def test_a_review_without_answers_says_so() -> None:
    assert shown(format_review(result())).startswith("No check applied to any answer")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sample")
    replay_files([write_sample(directory)], directory, Suite(), NOW, workers=1)
    return directory


def test_the_sample_names_its_regression_in_all_assistants_and_little_else(sample: Path) -> None:
    found = read_result(sample)
    assert found.summary["conversations"]["begun"] == 500
    (worse,) = [one for one in found.findings if one.change != "note"]
    assert worse.change == "worse"
    assert worse.sentence.startswith("v3 retrieves worse in all three assistants: nDCG@5 −0.5")
    notes = " ".join(one.sentence for one in found.findings if one.change == "note")
    assert "broken instructions: table.cells in " in notes
    assert "where to work, of " in notes


def test_the_first_screen_of_the_sample_fits_80_columns_and_24_lines(sample: Path) -> None:
    lines = shown(format_overview(read_result(sample), 80), 80).splitlines()
    assert len(lines) <= 23  # and a prompt
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line]


def test_the_worst_exchanges_of_the_sample_are_ten_conversations_with_texts(sample: Path) -> None:
    found = read_result(sample)
    assert len({row["conversation_id"] for row in found.worst}) == len(found.worst) == 10
    assert [row["loss"] for row in found.worst] == sorted((row["loss"] for row in found.worst), reverse=True)
    rows = {(row["conversation_id"], row["turn_id"]) for row in found.rows() if row["stage"] == "response"}
    for row in found.worst:
        assert (row["conversation_id"], row["turn_id"]) in rows
        assert row["prompt"]
        assert row["answer"]
    assert found.worst[0]["answer"][:40].encode() not in (sample / "summary.json").read_bytes()


def test_the_result_as_json_holds_findings_and_worst_exchanges(sample: Path) -> None:
    found = orjson.loads(orjson.dumps(read_result(sample).as_json()))
    assert found["findings"][0]["evidence"][0]["figure"] == "nDCG@5"
    assert len(found["worst"]) == 10
    assert found["quality"][0]["assistant"] == "billing"


def test_review_reads_what_replay_wrote_and_says_what_to_do_per_check(sample: Path) -> None:
    done = CliRunner().invoke(turnsignal, ["review", str(sample)])
    assert done.exit_code == 0
    assert "citation.format" in done.output
    assert "too few to say: replay more conversations" in done.output
    rows = orjson.loads(CliRunner().invoke(turnsignal, ["review", str(sample), "--json"]).output)
    assert {row["check"] for row in rows} >= {"citation.format", "table.cells"}


def test_review_refuses_a_directory_without_a_replay(tmp_path: Path) -> None:
    runner = CliRunner()
    assert "expected a directory that" in str(runner.invoke(turnsignal, ["review", str(tmp_path)]).exception)
    (tmp_path / "summary.json").write_bytes(orjson.dumps({"turns": {}}))
    assert "expected a section `review`" in str(runner.invoke(turnsignal, ["review", str(tmp_path)]).exception)
    assert runner.invoke(turnsignal, ["review", str(tmp_path / "none")]).exit_code == 2


def test_a_result_without_worst_exchanges_is_one_of_an_older_version_and_cut_rows_are_named(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_bytes(orjson.dumps({"review": []}))
    assert read_result(tmp_path).worst == ()
    (tmp_path / "scores.jsonl").write_bytes(b'{"a": 1}\n{"b"')
    with pytest.raises(TurnsignalError, match=r"scores\.jsonl: expected JSON lines"):
        list(read_result(tmp_path).rows())
