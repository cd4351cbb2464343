"""Judging the judge: known values, oracles, and a file of verdicts beside a folder of labels."""

import json
from dataclasses import replace
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal
from turnsignal.stream.agreement.figures import LabelledPair, figures
from turnsignal.stream.agreement.mappings import VerdictLabels, parse_mapping
from turnsignal.stream.agreement.raters import RatedItem, alpha
from turnsignal.stream.agreement.verdicts import VerdictsCompared
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict, VerdictJudge

JUDGE = VerdictJudge("grounded", "scripted", "overlap", "groundedness", 1, "p1")


def a_verdict(conversation: str, value: float | None, judge: VerdictJudge = JUDGE) -> Verdict:
    unscored = None if value is not None else Unjudged.PARSE
    return Verdict(
        1,
        f"v-{conversation}",
        conversation,
        "a",
        "response",
        "bot",
        5.0,
        "row",
        "s",
        judge,
        1.0,
        value=value,
        unscored=unscored,
    )


def pairs(both: int, missed: int, alarms: int, neither: int) -> list[LabelledPair]:
    cells = ((True, True, both), (True, False, missed), (False, True, alarms), (False, False, neither))
    seen = [LabelledPair("", truth, said) for truth, said, n in cells for _ in range(n)]
    return [pair._replace(conversation=str(n)) for n, pair in enumerate(seen)]


def test_figures_of_a_judge_have_their_textbook_values() -> None:
    """Gwet 2008: AC1 stays near the agreement where nearly everything is of one class, and kappa falls."""
    known = figures(pairs(118, 5, 2, 0), ("sensitivity", "specificity", "kappa", "ac1", "agreement"))
    values = {name: round(figure.value or 0.0, 4) for name, figure in known.items()}
    assert values == {"sensitivity": 0.9593, "specificity": 0.0, "kappa": -0.0234, "ac1": 0.9408, "agreement": 0.944}
    assert (known["sensitivity"].n, known["specificity"].n) == (123, 2)
    assert known["ac1"].low is not None
    assert known["ac1"].high is not None
    assert known["ac1"].low < 0.9408 < known["ac1"].high


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_krippendorffs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rated = rng.integers(0, 3, (4, 60)).astype(float)
    rated[1] = np.where(rng.random(60) < 0.7, rated[0], rated[1])
    rated[rng.random(rated.shape) < 0.3] = np.nan
    items = [RatedItem(str(n), tuple(str(v) for v in column if not np.isnan(v))) for n, column in enumerate(rated.T)]
    figure = alpha(items, resamples=50)
    assert figure is not None
    assert figure.value == pytest.approx(krippendorff.alpha(rated, level_of_measurement="nominal"))
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low <= figure.value <= figure.high


def test_alpha_says_nothing_where_nobody_has_company_or_all_say_the_same() -> None:
    assert alpha([]) is None
    assert alpha([RatedItem("a", (True,)), RatedItem("b", (False,))]) is None
    assert alpha([RatedItem("a", (True, True)), RatedItem("b", (True, True))]) is None


def test_a_rating_may_be_several_and_a_label_may_mean_neither() -> None:
    rated = VerdictLabels(judge="j", label="labels.x", at_least=3.0)
    assert (rated.read({"ann": 4.0, "bob": 2.0}), rated.read([1, 2]), rated.read(3)) == (True, False, True)
    with pytest.raises(ValueError, match="a number is expected"):
        rated.read("good")
    named = VerdictLabels(judge="j", label="labels.x", good=("yes",), bad=("no",))
    assert (named.read("yes"), named.read("no"), named.read("perhaps")) == (True, False, None)


def test_verdicts_of_two_judges_are_not_mixed() -> None:
    other = VerdictJudge("grounded", "scripted", "other", "groundedness", 1, "p1")
    labels = VerdictLabels(judge="groundedness", label="labels.x", good=("yes",))
    with pytest.raises(TurnsignalError, match="expected verdicts of one judge"):
        VerdictsCompared(labels, [a_verdict("a", 1.0), a_verdict("b", 1.0, other)])


def test_a_judge_is_named_before_a_rubric_of_the_same_name() -> None:
    named, jury = (VerdictJudge(name, "scripted", "m", "polite", 1, "p1") for name in ("polite", "jury"))
    labels = VerdictLabels(judge="polite", label="labels.x", good=("yes",))
    compared = VerdictsCompared(labels, [a_verdict("a", 1.0, named), a_verdict("a", 0.0, jury)])
    assert [verdict.value for verdict in compared._verdicts.values()] == [1.0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('label = "labels.x"\ngood = ["a"]', "verdicts.0.judge: Field required"),
        ('judge = "g"\nlabel = "labels.x"', "either good"),
        ('judge = "g"\nlabel = "text"\ngood = ["a"]', "expected a label, got 'text'"),
    ],
)
def test_what_is_wrong_in_a_block_is_named(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_mapping(f"[[verdicts]]\n{text}", "mapping.toml")
    assert complaint in str(error.value)


def measured(folder: Path, *arguments: object) -> Result:
    return CliRunner().invoke(turnsignal, ["measure", str(folder), *map(str, arguments)])


@pytest.mark.slow
def test_a_file_of_verdicts_is_measured_beside_a_folder_of_labels(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    lines, verdicts = [], []
    for n in range(60):
        grounded = n % 3 != 0
        labels = {"grounded": "yes" if grounded else "no", "raters": ["yes", "yes" if grounded else "no"]}
        turn = {"conversation_id": f"c{n}", "turn_id": "a", "role": "assistant", "text": "So.", "source": f"s{n % 2}"}
        turn |= {"timestamp": "2026-03-01T10:00:00Z"} | ({"labels": labels} if n < 40 else {})
        lines.append(json.dumps(turn))
        judged = None if n == 7 else 1.0 if grounded or n % 6 == 0 else 0.0
        verdicts.append(VERDICTS.dump_json(a_verdict(f"c{n}", judged)))
    (folder / "turns.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "mapping.toml").write_text(
        '[[verdicts]]\njudge = "groundedness"\nlabel = "labels.grounded"\ngood = ["yes"]\n'
        'raters = "labels.raters"\nby = "source"\n'
    )
    verdicts.append(VERDICTS.dump_json(a_verdict("of other data", 1.0)))
    (tmp_path / "verdicts.jsonl").write_bytes(b"\n".join(verdicts) + b"\n")
    done = measured(folder, "--verdicts", tmp_path / "verdicts.jsonl", "--json", tmp_path / "m.json")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads((tmp_path / "m.json").read_text())["answers"]
    assert (found["sensitivity"]["value"], found["sensitivity"]["n"]) == (1.0, 25)
    assert (found["specificity"]["value"], found["specificity"]["n"]) == (0.5, 14)
    assert (found["judged_rate"]["n"], found["corrected_rate"]["n"]) == (59, 39)
    assert found["judged_rate"]["value"] > 0.8 > found["corrected_rate"]["value"]
    assert found["corrected_rate"]["low"] < 2 / 3 < found["corrected_rate"]["high"]
    assert found["alpha_of_raters"]["n"] == 40
    assert {"kappa", "ac1", "auc", "agreement"} <= set(found)
    assert "1 parse" in done.stdout
    assert "answers got no value (1 parse); the rates are of the others" in " ".join(done.stdout.split())
    without = measured(folder)
    assert without.exit_code == 0
    assert "labels of verdicts only" in without.stdout


@pytest.mark.slow
def test_answers_that_stand_for_others_count_for_them_and_those_sampled_out_are_told(tmp_path: Path) -> None:
    """Of 200 bad answers every tenth was judged, of 100 good ones each."""
    folder = tmp_path / "answers"
    folder.mkdir()
    lines, verdicts = [], []
    for n in range(300):
        grounded, inclusion = (False, 0.1) if n < 200 else (True, 1.0)
        turn = {"conversation_id": f"c{n}", "turn_id": "a", "role": "assistant", "text": "So."}
        turn |= {"timestamp": "2026-03-01T10:00:00Z", "labels": {"grounded": "yes" if grounded else "no"}}
        lines.append(json.dumps(turn))
        verdict = replace(a_verdict(f"c{n}", float(grounded)), inclusion=inclusion)
        if n % 10 and not grounded:
            verdict = replace(verdict, value=None, unscored=Unjudged.SAMPLED_OUT)
        verdicts.append(VERDICTS.dump_json(verdict))
    (folder / "turns.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "mapping.toml").write_text(
        '[[verdicts]]\njudge = "groundedness"\nlabel = "labels.grounded"\ngood = ["yes"]\n'
    )
    (tmp_path / "verdicts.jsonl").write_bytes(b"\n".join(verdicts) + b"\n")
    written = ("--json", tmp_path / "m.json", "--html", tmp_path / "m.html")
    done = measured(folder, "--verdicts", tmp_path / "verdicts.jsonl", *written)
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads((tmp_path / "m.json").read_text())["answers"]
    assert (found["judged_rate"]["value"], found["judged_rate"]["n"]) == (pytest.approx(1 / 3), 120)
    assert found["corrected_rate"]["value"] == pytest.approx(1 / 3)
    assert "180 of 300 answers were sampled out" in " ".join(done.stdout.split())
    assert "180 of 300 answers were sampled out" in (tmp_path / "m.html").read_text()
