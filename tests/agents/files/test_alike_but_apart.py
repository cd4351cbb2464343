"""What looks alike and is not one: an edit by a number, answers of a cache, "Yes" said twice, a late quotation."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_histories_sent import Exchange, Messages, call, exchanges, said_in, told_by, user, whole
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.shared_ids import APART

Record = dict[str, Any]
NUMBERS = range(20)


def assistant(text: str) -> Record:
    return {"role": "assistant", "content": text}


def instructed(record: Record, instructions: str) -> Record:
    """A call under instructions of its own."""
    sent = [{"role": "system", "content": instructions}, *record["request"]["messages"][1:]]
    return record | {"request": {"messages": sent}}


def conversations_in(path: Path) -> int:
    with Imported([path], HowToRead()) as imported:
        return sum(report.conversations for report in imported.reports)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [("Please track order {}.", "Please track order 7{}."), ("How do I pay {} for two people?", "How do I pay {}?")],
)
def test_a_question_that_is_edited_by_a_number_or_cut_short_is_another(
    before: str, after: str, named: bool, tmp_path: Path
) -> None:
    records, all_of = [], []
    for number in NUMBERS:
        lead = Exchange(
            f"c{number}",
            0,
            [],
            f"Can you look something up for me, {number}?",
            "Of course. What is it that I am to find?",
        )
        history = [user(lead.question), assistant(lead.answer)]
        first = Exchange(f"c{number}", 1, history, before.format(number), f"There is no {number} that I know.")
        edited = first._replace(question=after.format(number), number=2, answer=f"It comes on Friday, {number}.")
        all_of += [lead, first, edited]
    for each in all_of:
        records += [record | ({"session_id": each.conversation} if named else {}) for record in whole(each)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("users", [True, False])
def test_conversations_that_begin_with_an_answer_from_a_cache_stay_apart(users: bool, tmp_path: Path) -> None:
    common = "What are your opening hours on Sundays?", "We are open from ten to four on Sundays."
    history = [user(common[0]), assistant(common[1])]
    records = []
    for number in NUMBERS:
        own = Exchange(f"c{number}", 1, history, f"My case is {number}: what now?", f"I see {number}, and send help.")
        given = own._replace(number=0, history=[], question=common[0], answer=common[1])
        for each in (given, own) if number == 0 else (own,):
            record = whole(each)[0] | {"session_id": each.conversation}
            records.append(record | ({"user_id": f"u{number}"} if users else {}))
    told = said_in(tmp_path / "log.jsonl", records)
    assert told["user", common[0]] == told["assistant", common[1]] == len(NUMBERS) == sum(told.values()) // 4
    assert conversations_in(tmp_path / "log.jsonl") == len(NUMBERS)


def test_steps_under_instructions_of_their_own_may_be_told_yes_twice(tmp_path: Path) -> None:
    records, all_of = [], []
    for number in NUMBERS:
        history: Messages = []
        steps = (
            ("Find a table.", f"A table for {number + 2} on Friday, please", f"I have one at 7:{number:02}. Good?"),
            ("Take the details.", "Yes", f"Shall I book it for guest {number}?"),
            ("Close the booking.", "Yes", f"It is booked, with number B{number}. See you soon!"),
        )
        for place, (instructions, question, answer) in enumerate(steps):
            each = Exchange(f"c{number}", place, list(history), question, answer)
            all_of.append(each)
            records += [instructed(record | {"session_id": f"c{number}"}, instructions) for record in whole(each)]
            history += [user(question), assistant(answer)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("form", ["{question}", "Again: {question}", "In simpler words: {answer}"])
def test_a_question_that_is_passed_on_with_what_was_said_is_asked(form: str, tmp_path: Path) -> None:
    records, all_of = [], []
    for number in NUMBERS:
        first = Exchange(f"c{number}", 0, [], f"Where is my refund {number}?", f"That is for billing, number {number}.")
        history = [user(first.question), assistant(first.answer)]
        asked = form.format(question=first.question, answer=first.answer)
        second = Exchange(f"c{number}", 1, history, asked, f"It comes within {number + 2} days, to your account.")
        all_of += [first, second]
        for each, instructions in ((first, "You are the front desk."), (second, "You are billing.")):
            records += [instructed(record | {"session_id": f"c{number}"}, instructions) for record in whole(each)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_what_a_user_quotes_a_day_later_and_is_answered_shortly_was_asked(tmp_path: Path) -> None:
    records, all_of = [], []
    for number in NUMBERS:
        first = Exchange(
            f"c{number}", 0, [], f"Where is parcel {number}?", f"Parcel {number} waits at the depot in Lyon until noon."
        )
        quoting = f'I asked "{first.question}", you said "{first.answer}", and nothing came!'
        second = Exchange(f"c{number}", 1, [], quoting, "Sorry! It comes tonight.")
        all_of += [first, second]
        for each, after in ((first, 0.0), (second, 86_400.0)):
            record = call(each, [user(each.question)], each.answer, after) | {"session_id": each.conversation}
            record["request"]["messages"] = record["request"]["messages"][1:]
            records.append(record)
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize(
    ("form", "seen"), [('{{"answer": "{}", "sources": ["a"]}}', "{}"), ("Final Answer: {}", "Final Answer: {}")]
)
def test_an_answer_that_the_history_has_without_what_a_program_reads_is_given_once(
    form: str, seen: str, tmp_path: Path
) -> None:
    all_of = exchanges(2)
    given = [each._replace(answer=form.format(each.answer)) for each in all_of]
    records = [record for each in given for record in whole(each)]
    told = said_in(tmp_path / "log.jsonl", records)
    assert told == told_by([each._replace(answer=seen.format(each.answer)) for each in all_of])


def test_a_question_between_its_documents_and_what_is_asked_of_the_model_is_known_without_ids(tmp_path: Path) -> None:
    records, all_of = [], []
    common = (("How do I reset it?", "Open Cards."), ("It is blocked", "Wait a day."), ("And abroad?", "The same."))
    for number in range(6):
        history: Messages = []
        for place, (question, answer) in enumerate(common):
            sent = f"Context:\nArticle {place} of {number}.\n\nQuestion: {question}\n\nAnswer only from the context."
            each = Exchange(f"c{number}", place, list(history), question, answer)
            all_of.append(each)
            records.append(call(each, [*history, user(sent)], answer))
            history += [user(question), assistant(answer)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_a_call_that_failed_after_the_one_that_answered_says_nothing(tmp_path: Path) -> None:
    records: list[Record] = []
    for each in exchanges(1):
        sent = [*each.history, user(each.question)]
        answered = call(each, sent, each.answer)
        failed = call(each, sent, "", 3) | {"response": None, "timestamp": answered["response"]["created"] + 3}
        records += [record | {"session_id": each.conversation} for record in (answered, failed)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(exchanges(1))


def test_a_session_that_goes_on_behind_a_short_exchange_is_one_with_the_one_before_it(tmp_path: Path) -> None:
    records, all_of = [], []
    for number in range(6):
        history: Messages = []
        script = (f"Where is my parcel {number}, please?", f"It waits for you at counter {number}."), ("ok", "Fine.")
        for place, (question, answer) in enumerate((*script, ("And the other?", f"At counter {number + 1}."))):
            each = Exchange(f"c{number}", place, list(history), question, answer)
            all_of.append(each)
            records += [record | {"session_id": f"c{number}-{place // 2}"} for record in whole(each)]
            history += [user(question), assistant(answer)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_questions_that_differ_in_numbers_alone_are_asked_though_a_call_is_missing(tmp_path: Path) -> None:
    asked = [f"What is the status of order {4711 + number}?" for number in range(6)]
    given = [f"Order {4711 + number} is on its way, and comes on Monday." for number in range(6)]
    records = []
    for number in (0, 1, 3, 5):
        before = [user(asked[number - 1]), assistant(given[number - 1])] if number else []
        each = Exchange("c1", number, before, asked[number], given[number])
        records += [record | {"session_id": "c1"} for record in whole(each)]
    told = said_in(tmp_path / "log.jsonl", records)
    assert told == {
        key: 1 for pair in zip(asked, given, strict=True) for key in zip(("user", "assistant"), pair, strict=True)
    }


def test_a_message_that_is_said_again_and_again_counts_each_time_where_calls_send_one_exchange(tmp_path: Path) -> None:
    asked = ["Show me more", "Show me more", "Show me more", "And the last?"]
    given = [f"Here is page {number} of all that you asked for." for number in range(len(asked))]
    records = []
    for number, question in enumerate(asked):
        before = [user(asked[number - 1]), assistant(given[number - 1])] if number else []
        each = Exchange("c1", number, before, question, given[number])
        records += [record | {"session_id": "c1"} for record in whole(each)]
    told = said_in(tmp_path / "log.jsonl", records)
    assert told["user", "Show me more"] == 3
    assert [told["assistant", answer] for answer in given] == [1] * len(given)


@pytest.mark.parametrize("system", ["", "You help. It is 10:0{}, on the day of {}."])
def test_calls_whose_prompt_holds_what_was_said_are_all_answered(system: str, tmp_path: Path) -> None:
    records, answers = [], []
    for number in range(6):
        said = ""
        for place in range(4):
            question = f"What of thing {number} and {place}?"
            answer = "Yes." if place % 2 else f"Thing {number} is behind door {place}, and you may take it home."
            answers.append(answer)
            each = Exchange(f"c{number}", place, [], question, answer)
            record = call(each, [user(f"Chat history:\n{said}\nQuestion: {question}")], answer, -20 * place)
            sent = record["request"]["messages"][1:]
            given = [{"role": "system", "content": system.format(place, number)}] if system else []
            records.append(record | {"request": {"messages": given + sent}, "session_id": f"c{number}"})
            said += f"Human: {question}\nAI: {answer}\n"
    told = said_in(tmp_path / "log.jsonl", records)
    assert sum(n for (role, _), n in told.items() if role == "assistant") == len(answers)


@pytest.mark.parametrize("order", ["ababab", "aabbab", "abbaab"])
def test_chats_that_go_on_beside_each_other_under_one_id_say_each_message_once(order: str, tmp_path: Path) -> None:
    said: dict[str, Messages] = {"a": [], "b": []}
    records, all_of = [], []
    for number, chat in enumerate(order):
        question, answer = f"What of {chat} and step {number}?", f"Step {number} of {chat} is the one behind the door."
        each = Exchange("c1", number, list(said[chat]), question, answer)
        all_of.append(each)
        records += [record | {"session_id": "s1"} for record in whole(each)]
        said[chat] += [user(question), assistant(answer)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_who_goes_back_to_an_older_branch_is_not_told_it_again(tmp_path: Path) -> None:
    first = [user("How do I begin?"), assistant("At the door, with the key from the desk.")]
    older = [*first, user("And which key?"), assistant("The small one, of the two on the board.")]
    newer = [*first, user("And which door?"), assistant("The red one, at the end of the corridor.")]
    records, all_of = [], []
    for number, (history, question) in enumerate(
        [
            ([], "How do I begin?"),
            (first, "And which key?"),
            (first, "And which door?"),
            (older, "Then?"),
            (newer, "So?"),
        ]
    ):
        answer = {"How do I begin?": first, "And which key?": older, "And which door?": newer}.get(question, [{}])[-1]
        each = Exchange("c1", number, list(history), question, answer.get("content", f"Number {number} it is, then."))
        all_of.append(each)
        records += [record | {"session_id": "s1"} for record in whole(each)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("seed", range(6))
def test_edits_and_answers_asked_again_within_any_branch_say_each_message_once(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    records, questions, answers = [], Counter[str](), Counter[str]()
    for session in range(12):
        branches: list[Messages] = [[]]
        for number in range(6):
            before = draw.choice([branches[-1], *branches])
            cut = draw.choice([len(before), 2 * draw.randint(0, len(before) // 2)])
            is_again = 0 < cut < len(before) and draw.random() < 0.5
            question = before[cut]["content"] if is_again else f"What of step {number} in place {session}?"
            answer = f"Step {number} of {session} is behind the door that you see on the left."
            questions[question] += not is_again
            answers[answer] += 1
            each = Exchange(f"c{session}", number, before[:cut], question, answer)
            records += [record | {"session_id": f"s{session}"} for record in whole(each)]
            branches.append([*before[:cut], user(question), assistant(answer)])
    told = said_in(tmp_path / "log.jsonl", records)
    assert {text: n for (role, text), n in told.items() if role == "user"} == dict(questions)
    assert {text: n for (role, text), n in told.items() if role == "assistant"} == dict(answers)


@pytest.mark.parametrize("window", [None, 5])
def test_many_chats_of_many_users_under_one_id_say_each_message_once(window: int | None, tmp_path: Path) -> None:
    records, all_of = [], []
    for place in range(3):
        for chat in range(50):
            said = [
                message
                for step in range(place)
                for message in (user(f"What of {chat} and {step}?"), assistant(f"It is behind door {step} of {chat}."))
            ]
            question, answer = f"What of {chat} and {place}?", f"It is behind door {place} of {chat}."
            each = Exchange(f"c{chat}", place, said[-(window or 100) + 1 :], question, answer)
            all_of.append(each)
            records += [record | {"session_id": "default", "user": f"u{chat}"} for record in whole(each)]
    path = tmp_path / "log.jsonl"
    assert said_in(path, records) == told_by(all_of)
    with Imported([path], HowToRead()) as imported:
        assert [report.assumed[APART] for report in imported.reports] == [50]


@pytest.mark.parametrize(
    ("key", "is_read"),
    [
        *((key, True) for key in ("SessionId", "CONVERSATION_ID", "Conversation ID", "conversation-id", "ChatID")),
        ("x-conversation-id", True),
        ("ThreadId", False),  # of a program
    ],
)
def test_the_id_of_a_conversation_is_read_in_whatever_spelling(key: str, is_read: bool, tmp_path: Path) -> None:
    records = []
    for number in range(4):
        each = Exchange(f"c{number % 2}", number, [], f"What of {number}?", f"It is behind door {number}, as ever.")
        records += [record | {key: f"{number % 2}"} for record in whole(each)]
    (tmp_path / "log.jsonl").write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    assert conversations_in(tmp_path / "log.jsonl") == (2 if is_read else 4)


def test_a_question_that_is_answered_anew_with_other_documents_is_asked_once(tmp_path: Path) -> None:
    records, all_of = [], []
    for chat in range(4):
        said: Messages = []
        for place in range(3):
            question, answer = f"What of {chat} and {place}?", f"It is behind door {place} of the house {chat}."
            for again in range(1 + (place == 1)):
                sent = f"Context:\nfound at {place}:{again}\n\nQuestion: {question}"
                each = Exchange(f"c{chat}", place, list(said), sent, answer + " Really." * again)
                all_of.append(each._replace(question=question))
                records += [record | {"session_id": f"s{chat}"} for record in whole(each)]
            said += [user(question), assistant(all_of[-1].answer)]
    told = said_in(tmp_path / "log.jsonl", records)
    expected = told_by(all_of)
    assert told == Counter(dict.fromkeys(expected, 1))


def test_answers_that_come_back_cut_to_chats_beside_each_other_are_known(tmp_path: Path) -> None:
    said: dict[str, Messages] = {"a": [], "b": []}
    records, all_of = [], []
    for number, chat in enumerate("abababab"):
        question, answer = (
            f"What of {chat} and step {number}?",
            f"Step {number} of {chat} is the one behind the red door.",
        )
        each = Exchange("c1", number, list(said[chat]), question, answer)
        all_of.append(each)
        records += [record | {"session_id": "s1"} for record in whole(each)]
        said[chat] += [user(question), assistant(answer[:30] + "…")]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_a_call_of_a_tool_may_be_all_that_the_first_response_says(tmp_path: Path) -> None:
    called = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    calling = {"role": "assistant", "content": None, "tool_calls": [called]}
    asked = user("Where is my parcel?")
    seen = {"role": "tool", "tool_call_id": "t1", "content": "in Bonn"}
    records = [
        {"session_id": "s1", "messages": [asked], "response": calling},
        {"session_id": "s1", "messages": [asked, calling, seen], "response": assistant("It is in Bonn today.")},
    ]
    told = said_in(tmp_path / "log.jsonl", records)
    assert told == Counter([("user", "Where is my parcel?"), ("assistant", "It is in Bonn today.")])


@pytest.mark.parametrize("window", [None, 5])
def test_answers_that_come_back_without_markup_are_known_in_any_branch(window: int | None, tmp_path: Path) -> None:
    first = [user("How do I begin?"), assistant("At the door, with the key from the desk.")]
    older = [*first, user("And which key?"), assistant("The small one, of the two on the board.")]
    third = [*older, user("And if it is lost?"), assistant("Then the porter has another one for you.")]
    asked = [([], first), (first, older), (older, third), (older, None), (third, None)]
    records, all_of = [], []
    for number, (history, later) in enumerate(asked):
        question, answer = (
            (each["content"] for each in later[-2:])
            if later
            else (f"Or so, {number}?", f"It is number {number}, then.")
        )
        marked = "**" + answer.replace(" ", "** ", 1)
        each = Exchange("c1", number, history[-(window or 100) + 1 :] if history else [], question, marked)
        all_of.append(each)
        records += [record | {"session_id": "s1"} for record in whole(each)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("instructions", ["", "Sum up for our files what the assistant said."])
def test_what_another_model_says_of_an_answer_is_no_answer(instructions: str, named: bool, tmp_path: Path) -> None:
    records, all_of = [], []
    for chat in range(4):
        said: Messages = []
        for place in range(3):
            question, answer = f"What of {chat} and {place}?", f"It is behind door {place} of the house {chat}."
            each = Exchange(f"c{chat}", place, list(said), question, answer)
            all_of.append(each)
            said += [user(question), assistant(answer)]
            of_it = call(each, said[-2:], f"They heard of door {place}." if instructions else "safe", 3)
            given = [{"role": "system", "content": instructions}] if instructions else []
            of_it["request"]["messages"] = [*given, *said[-2:]]
            more = {"session_id": f"s{chat}"} if named else {}
            records += [record | more for record in (*whole(each), of_it)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


def test_how_an_answer_is_to_begin_is_none_by_itself(tmp_path: Path) -> None:
    records, all_of = [], []
    said: Messages = []
    for place in range(4):
        question, answer = f"What of number {place}?", f"It is behind door {place} of the house."
        each = Exchange("c1", place, list(said), question, answer)
        all_of.append(each)
        (record,) = whole(each)
        record["request"]["messages"].append(assistant("Answer:"))
        records.append(record | {"session_id": "s1"})
        said += [user(question), assistant(answer)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("summed_up", ["Progressively summarize the lines of conversation provided.", ""])
def test_what_widely_used_programs_ask_is_no_question(summed_up: str, tmp_path: Path) -> None:
    records, all_of = [], []
    for place in range(4):
        question, answer = f"What of number {place}?", f"It is behind door {place} of the house."
        each = Exchange("c1", place, [], question, answer)
        all_of.append(each)
        prompt = f"{summed_up}\n\nNew lines:\nHuman: {question}\nAI: {answer}\n\nNew summary:"
        of_it = call(each, [user(prompt)], f"The human asks for number {place}, and hears of a door.", 4)
        records += [record | {"session_id": "s1"} for record in (*whole(each), *([of_it] if summed_up else []))]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)


@pytest.mark.parametrize("lead", ["", "[writer]: ", "For context: [writer] said: "])
def test_what_colleagues_said_is_no_users_question(lead: str, tmp_path: Path) -> None:
    records = []
    said: Messages = []
    told: Counter[tuple[str, str]] = Counter()
    for place in range(3):
        said.append(user(f"What of number {place}?"))
        told["user", f"What of number {place}?"] += 1
        for agent in ("finder", "writer"):
            answer = f"Says the {agent}: it is behind door {place} of the red house."
            sent = [
                m if m["role"] == "user" else (assistant if m["name"] == agent else user)(m["content"]) for m in said
            ]
            sent = [
                m | {"content": lead + m["content"]} if m["content"].startswith("Says") and m["role"] == "user" else m
                for m in sent
            ]
            each = Exchange("c1", place, [], "", "")
            record = call(each, sent, answer, 5 * (agent == "writer"))
            record["request"]["messages"][0] = {"role": "system", "content": f"You are the {agent}."}
            records.append(record | {"session_id": "s1"})
            said.append({"role": "x", "name": agent, "content": answer})
            told["assistant", answer] += 1
    assert said_in(tmp_path / "log.jsonl", records) == told


@pytest.mark.parametrize("lead", ["Translate: ", "Make this shorter:\n\n", "You said: ", ""])
def test_an_answer_that_a_user_sends_back_is_the_users(lead: str, tmp_path: Path) -> None:
    records, all_of = [], []
    said: Messages = []
    for place in range(4):
        question = lead + said[-1]["content"] if place % 2 else f"What of number {place}?"
        answer = f"Number {place} is behind the door on the left of the red house."
        each = Exchange("c1", place, list(said), question, answer)
        all_of.append(each)
        records += [record | {"session_id": "s1"} for record in whole(each)]
        said += [user(question), assistant(answer)]
    assert said_in(tmp_path / "log.jsonl", records) == told_by(all_of)
