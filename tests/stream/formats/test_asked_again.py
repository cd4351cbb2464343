"""Questions that were asked again: what is told of those that several models answered, or that came with a draft."""

from turnsignal.stream.formats.asked_again import AskedAgain
from turnsignal.stream.formats.protocol import Call, Message


def asked(number: int, answer: str, model: str, *, after: float, draft: str = "") -> Call:
    sent = [Message("user", f"How do I pay for order {number}?"), *([Message("assistant", draft)] if draft else [])]
    got = [Message("assistant", answer)]
    start = 1_000.0 * number + after
    return Call(f"x:{number}/{model}", inputs=sent, outputs=got, start=start, fields={"model": model})


def doubts(conversations: list[list[Call]]) -> list[str]:
    again = AskedAgain()
    for calls in conversations:
        again.add(calls)
    return again.doubts(quoted=True)


def shadowed(share: int, seconds: float = 1.0, other: str = "small") -> list[list[Call]]:
    return [
        [asked(n, "By card.", "large", after=0.0)]
        + ([asked(n, "In cash.", other, after=seconds)] if n % 100 < share else [])
        for n in range(100)
    ]


def test_another_models_answers_within_a_minute_are_told_of() -> None:
    (doubt,) = doubts(shadowed(share=30))
    assert doubt.startswith("30 of 100 questions were answered by another model within a minute, too")
    assert "How do I pay for order 0?" in doubt


def test_answers_that_users_had_given_anew_are_not() -> None:
    assert doubts(shadowed(share=30, other="large")) == []
    assert doubts(shadowed(share=30, seconds=90.0)) == []
    assert doubts(shadowed(share=9)) == []


def test_what_a_call_sends_behind_its_question_was_an_answer_to_it_too() -> None:
    (doubt,) = doubts([[asked(n, "By card.", "large", after=0.0, draft="Draft: card.")] for n in range(20)])
    assert doubt.startswith("20 of 20 questions have several answers, such as “How do I pay for order 0?”")
