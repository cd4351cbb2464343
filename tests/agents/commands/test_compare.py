"""`turnsignal compare`: one recording under two suites, two replays, and what it ends with."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.sample import write_sample


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample and two suites: the second one reads corrections more strictly."""
    made = tmp_path_factory.mktemp("compare")
    write_sample(made)
    (made / "now.toml").write_text('name = "now"')
    (made / "next.toml").write_text(
        'name = "next"\n[follow_ups]\nstrict = { correction = 0.0 }\n[retrieval]\nmeasures = ["nDCG@5", "RR@5"]\n'
    )
    return made


@pytest.fixture(scope="module")
def compared(directory: Path) -> Result:
    """What is said of the sample under both suites, which fails where anything is worse."""
    suites = [f"--suite={directory / name}.toml" for name in ("now", "next")]
    how = [f"--out={directory / 'out'}", "--plan", "0.02", "--fail-if-worse", "all"]
    return CliRunner().invoke(turnsignal, ["compare", str(directory / "turns.jsonl.gz"), *suites, *how])


@pytest.mark.slow
def test_a_suite_that_reads_more_strictly_is_named_with_what_it_changes(directory: Path, compared: Result) -> None:
    text = " ".join(compared.output.split())
    assert text.startswith("1,898 exchanges of 500 conversations"), "its answers, not its score rows"
    assert "With next worse: follow_up −0.0" in text
    assert "Not compared, only in now: nDCG(order=retrieval)@10, nDCG@10" in text
    assert "Not compared, only in next: RR@5" in text
    assert "Conversations that moved most" in text
    assert "To name a change of 0.02 in follow_up:" in text
    again = CliRunner().invoke(
        turnsignal, ["compare", str(directory / "out/before"), str(directory / "out/after"), "--json"]
    )
    figures = orjson.loads(again.stdout)["figures"]
    assert figures["follow_up"]["verdict"] == "worse"
    assert figures["nDCG@5"]["verdict"] == "identical"


@pytest.mark.slow
def test_a_build_fails_where_what_it_names_is_worse(directory: Path, compared: Result) -> None:
    assert compared.exit_code == 3, compared.output
    sides = ["compare", *(str(directory / "out" / side) for side in ("before", "after")), "--fail-if-worse"]
    assert CliRunner().invoke(turnsignal, [*sides, "compliance, nDCG@5"]).exit_code == 0
    assert CliRunner().invoke(turnsignal, [*sides, "all"]).exit_code == 3
    done = CliRunner().invoke(turnsignal, [*sides, "ndcg"])
    assert done.exit_code == 2
    assert "expected scores that both replays have" in done.output


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        (["{0}/turns.jsonl.gz"], "got files and 0 --suite"),
        (["{0}", "{0}/turns.jsonl.gz"], "got both kinds"),
        (["{0}"], "got 1 of them"),
        (["{0}", "{0}", "--suite", "{0}/now.toml"], "got 2 of them and --suite"),
    ],
)
def test_anything_but_two_replays_or_two_suites_is_refused(directory: Path, arguments: list[str], got: str) -> None:
    done = CliRunner().invoke(turnsignal, ["compare", *(argument.format(directory) for argument in arguments)])
    assert done.exit_code == 2
    assert got in " ".join(done.output.split())


def system(path: Path, answers: list[str], prefix: str = "") -> Path:
    """Write one system's answers to the same questions, all conversations under ids that the other has, too."""
    lines = []
    for number, answer in enumerate(answers):
        about = {
            "conversation_id": f"{prefix}{number}",
            "timestamp": f"2026-01-05T10:{number // 60:02}:{number % 60:02}Z",
        }
        lines.append(about | {"turn_id": "u1", "role": "user", "text": f"Question {number}?"})
        documents = [{"doc_id": "doc_1"}, {"doc_id": "doc_2"}]
        lines.append(about | {"turn_id": "a1", "role": "assistant", "text": answer, "retrieved": documents})
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def test_two_systems_are_compared_on_the_questions_that_both_were_asked(tmp_path: Path) -> None:
    first = system(tmp_path / "a.jsonl", ["See [doc_2]."] * 60)
    second = system(tmp_path / "b.jsonl", ["See [doc_1]."] * 50, prefix="other ")
    arguments = ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}"]
    done = CliRunner().invoke(turnsignal, arguments)
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "50 pairs of 50 cases" in text
    assert "0 by case, 50 by the opening question; left out without a partner: 10 of a.jsonl, 0 of b.jsonl" in text
    assert "10 of 60 cases have no record of the second system (b.jsonl)" in text
    assert "With b.jsonl changed: nDCG" in text
    assert "Nothing here says whether answers are right" in text
    sides = [str(tmp_path / "out" / side) for side in ("before", "after")]
    again = CliRunner().invoke(turnsignal, ["compare", *sides, "--systems", "--json"])
    compared = orjson.loads(again.stdout)
    assert compared["pairs"] == {"by_id": 0, "by_question": 50, "alone": [10, 0], "written": [0, 0]}
    ndcg = compared["figures"]["nDCG@5"]
    assert ndcg["value"] == pytest.approx(1 - 0.6309, abs=1e-4)
    assert ndcg["why"] == "not called better: 100% of answers cite just the first of their documents, 0% before"
    refused = CliRunner().invoke(turnsignal, ["compare", *sides])
    assert refused.exit_code == 1
    assert "compared with --systems" in str(refused.exception)


def test_a_system_that_writes_nothing_down_where_it_fails_is_no_pass(tmp_path: Path) -> None:
    wrong = {number for number in range(60) if number % 4 == 0}
    first = system(tmp_path / "a.jsonl", ["An error occurred." if n in wrong else "See [doc_1]." for n in range(60)])
    second = system(tmp_path / "b.jsonl", ["See [doc_1]."] * 60)
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(b"".join(line for number, line in enumerate(lines) if number // 2 not in wrong))
    asked = ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}", "--fail-if-worse", "any"]
    done = CliRunner().invoke(turnsignal, asked)
    assert done.exit_code == 4, done.output
    assert "Not known whether it is worse: 15 of 60 cases have no record of the second system." in done.output
    turned = CliRunner().invoke(turnsignal, ["compare", str(second), str(first), *asked[3:]])
    assert turned.exit_code == 0, turned.output


def test_questions_that_a_system_leaves_without_an_answer_are_worse_however_soon_the_recording_ends(
    tmp_path: Path,
) -> None:
    first = system(tmp_path / "a.jsonl", ["See [doc_1]."] * 60)
    second = system(tmp_path / "b.jsonl", ["See [doc_1]."] * 60)
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(b"".join(line for number, line in enumerate(lines) if number % 6 != 1))  # every third answer
    asked = [
        "compare",
        str(first),
        str(second),
        "--systems",
        f"--out={tmp_path / 'out'}",
        "--fail-if-worse",
        "unanswered",
    ]
    done = CliRunner().invoke(turnsignal, asked)
    assert (done.exit_code, done.stderr.strip().splitlines()[-1]) == (3, "Worse: unanswered.")
    assert "not over" not in done.stdout


def test_of_conversations_that_are_cut_it_is_said_that_they_have_no_outcome(tmp_path: Path) -> None:
    first = system(tmp_path / "a.jsonl", ["See [doc_1]."] * 40)
    for side in ("one", "two"):
        assert CliRunner().invoke(turnsignal, ["replay", str(first), f"--out={tmp_path / side}"]).exit_code == 0
    sides = ["compare", str(tmp_path / "one"), str(tmp_path / "two"), "--fail-if-worse", "unanswered"]
    done = CliRunner().invoke(turnsignal, sides)
    assert "have no outcome: 40 of " in " ".join(done.stdout.split())
    assert done.exit_code == 4


def test_two_systems_without_a_question_in_common_are_refused_with_what_would_pair_them(tmp_path: Path) -> None:
    first = system(tmp_path / "a.jsonl", ["See [doc_2]."])
    (second := tmp_path / "b.jsonl").write_bytes(first.read_bytes().replace(b"Question", b"Another"))
    out = f"--out={tmp_path / 'out'}"
    done = CliRunner().invoke(turnsignal, ["compare", str(first), str(second), "--systems", out])
    assert done.exit_code == 1
    assert "name their case as case_id" in str(done.exception)
    three = CliRunner().invoke(turnsignal, ["compare", str(first), str(second), str(first), "--systems", out])
    assert three.exit_code == 2


def test_of_two_suites_that_score_alike_it_is_said_that_nothing_can_differ(tmp_path: Path) -> None:
    turn = {"conversation_id": "c", "role": "user", "text": "Hello", "timestamp": "2026-01-01T00:00:00Z"}
    (tmp_path / "turns.jsonl").write_bytes(orjson.dumps({**turn, "turn_id": "1"}))
    (tmp_path / "suite.toml").write_text("checks = []")
    suites = [f"--suite={tmp_path / 'suite.toml'}"] * 2
    done = CliRunner().invoke(turnsignal, ["compare", str(tmp_path / "turns.jsonl"), *suites, f"--out={tmp_path}/out"])
    assert "score alike (same fingerprint): nothing can differ" in done.stderr, done.output


def test_too_few_to_compare_is_no_pass(tmp_path: Path) -> None:
    first = system(tmp_path / "a.jsonl", ["See [doc_1]."] * 18)
    second = system(tmp_path / "b.jsonl", ["See [doc_2]."] * 18)
    asked = ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}"]
    told = CliRunner().invoke(turnsignal, asked)
    assert told.exit_code == 0, told.output
    text = " ".join(told.output.split())
    assert "Too few to compare: 18 cases of 30." in text
    assert "No difference" not in text
    assert "nDCG@5 −0.369" in text, "the figures stand all the same"
    sides = ["compare", *(str(tmp_path / "out" / side) for side in ("before", "after")), "--systems"]
    for scores in ("all", "nDCG@5"):
        done = CliRunner().invoke(turnsignal, [*sides, "--fail-if-worse", scores])
        assert done.exit_code == 4
        assert "Not known whether it is worse: too few to compare: " in done.stderr


def test_a_score_that_few_have_is_named_beside_those_that_are_compared(tmp_path: Path) -> None:
    uncited = ["See the page."] * 30
    named = {"a.jsonl": ["See [doc_1]."] * 10, "b.jsonl": ["See [doc_2]."] * 10}
    both = [str(system(tmp_path / name, cited + uncited)) for name, cited in named.items()]
    done = CliRunner().invoke(turnsignal, ["compare", *both, "--systems", f"--out={tmp_path / 'out'}"])
    text = " ".join(done.output.split())
    assert "No difference is shown in the other scores. Too few to compare: " in text
    assert "nDCG@5 (10 cases of 30), citation.format (10 cases of 30)" in text
    sides = ["compare", *(str(tmp_path / "out" / side) for side in ("before", "after")), "--systems"]
    ends = {"nDCG@5": 4, "cited": 0, "cited,nDCG@5": 4, "all": 0}
    for scores, code in ends.items():
        arguments = [*sides, "--primary", "cited", "--fail-if-worse", scores]
        done = CliRunner().invoke(turnsignal, arguments)
        assert done.exit_code == code, (scores, done.output)


def answered(path: Path, answer: Callable[[int], tuple[str, list[str]]], reply: Callable[[int], str]) -> Path:
    """Write one system's answers to the same questions, and what users say to them, "" where they leave."""
    lines = []
    for number in range(60):
        about = {"conversation_id": f"{number}", "timestamp": f"2026-01-{1 + number // 24:02}T{number % 24:02}:00:00Z"}
        lines.append(about | {"turn_id": "u1", "role": "user", "text": f"How do I reset number {number}?"})
        text, documents = answer(number)
        retrieved = [{"doc_id": name} for name in documents]
        lines.append(about | {"turn_id": "a1", "role": "assistant", "text": text, "retrieved": retrieved})
        if said := reply(number):
            lines.append(about | {"turn_id": "u2", "role": "user", "text": said})
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def helpful(number: int) -> tuple[str, list[str]]:
    documents = [f"doc_{number}{at}" for at in range(5)]
    return f"Open page {number} and choose the button there [{documents[number % 3]}].", documents


def often_content(number: int) -> str:
    return "Thanks, that worked!" if number % 4 else "No, I meant the other one."


def test_a_build_fails_where_every_user_leaves_without_a_word(tmp_path: Path) -> None:
    first = answered(tmp_path / "a.jsonl", helpful, often_content)
    second = answered(tmp_path / "b.jsonl", helpful, lambda _: "")
    asked = ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}", "--fail-if-worse", "any"]
    done = CliRunner().invoke(turnsignal, asked)
    assert done.exit_code == 3, done.output
    assert "Worse: resolved, silent, coverage(clarification_free)." in " ".join(done.stderr.split())
    text = " ".join(done.stdout.split())
    assert "With b.jsonl worse: " in text
    assert "better:" not in text.split("Labels that changed")[0].replace("not called better:", "")
    sides = ["compare", *(str(tmp_path / "out" / side) for side in ("before", "after")), "--systems"]
    gone = CliRunner().invoke(turnsignal, [*sides, "--fail-if-worse", "clarification_free"])
    assert gone.exit_code == 4
    assert "Not known whether it is worse: too few to compare: clarification_free (0 cases of 30)." in gone.stderr


@pytest.mark.parametrize("suite", ['exempt = ["I can\'t help with that."]', "[conversations]\nfailed = ['open page']"])
def test_the_same_answers_fail_no_more_and_no_less_under_another_suite(tmp_path: Path, suite: str) -> None:
    refusing = answered(
        tmp_path / "a.jsonl",
        lambda number: helpful(number) if number % 4 else ("I can't help with that.", []),
        often_content,
    )
    (tmp_path / "suite.toml").write_text(suite)
    sides = [tmp_path / "plain", tmp_path / "told"]
    for side, chosen in zip(sides, ([], [f"--suite={tmp_path / 'suite.toml'}"]), strict=True):
        done = CliRunner().invoke(turnsignal, ["replay", str(refusing), f"--out={side}", *chosen])
        assert done.exit_code == 0, done.output
    for both in (sides, sides[::-1]):
        done = CliRunner().invoke(turnsignal, ["compare", *map(str, both), "--systems", "--json"])
        figures = orjson.loads(done.stdout)["figures"]
        assert figures["failed"]["verdict"] == "identical"


@pytest.mark.parametrize(("text", "says"), [("I can't help with that.", True), ("Internal error 500.", False)])
def test_a_system_that_refuses_more_may_be_right_and_it_is_said_how_to_tell(
    tmp_path: Path, text: str, says: bool
) -> None:
    first = answered(tmp_path / "a.jsonl", helpful, often_content)
    second = answered(tmp_path / "b.jsonl", lambda number: helpful(number) if number % 3 else (text, []), often_content)
    done = CliRunner().invoke(
        turnsignal, ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}", "--json"]
    )
    failed = orjson.loads(done.stdout)["figures"]["failed"]
    assert (failed["verdict"], "`exempt`" in failed.get("why", "")) == ("worse", says)


def test_a_system_that_finds_the_same_whatever_is_asked_does_not_retrieve_better(tmp_path: Path) -> None:
    first = answered(tmp_path / "a.jsonl", helpful, often_content)
    dead = [f"doc_{at}" for at in range(5)]
    second = answered(tmp_path / "b.jsonl", lambda number: (f"Choose page {number} [doc_0].", dead), often_content)
    done = CliRunner().invoke(
        turnsignal, ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}", "--json"]
    )
    figures = orjson.loads(done.stdout)["figures"]
    assert figures["nDCG@5"]["value"] > 0.2
    assert figures["nDCG@5"]["why"].startswith(
        "not called better: the same few documents come for most questions (100%"
    )
    assert "better" not in {figure["verdict"] for figure in figures.values()}


def test_beside_happier_users_stands_what_that_rests_on(tmp_path: Path) -> None:
    first = answered(tmp_path / "a.jsonl", helpful, lambda number: often_content(number % 3))
    second = answered(tmp_path / "b.jsonl", helpful, lambda _: "Thanks, that worked!")
    done = CliRunner().invoke(
        turnsignal, ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}"]
    )
    text = " ".join(done.stdout.split())
    assert "With b.jsonl better: clarification_free +0.333" in text
    assert "What is better by follow-ups is so by what users wrote next, and by that alone." in text


def test_a_log_that_hides_what_users_say_is_said_and_no_worse_system(tmp_path: Path) -> None:
    first = answered(tmp_path / "a.jsonl", helpful, often_content)
    second = answered(tmp_path / "b.jsonl", helpful, lambda _: "***")
    asked = ["compare", str(first), str(second), "--systems", f"--out={tmp_path / 'out'}", "--fail-if-worse"]
    done = CliRunner().invoke(turnsignal, [*asked, "silent,resolved,failed"])
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "Fewer of the messages behind answers can be read, by 100% of answers: are users' texts hidden" in text


def test_a_build_does_not_pass_where_nothing_is_left_to_score(tmp_path: Path) -> None:
    """The same turns, without any document: no citation is right or wrong any more."""
    first = answered(tmp_path / "a.jsonl", helpful, often_content)
    second = answered(tmp_path / "b.jsonl", lambda number: (helpful(number)[0], []), often_content)
    sides = [tmp_path / "a", tmp_path / "b"]
    for path, side in zip((first, second), sides, strict=True):
        done = CliRunner().invoke(turnsignal, ["replay", str(path), f"--out={side}", "--whole-conversations"])
        assert done.exit_code == 0, done.output
    compared = ["compare", *map(str, sides), "--fail-if-worse"]
    for scores, code in (("any", 4), ("nDCG@5", 4), ("clarification_free", 0)):
        done = CliRunner().invoke(turnsignal, [*compared, scores])
        assert (done.exit_code, scores) == (code, scores), done.output
    assert "Nothing is left in" in done.stdout
    backwards = CliRunner().invoke(turnsignal, ["compare", *map(str, sides[::-1]), "--fail-if-worse", "any"])
    assert backwards.exit_code == 0, backwards.output


def test_compliance_with_other_checks_is_neither_better_nor_worse(directory: Path) -> None:
    checks = '[[checks]]\ncheck = "citation.required"\n'
    (directory / "fewer.toml").write_text(checks)
    (directory / "more.toml").write_text(
        f'{checks}[[checks]]\ncheck = "length.number_words(at_most=60)"\nsays = "Use 60 words at most."\n'
    )
    suites = [f"--suite={directory / name}.toml" for name in ("fewer", "more")]
    how = [f"--out={directory / 'checks'}", "--fail-if-worse", "all"]
    done = CliRunner().invoke(turnsignal, ["compare", str(directory / "turns.jsonl.gz"), *suites, *how])
    text = " ".join(done.output.split())
    assert done.exit_code == 0, text
    assert "With more changed: compliance −0." in text
    assert "only in more: length.number_words(at_most=60) “Use 60 words at most.” (broken in " in text
