"""Whose conversation a call without an id is: repeated histories, chained responses, and calls that end in a tool."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.anthropic import AnthropicMessages
from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.heads import head_of
from turnsignal.stream.formats.linking import UNSURE, link
from turnsignal.stream.formats.openai import OpenAIChat
from turnsignal.stream.formats.protocol import Call, LogFormat, Message
from turnsignal.stream.formats.responses import OpenAIResponses
from turnsignal.stream.formats.silence import explain_silence
from turnsignal.stream.formats.turns import take_turns


def call(number: int, *texts: str, **more: Any) -> Call:
    """A call at a time that answers a history, the user first, with the last text."""
    *asked, answer = (Message(("user", "assistant")[at % 2], text) for at, text in enumerate(texts))
    fields = {"start": 100.0 * number, "end": 100.0 * number + 5, "line": number}
    return Call(f"x:{number}", inputs=asked, outputs=[answer], **(fields | more))


def linked(*calls: Call) -> list[str]:
    """The conversation of each call."""
    return link([head_of(number, each) for number, each in enumerate(calls)], Counter())


def read(log: LogFormat, *records: dict[str, Any]) -> list[list[str]]:
    """What is said in each conversation of a log."""
    calls: list[Call] = []
    for line, record in enumerate(records, 1):
        for each in log.read(record, Counter()):
            each.line = line
            calls += join_trace([each], Counter())
    chosen = linked(*calls)
    return [
        [
            turn["text"]
            for turn, _ in take_turns(name, [c for c, of in zip(calls, chosen, strict=True) if of == name], Counter())
        ]
        for name in dict.fromkeys(chosen)
    ]


def test_calls_without_an_id_are_one_conversation_where_one_repeats_the_other() -> None:
    calls = [
        call(1, "hi", "Hello"),
        call(2, "hi", "Hello"),
        call(3, "hi", "Hello", "a", "A"),
        call(4, "hi", "Hello", "b", "B"),
    ]
    chosen = linked(*calls)
    assert chosen[0] != chosen[1]  # two who say the same
    assert {chosen[2], chosen[3]} == {chosen[0], chosen[1]}


@pytest.mark.parametrize("again", ["So.", "So .", "So [1]."])
def test_an_answer_that_comes_back_without_its_citations_is_the_same_and_keeps_them(again: str) -> None:
    calls = [call(1, "How?", "So [1]."), call(2, "How?", again, "Why?", "Because [doc_2][3]."), call(3, "Why?", "So.")]
    chosen = linked(*calls)
    assert chosen[0] == chosen[1] != chosen[2]
    assert [turn["text"] for turn, _ in take_turns("c", calls[:2], Counter())] == [
        *("How?", "So [1]."),
        *("Why?", "Because [doc_2][3]."),
    ]


def test_two_who_choose_the_same_answer_to_a_greeting_are_two_and_one_who_asks_again_at_once_is_one() -> None:
    greeting = Message("assistant", "Welcome! Choose one of these, or ask me anything about your orders and returns.")
    first, stranger = (
        Call(f"x:{n}", inputs=[greeting, Message("user", "Opening hours")], outputs=[Message("assistant", "9 to 5.")])
        for n in (1, 2)
    )
    first.start, stranger.start = 100.0, 160.0
    chosen = linked(first, stranger)
    assert chosen[0] != chosen[1]
    again = [call(1, "a", "A"), call(2, "a", "A", "b", "B"), call(3, "a", "A", "b", "otherwise")]
    assert len(set(linked(*again))) == 1
    again[2].start = 100_000.0
    assert len(set(linked(*again))) == 2


def test_a_response_that_names_the_one_before_is_of_its_conversation() -> None:
    calls = [call(1, "a", "A", response="r1", conversation="c7"), call(2, "b", "B", response="r2", previous="r1")]
    assert linked(*calls) == ["c7", "c7"]


def test_a_call_that_does_not_name_its_user_goes_on_from_one_that_does_but_two_users_stay_apart() -> None:
    named, other = {"user_id": "ann"}, {"user_id": "bob"}
    first, second = call(1, "hi", "Hello", fields=named), call(2, "hi", "Hello", "a", "A")
    assert len(set(linked(first, second))) == 1
    second.fields = other
    assert len(set(linked(first, second))) == 2


def test_of_two_calls_in_one_second_the_one_with_the_longer_history_goes_on_from_the_other() -> None:
    later, earlier = call(1, "a", "A", "b", "B", line=1), call(1, "a", "A", line=2)
    assert len(set(linked(later, earlier))) == 1


def openai(messages: list[Any], answer: dict[str, Any], made: int = 1_763_629_220) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **answer}}
    response = {"id": f"chatcmpl-{made}-{len(messages)}-{messages[0]['content']}", "choices": [choice], "created": made}
    return {"request": {"model": "m", "messages": messages}, "response": response}


def asks(called: str, text: str | None = None) -> dict[str, Any]:
    """An answer that calls a tool."""
    wanted = {"id": called, "type": "function", "function": {"name": "search", "arguments": "{}"}}
    return {"content": text, "tool_calls": [wanted]}


def rounds(question: str, *called: str) -> list[dict[str, Any]]:
    """A history of a question and of the calls of tools that it led to, each with its result."""
    history: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for each in called:
        history += [{"role": "assistant", **asks(each)}, {"role": "tool", "tool_call_id": each, "content": "[1] found"}]
    return history


def said(answer: str, question: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": question}]


def test_a_call_that_ends_in_a_tool_call_goes_on_in_the_call_that_brings_the_result() -> None:
    log = [
        openai(rounds("q"), asks("c1", "Let me look.")),
        openai(rounds("q", "c1"), asks("c2")),
        openai(rounds("q", "c1", "c2"), {"content": "A"}),
        openai([*rounds("q", "c1", "c2"), *said("A", "more")], {"content": "B"}),
    ]
    assert read(OpenAIChat(), *log) == [["q", "A", "more", "B"]]


def test_two_who_ask_the_same_at_once_stay_apart_by_the_ids_of_their_tool_calls() -> None:
    log = [
        openai(rounds("q"), asks("c1"), 1_763_629_220),
        openai(rounds("q"), asks("c2"), 1_763_629_221),
        openai(rounds("q", "c1"), {"content": "A"}, 1_763_629_222),
        openai(rounds("q", "c2"), {"content": "B"}, 1_763_629_223),
    ]
    assert read(OpenAIChat(), *log) == [["q", "A"], ["q", "B"]]


def test_conversations_stay_whole_where_the_calls_of_tools_were_not_logged() -> None:
    log = [
        openai(rounds("q", "c1"), {"content": "A"}),
        openai([*rounds("q", "c1"), *said("A", "more"), *rounds("x", "c2")[1:]], {"content": "B"}),
    ]
    assert read(OpenAIChat(), *log) == [["q", "A", "more", "B"]]


def test_conversations_stay_whole_where_only_the_calls_of_tools_were_logged() -> None:
    log = [
        openai(rounds("q"), asks("c1")),
        openai([*rounds("q", "c1"), *said("A", "more")], asks("c2")),
    ]
    assert read(OpenAIChat(), *log) == [["q", "A", "more"]]


def test_a_client_that_drops_the_calls_of_tools_from_its_history_is_followed_all_the_same() -> None:
    log = [
        openai(rounds("q"), asks("c1")),
        openai(rounds("q", "c1"), {"content": "A"}),
        openai([*rounds("q"), *said("A", "more")], asks("c2")),
        openai([*rounds("q"), *said("A", "more"), *rounds("x", "c2")[1:]], {"content": "B"}),
    ]
    assert read(OpenAIChat(), *log) == [["q", "A", "more", "B"]]


@pytest.mark.parametrize("remark", [[{"type": "text", "text": "Let me look."}], []])
def test_anthropic_blocks_of_tools_lead_from_call_to_call(remark: list[Any]) -> None:
    use = {"role": "assistant", "content": [*remark, {"type": "tool_use", "id": "t1", "name": "search", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]}
    question = {"role": "user", "content": "q"}

    def of(number: int, messages: list[Any], content: list[Any]) -> dict[str, Any]:
        response = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": content}
        return {"request": {"messages": messages}, "response": response}

    answers = [[{"type": "text", "text": text}] for text in "AB"]
    history = [question, use, result, {"role": "assistant", "content": answers[0]}, {"role": "user", "content": "more"}]
    log = [of(1, history[:1], use["content"]), of(2, history[:3], answers[0]), of(3, history, answers[1])]
    assert read(AnthropicMessages(), *log) == [["q", "A", "more", "B"]]
    assert read(AnthropicMessages(), *log[1:]) == [["q", "A", "more", "B"]]


def test_responses_that_repeat_their_input_are_linked_by_their_calls_of_functions() -> None:
    wanted = {"type": "function_call", "id": "fc1", "call_id": "c1", "name": "search", "arguments": "{}"}
    remark = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]}
    question = {"role": "user", "content": "q"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "found"}

    def of(number: int, asked: list[Any], output: list[Any]) -> dict[str, Any]:
        response = {"id": f"resp_{number}", "object": "response", "created_at": 1_763_629_220 + number}
        return {"request": {"input": asked}, "response": {**response, "output": output}}

    first, second = of(1, [question], [remark, wanted]), of(2, [question, remark, wanted, result], [answer])
    assert read(OpenAIResponses(), first, second) == [["q", "A"]]


def test_a_streamed_remark_before_a_call_of_a_tool_is_no_answer() -> None:
    def of(delta: dict[str, Any]) -> dict[str, Any]:
        chunk = {"id": "s1", "object": "chat.completion.chunk", "created": 1, "choices": [{"delta": delta}]}
        return {"request": {"messages": [{"role": "user", "content": "q"}]}, "response": chunk}

    tool = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "search"}}]}
    log = [of({"content": "Let me "}), of({"content": "look."}), of(tool), of({"tool_calls": [{"index": 0}]})]
    calls = [each for line, record in enumerate(log) for each in OpenAIChat().read(record, Counter())]
    (joined,) = join_trace(calls, Counter())
    assert [(message.text, message.called) for message in joined.outputs] == [("", ["c1"])]


LONG = "Open the app, choose Payments, then Cards, and follow the three steps that it shows, please."


def sent(question: str) -> str:
    return f"Context:\nDoc of {question}\n\nQuestion: {question}"


def cut(number: int, said: list[str], window: int, *, framed: bool = False) -> Call:
    """A call that sends the last messages of what was said until its answer, the last text."""
    *history, question, answer = said
    history = history[-window + 1 :] if window > 1 else []
    first = (len(said) - 2 - len(history)) % 2
    asked = [Message(("user", "assistant")[(first + at) % 2], text) for at, text in enumerate(history)]
    asked.append(Message("user", sent(question) if framed else question))
    outputs = [Message("assistant", answer)]
    return Call(f"x:{number}", inputs=asked, outputs=outputs, start=100.0 * number, line=number)


def talks(many: int, rounds: int) -> list[list[str]]:
    """What is said in conversations of which all begin alike."""
    return [
        ["Hi", "Hello!", *(f"{kind} {talk}-{turn}" for turn in range(rounds) for kind in ("ask", "answer"))]
        for talk in range(many)
    ]


@pytest.mark.parametrize(("window", "framed"), [(3, False), (4, False), (5, False), (99, True), (5, True)])
def test_histories_that_are_cut_or_hold_the_question_alone_stay_with_their_own(window: int, framed: bool) -> None:
    said = talks(4, 5)
    calls = [
        (talk, cut(10 * length + talk, each[:length], window, framed=framed))
        for length in range(2, 13, 2)
        for talk, each in enumerate(said)
    ]
    chosen = linked(*(each for _, each in calls))
    assert len(set(chosen)) == 4
    for name in set(chosen):
        mine = [each for (_, each), of in zip(calls, chosen, strict=True) if of == name]
        texts = [turn["text"] for turn, _ in take_turns(name, mine, Counter())]
        assert texts in said


def test_one_who_repeats_a_common_opening_after_other_words_is_a_stranger() -> None:
    opening = "Hello! How can I help you?"
    assert len(set(linked(call(1, "Hi there", opening), call(2, "Good morning", opening, "a", "A")))) == 2


def test_a_long_answer_links_without_its_question_where_it_was_given_once() -> None:
    first, second, other = call(1, "ways to pay", LONG), call(3, "pay?", LONG, "a", "A"), call(2, "cards", LONG)
    assert len(set(linked(first, second))) == 1
    assumed: Counter[str] = Counter()
    assert len(set(link([head_of(at, each) for at, each in enumerate((first, other, second))], assumed))) == 3
    assert assumed[UNSURE] == 1
    assert "send one id with every call" in (explain_silence("openai", assumed, 3, 8, 0) or "")


def test_an_end_that_another_repeats_word_by_word_is_not_given_to_one_who_repeats_less() -> None:
    first, cut_off, whole = (
        call(1, "a", "A", "b", LONG),
        call(2, "b", LONG, "x", "X"),
        call(3, "a", "A", "b", LONG, "c", "C"),
    )
    chosen = linked(first, cut_off, whole)
    assert chosen[0] == chosen[2] != chosen[1]


def test_two_users_stay_apart_where_the_end_of_a_history_is_all_that_is_repeated() -> None:
    first = call(1, "a", "A", "b", LONG, fields={"user_id": "ann"})
    assert len(set(linked(first, call(2, "b", LONG, "x", "X", fields={"user_id": "ann"})))) == 1
    assert len(set(linked(first, call(2, "b", LONG, "x", "X", fields={"user_id": "bob"})))) == 2


def test_records_of_whole_conversations_are_not_joined_by_what_they_end_with() -> None:
    whole = [Call(f"x:{at}", inputs=[*each.inputs, *each.outputs], line=at) for at, each in enumerate(
        (call(1, "a", "A", "b", LONG), call(2, "b", LONG, "x", "X"))
    )]  # fmt: skip
    assert len(set(linked(*whole))) == 2


def test_a_finished_conversation_does_not_go_on_from_one_with_another_opening_though_all_answers_are_canned() -> None:
    def whole(*texts: str) -> Call:
        spoken = [Message("assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]
        return Call("", inputs=spoken)

    rest = ("Orders are listed in your account.", "Where is my invoice?", "Under Billing.")
    first, second = ("Where is my order, number 1011?", *rest), ("Where is my order, number 1045?", *rest)
    assert len(set(linked(whole(*first), whole(*second, "Can I export my data?", "Yes, in your profile.")))) == 2
    assert len(set(linked(whole(*first), whole(*first, "Can I export my data?", "Yes, in your profile.")))) == 1


def timed(begun: float, *seconds: float | None) -> Call:
    """A record of a whole conversation, whose messages carry these times after its beginning, or none."""
    said = [
        Message(("user", "assistant")[at % 2], f"{at}", time=None if after is None else begun + after)
        for at, after in enumerate(seconds)
    ]
    return Call(f"x:{begun}", start=begun, line=int(begun), inputs=said)


@pytest.mark.parametrize("named", [None, "ada"])
def test_whole_conversations_whose_messages_were_said_at_other_times_are_others(named: str | None) -> None:
    calls = [timed(100.0, 0, 3), timed(5_000.0, 0, 3, 20, 23), timed(9_000.0, 0, 3, 20, 23, 40, 43)]
    for each in calls:
        each.fields = {} if named is None else {"user_id": named}
    assert len(set(linked(*calls))) == 3


@pytest.mark.parametrize(
    "later",
    [
        timed(100.0, 0, 3, 20, 23),
        timed(100.0, 0.7, 3.2, 20, 23),
        timed(100.0, None, None, 20, 23),
        timed(5_000.0, 0, 0.1, 0.2, 0.3),
        timed(5_000.0, 0, 0, 20, 23),
    ],
    ids=["the same", "rounded", "none", "all of them the call's", "those of before the call's"],
)
def test_a_conversation_goes_on_where_its_messages_keep_their_times_or_get_new_ones_with_each_call(later: Call) -> None:
    assert len(set(linked(timed(100.0, 0, 3), later))) == 1
    assert len(set(linked(call(1, "0", "1"), later))) == 1
