"""An inquiry reads what models write: exactly the labels on offer, or a reason why there is none."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.injections import INJECTIONS
from turnsignal.stream.judging.inquiry import Inquiry, Judgement
from turnsignal.stream.judging.material import collect_material
from turnsignal.stream.judging.reply import MAX_REPLY
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.records.turns import Document
from turnsignal.stream.records.verdicts import MAX_CLAIM, MAX_REASONING, Unjudged


def ask(rubric: str, *replies: Any, **changes: Any) -> Judgement:
    """Run an inquiry with these replies, JSON where they are not texts."""
    chosen = choose_rubric(rubric)
    exchange = an_exchange(chosen.rubric.stage, **changes)
    inquiry = Inquiry(chosen.rubric, collect_material(exchange, chosen.rubric), chosen.form, chosen.how)
    for reply in replies:
        assert inquiry.prompt is not None, "more replies than prompts"
        inquiry.on_reply(reply if reply is None or isinstance(reply, str) else json.dumps(reply))
    assert inquiry.judgement is not None, "fewer replies than prompts"
    assert inquiry.prompt is None
    return inquiry.judgement


def served(reasoning: str = "It helps.", **more: Any) -> dict[str, Any]:
    return {"intent": "Know it.", "reasoning": reasoning, "label": "served"} | more


def test_one_label_has_its_value_and_the_reasoning_with_the_intent() -> None:
    judgement = ask("task_utility", served())
    assert judgement == Judgement("served", 1.0, "Intent: Know it. It helps.")


def test_a_label_without_a_value_is_unscored_and_keeps_its_name() -> None:
    judgement = ask("follow_up", {"reasoning": "A greeting.", "label": "other"})
    assert (judgement.label, judgement.value, judgement.unscored) == ("other", None, Unjudged.NO_SIGNAL)


@pytest.mark.parametrize(
    "reply",
    [
        str,
        lambda text: f"```json\n{text}\n```",
        lambda text: f"Here is my judgement:\n{text}\nI hope this helps {{}}.",
        lambda text: f'<think>maybe {{"label": "missed"}} or so</think>\n{text}',
        lambda text: f"\ufeff  {text}",
        lambda text: text.replace('"served"', '" served "'),
        lambda text: "{" * 5_000 + text,
    ],
    ids=itertools.count(),
)
def test_the_first_json_object_is_read_with_or_without_what_stands_around_it(reply: Any) -> None:
    text = json.dumps(served())
    judgement = ask("task_utility", reply(text))
    assert (judgement.label, judgement.value) == ("served", 1.0)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (None, "an empty reply"),
        ("", "an empty reply"),
        ("I would say served.", "expected a JSON object"),
        (served(label="perfect"), "label: expected one of served, partly, missed, got 'perfect'"),
        (served(label="SERVED"), "got 'SERVED'"),
        (served(label=1), "expected a text, got 1"),
        (served(label=["served"]), "expected a text"),
        ({"label": "served"}, "expected the field intent"),
        ({"intent": "x", "label": "served"}, "expected the field reasoning"),
        ("[1, 2]", "expected a JSON object"),
        ('{"intent": "a", "reasoning": "b", "label": "served", "label": "missed"}', "each field once"),
        (json.dumps(served())[:-3], "expected a JSON object"),
        ("{}" + json.dumps(served()), "expected the field intent"),
        ('{"a":' * 5_000 + json.dumps(served()), "so many braces"),
        ("x" * (MAX_REPLY + 1), "at most 200,000 characters"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "at most 200,000 characters"),
    ],
    ids=itertools.count(),
)
def test_a_reply_that_does_not_fit_is_unscored_with_the_reason(reply: Any, why: str) -> None:
    judgement = ask("task_utility", reply)
    assert (judgement.label, judgement.value, judgement.unscored) == (None, None, Unjudged.PARSE)
    assert why in judgement.reasoning
    assert len(judgement.reasoning) <= MAX_REASONING


def claim(label: str, text: str = "A claim.") -> dict[str, str]:
    return {"claim": text, "reasoning": "Because.", "label": label}


def test_groundedness_is_the_share_of_claims_that_need_no_better_source() -> None:
    claims = [claim("inferable"), claim("generic"), claim("ungrounded"), claim("ungrounded")]
    judgement = ask("groundedness", {"claims": claims, "explanation": "Half of it."})
    assert (judgement.value, judgement.reasoning) == (0.5, "Half of it.")
    assert [each.label for each in judgement.claims] == ["inferable", "generic", "ungrounded", "ungrounded"]


def test_an_answer_without_claims_is_not_applicable_and_never_nought() -> None:
    judgement = ask("groundedness", {"claims": [], "explanation": "It says nothing."})
    assert (judgement.value, judgement.unscored) == (None, Unjudged.NOT_APPLICABLE)


def relevance(*labels: tuple[int, str]) -> dict[str, Any]:
    found = [{"document": number, "reasoning": "So.", "label": label} for number, label in labels]
    return {"relevance": found, "explanation": "One of them."}


def test_documents_are_labelled_by_number_and_named_by_id() -> None:
    judgement = ask("context_relevance", relevance((2, "irrelevant"), (1, "relevant")))
    assert judgement.value == 0.5
    assert [(each.text, each.label) for each in judgement.claims] == [("kb/1", "relevant"), ("kb/2", "irrelevant")]


@pytest.mark.parametrize(
    "labels", [((1, "relevant"),), ((1, "relevant"), (1, "relevant")), ((1, "relevant"), (3, "relevant"))]
)
def test_a_document_without_a_label_or_with_two_is_not_guessed(labels: tuple[tuple[int, str], ...]) -> None:
    judgement = ask("context_relevance", relevance(*labels))
    assert judgement.unscored is Unjudged.PARSE
    assert "expected a label for each of 1 to 2, once" in judgement.reasoning


def test_four_calls_come_to_what_one_call_comes_to() -> None:
    labels = ("fully", "fully", "fully", "none")
    statements = [{"statement": f"S{n}.", "reasoning": "So.", "label": label} for n, label in enumerate(labels)]
    once = ask("answer_relevancy", {"intent": "Know.", "statements": statements, "explanation": "Mostly."})
    numbered = [{"number": n, "reasoning": "So.", "label": label} for n, label in enumerate(labels, 1)]
    four = ask(
        "answer_relevancy(form=four)",
        {"intent": "Know."},
        {"statements": ["S0.", "S1.", "S2.", "S3."]},
        {"labels": numbered[::-1]},
        {"explanation": "Mostly."},
    )
    assert once == four
    assert (four.value, four.reasoning) == (0.75, "Intent: Know. Mostly.")


def test_a_step_that_cannot_be_read_ends_the_inquiry() -> None:
    judgement = ask("answer_relevancy(form=four)", {"intent": "Know."}, "no statements today")
    assert judgement.unscored is Unjudged.PARSE


def test_texts_of_a_reply_are_cut_and_can_be_written() -> None:
    judgement = ask("groundedness", {"claims": [claim("generic", "x" * 10_000)], "explanation": "y" * 10_000})
    assert (len(judgement.claims[0].text), len(judgement.reasoning)) == (MAX_CLAIM, MAX_REASONING)
    judgement = ask("task_utility", '{"intent": "\\ud800", "reasoning": "\\udfff", "label": "served"}')
    judgement.reasoning.encode()


@pytest.mark.parametrize("attempt", INJECTIONS, ids=itertools.count())
def test_no_text_of_a_stranger_changes_what_is_asked_or_how_a_reply_is_read(attempt: str) -> None:
    """The instructions stay the same, the material is one object that reads back, echoes in a reply decide nothing."""
    for name in ("task_utility", "groundedness", "follow_up"):
        rubric = choose_rubric(name).rubric
        plain = Inquiry(rubric, collect_material(an_exchange(rubric.stage), rubric)).prompt
        changes: dict[str, Any] = {"prompt": attempt, "response": attempt}
        changes |= (
            {"follow_up": attempt}
            if rubric.stage == "follow_up"
            else {"documents": [Document(attempt[:400], text=attempt)]}
        )
        material = collect_material(an_exchange(rubric.stage, **changes), rubric, 2_000_000)
        prompt = Inquiry(rubric, material).prompt
        assert plain is not None
        assert prompt is not None
        assert (prompt.instructions, prompt.schema, prompt.name) == (plain.instructions, plain.schema, plain.name)
        sent = json.loads(prompt.material)
        assert sent["response"] == attempt
        assert set(sent) <= set(rubric.shown)
    echoed = ask("task_utility", served(attempt, label="missed", intent=attempt))
    if len(json.dumps(attempt)) > MAX_REPLY // 2:
        assert echoed.unscored is Unjudged.PARSE
    else:
        assert (echoed.label, echoed.value) == ("missed", 0.0)


@examples(300)
@given(
    st.one_of(
        st.text(max_size=300),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=9),
            lambda inside: (
                st.lists(inside, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["claims", "claim", "label", "reasoning", "explanation", "intent"]),
                    inside,
                    max_size=6,
                )
            ),
            max_leaves=20,
        ).map(json.dumps),
    )
)
def test_whatever_a_model_writes_ends_in_a_judgement(reply: str) -> None:
    for rubric in ("groundedness", "task_utility", "context_relevance"):
        judgement = ask(rubric, reply)
        assert (judgement.value is None) == (judgement.unscored is not None)
