"""What is said of the public sets is what others compute from the same labels; skipped where the sets are not there."""

from pathlib import Path

import pytest

from tests.measuring import real_parts

pytestmark = pytest.mark.slow

BESIDE = Path(__file__).parents[3] / "shared"


@pytest.mark.skipif(not (BESIDE / "data").is_dir(), reason="the labelled sets are not beside the repository")
def test_figures_of_the_public_sets_are_those_of_scikit_learn_of_pytrec_eval_and_of_the_sets() -> None:
    compared = list(real_parts.compare_all(BESIDE / "data", BESIDE / "seeds"))
    assert {one.of for one in compared} == {*real_parts.ROUTING, *real_parts.SETS}
    assert [one for one in compared if not one.holds] == []


def test_sets_that_are_not_there_are_named_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert real_parts.main([str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 2, "the head of the table alone"
    for name in (*real_parts.ROUTING, *real_parts.SETS):
        assert f"{tmp_path / name}: left out" in printed.err
