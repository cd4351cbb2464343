"""Measuring: labels beside what the pipeline says, end to end on small folders; labels never reach an evaluator."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.measure.page import page
from turnsignal.agents.measure.run import (
    LabelledRecording,
    MeasuredSet,
    as_json,
    choose_mapping,
    find_sets,
    measure_sets,
)
from turnsignal.stream.agreement.comparisons import comparison
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.suite import Suite

NOW = 1_900_000_000.0
KINDS = '[[follow_ups]]\nlabel = "labels.kind"\nclarification = ["repair"]\ncontinuation = ["next"]\n'
REPAIR, NEXT = "No, I meant the blue one.", "Thanks! And how long does it take?"
Turns = list[dict[str, Any]]


def conversation(name: str, follow_up: str, labels: dict[str, Any], answer: dict[str, Any] | None = None) -> Turns:
    """Make question, answer and follow-up, a minute apart; labels stand on the follow-up."""
    turns: Turns = [
        {"role": "user", "text": "How do I reset the lamp?"},
        {"role": "assistant", "text": "Hold the red button for five seconds."} | (answer or {}),
        {"role": "user", "text": follow_up, "labels": labels},
    ]
    for place, turn in enumerate(turns):
        turn |= {"conversation_id": name, "turn_id": f"{name}:{place}", "timestamp": f"2026-03-01T10:0{place}:00Z"}
    return turns


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write turns and a mapping into a folder."""

    def write(turns: Sequence[dict[str, Any]], mapping: str = "", name: str = "lamps") -> Path:
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        (path / "turns.jsonl").write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
        if mapping:
            (path / "mapping.toml").write_text(mapping, encoding="utf-8")
        return path

    return write


def measured(*folders: Path, mappings: Path | None = None) -> list[MeasuredSet]:
    return measure_sets(folders, mappings, Suite(), NOW, resamples=50)


def lamps() -> Turns:
    """Six conversations: two repairs of which one is heard, four continuations of which none is misheard."""
    return [
        *conversation("a", REPAIR, {"kind": "repair"}),
        *conversation("b", NEXT, {"kind": "repair"}),
        *(turn for name in "cdef" for turn in conversation(name, NEXT, {"kind": "next"})),
    ]


def test_follow_ups_are_compared_with_their_labels(folder: Callable[..., Path]) -> None:
    found = as_json(measured(folder(lamps(), KINDS)))["lamps"]
    assert {name: figure["value"] for name, figure in found.items()} == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
        "kappa": pytest.approx(4 / 7),
        "auc": pytest.approx(0.75),
        "agreement": pytest.approx(5 / 6),
    }
    assert found["recall"]["n"] == 2
    assert set(found["f1"]) == {"value", "low", "high", "n"}


def test_a_mapping_may_ask_for_errors_alone(folder: Callable[..., Path]) -> None:
    wish = "Could you show me a cheaper lamp instead?"
    turns = [*lamps(), *conversation("g", wish, {"kind": "next"})]
    strict = as_json(measured(folder(turns, KINDS)))["lamps"]
    precise = as_json(measured(folder(turns, KINDS + 'policy = "precision"\n')))["lamps"]
    assert (strict["precision"]["value"], strict["recall"]["value"]) == (0.5, 0.5)
    assert (precise["precision"]["value"], precise["recall"]["value"]) == (1.0, 0.5)


def rows(path: Path) -> list[dict[str, Any]]:
    """Return every row that the evaluators write while a folder is measured."""
    return list(reading(path).replay(Suite(), NOW))


def reading(path: Path) -> LabelledRecording:
    mapping = choose_mapping(path, None)
    return LabelledRecording(path, mapping, [(part, comparison(part, Suite())) for part in mapping.parts])


def test_shuffled_labels_change_the_comparison_and_nothing_that_was_said(folder: Callable[..., Path]) -> None:
    turns = lamps()
    path = folder(turns, KINDS)
    before, said = measured(path)[0].measurements[0], rows(path)
    labelled = [turn for turn in turns if "labels" in turn]
    for turn, label in zip(labelled, [turn["labels"] for turn in reversed(labelled)], strict=True):
        turn["labels"] = label
    after = measured(folder(turns, KINDS))[0].measurements[0]
    assert rows(path) == said
    assert len(said) == 18  # response, follow-up and close of six conversations
    assert before.figures["f1"].value == pytest.approx(2 / 3)
    assert after.figures["f1"].value == 0.0


def test_evaluators_get_no_line_that_holds_a_label(folder: Callable[..., Path]) -> None:
    turns = conversation("a", REPAIR, {"kind": "SECRET"}, {"truth": {"doc_ids": ["SECRET"]}})
    lines = [line for block in reading(folder(turns, KINDS)).lines() for line in block]
    assert len(lines) == 3
    assert not any(b"SECRET" in line for line in lines)


def test_a_label_on_the_answer_is_compared_with_its_follow_up(folder: Callable[..., Path]) -> None:
    turns = [
        *conversation("a", REPAIR, {}, {"labels": {"rating": 1.5}}),
        *conversation("b", NEXT, {}, {"labels": {"rating": 4}}),
        *conversation("c", NEXT, {}, {"labels": {"rating": 5}})[:2],
    ]
    one = measured(folder(turns, '[[follow_ups]]\nlabel = "labels.rating"\non = "assistant"\nbelow = 3\n'))[0]
    assert one.measurements[0].figures["agreement"].n == 2
    assert one.measurements[0].figures["agreement"].value == 1.0
    assert one.measurements[0].unscored == {"no follow-up": 1}


def test_a_user_turn_that_follows_no_answer_is_not_judged(folder: Callable[..., Path]) -> None:
    turns = lamps()
    turns[0]["labels"] = {"kind": "next"}
    one = measured(folder(turns, KINDS))[0].measurements[0]
    assert one.unscored == {"no answer before it": 1}
    assert one.figures["agreement"].n == 6


def test_labels_that_mean_neither_are_left_out_and_named(folder: Callable[..., Path]) -> None:
    turns = [*lamps(), *conversation("g", NEXT, {"kind": "unclear"})]
    one = measured(folder(turns, KINDS))[0].measurements[0]
    assert one.left_out == {"unclear": 1}
    assert (one.labelled, one.figures["agreement"].n) == (7, 6)


CITING = {
    "text": "Hold the button [2]. Wait for the light [3].",
    "retrieved": [{"doc_id": "manual", "score": 3.0}, {"doc_id": "faq", "score": 2.0}, {"doc_id": "forum"}],
}


def test_citations_are_compared_document_by_document(folder: Callable[..., Path]) -> None:
    answer = CITING | {"labels": {"cited": ["faq", "manual", "elsewhere"]}}
    one = measured(folder(conversation("a", NEXT, {}, answer), '[[citations]]\nlabel = "labels.cited"\n'))[0]
    figures = one.measurements[0].figures
    assert {name: figure.value for name, figure in figures.items()} == {
        "extraction_precision": 0.5,
        "extraction_recall": 0.5,
    }
    assert one.measurements[0].left_out == {"not retrieved": 1}


def test_measures_on_citations_are_compared_with_references(folder: Callable[..., Path]) -> None:
    answer = CITING | {"labels": {"m": {"rr": 0.5, "p": 0.3, "unknown": 0.1}}}  # cited: ranks 2 and 3 of 3
    mapping = '[[measures]]\nlabel = "labels.m"\nnames = { rr = "RR", p = "P@5" }\n'
    one = measured(folder(conversation("a", NEXT, {}, answer), mapping))[0].measurements[0]
    assert [(row.name, row.value) for row in one.classes] == [("RR", 0.0), ("P@5", pytest.approx(0.1))]
    assert one.figures["max_abs_difference"].value == pytest.approx(0.1)
    assert one.figures["max_abs_difference"].low is None


def test_measures_on_known_gains_are_compared_with_references(folder: Callable[..., Path]) -> None:
    graded = (2 + 1 / 2) / (2 + 1 / 1.584962500721156)  # gains 2, 0, 1 against the ideal 2, 1, 0
    labels = {"m": {"ndcg": graded}, "q": {"manual": 2, "forum": 1, "faq": 0, "unseen": 0}}
    mapping = '[[measures]]\nlabel = "labels.m"\ngains = "labels.q"\nnames = { ndcg = "nDCG@5" }\n'
    one = measured(folder(conversation("a", NEXT, {}, CITING | {"labels": labels}), mapping))[0].measurements[0]
    assert one.figures["max_abs_difference"].value == pytest.approx(0.0, abs=1e-12)


def test_a_reciprocal_rank_beyond_the_list_says_nothing(folder: Callable[..., Path]) -> None:
    answer = CITING | {"labels": {"m": {"rr": 0.2}, "q": ["elsewhere"]}}
    mapping = '[[measures]]\nlabel = "labels.m"\ngains = "labels.q"\ndepth = 3\nnames = { rr = "RR" }\n'
    one = measured(folder(conversation("a", NEXT, {}, answer), mapping))[0].measurements[0]
    assert one.left_out == {"rr beyond rank 3": 1}
    assert not one.figures


def test_a_ranking_by_score_breaks_ties_by_descending_id_as_trec_eval_does(folder: Callable[..., Path]) -> None:
    tied = [{"doc_id": name, "score": 1.0} for name in ("a", "b")]
    answer = {"retrieved": tied, "labels": {"m": {"rr": 1.0}, "q": ["b"]}}
    mapping = '[[measures]]\nlabel = "labels.m"\ngains = "labels.q"\norder = "score"\nnames = { rr = "RR" }\n'
    one = measured(folder(conversation("a", NEXT, {}, answer), mapping))[0].measurements[0]
    assert one.figures["max_abs_difference"].value == 0.0


def test_instructions_are_compared_one_by_one(folder: Callable[..., Path]) -> None:
    checks = [{"check": "case.lower", "pass": False}, {"check": "punctuation.no_comma", "pass": False}]
    answer = {"text": "Hold the red button.", "labels": {"checks": checks}}
    mapping = '[[instructions]]\nlabel = "labels.checks"\n'
    one = measured(folder(conversation("a", NEXT, {}, answer), mapping))[0].measurements[0]
    assert one.figures["agreement"].value == 0.5
    assert [(row.name, row.value, row.detail) for row in one.classes] == [
        ("case.lower", 1.0, ""),
        ("punctuation.no_comma", 0.0, "1 of 1 differ"),
    ]


def test_turns_that_carry_truth_and_votes_need_no_mapping(folder: Callable[..., Path]) -> None:
    turns = [
        *conversation("a", REPAIR, {}, CITING | {"truth": {"doc_ids": ["faq"]}, "vote": -1}),
        *conversation("b", NEXT, {}, {"vote": 1}),
    ]
    found = as_json(measured(folder(turns)))
    assert found["lamps"]["precision"]["value"] == 0.5
    assert found["lamps"]["recall"]["value"] == 1.0
    assert found["lamps/votes"]["agreement"]["value"] == 1.0


def test_votes_in_a_file_of_feedback_are_labels_too_and_the_newest_counts(folder: Callable[..., Path]) -> None:
    path = folder([*conversation("a", REPAIR, {}, {"vote": 1}), *conversation("b", NEXT, {}, {})])
    votes = [("f2", "a", 9, -1), ("f1", "a", 8, 1), ("f3", "b", 8, 1), ("f4", "nobody", 8, 1)]
    lines = [
        orjson.dumps(
            {"id": name, "conversation_id": of, "turn_id": f"{of}:1", "kind": "vote", "vote": vote}
            | {"timestamp": f"2026-03-01T11:00:{second:02d}Z"}
        )
        for name, of, second, vote in votes
    ]
    (path / "feedback.jsonl").write_bytes(b"\n".join([*lines, b"not json"]))
    found = as_json(measured(path))["lamps/votes"]
    assert (found["agreement"]["value"], found["kappa"]["value"], found["kappa"]["n"]) == (1.0, 1.0, 2)


def test_a_set_of_repairs_alone_takes_its_false_alarms_from_another(folder: Callable[..., Path]) -> None:
    repairs = conversation("a", REPAIR, {"kind": "repair"})
    mapping = '[[follow_ups]]\nlabel = "labels.kind"\nclarification = ["repair"]\nnegatives = "lamps"\n'
    others = [*lamps(), *conversation("g", REPAIR, {"kind": "next"})]
    found = as_json(measured(folder(repairs, mapping, "repairs"), folder(others, KINDS)))["repairs"]
    assert set(found) == {"recall", "false_alarm_rate"}
    assert found["false_alarm_rate"]["value"] == pytest.approx(1 / 5)


def test_lines_that_cannot_be_read_are_counted(folder: Callable[..., Path]) -> None:
    path = folder(lamps(), KINDS)
    deep = b'{"conversation_id":"x","metadata":' + b"[" * 500 + b"]" * 500 + b"}\n"
    with (path / "turns.jsonl").open("ab") as file:
        file.write(b"not json\n[1]\n" + deep)
    (path / "turns-2.jsonl.gz").write_bytes(gzip.compress(b"\n"))
    one = measured(path)[0]
    assert (one.turns, one.dead_letters) == (21, 3)


@pytest.mark.parametrize(
    ("mapping", "place", "said"),
    [
        ('[[follow_ups]]\nlabel = "labels.x"\nbelow = 3\n', 3, "labels.x: a number is expected for below = 3, got 'y'"),
        ('[[citations]]\nlabel = "labels.x"\n', 2, "labels.x: a list of document ids is expected, got 'y'"),
        ('[[measures]]\nlabel = "labels.x"\nnames = { a = "RR" }\n', 2, "reference values by name are expected"),
        ('[[instructions]]\nlabel = "labels.x"\n', 2, "labels.x: a list of instructions is expected, got 'y'"),
    ],
)
def test_a_label_unlike_its_mapping_is_named_with_file_and_line(
    folder: Callable[..., Path], mapping: str, place: int, said: str
) -> None:
    path = folder(conversation("a", NEXT, {"x": "y"}, {"labels": {"x": "y"}}), mapping)
    with pytest.raises(TurnsignalError) as refused:
        measured(path)
    assert said in str(refused.value)
    assert f"{path}/turns.jsonl:{place}: " in str(refused.value)


def test_a_folder_says_why_nothing_was_measured(folder: Callable[..., Path]) -> None:
    bare = folder(conversation("a", NEXT, {}), "", "bare")
    empty = folder([], "", "empty")
    judged = folder(lamps(), 'no_evaluator = "a judge is needed"\n', "judged")
    notes = [one.note for one in measured(bare, empty, judged)]
    assert notes == [
        "no labels found (looked at truth.doc_ids, vote)",
        "no turns found",
        "no evaluator yet: a judge is needed",
    ]


def test_folders_are_sets_or_hold_sets(folder: Callable[..., Path], tmp_path: Path) -> None:
    one, two = folder([], "", "one"), folder([], "", "two")
    (tmp_path / "README.md").write_text("no set")
    assert find_sets([tmp_path]) == [one, two]
    assert find_sets([two]) == [two]
    with pytest.raises(ConfigError, match="folders of different names"):
        find_sets([one, one])
    (tmp_path / "bare").mkdir()
    with pytest.raises(ConfigError, match=r"bare: expected turns\*.jsonl"):
        find_sets([tmp_path / "bare"])


def test_a_mapping_is_chosen_by_the_folder_s_name_before_its_own(folder: Callable[..., Path], tmp_path: Path) -> None:
    path = folder(lamps(), KINDS)
    (tmp_path / "mappings").mkdir()
    (tmp_path / "mappings" / "lamps.toml").write_text('no_evaluator = "chosen by name"\n')
    assert measured(path, mappings=tmp_path / "mappings")[0].note == "no evaluator yet: chosen by name"


def test_the_page_escapes_what_came_from_data(folder: Callable[..., Path]) -> None:
    nasty = "<script>alert(1)</script> $x_{"
    turns = [*lamps(), *conversation("g", NEXT, {"kind": nasty}), *conversation("h", NEXT, {"kind": "unclear<b>"})]
    mapping = KINDS.replace('continuation = ["next"]', f"continuation = ['next', '{nasty}']")
    shown = page(measured(folder(turns, mapping)))
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "unclear&lt;b&gt;" in shown
    assert shown.count("data:image/svg+xml;base64,") == 1


def test_the_page_is_the_same_for_the_same_figures(folder: Callable[..., Path]) -> None:
    path = folder(lamps(), KINDS)
    assert page(measured(path)) == page(measured(path))


def test_a_folder_may_hold_logs_of_other_formats_and_turns_that_deviate(tmp_path: Path) -> None:
    answer = {"conversation_id": "c", "turn_id": "t2", "role": "bot", "text": "So.", "vote": -1}
    asked = {"conversation_id": "c", "turn_id": "t1", "role": "human", "text": "How?", "timestamp": 1_749_988_800}
    both = [asked, answer | {"timestamp": 1_749_988_801}, asked | {"turn_id": "t3", "timestamp": 1_749_988_802}]
    (tmp_path / "turns.jsonl").write_bytes(orjson.dumps(both))  # an array, too
    (one,) = measure_sets([tmp_path], None, Suite(), 1_800_000_000.0, resamples=0, how=HowToRead())
    assert (one.turns, one.conversations, one.dead_letters) == (3, 1, 0)
    assert [each.name for each in one.measurements] == [f"{tmp_path.name}/votes"]
