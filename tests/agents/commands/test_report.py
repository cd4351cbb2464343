"""`turnsignal report`: S1's call and S1's files, and what it says of files that are none.

The files beside gt.json and pred.json in tests/data/routing were written by S1's own script: its text was cut out of
the article between its first line and `if __name__`, run with Python 3.11 and scikit-learn 1.9, and `analyze` called
with the labels of `REMOVED`. The first folder is the article's example.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal

DATA = Path(__file__).parents[2] / "data/routing"
REMOVED = {"example": ["unknown"], "mixed": ["unknown", "outofscope"]}


def report(out: Path, gt: Path, pred: Path, *arguments: str) -> Result:
    command = ["report", "--gt", str(gt), "--pred", str(pred), "--outdir", str(out), *arguments]
    return CliRunner().invoke(turnsignal, command)


def report_on(folder: Path, gt: Any, pred: Any, *arguments: str) -> Result:
    """Report on two values, or on texts as they are."""
    for name, value in (("gt.json", gt), ("pred.json", pred)):
        (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return report(folder / "results", folder / "gt.json", folder / "pred.json", *arguments)


def read(folder: Path, name: str = "routing.json") -> Any:
    return json.loads((folder / "results" / name).read_text(encoding="utf-8"))


def test_the_example_has_the_bytes_of_the_script(tmp_path: Path) -> None:
    folder = DATA / "example"
    done = report(tmp_path, folder / "gt.json", folder / "pred.json", "--remove", "unknown")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == f"Metrics and report saved to: {tmp_path}"
    for name in ("metrics.json", "analysis_report.txt"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    metrics = json.loads((tmp_path / "metrics.json").read_bytes())
    assert metrics["exact_match"] == 2 / 3
    assert round(metrics["report"]["weighted avg"]["f1-score"], 4) == 0.8667
    assert [entry["partial"] for entry in metrics["incorrect"]] == [True]


def test_where_labels_are_only_predicted_the_scripts_keys_and_lines_stay_and_ours_follow(tmp_path: Path) -> None:
    folder = DATA / "mixed"
    done = report(tmp_path, folder / "gt.json", folder / "pred.json", "--remove", *REMOVED["mixed"])
    assert done.exit_code == 0, done.output
    metrics = json.loads((tmp_path / "metrics.json").read_bytes())
    beside = metrics.pop("predicted_only")
    assert json.dumps(metrics, indent=2).encode() == (folder / "metrics.json").read_bytes()
    assert [one["label"] for one in beside["labels"]] == ["fileupload"]
    assert beside["report"]["micro avg"]["precision"] < metrics["report"]["micro avg"]["precision"]
    text, theirs = ((of / "analysis_report.txt").read_text(encoding="utf-8") for of in (tmp_path, folder))
    assert text.startswith(theirs)
    assert "  fileupload: 3 (21.4%)" in text.removeprefix(theirs)
    assert "Only predicted: 'fileupload'" in done.stdout


@pytest.mark.parametrize("form", [["--remove", "unknown,OutOfScope"], ["--remove=unknown", "--remove", "outofscope"]])
def test_labels_to_remove_are_taken_in_any_form(tmp_path: Path, form: list[str]) -> None:
    folder = DATA / "mixed"
    assert report(tmp_path, folder / "gt.json", folder / "pred.json", *form, "--json").exit_code == 0
    assert json.loads((tmp_path / "routing.json").read_bytes())["filtered"] == ["q-05", "q-06"]


def test_a_label_to_remove_that_no_query_has_is_named(tmp_path: Path) -> None:
    done = report_on(tmp_path, [{"id": 1, "labels": "a"}], [{"id": 1, "labels": "a"}], "--remove", "unknwon")
    assert "No query of the ground truth belongs to 'unknwon'" in done.stdout


def test_files_for_queries_say_what_they_are_about(tmp_path: Path) -> None:
    labelled = [{"id": number, "labels": ["a"]} for number in range(40)]
    predicted = [{"id": number, "labels": ["b" if number < 20 else "a"]} for number in range(40)]
    known = [{"id": n, "text": f"{'refund' if n < 20 else 'find'} it", "domain": f"d{n // 20}"} for n in range(40)]
    (tmp_path / "queries.json").write_text(json.dumps(known))
    done = report_on(tmp_path, labelled, predicted, "--queries", str(tmp_path / "queries.json"), "--json")
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made == read(tmp_path)
    assert [(group["name"], group["verdict"]) for group in made["groups"]["domain"]] == [
        ("d0", "more errors"),
        ("d1", "fewer errors"),
    ]
    assert made["words"]["errors"][0]["word"] == "refund"
    assert made["gains"][0] | {"exact": 0} == {
        "missed": "a",
        "extra": "b",
        "n": 20,
        "exact": 0,
        "weighted_f1": 0.333333,
        "macro_f1": 0.166667,
    }


def test_json_lines_and_csv_packed_or_not_do_as_well(tmp_path: Path) -> None:
    (tmp_path / "gt.csv").write_text('id,labels,domain\n1,"Billing, faq",money\n2,faq,help\n')
    with gzip.open(tmp_path / "pred.jsonl.gz", "wt") as file:
        file.write('{"id": "1", "labels": ["faq", "billing"]}\n{"id": "2", "labels": null}\n')
    done = report(tmp_path / "results", tmp_path / "gt.csv", tmp_path / "pred.jsonl.gz")
    assert done.exit_code == 0, done.output
    assert read(tmp_path, "metrics.json")["exact_match"] == 0.5


RIGHT = [{"id": "1", "labels": ["a"]}]


@pytest.mark.parametrize(
    ("gt", "pred", "reason"),
    [
        ([*RIGHT, *RIGHT], RIGHT, "gt.json: * 1 that are none: entry 2 (line 1): expected each id once, got '1' again"),
        (
            RIGHT,
            [{"labels": ["a"]}],
            "pred.json: * entry 1 (line 1): expected an id, got none (the record has: labels)",
        ),
        (RIGHT, [{"id": "1", "agents": ["a"]}], "pred.json: * got 1 without any `labels`"),
        (RIGHT, [{"id": "2", "labels": ["a"]}], "both files have, got none: ids such as '1' there and '2' here"),
        (RIGHT, [], "pred.json: expected queries such as * got none"),
        (RIGHT, "", "pred.json: expected queries such as * got none"),
        (RIGHT, {"1": ["a"]}, "expected an id, got none (the record has: 1)"),
        (RIGHT, ["a", "b"], "pred.json: * entry 1 (line 1): expected JSON"),
        (RIGHT, "id: 1", "pred.json: * entry 1 (line 1): expected JSON"),
        (RIGHT, '[{"id": "1", "labels": ["a"]}, {"id": "2", ', "expected the end of a record, got that of the file"),
        (RIGHT, [{"id": n} for n in [True] * 9], "9 that are none: * and 4 more"),
        ([{"id": "1", "labels": []}], RIGHT, "expected labels of the queries, got none of any of 1"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_where_and_why(
    tmp_path: Path, gt: Any, pred: Any, reason: str
) -> None:
    done = report_on(tmp_path, gt, pred)
    text = " ".join(str(done.exception).split())
    assert done.exit_code == 1
    start = 0
    for part in reason.split(" * "):
        assert part in text[start:], text
        start = text.index(part, start)
    assert not (tmp_path / "results").exists()


def test_texts_from_strangers_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    labels = ["\x1b[31mred", "[bold]x", "=cmd()\nnext", "NaN"]
    gt = [{"id": f"{number}\x1b]0;title", "labels": [label]} for number, label in enumerate(labels)]
    done = report_on(tmp_path, gt, [{**query, "labels": [labels[0]]} for query in gt])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "results/analysis_report.txt").read_text(encoding="utf-8")
    assert "\x1b" not in done.stdout + text
    assert "\\x1b[31mred" in done.stdout
    assert "[bold]x" in done.stdout
    assert "  =cmd()\\nnext: 1 (25.0%)" in text
    assert "- ID 1\\x1b]0;title: GT=['[bold]x']" in text


def test_more_kinds_than_are_given_are_counted(tmp_path: Path) -> None:
    gt = [{"id": number, "labels": [f"agent-{number % 300}"]} for number in range(600)]
    pred = [{"id": number, "labels": ["agent-0"] if number % 2 else query["labels"]} for number, query in enumerate(gt)]
    done = report_on(tmp_path, gt, pred)
    assert done.exit_code == 0, done.output
    made = read(tmp_path)
    assert len(made["classes"]) == 300
    assert len(made["groups"]["agents"]) == 200
    assert made["left_out"]["groups"]["agents"] == 100
    assert made["left_out"]["gains"] == 150 + 1 + 150 - 100


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    done = report_on(tmp_path, RIGHT, RIGHT)
    assert done.exit_code == 2
    assert "results" in done.output
