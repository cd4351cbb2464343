"""What a conversation is: repeated histories, planners, regenerated answers, retrievals, and calls without an id."""

import sys
from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.assembly import MANY_QUESTIONS, join_trace
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.silence import explain_silence
from turnsignal.stream.formats.turns import take_turns


def talk(*texts: str) -> list[Message]:
    """A history, the user first."""
    return [Message(("user", "assistant")[number % 2], text) for number, text in enumerate(texts)]


def call(number: int, *texts: str, **more: Any) -> Call:
    """A call at a time that answers a history with the last text."""
    history = talk(*texts)
    fields = {"origin": f"x:{number}", "start": 100.0 * number, "end": 100.0 * number + 5, "line": number}
    return Call(inputs=history[:-1], outputs=[Message("assistant", texts[-1])], **(fields | more))


def turns(*calls: Call) -> list[tuple[str, str]]:
    return [(turn["turn_id"], turn["text"]) for turn, _ in take_turns("c", calls, Counter())]


def test_a_history_that_every_call_repeats_is_taken_in_once() -> None:
    first, second = call(1, "a", "A"), call(2, "a", "A", "b", "B")
    third = call(3, "a", "A", "b", "B", "c", "C")
    assert turns(third, first, second) == [
        ("x:1#0", "a"),
        ("x:1", "A"),
        ("x:2#2", "b"),
        ("x:2", "B"),
        ("x:3#4", "c"),
        ("x:3", "C"),
    ]


def test_an_export_that_begins_in_the_middle_has_the_history_of_its_first_call() -> None:
    assert [text for _, text in turns(call(1, "a", "A", "b", "B"))] == ["a", "A", "b", "B"]


def test_a_window_of_the_history_is_recognised_where_it_begins() -> None:
    assert [text for _, text in turns(call(1, "a", "A", "b", "B"), call(2, "b", "B", "c", "C"))] == list("aAbBcC")


def test_a_log_of_last_messages_alone_has_them_all_even_when_one_is_said_again() -> None:
    said = turns(call(1, "a", "A"), call(2, "b", "B"), call(3, "a", "A again"))
    assert [text for _, text in said] == ["a", "A", "b", "B", "a", "A again"]


def test_an_answer_that_comes_back_as_it_was_shown_is_no_other_answer() -> None:
    assert [text for _, text in turns(call(1, "a", "A [1]"), call(2, "a", "A", "b", "B"))] == ["a", "A [1]", "b", "B"]


def test_a_first_question_that_was_edited_and_then_answered_anew_is_asked_once() -> None:
    calls = [call(1, "a", "A"), call(2, "b", "B"), call(3, "b", "B2"), call(4, "b", "B2", "c", "C")]
    assert [text for _, text in turns(*calls)] == ["a", "A", "b", "B", "B2", "c", "C"]


def test_a_regenerated_answer_stands_beside_the_first_without_its_question_again() -> None:
    said = turns(call(1, "a", "A"), call(2, "a", "better"), call(3, "a", "better", "b", "B"))
    assert [text for _, text in said] == ["a", "A", "better", "b", "B"]


def sent(question: str, *documents: str) -> str:
    """A question as most applications send it: with documents around it while it is asked."""
    return "\n".join(["Context:", *documents, "", f"Question: {question}", "Helpful answer:"])


def test_documents_that_stand_around_the_question_while_it_is_asked_make_no_second_one_of_it() -> None:
    first, second, third = "How do I pay?", "And by card?", "Thanks"
    said = turns(
        call(1, sent(first, "Doc A"), "In the app."),
        call(2, first, "In the app.", sent(second, "Doc B", "Doc C"), "Yes."),
        call(3, first, "In the app.", second, "Yes.", sent(third), "Welcome!"),
    )
    assert said == [
        ("x:1#0", first),
        ("x:1", "In the app."),
        ("x:2#2", second),
        ("x:2", "Yes."),
        ("x:3#4", third),
        ("x:3", "Welcome!"),
    ]


@pytest.mark.parametrize("template", ["{}\n\nContext:\nDoc {}", "<doc>{1}</doc>\n<question>{0}</question>"])
def test_a_question_is_taken_out_of_what_was_sent_wherever_documents_stand(template: str) -> None:
    said = turns(
        call(1, template.format("Pay?", 1), "So."), call(2, "Pay?", "So.", template.format("Card?", 2), "Yes.")
    )
    assert [text for _, text in said] == ["Pay?", "So.", "Card?", "Yes."]


def test_a_cut_history_is_recognised_by_its_answers_where_documents_stood_around_its_questions() -> None:
    said = turns(call(1, sent("a?"), "A"), call(2, "a?", "A", sent("b?"), "B"), call(3, "b?", "B", sent("c?"), "C"))
    assert [text for _, text in said] == ["a?", "A", "b?", "B", "c?", "C"]


def test_documents_and_an_answer_that_comes_back_as_it_was_shown_are_no_other_exchange() -> None:
    said = turns(call(1, sent("a?"), "A [1]"), call(2, "a?", "A", sent("b?"), "B"))
    assert [text for _, text in said] == ["a?", "A [1]", "b?", "B"]


def test_a_question_that_was_sent_in_other_words_is_known_by_its_long_answer_and_keeps_its_words() -> None:
    answer = "Open the app, choose Payments, then Cards, and follow the three steps that it shows."
    said = turns(call(1, "Standalone: ways to pay", answer), call(2, "and paying?", answer, "b", "B"))
    assert [text for _, text in said] == ["Standalone: ways to pay", answer, "b", "B"]


def test_a_short_answer_that_is_given_to_two_questions_is_given_twice() -> None:
    said = turns(call(1, "Standalone: ways to pay", "Sorry."), call(2, "And refunds?", "Sorry.", "b", "B"))
    assert [text for _, text in said] == ["Standalone: ways to pay", "Sorry.", "And refunds?", "Sorry.", "b", "B"]


def test_a_question_of_which_the_history_holds_but_the_beginning_stays_whole() -> None:
    said = turns(call(1, "How do I pay by card?", "So."), call(2, "How do I", "So.", "b", "B"))
    assert said[0] == ("x:1#0", "How do I pay by card?")


def test_a_first_question_that_is_asked_again_in_more_words_is_another_one() -> None:
    said = turns(call(1, "How?", "So."), call(2, "How?\nI mean by card", "Thus."))
    assert [text for _, text in said] == ["How?", "So.", "How?\nI mean by card", "Thus."]


def test_an_edited_question_goes_on_from_where_it_stands() -> None:
    said = turns(
        call(1, "a", "A"),
        call(2, "a", "A", "b", "B"),
        call(3, "a", "A", "c", "C"),
        call(4, "a", "A", "c", "C", "d", "D"),
    )
    assert [text for _, text in said] == ["a", "A", "b", "B", "c", "C", "d", "D"]


def test_times_never_go_back_and_a_message_is_said_before_its_call() -> None:
    stamps = [
        turn["timestamp"] for turn, _ in take_turns("c", [call(1, "a", "A", "b", "B"), call(1, "a", "A")], Counter())
    ]
    assert stamps == sorted(set(stamps))


def test_of_several_calls_in_a_trace_the_last_is_what_the_user_saw() -> None:
    assumed: Counter[str] = Counter()
    planner = call(1, "Plan: a", "1. look", trace="t", start=195.0, end=199.0)
    answers = join_trace([call(2, "Context … a", "A", trace="t"), planner], assumed)
    assert [answer.origin for answer in answers] == ["x:2"]
    assert assumed["calls on the way to an answer left out"] == 1


def test_a_trace_of_a_whole_conversation_keeps_every_answer_that_the_user_went_on_from() -> None:
    first, planner, second = call(1, "a", "A"), call(2, "Plan: b", "look"), call(3, "a", "A", "b", "B")
    assert [answer.origin for answer in join_trace([first, planner, second], Counter())] == ["x:1", "x:3"]


def test_the_root_says_what_the_user_saw_and_the_model_call_which_model_it_was() -> None:
    root = call(1, "a", "A", kind="whole", trace="t", conversation="c9", end=190.0)
    inner = Call(
        "x:m", start=150.0, outputs=[Message("assistant", "A", metadata={"citations": [1]})], fields={"model": "m"}
    )
    (answer,) = join_trace([inner, root], Counter())
    assert (answer.origin, answer.conversation, answer.fields) == ("x:1", "c9", {"model": "m"})
    assert answer.outputs[0].metadata == {"citations": [1]}


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        (("a", "A", "b", "B"), ["a", "A", "b"]),
        (("a", "A", "From these pages: … b", "B"), ["a", "A", "b"]),
        (("a", "A", "A title for this", "B"), ["b"]),
        (("a", "A", "b", "Another answer"), ["b"]),
        (("b", "B"), ["b"]),
    ],
    ids=["as asked", "with pages", "another question", "another answer", "no history"],
)
def test_a_root_that_holds_its_question_alone_has_the_history_of_its_model_call(
    sent: tuple[str, ...], taken: list[str]
) -> None:
    root = call(1, "b", "B", kind="whole", end=190.0)
    (answer,) = join_trace([root, call(1, *sent, start=150.0, origin="x:m")], Counter())
    assert [message.text for message in answer.inputs] == taken


def test_a_greeting_that_its_model_call_sends_stands_before_the_question_of_a_root() -> None:
    root = call(1, "b", "B", kind="whole", end=190.0)
    model = call(1, "b", "B", start=150.0, origin="x:m")
    model.inputs.insert(0, Message("assistant", "Welcome!"))
    (answer,) = join_trace([root, model], Counter())
    assert [message.text for message in answer.inputs] == ["Welcome!", "b"]


def test_where_no_root_and_no_model_call_says_anything_the_topmost_inner_call_does() -> None:
    server = Call("x:h", kind="context", start=99.0, end=130.0, trace="t")
    agent = call(1, "a", "A", kind="inner", start=100.0, end=120.0, trace="t", origin="x:a")
    step = call(1, "step", "done", kind="inner", start=101.0, end=105.0, trace="t", origin="x:s")
    silent = Call("x:m", start=102.0, end=104.0, trace="t")
    assert [answer.origin for answer in join_trace([server, step, agent, silent], Counter())] == ["x:a"]
    spoken = call(1, "a", "A", start=102.0, end=104.0, trace="t", origin="x:m")
    assert [answer.origin for answer in join_trace([server, step, agent, spoken], Counter())] == ["x:m"]


def test_a_trace_of_several_conversations_is_parted_by_them() -> None:
    calls = [call(n, f"q{n}", f"a{n}", trace="t", conversation=f"c{n}", start=100.0 + n) for n in range(4)]
    assert [answer.conversation for answer in join_trace(calls, Counter())] == ["c0", "c1", "c2", "c3"]
    root = call(9, "q", "a", kind="whole", trace="t", conversation="c", start=99.0, end=190.0)
    assert [answer.conversation for answer in join_trace([root, *calls], Counter())] == ["c"]


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("Paying by card in your account", ["x:1"]),
        ('"Paying by card"', ["x:1"]),
        ("You pay by card, under Billing, or by a transfer.", ["x:2"]),
    ],
    ids=["a title", "in quotes", "a better answer"],
)
def test_a_title_that_is_as_long_as_a_short_answer_is_none(given: str, seen: list[str]) -> None:
    answer = call(1, "How do I pay?", "By card, in your account, under Billing.", trace="t", start=1.0, end=2.0)
    about = "user: How do I pay?\nassistant: By card, in your account, under Billing.\nWrite a title."
    after = call(2, about, given, trace="t", start=2.5, end=3.0)
    assert [each.origin for each in join_trace([answer, after], Counter())] == seen


def test_a_title_of_an_exchange_of_two_words_is_none() -> None:
    answer = call(1, "no", "Yes.", trace="t", start=1.0, end=2.0)
    about = call(
        2, "Write a title, no sentence:\nuser: no\nassistant: Yes.", "A short talk", trace="t", start=2.5, end=3.0
    )
    assert [each.origin for each in join_trace([answer, about], Counter())] == ["x:1"]
    question = call(2, "I know now: Yes. And how much?", "Ten", trace="t", start=2.5, end=3.0)
    assert [each.origin for each in join_trace([answer, question], Counter())] == ["x:2"]


def test_documents_join_the_answer_of_their_trace_reranked_ones_with_their_rank_before() -> None:
    hits = Call("x:r", kind="retrieval", start=90.0, documents=[{"doc_id": "a"}, {"doc_id": "b", "text": "B"}])
    again = Call("x:s", kind="retrieval", start=91.0, documents=[{"doc_id": "a"}, {"doc_id": "c"}])
    better = Call("x:k", kind="reranking", start=95.0, documents=[{"doc_id": "b"}, {"doc_id": "a"}])
    (answer,) = join_trace([call(1, "q", "A"), better, again, hits], Counter())
    assert answer.documents == [{"doc_id": "b", "text": "B", "retrieval_rank": 2}, {"doc_id": "a", "retrieval_rank": 1}]
    (plain,) = join_trace([call(1, "q", "A"), again, hits], Counter())
    assert [document["doc_id"] for document in plain.documents] == ["a", "b", "c"]


def test_streamed_pieces_are_one_answer_in_their_order() -> None:
    pieces = [
        Call("x:p", response="p", partial=True, start=1.0, line=line, outputs=[Message("assistant", text)])
        for line, text in ((3, " world"), (1, "Hel"), (2, "lo"))
    ]
    (answer,) = join_trace(pieces, Counter())
    assert [message.text for message in answer.outputs] == ["Hello world"]


def test_ids_that_no_turn_can_carry_are_digests_that_keep_the_original() -> None:
    long = call(1, "a", "A")
    long.origin = "x:" + "y" * 300
    taken = [turn for turn, _ in take_turns("c\n", [long], Counter())]
    assert all(len(turn["turn_id"]) <= 200 and turn["turn_id"].startswith("x:") for turn in taken)
    assert taken[1]["metadata"] == {"origin": long.origin}
    assert taken[0]["conversation_id"].isprintable()


def test_an_environment_by_another_name_does_not_move_the_figures_of_production() -> None:
    assumed: Counter[str] = Counter()
    tried = call(1, "a", "A", fields={"environment": "staging"})
    assert [turn["environment"] for turn, _ in take_turns("c", [tried], assumed)] == ["experiment", "experiment"]
    assert assumed["environments by other names are experiment"] == 1


def test_a_session_names_the_conversation_only_where_no_call_of_the_trace_does() -> None:
    agent = Call("x:0", kind="context", conversation="c1", trace="t", start=1.0)
    for inner, expected in (([agent], "c1"), ([], "s1")):
        (answer,) = join_trace([call(1, "a", "A", trace="t", session="s1"), *inner], Counter())
        assert answer.conversation == expected


@pytest.mark.parametrize(
    ("checked", "answer", "pause", "seen"),
    [
        ("Open Settings, then Security.", "SAFE", 1.0, ["x:1"]),
        ("Is this safe? Open Settings, then Security.", '{"safe": true}', 1.0, ["x:1"]),
        ("Open Settings, then Security.", "SAFE", 60.0, ["x:2"]),
        ("Open Settings, then Security.", "Öffne die Einstellungen, dann Sicherheit.", 1.0, ["x:2"]),
        ("Something else of this length", "SAFE", 1.0, ["x:2"]),
    ],
    ids=["a word", "an object", "a person's pause", "a translation", "not about it"],
)
def test_a_guard_that_comes_last_in_a_trace_answers_nobody(
    checked: str, answer: str, pause: float, seen: list[str]
) -> None:
    def instructed(number: int, instructions: str, question: str, answer: str, start: float) -> Call:
        asked = call(number, question, answer, start=start, end=start + 1)
        asked.inputs = [Message("system", instructions), *asked.inputs]
        return asked

    first = instructed(1, "Help.", "How do I reset it?", "Open Settings, then Security.", 100.0)
    guard = instructed(2, "Check the answer.", checked, answer, 101.0 + pause)
    assert [answer.origin for answer in join_trace([first, guard], Counter())] == seen


@pytest.mark.parametrize(
    ("sent", "asked"),
    [("How do I pay?", "How do I pay?"), ("A title for: By card, in your account", "Plan: How do I pay?")],
    ids=["the answer failed", "a title failed"],
)
def test_a_trace_whose_last_call_failed_answers_nothing_unless_it_was_about_an_answer(sent: str, asked: str) -> None:
    planner = call(1, "Plan: How do I pay?", "By card, in your account", start=100.0, end=101.0)
    failed = call(2, sent, "", start=101.5, end=102.0)
    failed.outputs = []
    (answer,) = join_trace([planner, failed], Counter())
    assert answer.inputs[-1].text == asked
    assert bool(answer.outputs) == (asked != sent)


def test_many_different_questions_in_a_trace_that_leave_one_answer_are_counted() -> None:
    for many, counted in ((3, 0), (40, 1)):
        assumed: Counter[str] = Counter()
        calls = [
            call(number, f"question {number}", f"answer {number}", trace="t", start=6.0 * number, end=6.0 * number + 5)
            for number in range(many)
        ]
        assert [answer.origin for answer in join_trace(calls, assumed)] == [f"x:{many - 1}"]
        assert assumed[MANY_QUESTIONS] == counted
        assert (explain_silence("otel", assumed, 1, 2, 0) is None) == (not counted)


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        (["How do I pay?", "And by card?", "Thanks"], 3),
        (["Summarise this page: cats", "Summarise this page: dogs", "Summarise this page: owls"], 1),
        (["How do I pay?", "Write it nicely: By bank or card, as you like", "Shorter"], 2),
        (["How do I pay?", "Answer from these pages. " + "Much text. " * 100, "Thanks"], 2),
    ],
    ids=["a person's", "steps that begin alike", "a step that quotes the one before", "a long prompt"],
)
def test_a_trace_is_a_session_where_people_wrote_between_its_calls(asked: list[str], answers: int) -> None:
    got = ["By bank or card, as you like", "Yes, any card", "You are welcome"]
    calls = [call(number, *texts, trace="t") for number, texts in enumerate(zip(asked, got, strict=True))]
    seen = join_trace(calls, Counter())
    assert [answer.conversation for answer in seen] == (["t"] * answers if answers > 1 else [None])
    at_once = [
        call(number, *texts, trace="t", start=6.0 * number, end=6.0 * number + 5)
        for number, texts in enumerate(zip(asked, got, strict=True))
    ]
    assert len(join_trace(at_once, Counter())) == 1


def test_a_trace_that_repeats_its_history_or_one_question_has_not_many() -> None:
    history = [text for number in range(40) for text in (f"q{number}", f"a{number}")]
    goes_on = [call(number, *history[: 2 * number + 2], trace="t") for number in range(40)]
    retried = [call(number, "q", f"try {number}", trace="t") for number in range(40)]
    for calls in (goes_on, retried):
        assumed: Counter[str] = Counter()
        join_trace(calls, assumed)
        assert not assumed[MANY_QUESTIONS]


def test_a_last_call_of_many_messages_is_looked_through_once_for_all_wholes_of_its_trace() -> None:
    def calls_made(many: int) -> int:
        model = Call("x:m", start=0.0, end=1.0, outputs=[Message("assistant", f"A{n}") for n in range(many)])
        roots = [call(n, "a", f"A{n}", kind="whole", trace="t") for n in range(1, many)]
        counted = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal counted
            counted += event == "call"

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            join_trace([model, *roots], Counter())
        finally:
            sys.setprofile(before)
        return counted

    assert calls_made(200) < 2.2 * calls_made(100)


def test_a_trace_that_failed_says_what_its_root_was_asked_behind_the_history_of_its_model() -> None:
    root = Call("x:t1", kind="whole", trace="t1", start=1.0, end=9.0, inputs=talk("b"))
    model = Call("x:o1", kind="answer", trace="t1", start=2.0, end=8.0, inputs=talk("a", "A", "b"))
    (asked,) = join_trace([root, model], Counter())
    assert [message.text for message in asked.inputs] == ["a", "A", "b"]
    assert not asked.outputs


def test_a_planner_that_failed_says_nothing_of_the_history() -> None:
    root = Call("x:t1", kind="whole", trace="t1", start=1.0, end=9.0, inputs=talk("b"))
    model = Call("x:o1", kind="answer", trace="t1", start=2.0, end=8.0, inputs=talk("plan", "P", "go on"))
    (asked,) = join_trace([root, model], Counter())
    assert [message.text for message in asked.inputs] == ["b"]


@pytest.mark.parametrize("is_inner_first", [False, True])
def test_of_retrievers_within_one_another_the_outermost_says_what_the_model_got(*, is_inner_first: bool) -> None:
    def search(named: str, within: str, *ids: str) -> Call:
        documents = [{"doc_id": each} for each in ids]
        return Call(f"x:{named}", kind="retrieval", start=90.0, parent=f"x:{within}", documents=documents)

    outer, inner = search("outer", "chain", "b", "a"), search("inner", "outer", "c", "a", "b")
    inmost, beside = search("inmost", "inner", "d"), search("beside", "chain", "e")
    retrievals = [inmost, inner, outer, beside] if is_inner_first else [outer, beside, inner, inmost]
    (answer,) = join_trace([*retrievals, call(1, "How?", "So.")], Counter())
    found = [(each["doc_id"], each.get("retrieval_rank")) for each in answer.documents]
    assert sorted(found) == [("a", 2), ("b", 3), ("e", None)]
    assert [each for each, _ in found if each != "e"] == ["b", "a"]


def test_retrievers_that_are_said_to_be_within_each_other_are_read() -> None:
    documents = [{"doc_id": "a"}]
    one = Call("x:r1", kind="retrieval", start=90.0, parent="x:r2", documents=documents)
    other = Call("x:r2", kind="retrieval", start=91.0, parent="x:r1", documents=[{"doc_id": "b"}])
    (answer,) = join_trace([one, other, call(1, "How?", "So.")], Counter())
    assert [each["doc_id"] for each in answer.documents] == ["a", "b"]


def test_an_answer_that_was_cut_and_stays_in_the_history_is_kept() -> None:
    whole = "Please restart the router first, then hold the button for ten seconds."
    cut = whole[:50]
    calls = [
        call(1, "It is broken", cut),
        call(2, "It is broken", cut, "It is broken", whole),
        call(3, "It is broken", cut, "It is broken", whole, "thanks", "Welcome."),
    ]
    texts = [turn["text"] for turn, _ in take_turns("c", calls, Counter())]
    assert texts == ["It is broken", cut, "It is broken", whole, "thanks", "Welcome."]
