"""Scoring one answer: what a replay says of the same response, in plain data, from no more than its text."""

from pathlib import Path

import orjson
import pytest

import turnsignal

DOCUMENTS = [{"doc_id": "doc_1"}, {"doc_id": "doc_2"}]
ANSWER = {"text": "Open Settings [doc_2]. Then wait [doc_9].", "retrieved": DOCUMENTS}


def test_an_answer_scores_what_a_replay_says_of_it() -> None:
    turns = turnsignal.sample_turns()[:400]
    rows = {
        (row["conversation_id"], row["turn_id"]): row["scores"]
        for row in turnsignal.replay(turns).rows()
        if row["stage"] == "response"
    }
    answers = turnsignal.score(turns)
    assert len(answers) == sum(turn["role"] == "assistant" for turn in turns) > 100
    assert {(answer["conversation_id"], answer["turn_id"]): answer["scores"] for answer in answers} == rows


def test_an_answer_without_labels_is_scored_by_those_of_its_question() -> None:
    question = {"role": "user", "text": "How do I pay?", "truth": {"doc_ids": ["doc_1"]}}
    labelled, own, other = turnsignal.score(
        [question, ANSWER, {**ANSWER, "truth": {"doc_ids": ["doc_2"]}}, {**question, "truth": None}, ANSWER]
    )
    assert (labelled["values"]["cited_article"], own["values"]["cited_article"]) == (0.0, 1.0)
    assert "cited_article" not in other["values"]


def test_labels_go_by_time_where_turns_come_in_any_order() -> None:
    turns = [
        {"turn_id": f"{role}{n}", "role": role, "text": text, "timestamp": f"2026-11-20T10:0{2 * n + late}:00Z", **more}
        for n in (1, 2)
        for late, role, text, more in (
            (0, "user", "How?", {"truth": {"doc_ids": [f"doc_{n}"]}}),
            (1, "assistant", f"So [doc_{n}].", {"retrieved": DOCUMENTS}),
        )
    ]
    for given in (turns, turns[::-1], [*turns, turns[1]], [turns[1], *turns[2:], turns[0]]):
        assert {answer["values"]["cited_article"] for answer in turnsignal.score(given)} == {1.0}


def test_a_text_is_enough() -> None:
    answer = turnsignal.score({"text": "Yes."})
    assert (answer["conversation_id"], answer["turn_id"], answer["assistant"]) == (None, None, "default")
    assert answer["values"]["nDCG@5"] is None
    assert {"scorer": "nDCG@5", "value": None, "unscored": "no_retrieval"} in answer["scores"]


def test_citations_are_told_with_what_is_wrong_with_them() -> None:
    answer = turnsignal.score(ANSWER)
    assert answer["citations"] == {
        "documents": ["doc_2"],
        "ranks": [2],
        "faults": [{"kind": "dangling", "text": "[doc_9]", "start": 33, "end": 40}],
    }
    assert (answer["values"]["cited"], answer["values"]["dangling"], answer["values"]["compliance"]) == (1.0, 1.0, 0.8)


def test_it_is_plain_data() -> None:
    answer = turnsignal.score(ANSWER)
    assert orjson.loads(orjson.dumps(answer)) == answer


def test_a_suite_and_a_redaction_are_kept_to(tmp_path: Path) -> None:
    suite = turnsignal.parse_suite("[[checks]]\ncheck = \"keywords.forbidden_words(words='example.org')\"\n")
    (tmp_path / "redaction.toml").write_text('builtin = ["email"]\n')
    mail = {"text": "Write to anna@example.org."}
    (name,) = (name for name in turnsignal.score(mail, suite=suite)["values"] if name.startswith("keywords."))
    assert turnsignal.score(mail, suite=suite)["values"][name] == 0.0
    assert turnsignal.score(mail, suite=suite, redaction=tmp_path / "redaction.toml")["values"][name] == 1.0


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ({"text": "Hello?", "role": "user"}, "expected a turn of the role assistant, .*, got 'user'"),
        ({"retrieved": DOCUMENTS}, "missing_field: the answer: expected the field text, got none"),
        ({"text": 7}, "the answer: text: "),
    ],
)
def test_what_is_no_answer_is_refused(turn: dict[str, object], message: str) -> None:
    with pytest.raises(turnsignal.Refused, match=message):
        turnsignal.score(turn)


def test_among_several_the_one_that_cannot_be_read_is_named() -> None:
    with pytest.raises(turnsignal.Refused, match="turn 2: expected the field text"):
        turnsignal.score([ANSWER, {}])
    with pytest.raises(turnsignal.TurnsignalError, match=r"turn 2: expected a dict, .*; got str"):
        turnsignal.score([ANSWER, "Yes."])  # type: ignore[list-item]


def test_small_deviations_are_read_unless_it_is_strict() -> None:
    turn = {"content": ANSWER["text"], "role": "AI", "retrieved": ["doc_1", {"id": "doc_2"}]}
    assert turnsignal.score(turn) == turnsignal.score(ANSWER)
    with pytest.raises(turnsignal.Refused, match="the answer: role: "):
        turnsignal.score({**ANSWER, "role": "AI"}, strict=True)


def test_an_answer_may_cite_what_an_earlier_one_of_its_conversation_retrieved() -> None:
    first = {"conversation_id": "c", "turn_id": "1", "timestamp": "2026-01-01T10:00:00Z", "role": "assistant"}
    first |= {"text": "Open it [kb_1].", "retrieved": [{"doc_id": "kb_1"}]}
    second = {"text": "Then close it [kb_1].", "retrieved": [{"doc_id": "kb_7"}]}
    later = first | {"turn_id": "2", "timestamp": "2026-01-01T10:01:00Z"} | second
    answers = turnsignal.score([later, first])
    assert [answer["values"]["cited"] for answer in answers] == [1.0, 1.0]
    assert answers[0]["citations"]["documents"] == ["kb_1"]
    elsewhere = turnsignal.score([later | {"conversation_id": "d"}, first])
    assert [answer["values"]["cited"] for answer in elsewhere] == [0.0, 1.0]
    assert (
        turnsignal.score([second, {"text": first["text"], "retrieved": first["retrieved"]}])[0]["values"]["cited"]
        == 0.0
    )
