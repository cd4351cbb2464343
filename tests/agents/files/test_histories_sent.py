"""Whatever calls send of their history, in whatever order they stand: each message counts once, and none is lost."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

Messages = list[dict[str, Any]]
NOUNS = [
    "invoice",
    "refund",
    "coupon",
    "seat",
    "alias",
    "region",
    "theme",
    "webhook",
    "quota",
    "password",
    "export",
    "domain",
]
EXAMPLES: Messages = [{"role": "user", "content": "How do I pay?"}, {"role": "assistant", "content": "By card."}]
SYSTEM = {"role": "system", "content": "You help."}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "k1", "type": "function", "function": {}}]}
CAME = {"role": "tool", "tool_call_id": "k1", "content": "three documents"}


class Exchange(NamedTuple):
    """A question and its answer. history: the messages before it."""

    conversation: str
    number: int
    history: Messages
    question: str
    answer: str


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def exchanges(seed: int) -> list[Exchange]:
    """Six conversations of up to eight exchanges, some of whose messages are in many of them."""
    drawn = random.Random(seed)
    all_of: list[Exchange] = []
    for conversation in range(6):
        history: Messages = []
        for number in range(drawn.randint(1, 8)):
            words = " ".join(drawn.choices(NOUNS, k=8))
            asked = f"{words} #{drawn.random()}?" + ("\nIt is for us." if drawn.random() < 0.3 else "")
            question = drawn.choice(("yes", "thanks", "go on")) if drawn.random() < 0.2 else asked
            answer = f"{' '.join(drawn.choices(NOUNS, k=20))} #{drawn.random()}."
            all_of.append(Exchange(f"c{conversation}", number, list(history), question, answer))
            history += [user(question), {"role": "assistant", "content": answer}]
    return all_of


def call(exchange: Exchange, sent: Messages, answer: Any, after: float = 0.0, *, timed: bool = True) -> dict[str, Any]:
    """What a call sends and gets, so many seconds after the question."""
    began = 1_760_000_000 + 10_000 * int(exchange.conversation[1:]) + 60 * exchange.number
    message = answer if isinstance(answer, dict) else {"role": "assistant", "content": answer}
    response = {"id": f"r-{exchange.conversation}-{exchange.number}-{after}", "choices": [{"message": message}]}
    time = {"created": began + after} if timed else {}
    return {"request": {"messages": [SYSTEM, *sent]}, "response": {"object": "chat.completion", **response, **time}}


def whole(exchange: Exchange, *, timed: bool = True) -> list[dict[str, Any]]:
    return [call(exchange, [*exchange.history, user(exchange.question)], exchange.answer, timed=timed)]


def sending(history: Callable[[Messages], Messages]) -> Callable[[Exchange], list[dict[str, Any]]]:
    """Calls that send what `history` leaves of what was said, and their question."""
    return lambda exchange: [call(exchange, [*history(exchange.history), user(exchange.question)], exchange.answer)]


def shortened(history: Messages) -> Messages:
    return [each | {"content": each["content"][:30]} if each["role"] == "assistant" else each for each in history[-4:]]


def summed_up(history: Messages) -> Messages:
    return [user("What was said so far: much."), *history[-4:]] if len(history) > 6 else history


def with_sources(history: Messages) -> Messages:
    return [
        each | {"content": f"{each['content']}\n\nSources: a.example"} if each["role"] == "assistant" else each
        for each in history
    ]


def with_leads(history: Messages) -> Messages:
    """The last messages, whose answers lost what follows their first lines, which begin alike."""
    return [each | {"content": each["content"][:60]} if each["role"] == "assistant" else each for each in history[-6:]]


def redacted(history: Messages) -> Messages:
    return [each | {"content": "[REDACTED]"} if each["role"] == "assistant" else each for each in history[-4:]]


def taken_over(history: Messages) -> Messages:
    """A history into which a person wrote, whose messages no call has."""
    return [*history[:2], user("A person, please!"), {"role": "assistant", "content": "I am Ann."}, *history[2:]]


def failed_in_a_window(exchange: Exchange) -> list[dict[str, Any]]:
    sent = [*exchange.history[-4:], user(exchange.question)]
    failed = call(exchange, sent, "")
    time = {"timestamp": failed["response"]["created"]}
    return [failed | time | {"response": None}, call(exchange, sent, exchange.answer, 2)]


def with_tools(exchange: Exchange) -> list[dict[str, Any]]:
    """Calls of the last question alone, one for each tool on the way."""
    asked = [user(exchange.question)]
    return [
        call(exchange, asked, CALLING),
        call(exchange, [*asked, CALLING, CAME], CALLING, 2),
        call(exchange, [*asked, CALLING, CAME, CALLING, CAME], exchange.answer, 4),
    ]


def after_a_failure(exchange: Exchange) -> list[dict[str, Any]]:
    sent = [*exchange.history, user(exchange.question)]
    return [call(exchange, sent, ""), call(exchange, sent, exchange.answer, 2)]


def classified(exchange: Exchange) -> list[dict[str, Any]]:
    intent = call(exchange, [user(exchange.question)], "billing", -1)
    intent["request"]["messages"][0] = {"role": "system", "content": "Name the intent in one word."}
    return [intent, *whole(exchange)]


def routed(exchange: Exchange) -> list[dict[str, Any]]:
    route = call(exchange, [*exchange.history, user(exchange.question)], "tech", -1)
    route["request"]["messages"][0] = {"role": "system", "content": "Answer with billing or tech."}
    return [route, *whole(exchange)]


def rephrased(exchange: Exchange) -> list[dict[str, Any]]:
    said = "\n".join(message["content"] for message in exchange.history)
    prompt = f"Make it stand alone.\n\nChat History:\n{said}\nFollow Up Input: {exchange.question}\nAlone:"
    alone = call(exchange, [user(prompt)], f"Alone: {exchange.question}", -1)
    del alone["request"]["messages"][0]
    return [*([alone] if exchange.history else []), *whole(exchange)]


def guarded(exchange: Exchange) -> list[dict[str, Any]]:
    guard = call(exchange, [user(f"May this be answered?\n<asked>{exchange.question}</asked>")], "yes", -1)
    del guard["request"]["messages"][0]
    return [guard, *whole(exchange)]


def guarded_under_instructions(exchange: Exchange) -> list[dict[str, Any]]:
    guard = call(exchange, [user(f"Text: {exchange.question}")], "harmless", -1)
    guard["request"]["messages"][0] = {"role": "system", "content": "Harmless or harmful?"}
    return [guard, *whole(exchange)]


def worded_anew(exchange: Exchange) -> list[dict[str, Any]]:
    prompt = f"Word the last question so that it can be looked up.\nLast question: {exchange.question}\nQuery:"
    query = call(exchange, [user(prompt)], f"query {exchange.question}", -1)
    del query["request"]["messages"][0]
    return [query, *whole(exchange)]


def searched(exchange: Exchange) -> list[dict[str, Any]]:
    """A router that is asked the plain question, then an answer to the question among documents, which come back."""
    route = call(exchange, [user(exchange.question)], "tech", -1)
    route["request"]["messages"][0] = {"role": "system", "content": "Answer with billing or tech."}
    framed = f"Answer by what we know.\nKnown: page {exchange.number}\nQuestion: {exchange.question}"
    return [route, call(exchange, [*exchange.history, user(framed)], exchange.answer)]


def checked(exchange: Exchange) -> list[dict[str, Any]]:
    check = call(exchange, [user(exchange.answer)], "yes", 3)
    check["request"]["messages"][0] = {"role": "system", "content": "Is this polite? Yes or no."}
    return [*whole(exchange), check]


def polished(exchange: Exchange) -> list[dict[str, Any]]:
    """A draft, which a second call words anew, and that is what the user sees."""
    draft = f"in short: {exchange.answer}"
    anew = call(exchange, [user(draft)], exchange.answer, 2)
    anew["request"]["messages"][0] = {"role": "system", "content": "Make it polite."}
    return [call(exchange, [*exchange.history, user(exchange.question)], draft), anew]


def remembered(exchange: Exchange) -> list[dict[str, Any]]:
    (asked, answered) = searched(exchange)
    facts = call(exchange, [user(f"{exchange.question}\n\n{exchange.answer}")], '{"facts": []}', 3)
    facts["request"]["messages"][0] = {"role": "system", "content": "What do we learn of the user?"}
    return [asked, answered, facts]


def in_rounds(exchange: Exchange) -> list[dict[str, Any]]:
    """Calls with the history, one for each of three tools on the way."""
    asked = [*exchange.history, user(exchange.question)]
    rounds = [call(exchange, [*asked, *([CALLING, CAME] * number)], CALLING, number) for number in range(3)]
    return [*rounds, call(exchange, [*asked, *([CALLING, CAME] * 3)], exchange.answer, 4)]


def titled(exchange: Exchange) -> list[dict[str, Any]]:
    prompt = f"Find a title.\nUSER: {exchange.question}\nASSISTANT: {exchange.answer}\n"
    title = call(exchange, [user(prompt)], '{"title": "Seats"}', 3)
    del title["request"]["messages"][0]
    return [*whole(exchange), title]


def with_choices(exchange: Exchange) -> list[dict[str, Any]]:
    (record,) = whole(exchange)
    record["response"]["choices"].append({"message": {"role": "assistant", "content": f"else {exchange.answer}"}})
    return [record]


SENT: dict[str, Callable[[Exchange], list[dict[str, Any]]]] = {
    "the whole": whole,
    "a window of four": sending(lambda history: history[-4:]),
    "examples, then the whole": sending(lambda history: [*EXAMPLES, *history]),
    "examples, then a window": sending(lambda history: [*EXAMPLES, *history[-4:]]),
    "a failure first": after_a_failure,
    "an intent first": classified,
    "a title behind": titled,
    "a router with the history first": routed,
    "a question that stands alone first": rephrased,
    "a guard first": guarded,
    "a guard under instructions first": guarded_under_instructions,
    "a query first": worded_anew,
    "a router first, then a search": searched,
    "a check of the answer behind": checked,
    "a search, and what is to be remembered": remembered,
    "three tools": in_rounds,
    "two choices": with_choices,
    "answers with sources": sending(with_sources),
    "a window, a failure first": failed_in_a_window,
}
ONLY_NAMED = {  # whose calls say too little to be known by
    "the last message": sending(lambda _: []),
    "the first exchange, then a window": sending(lambda history: history[:2] + history[2:][-4:]),
    "examples, then the last exchange": sending(lambda history: [*EXAMPLES, *history[-2:]]),
    "a window of cut answers": sending(shortened),
    "a summary, then a window": sending(summed_up),
    "a window of redacted answers": sending(redacted),
    "the last message and its tools": with_tools,
    "an answer that is worded anew": polished,
}


def said_in(path: Path, records: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """What was said in a log, each message as often as it counts."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    return Counter((turn["role"], turn["text"]) for turn in turns)


def told_by(all_of: list[Exchange]) -> Counter[tuple[str, str]]:
    told = Counter(("user", exchange.question) for exchange in all_of)
    return told + Counter(("assistant", exchange.answer) for exchange in all_of)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sent", [*SENT, *ONLY_NAMED])
def test_calls_that_name_their_conversation_say_each_message_once(sent: str, seed: int, tmp_path: Path) -> None:
    all_of = exchanges(seed)
    records = [
        record | {"session_id": exchange.conversation}
        for exchange in all_of
        for record in (SENT | ONLY_NAMED)[sent](exchange)
    ]
    random.Random(seed).shuffle(records)
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sent", SENT)
def test_calls_without_an_id_say_each_message_once(sent: str, seed: int, tmp_path: Path) -> None:
    all_of = exchanges(seed)
    records = [record for exchange in all_of for record in SENT[sent](exchange)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("seed", range(3))
def test_documents_may_stand_behind_the_question_and_answers_be_short(seed: int, tmp_path: Path) -> None:
    all_of = [each._replace(answer=f"Yes, {each.conversation} {each.number}.") for each in exchanges(seed)]
    records = []
    for exchange in all_of:
        history = [
            {"role": "assistant", "content": f"Yes, {exchange.conversation} {at // 2}."} if at % 2 else message
            for at, message in enumerate(exchange.history)
        ]
        records.append(
            call(exchange, [*history, user(f"{exchange.question}\n\n<known>\nAll of it.\n</known>")], exchange.answer)
        )
    assert said_in(tmp_path / "log.jsonl", records).keys() >= told_by(all_of).keys()
    conversations = {exchange.conversation for exchange in all_of}
    with Imported([tmp_path / "log.jsonl"], HowToRead()) as imported:
        assert sum(report.conversations for report in imported.reports) == len(conversations)


def test_a_failed_question_among_documents_that_the_history_keeps_is_asked_once(tmp_path: Path) -> None:
    one = Exchange("c1", 0, [], "Where is my order?", "")
    two = Exchange("c1", 1, [user(one.question)], "May I cancel it?", "You may.")
    three = Exchange(
        "c1", 2, [*two.history, user(two.question), {"role": "assistant", "content": "You may."}], "How?", "So."
    )
    records = [searched(each)[1] | {"session_id": "c1"} for each in (one, two, three)]
    asked = Counter(("user", each.question) for each in (one, two, three))
    assert said_in(tmp_path / "log.jsonl", records) == asked + Counter(
        [("assistant", "You may."), ("assistant", "So.")]
    )


def test_thoughts_that_a_server_leaves_in_answers_are_none_of_them(tmp_path: Path) -> None:
    all_of = exchanges(1)
    records = [
        call(each, [*each.history, user(each.question)], f"<think>\nWell.\n</think>\n\n{each.answer}")
        for each in all_of
    ]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_a_question_that_failed_and_is_answered_with_a_tool_was_asked_once(tmp_path: Path) -> None:
    (exchange, *_) = exchanges(0)
    asked = [user(exchange.question)]
    failed = call(exchange, asked, "")
    again = call(exchange, [*asked, CALLING, CAME], exchange.answer, 5)
    assert said_in(tmp_path / "log.jsonl", [failed, again]) == told_by([exchange])


def test_a_question_whose_frame_others_show_is_read_as_it_was_typed_and_a_text_of_its_own_stays(tmp_path: Path) -> None:
    longer = [searched(each)[1] | {"session_id": each.conversation} for each in exchanges(2)]
    lone = Exchange("c7", 0, [], "May I pay by card?", "You may.")
    typed = lone._replace(conversation="c8", question="Answer me.\nKnown to you?")
    records = [searched(lone)[1] | {"session_id": "alone"}, call(typed, [user(typed.question)], "So.")]
    records[1]["session_id"] = "typed"
    told = said_in(tmp_path / "log.jsonl", [*records, *longer])
    assert told["user", lone.question] == told["user", typed.question] == 1
    assert said_in(tmp_path / "alone.jsonl", records)["user", lone.question] == 0  # nobody shows it


@pytest.mark.parametrize("each_call", [True, False])
def test_a_conversation_that_goes_on_under_another_id_is_one_with_it(each_call: bool, tmp_path: Path) -> None:
    all_of = exchanges(3)
    records = []
    for exchange in all_of:
        part = exchange.number if each_call else exchange.number // 3
        records.append(whole(exchange)[0] | {"session_id": f"{exchange.conversation}-{part}"})
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)
    with Imported([tmp_path / "log.jsonl"], HowToRead()) as imported:
        assert sum(report.conversations for report in imported.reports) == len({each.conversation for each in all_of})


@pytest.mark.parametrize("altered", [str.upper, lambda text: f"[10:05] User: {text}", lambda text: f"{text[:40]}…"])
@pytest.mark.parametrize("named", [True, False])
def test_a_history_that_comes_back_altered_as_a_whole_is_said_once(
    altered: Callable[[str], str], named: bool, tmp_path: Path
) -> None:
    lines = "Where does the parcel of my neighbour wait for her, then?", "How may the chairs be sent to the new flat?"
    replies = "It waits at the counter of the station until Friday.", "By the carrier, who comes on Tuesdays at nine."
    history: Messages = []
    records = []
    for number, (question, answer) in enumerate(zip(lines, replies, strict=True)):
        one = Exchange(
            "c1", number, [each | {"content": altered(each["content"])} for each in history], question, answer
        )
        records += [record | ({"session_id": "c1"} if named else {}) for record in whole(one)]
        history += [user(question), {"role": "assistant", "content": answer}]
    assert said_in(tmp_path / "log.jsonl", records) == Counter(
        [*(("user", line) for line in lines), *(("assistant", reply) for reply in replies)]
    )


def test_a_user_may_quote_the_answer_and_a_form_has_lines_that_others_say(tmp_path: Path) -> None:
    first = Exchange("c1", 0, [], "ok", "The parcel waits at the counter.")
    quoting = f"ok, but you said: {first.answer} Where is that?"
    history = [user(first.question), {"role": "assistant", "content": first.answer}]
    second = Exchange("c1", 1, history, quoting, "Downstairs")
    talk = [record | {"session_id": "c1"} for each in (first, second) for record in whole(each)]
    assert said_in(tmp_path / "quoted.jsonl", talk)["assistant", "Downstairs"] == 1
    chats = [each for each in exchanges(1) if each.number < 3]
    forms = [
        Exchange(
            f"c{number % 6}", 1, [], f"Name: N{number}\nI ask: thing {number}\nMore mails: go on", f"Form {number}."
        )
        for number in range(12)
    ]
    records = [record for each in (*chats, *forms) for record in whole(each)]
    counted = said_in(tmp_path / "forms.jsonl", records)
    assert all(counted["assistant", form.answer] == 1 for form in forms)


def test_answers_that_begin_alike_and_come_back_cut_are_told_apart(tmp_path: Path) -> None:
    all_of = [each._replace(answer=f"Thank you for asking the shop. {each.answer}") for each in exchanges(3)]
    records = []
    for exchange in all_of:
        history = [
            each | {"content": f"Thank you for asking the shop. {each['content']}"}
            if each["role"] == "assistant"
            else each
            for each in exchange.history
        ]
        (record,) = sending(with_leads)(exchange._replace(history=history))
        records.append(record | {"session_id": exchange.conversation})
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("window", [2, 4, None])
@pytest.mark.parametrize("named", [True, False])
def test_an_edited_question_goes_on_from_the_answer_before_it(named: bool, window: int | None, tmp_path: Path) -> None:
    all_of = exchanges(3)
    records: list[dict[str, Any]] = []
    told = told_by(all_of)
    for exchange in all_of:
        sent = exchange.history[-window:] if window else exchange.history
        own = {"session_id": exchange.conversation} if named else {}
        if exchange.number in (2, 4):
            before = f"What was it that I wanted to ask {exchange.conversation}?", f"Nobody knows {exchange.number}."
            records.append(call(exchange, [*sent, user(before[0])], before[1], -20) | own)
            told += Counter([("user", before[0]), ("assistant", before[1])])
        records.append(call(exchange, [*sent, user(exchange.question)], exchange.answer) | own)
    assert said_in(tmp_path / "log.jsonl", records) == told


def test_what_a_person_wrote_into_a_conversation_is_told_once_without_an_id(tmp_path: Path) -> None:
    all_of = exchanges(3)
    records = [record for exchange in all_of for record in sending(taken_over)(exchange) if exchange.history] + [
        record for exchange in all_of if not exchange.history for record in whole(exchange)
    ]
    joined = sum(exchange.number == 1 for exchange in all_of)
    theirs = Counter({("user", "A person, please!"): joined, ("assistant", "I am Ann."): joined})
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of) + theirs


@pytest.mark.parametrize("key", ["id", "conversation_id"])
def test_a_conversation_that_is_exported_again_with_more_is_one(key: str, tmp_path: Path) -> None:
    records = []
    for exchange in exchanges(3):
        answered = [user(exchange.question), {"role": "assistant", "content": exchange.answer}]
        if exchange.number in (0, 2, 3):
            records.append({key: exchange.conversation, "messages": [*exchange.history, *answered]})
    told = Counter(
        (message["role"], message["content"])
        for record in {record[key]: record for record in records}.values()
        for message in record["messages"]
    )
    assert said_in(tmp_path / "log.jsonl", records) == told


@pytest.mark.parametrize("order", ["newest first", "shuffled"])
@pytest.mark.parametrize("named", [True, False])
def test_calls_without_times_say_each_message_once_in_any_order(order: str, named: bool, tmp_path: Path) -> None:
    all_of = exchanges(7)
    records = [
        record | ({"session_id": exchange.conversation} if named else {})
        for exchange in all_of
        for record in whole(exchange, timed=False)
    ]
    if order == "shuffled":
        random.Random(1).shuffle(records)
    else:
        records.reverse()
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_questions_that_are_written_anew_with_the_time_of_each_call_are_asked_once(tmp_path: Path) -> None:
    """An app that sends who speaks and when before each question sends another time with each call."""
    all_of, records = exchanges(5), []
    for exchange in all_of:
        (record,) = whole(exchange)
        for message in record["request"]["messages"]:
            if message["role"] == "user":
                message["content"] = f"[2026-05-04T09:{exchange.number:02d}:00Z] Anna: {message['content']}"
        records.append(record | {"session_id": exchange.conversation})
    said = said_in(tmp_path / "log.jsonl", records)
    typed: Counter[tuple[str, str]] = Counter()
    for (role, text), times in said.items():
        typed[role, text.rpartition("Anna: ")[2]] += times
    assert typed == told_by(all_of)


def test_calls_with_clocks_that_differ_say_each_message_once(tmp_path: Path) -> None:
    all_of = exchanges(11)
    drawn = random.Random(1)
    records = [record | {"session_id": exchange.conversation} for exchange in all_of for record in whole(exchange)]
    for record in records:
        record["response"]["created"] += drawn.uniform(-150, 150)
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("asked", ["Is this still right: {}", "Continue.\n\n{}"])
def test_users_who_send_an_answer_back_are_answered_under_instructions_with_a_clock(asked: str, tmp_path: Path) -> None:
    all_of = [each for each in exchanges(2) if each.number == 0]
    for first in tuple(all_of):
        history = [user(first.question), {"role": "assistant", "content": first.answer}]
        all_of.append(Exchange(first.conversation, 1, history, asked.format(first.answer), f"Yes, {first.answer[:9]}"))
    records = []
    for exchange in all_of:
        (record,) = whole(exchange)
        clock = {"role": "system", "content": f"Now: 2026-03-02 09:0{exchange.number}. You are the bank's assistant."}
        record["request"]["messages"][0] = clock
        records.append(record)
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)
