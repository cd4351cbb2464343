"""Calls that send their last message alone: of those that are asked the same together, one answers the user."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.sequence import CUT_SHORT

Record = dict[str, Any]
SEEDS = 3
NOUNS = ["invoice", "refund", "coupon", "seat", "alias", "region", "theme", "webhook", "quota", "password"]
ASSISTANT = "You are the assistant of a shop. Help its customers."
LONG = "first we would look for the order, then for the day on which it left the house"


class Asked(NamedTuple):
    """A question with its answer, and when it was asked."""

    conversation: str
    number: int
    start: int
    question: str
    answer: str


def asked(seed: int) -> list[Asked]:
    """Eight conversations of up to six questions, some of which users say again and again."""
    drawn = random.Random(seed)
    questions: list[Asked] = []
    for conversation in range(8):
        for number in range(drawn.randint(1, 6)):
            telling = f"{' '.join(drawn.choices(NOUNS, k=5))} #{drawn.random()}?"
            question = drawn.choice(("yes", "thanks")) if drawn.random() < 0.2 else telling
            answer = f"{' '.join(drawn.choices(NOUNS, k=16))} #{drawn.random()}."
            start = 1_760_000_000 + 5_000 * conversation + 60 * number
            questions.append(Asked(f"c{conversation}", number, start, question, answer))
    return questions


def call(
    one: Asked,
    instructions: str | None,
    got: str,
    after: float,
    model: str = "large",
    sent: str = "",
    reason: str = "stop",
    *,
    named: bool = True,
) -> Record:
    """A call that sends one message, so many seconds after the question."""
    system = [{"role": "system", "content": instructions}] if instructions else []
    messages = [*system, {"role": "user", "content": sent or one.question}]
    choice = {"message": {"role": "assistant", "content": got}, "finish_reason": reason}
    response = {"id": f"r-{one.conversation}-{one.number}-{after}", "created": one.start + after, "choices": [choice]}
    request = {"model": model, "messages": messages}
    record: Record = {"request": request, "response": {"object": "chat.completion", "model": model, **response}}
    return record | ({"session_id": one.conversation} if named else {})


def answered(one: Asked) -> Record:
    return call(one, ASSISTANT, one.answer, 4)


def beside(instructions: str | None, got: Callable[[Asked], str], **how: Any) -> Callable[[Asked], list[Record]]:
    """Each question is asked under other instructions, too."""
    after = how.pop("after", 1)
    return lambda one: [call(one, instructions, got(one), after, **how), answered(one)]


def handed_over(one: Asked) -> list[Record]:
    greeting = call(one, "Greet, then pass on to a colleague.", "Hello, my colleague who knows that takes over.", 1)
    return [greeting, answered(one)] if one.number % 2 == 0 else [call(one, "Greet, then pass on.", one.answer, 4)]


def retrieved(one: Asked) -> list[Record]:
    """A search, then an answer to the question among documents, which no user typed."""
    prompt = f"Answer by what we know.\nKnown: page {one.number} of {one.conversation}\nQuestion: {one.question}"
    return [
        call(one, "Word it as a search.", f"look up {one.number}", 1),
        call(one, ASSISTANT, one.answer, 4, sent=prompt),
    ]


def rewritten(one: Asked) -> list[Record]:
    """The question is worded anew by a call whose prompt has all exchanges before it, and the assistant asked then."""
    (others,) = [questions for questions in map(asked, range(SEEDS)) if one in questions]
    before = [other for other in others if other.conversation == one.conversation and other.number < one.number]
    history = "".join(f"User: {each.question}\nAssistant: {each.answer}\n" for each in before)
    worded = f"{one.question} (behind {len(before)} others of {one.conversation})"
    return [
        call(one, "Word the last question so that it stands alone.", worded, 1, sent=f"{history}User: {one.question}"),
        answered(one),
    ]


def in_steps(one: Asked) -> list[Record]:
    plan = call(one, "Write a plan.", f"Plan {one.number}: {LONG}.", 1)
    return [plan, call(one, "Write a passage.", f"In {one.conversation}, {LONG}.", 2), answered(one)]


def shown_examples(one: Asked) -> list[Record]:
    guard = call(one, "Harmless or harmful?", "harmless", 1)
    examples = [{"role": "user", "content": "Break it."}, {"role": "assistant", "content": "harmful"}]
    guard["request"]["messages"][1:1] = examples
    return [guard, answered(one)]


LOGS: dict[str, Callable[[Asked], list[Record]]] = {
    "guard": beside("Safe or unsafe?", lambda _: "safe", model="small"),
    "guard without instructions": beside(None, lambda _: "safe", model="guard"),
    "guard without an id": beside("Safe or unsafe?", lambda _: "safe", named=False),
    "object": beside("Which intent?", lambda one: f'{{"intent": "billing", "sure": {one.number}}}'),
    "language": beside("Which language?", lambda _: "en"),
    "sentence": beside("May it be answered?", lambda _: "This message may be answered without any doubt."),
    "query": beside("Word it as a search.", lambda one: f"look up {one.number}"),
    "translation": beside("Translate to English.", lambda one: f"In English: {one.question}"),
    "passage": beside("Write a passage.", lambda one: f"In {one.conversation} at {one.number}, {LONG}."),
    "title afterwards": beside("Find a title.", lambda one: f"About {one.question.split()[0]}", after=6),
    "router of first messages": lambda one: (
        [call(one, "Which team?", "billing", 1), answered(one)] if not one.number else [answered(one)]
    ),
    "steps": in_steps,
    "rewritten with its history": rewritten,
    "hand-over": handed_over,
    "examples": shown_examples,
}
STAYING: dict[str, Callable[[Asked], list[Record]]] = {
    "another model": lambda one: [answered(one), call(one, ASSISTANT, f"Or {one.answer}", 6, model="other")],
    "another version": lambda one: [answered(one), call(one, f"{ASSISTANT} Be kind.", f"Or {one.answer}", 6)],
    "notes": lambda one: [
        answered(one),
        call(one, "Note what matters of the user.", f"So {one.conversation}, {one.number}: {LONG}.", 6),
    ],
}


def told(
    path: Path, records: Sequence[Record], seed: int = 0
) -> tuple[Counter[tuple[str, str, str]], list[str], Counter[str]]:
    """What was said in a log, in which conversation; the warnings; and what was assumed."""
    shuffled = sorted(records, key=lambda record: random.Random(f"{seed} {record['response']['id']}").random())
    path.write_bytes(b"\n".join(map(orjson.dumps, shuffled)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
        (report,) = imported.reports
        return (
            Counter((turn["conversation_id"], turn["role"], turn["text"]) for turn in turns),
            report.warnings,
            report.assumed,
        )


def said(questions: Sequence[Asked]) -> Counter[tuple[str, str, str]]:
    messages = (("user", one.question, "assistant", one.answer, one.conversation) for one in questions)
    return Counter(
        turn
        for user, question, assistant, answer, conversation in messages
        for turn in ((conversation, user, question), (conversation, assistant, answer))
    )


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("log", LOGS)
def test_who_is_asked_beside_the_assistant_answers_no_user(log: str, seed: int, tmp_path: Path) -> None:
    questions = asked(seed)
    records = [record for one in questions for record in LOGS[log](one)]
    assert told(tmp_path / "log.jsonl", records, seed)[0] == said(questions)


def test_what_a_prompt_quotes_of_a_question_is_what_its_user_typed(tmp_path: Path) -> None:
    questions = [one for one in asked(1) if "#" in one.question]
    records = [record for one in questions for record in retrieved(one)]
    assert told(tmp_path / "log.jsonl", records)[0] == said(questions)


@pytest.mark.parametrize("log", STAYING)
def test_two_who_both_may_answer_stay_and_are_quoted(log: str, tmp_path: Path) -> None:
    questions = asked(1)
    records = [record for one in questions for record in STAYING[log](one)]
    turns, warnings, _ = told(tmp_path / "log.jsonl", records)
    assert turns.total() == 4 * len(questions)
    (warning,) = (warning for warning in warnings if "nothing tells which answer the user saw" in warning)
    assert warning.startswith(f"{len(questions):,} questions")
    assert "such as “" in warning


@pytest.mark.parametrize("model", ["other", "large"])
def test_models_and_versions_that_answer_in_turn_lose_nothing(model: str, tmp_path: Path) -> None:
    questions = asked(2)
    version = ("You serve people.", ASSISTANT)
    records = [
        call(one, version[one.number % 2], one.answer, 4, ("large", model)[one.start % 7 % 2]) for one in questions
    ]
    assert told(tmp_path / "log.jsonl", records)[0] == said(questions)


def test_steps_are_quoted_so_that_who_saw_them_may_keep_them(tmp_path: Path) -> None:
    records = [record for one in asked(1) for record in LOGS["passage"](one)]
    _, warnings, _ = told(tmp_path / "log.jsonl", records)
    assert any(
        "steps on the way" in warning and "“In c" in warning and "--keep-asides" in warning for warning in warnings
    )


def test_a_chain_of_responses_has_no_part_for_its_guards(tmp_path: Path) -> None:
    questions, records, last = asked(1), [], {}
    for one in questions:
        for named, instructions, got, after in (("g", "On topic?", "yes", 0), ("a", ASSISTANT, one.answer, 3)):
            output = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": got}]}
            response = {"id": f"resp_{named}{one.conversation}{one.number}", "object": "response", "output": [output]}
            response |= {"created_at": one.start + after, "model": named}
            request = {"input": one.question, "instructions": instructions, "model": named}
            if named == "a":
                request |= {"previous_response_id": last[one.conversation]} if one.conversation in last else {}
                last[one.conversation] = response["id"]
            records.append({"request": request, "response": response})
    turns, _, _ = told(tmp_path / "log.jsonl", records)
    assert Counter((role, text) for (_, role, text) in turns.elements()) == Counter(
        (role, text) for (_, role, text) in said(questions).elements()
    )
    assert len({conversation for conversation, _, _ in turns}) == len({one.conversation for one in questions})


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_who_asks_again_stays_unless_the_answer_was_cut_off(reason: str, tmp_path: Path) -> None:
    questions = [one for one in asked(1) if "#" in one.question]
    records = [
        record
        for one in questions
        for record in (call(one, ASSISTANT, f"Otherwise, {one.answer[:20]}", 1, reason=reason), answered(one))
    ]
    turns, _, assumed = told(tmp_path / "log.jsonl", records)
    if reason == "length":
        assert turns == said(questions)
        assert assumed[CUT_SHORT] == len(questions)
    else:
        assert turns.total() == 4 * len(questions)
        assert assumed["questions that were asked twice in the same words, taken as asked again by their users"] == len(
            questions
        )
