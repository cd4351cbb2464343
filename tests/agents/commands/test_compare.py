"""`turnsignal compare`: one recording under two suites, two replays, and what it ends with."""

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


def compare(directory: Path, *arguments: str) -> Result:
    suites = [f"--suite={directory / name}.toml" for name in ("now", "next")]
    out = f"--out={directory / 'out'}"
    return CliRunner().invoke(turnsignal, ["compare", str(directory / "turns.jsonl.gz"), *suites, out, *arguments])


def test_a_suite_that_reads_more_strictly_is_named_with_what_it_changes(directory: Path) -> None:
    done = compare(directory, "--plan", "0.01")
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "With next worse: follow_up −0.0" in text
    assert "Not compared, only in now: nDCG(order=retrieval)@10, nDCG@10" in text
    assert "Not compared, only in next: RR@5" in text
    assert "Conversations that moved most" in text
    assert "To show a change of 0.01 in follow_up:" in text
    again = CliRunner().invoke(
        turnsignal, ["compare", str(directory / "out/before"), str(directory / "out/after"), "--json"]
    )
    figures = orjson.loads(again.stdout)["figures"]
    assert figures["follow_up"]["verdict"] == "worse"
    assert figures["nDCG@5"]["verdict"] == "identical"


def test_a_build_fails_where_what_it_names_is_worse(directory: Path) -> None:
    assert compare(directory, "--fail-if-worse", "compliance, nDCG@5").exit_code == 0
    assert compare(directory, "--fail-if-worse", "all").exit_code == 3
    done = compare(directory, "--fail-if-worse", "ndcg")
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
