"""Answers are seen in the turns of a system as in those of a release: failing, foreign, out of which documents."""

from typing import Any

import orjson

from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.reports.answers_seen import AnswersSeen, SeenAnswers
from turnsignal.stream.reports.first_answers import first_answer, first_documents
from turnsignal.stream.reports.scales import DOCUMENTS_GIVEN, SECONDS

QUESTION = "How do I change the address of my order, which I sent yesterday?"


def turn(number: int, role: str, text: str, **more: Any) -> Turn:
    about = {"conversation_id": "c", "turn_id": f"t{number}", "timestamp": f"2026-01-05T10:00:{number:02}Z"}
    return decode_turn(orjson.dumps(about | {"role": role, "text": text} | more))


def seen(*turns: Turn) -> SeenAnswers:
    answers = AnswersSeen()
    for each in turns:
        answers.add(each)
    return answers.by_conversation["c"]


def test_failing_answers_documents_and_votes_are_means_over_answers() -> None:
    documents = [{"doc_id": "d1"}, {"doc_id": "d2"}]
    found = seen(
        turn(1, "user", QUESTION),
        turn(2, "assistant", "Internal error 500.", vote=-1),
        turn(3, "user", "And now?"),
        turn(4, "assistant", "Open Settings and choose your order [d1].", retrieved=documents),
    )
    means = found.means()
    assert (means["failed"], means["vote"], means["answers_with_documents"]) == (0.5, 0.0, 0.5)
    assert means["documents"] == DOCUMENTS_GIVEN.fraction(2)
    assert found.documents == {"t2": 0, "t4": 2}


def test_the_first_answer_is_kept_and_the_documents_that_came_first() -> None:
    found = seen(
        turn(1, "user", "Hello!"),
        turn(2, "assistant", "Hello! How can I help?", platform="web"),
        turn(3, "user", QUESTION),
        turn(4, "assistant", "Open Settings [d1].", retrieved=[{"doc_id": "d1"}]),
        turn(5, "user", "And billing?"),
        turn(6, "assistant", "Open Billing [d2].", retrieved=[{"doc_id": "d2"}]),
    )
    first = first_answer("web", "Hello! How can I help?")
    assert found.first == first._replace(documents=first_documents(["d1"]))


def test_who_was_put_through_to_a_person_is_answered_out_of_no_documents_until_some_come() -> None:
    texts = ["I've put you through to Sam.", "Hi, Sam here. Open Settings.", "Yes, that one.", "Open Settings [d1]."]
    asked = [turn(3 * at, "user", QUESTION) for at in (0, 1, 2, 3)]
    put, person, goes_on = (turn(at, "assistant", text) for at, text in zip((1, 2, 4), texts, strict=False))
    back = turn(7, "assistant", texts[3], retrieved=[{"doc_id": "d1"}])
    means = seen(asked[0], put, person, asked[1], goes_on, asked[2], back, asked[3]).means()
    assert (means["answers_with_documents"], means["handed_on"], means["failed"]) == (0.5, 1 / 3, 0.0)
    assert seen(asked[0], person, asked[1], goes_on).means()["answers_with_documents"] == 0.0


def test_what_its_suite_exempts_is_no_failure_and_what_it_calls_one_is() -> None:
    refusal, code = "I can't help with that.", "E-4711 (please see the manual of the device)"
    asked = [turn(1, "user", QUESTION), turn(2, "assistant", refusal), turn(3, "user", QUESTION)]
    asked.append(turn(4, "assistant", code))
    for failed, exempt, share in (((), (), 0.5), ((), (refusal,), 0.0), ((r"E-\d+",), (), 1.0)):
        answers = AnswersSeen(failed, exempt)
        for each in asked:
            answers.add(each)
        assert answers.by_conversation["c"].means()["failed"] == share


def test_an_answer_in_another_language_than_the_question_is_seen() -> None:
    german = "Öffnen Sie die Einstellungen und wählen Sie dort die Bestellung, die Sie gestern abgeschickt haben."
    assert seen(turn(1, "user", QUESTION), turn(2, "assistant", german)).means()["same_language"] == 0.0
    english = "Open the settings and choose the order that you have sent yesterday, then change its address."
    assert seen(turn(1, "user", QUESTION), turn(2, "assistant", english)).means()["same_language"] == 1.0
    assert "same_language" not in seen(turn(2, "assistant", english)).means()


def test_a_turn_that_comes_twice_counts_once() -> None:
    answer = turn(2, "assistant", "Internal error 500.")
    again = turn(4, "user", QUESTION), turn(5, "assistant", "Open the settings.")
    found = seen(turn(1, "user", QUESTION), answer, answer, *again)
    assert found.means()["failed"] == 0.5


def test_of_turns_in_a_row_one_is_the_answer() -> None:
    documents = [{"doc_id": "d1"}, {"doc_id": "d2"}]
    found = seen(
        turn(1, "user", QUESTION),
        turn(2, "assistant", "One moment, let me look that up."),
        turn(3, "assistant", "Open Settings and choose your order [d1].", retrieved=documents),
        turn(4, "assistant", "I'll close this now. Write any time!"),
    )
    assert found.replaced == {"t2", "t4"}
    assert (found.means()["failed"], found.means()["answers_with_documents"]) == (0.0, 1.0)
    assert found.first is not None
    assert found.first.documents == first_documents(["d1", "d2"])


def test_what_takes_the_place_of_another_turn_took_as_long_as_the_first_that_answered() -> None:
    found = seen(
        turn(1, "user", QUESTION),
        turn(2, "assistant", ""),
        turn(4, "assistant", "Open Settings and choose your order."),
        turn(9, "assistant", "Then change it."),
        turn(20, "user", "thanks"),
        turn(50, "assistant", "I'll close this now."),
    )
    means = found.means()
    assert means["answer_seconds"] == SECONDS.fraction(3)
    assert means["answers_in_parts"] == 0.5
    assert found.first == first_answer(None, "Open Settings and choose your order.")


def test_times_that_were_made_up_are_no_seconds_to_an_answer() -> None:
    long_ago = [{"timestamp": f"1970-01-01T00:00:0{second}Z"} for second in (1, 2)]
    turns = [turn(n, role, "How?", **long_ago[n]) for n, role in enumerate(("user", "assistant"))]
    assert "answer_seconds" not in seen(*turns).means()
    assert "answer_seconds" in seen(turn(1, "user", "How?"), turn(2, "assistant", "So.")).means()


def test_ok_to_a_command_and_to_a_closing_no_is_an_answer() -> None:
    assert seen(turn(1, "user", "Turn on the hall lights"), turn(2, "assistant", "OK")).means()["failed"] == 0.0
    assert seen(turn(1, "user", QUESTION), turn(2, "assistant", "OK")).means()["failed"] == 1.0
    offer = "Open Settings and choose your order. " * 20 + "Is there anything else I can help you with?"
    found = seen(
        turn(1, "user", QUESTION), turn(2, "assistant", offer), turn(3, "user", "no"), turn(4, "assistant", "OK")
    )
    assert found.means()["failed"] == 0.0
    assert found.means()["answers_with_documents"] == 0.0  # of one answer


def test_answers_that_show_tags_of_the_model_are_counted() -> None:
    leaked = seen(turn(1, "user", QUESTION), turn(2, "assistant", "<think>A price.</think> It costs 9 euros."))
    assert leaked.means()["answers_with_leftovers"] == 1.0
    assert (
        seen(turn(1, "user", QUESTION), turn(2, "assistant", "It costs 9 euros.")).means()["answers_with_leftovers"]
        == 0.0
    )


def test_a_greeting_before_any_question_is_no_answer_without_documents() -> None:
    documents = [{"doc_id": "d1"}]
    asked = turn(2, "user", QUESTION), turn(3, "assistant", "Open the settings.", retrieved=documents)
    assert seen(turn(1, "assistant", "Hi, I am Robin."), *asked).means()["answers_with_documents"] == 1.0


def test_what_is_only_asked_back_is_known_of_users_who_reply() -> None:
    asked = turn(1, "user", QUESTION), turn(2, "assistant", "Which order is it?")
    assert "only_asks_back" not in seen(*asked).means(), "nobody could reply to the single questions of a test"
    again = seen(*asked, turn(3, "user", "48213"), turn(4, "assistant", "Which order is it?")).means()
    assert (again["only_asks_back"], again["asks_back_again"]) == (1.0, 0.5)
    answered = seen(*asked, turn(3, "user", "48213"), turn(4, "assistant", "Open Orders, then Change.")).means()
    assert (answered["only_asks_back"], answered["asks_back_again"]) == (0.0, 0.0)
