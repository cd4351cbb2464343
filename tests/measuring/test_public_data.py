"""The mappings of the public sets, and the figures to reach on them where they are beside the repository."""

import gzip
from pathlib import Path

import pytest

from tests.measuring import everyday, parts
from turnsignal.agents.measure.run import as_json, measure_sets
from turnsignal.stream.agreement.mappings import parse_mapping
from turnsignal.stream.follow_ups.rules import Exchange
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
DATA = HERE.parents[2] / "shared" / "data"
MAPPINGS = sorted(HERE.glob("*.toml"))

#: All of each set, against falling back; figures to quote are those of the frozen part (`parts.py`).
#: set → figure → at least, or at most for those that are better when small
REACHED = {
    "cragc_citations": {"extraction_precision": 0.99, "extraction_recall": 0.99, "max_abs_difference": 1e-6},
    "expertqa": {"extraction_precision": 0.99, "extraction_recall": 0.99},
    "cast_ikat": {"max_abs_difference": 1e-6},
    "ifeval_gpt4": {"agreement": 0.99},
    "ifeval_gpt4/loose": {"agreement": 0.99},
    "mtrag_followup": {"f1": 0.60, "kappa": 0.55},
    "repair_qa": {"recall": 0.80, "false_alarm_rate": 0.05},
}
#: The same of our own sentences, of the parts that were kept apart.
EVERYDAY = {
    "frozen": {
        "everyday": {"recall": 0.65, "precision": 0.90},
        "everyday_languages": {"recall": 0.65, "precision": 0.90},
    },
    "sealed": {"everyday_languages": {"recall": 0.65, "precision": 0.90}},
    "held": {
        "everyday": {"recall": 0.65, "precision": 0.90},
        "everyday_languages": {"recall": 0.65, "precision": 0.90},
        "asides": {"recall": 0.80, "precision": 0.65},
    },
    "late": {
        "everyday": {"recall": 0.60, "precision": 0.90},
        "answers": {"recall": 0.65, "precision": 0.85},
        "documents": {"recall": 0.80, "precision": 0.80, "kappa": 0.75},
    },
}
FROZEN = ["c2", "c3", "c6", "c7"]
SMALLER = {"max_abs_difference", "false_alarm_rate"}


@pytest.mark.parametrize("path", MAPPINGS, ids=lambda path: path.stem)
def test_every_mapping_is_right(path: Path) -> None:
    mapping = parse_mapping(path.read_text(encoding="utf-8"), path.name)
    assert mapping.parts or mapping.no_evaluator
    mapping.suited(Suite(), path.name)


@pytest.mark.skipif(not DATA.is_dir(), reason="the labelled sets are not beside the repository")
def test_every_set_has_a_mapping() -> None:
    assert {path.parent.name for path in DATA.glob("*/turns.jsonl.gz")} <= {path.stem for path in MAPPINGS}


@pytest.mark.skipif(not DATA.is_dir(), reason="the labelled sets are not beside the repository")
def test_the_figures_to_reach_are_reached() -> None:
    folders = [DATA / name for name in dict.fromkeys(name.split("/")[0] for name in REACHED)]
    check(folders, REACHED)


@pytest.mark.parametrize("part", EVERYDAY)
def test_everyday_sentences_that_no_rule_was_made_from_are_read(part: str, tmp_path: Path) -> None:
    everyday.main(["--part", part, "--into", str(tmp_path)])
    check([tmp_path / name for name in EVERYDAY[part]], EVERYDAY[part])


@pytest.mark.parametrize(("part", "least"), [("frozen", 0.95), ("sealed", 0.95), ("stranger", 0.95), ("late", 0.95)])
def test_languages_that_are_not_read_are_told_so(part: str, least: float, tmp_path: Path) -> None:
    everyday.main(["--part", part, "--into", str(tmp_path)])
    (unread,) = measure_sets([tmp_path / "unread_languages"], HERE, Suite(), 1_900_000_000.0, resamples=0)
    (found,) = unread.measurements
    assert found.unscored["language"] >= least * found.labelled


@pytest.mark.parametrize("part", ["stranger", "late"])
def test_messages_in_languages_that_are_read_are_not_taken_for_others(part: str) -> None:
    lines = (everyday.SENTENCES / f"read_{part}.txt").read_text(encoding="utf-8").splitlines()
    texts = [text.split("|", 1)[1].strip() for text in lines]
    rules = Suite().follow_up_rules
    assert {text for text in texts if rules.read(Exchange("", "", text)).unscored == Unscored.LANGUAGE} == set()


def check(folders: list[Path], reached: dict[str, dict[str, float]]) -> None:
    found = as_json(measure_sets(folders, HERE, Suite(), 1_900_000_000.0, resamples=0))
    for name, figures in reached.items():
        for figure, bound in figures.items():
            value = found[name][figure]["value"]
            assert value is not None
            assert value <= bound if figure in SMALLER else value >= bound, f"{name} {figure} {value}"


def test_a_third_of_a_set_is_frozen_whatever_the_order_and_a_third_of_the_rest_is_sealed() -> None:
    ids = [f"c{number}" for number in range(3000)]
    found = [parts.part_of(name) for name in ids]
    assert [name for name, part in zip(ids[:12], found, strict=False) if part == "frozen"] == FROZEN
    assert 900 < found.count("frozen") < 1100
    assert 600 < found.count("sealed") < 740


def test_parts_share_no_line_and_lose_none(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    lines = [f'{{"conversation_id": "c{number // 2}"}}\n' for number in range(60)]
    (folder / "turns.jsonl").write_text("".join(lines))
    came = []
    for part in parts.PARTS:
        parts.main([str(folder), "--part", part, "--into", str(tmp_path / part)])
        came += gzip.decompress((tmp_path / part / "set" / "turns.jsonl.gz").read_bytes()).decode().splitlines(True)
    assert sorted(came) == sorted(lines)
