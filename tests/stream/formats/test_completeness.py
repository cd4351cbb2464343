"""What telemetry lacks is told with its share and its mend, whatever the order of conversations."""

from typing import Any

import orjson
import pytest

from turnsignal.stream.formats.completeness import Completeness, Share
from turnsignal.stream.records.turns import Turn, decode_turn


def turn(conversation: str, role: str, **more: Any) -> Turn:
    fields = {"conversation_id": conversation, "turn_id": "t", "role": role, "text": "a [1]"}
    return decode_turn(orjson.dumps(fields | {"timestamp": "2025-06-15T12:00:00+00:00"} | more))


def shares(*turns: Turn) -> dict[str, Share]:
    counted = Completeness()
    for each in turns:
        counted.add(each, names_environment=each.turn_id == "named")
    return {share.what: share for share in counted.shares()}


def test_conversations_that_stand_among_each_other_are_told_apart() -> None:
    among = [turn("a", "user"), turn("b", "user"), turn("a", "assistant"), turn("b", "assistant"), turn("a", "user")]
    counted = shares(*among)
    assert counted["answers that a user message follows"][1:3] == (1, 2)
    assert counted["turns whose role differs from the one before"][1:3] == (3, 3)
    assert not counted["answers that a user message follows"].is_low


def test_what_few_have_is_low() -> None:
    answers = [turn("a", "assistant", retrieved=[{"doc_id": "d"}], version="v1", turn_id="named")]
    answers += [turn("b", "assistant", text="no source", timestamp="1970-01-01T00:00:00+00:00")]
    low = {what for what, share in shares(*answers).items() if share.is_low}
    assert low == {
        "answers that a user message follows",
        "answers with documents",
        "answers with citations",
        "answers with a version",
        "turns with a plausible time",
        "turns that name their environment",
    }


@pytest.mark.parametrize(
    "text",
    [
        "See the guide [1].",
        "See the guide [ID: d-reset].",
        "See the guide<sup>1</sup>.",
        "See [the guide](https://help.example/reset).",
        "See the guide 【1†source】.",
    ],
)
def test_an_answer_cites_where_the_reader_that_scores_it_says_so(text: str) -> None:
    document = {"doc_id": "d-reset", "title": "Reset guide", "url": "https://help.example/reset"}
    counted = shares(turn("a", "assistant", text=text, retrieved=[document]))
    assert counted["answers with citations"][1:3] == (1, 1)
    assert counted["of answers with documents and citations, those that name a document"][1:3] == (1, 1)


def test_citations_delivered_beside_the_text_count_and_other_brackets_do_not() -> None:
    beside = {"citations": [{"doc_id": "d1", "start_index": 0, "end_index": 3}]}
    counted = shares(
        turn("a", "assistant", text="See the guide.", retrieved=[{"doc_id": "d1"}], metadata=beside),
        turn("b", "assistant", text="Type argv[1] and [Enter]."),
    )
    assert counted["answers with citations"][1:3] == (1, 2)


def test_citations_that_name_nothing_that_was_retrieved_are_told_with_their_mend() -> None:
    share = shares(turn("a", "assistant", text="So [7].", retrieved=[{"doc_id": "d1"}]))[
        "of answers with documents and citations, those that name a document"
    ]
    assert share.is_low
    assert "zero_based" in share.mend


def test_answers_that_name_documents_which_were_not_logged_are_not_said_to_cite_nothing() -> None:
    told = shares(turn("a", "assistant", text="Open Settings [doc_4]."))["answers with citations"].mend
    assert told.startswith("1 answers hold brackets such as [doc_4], which name documents that were not logged")
    linked = shares(turn("a", "assistant", text="See [doc_4](https://example.org)."))["answers with citations"].mend
    assert linked.startswith("answers do not cite")


def test_what_some_answers_have_is_not_said_to_be_missing_everywhere() -> None:
    answers = [turn("a", "assistant", retrieved=[{"doc_id": "d"}]), turn("b", "assistant", text="You are welcome.")]
    counted = shares(*answers)
    assert "1 answers have none" in counted["answers with documents"].mend
    assert "1 answers cite nothing" in counted["answers with citations"].mend
    assert "is not recorded: trace it" in shares(answers[1])["answers with documents"].mend
