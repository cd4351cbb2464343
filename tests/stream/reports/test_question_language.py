"""An answer in another language than its question's is told, where both are told surely and nobody asked for it."""

import tomllib
from itertools import product
from pathlib import Path

import pytest

from turnsignal.stream.conversations.pairing import KeptTurn
from turnsignal.stream.reports.question_language import Match, match_languages

TABLE = Path(__file__).parent / "answer_languages.toml"
TEXTS = tomllib.loads(TABLE.read_text(encoding="utf-8"))
KINDS = ("prose", "short", "names", "code", "list")
LONG = 80  #: characters from which on most answers are told
ENGLISH, GERMAN = TEXTS["en"]["prose"], TEXTS["de"]["prose"]


def kept(*turns: tuple[str, str]) -> list[KeptTurn]:
    return [KeptTurn(f"t{time}", role, float(time), text) for time, (role, text) in enumerate(turns)]


def match(question: str, answer: str) -> Match:
    return match_languages(kept(("user", question)), 9.0, answer)


def pairs(*, same: bool) -> list[tuple[str, Match]]:
    """Let every question meet every answer; return the answers with what is said of them."""
    return [
        (TEXTS[answered][kind], match(question, TEXTS[answered][kind]))
        for asked, answered, kind in product(TEXTS, TEXTS, KINDS)
        if (asked == answered) is same
        for question in TEXTS[asked]["questions"]
    ]


def test_answers_in_another_language_are_told_in_eighteen_languages() -> None:
    found = pairs(same=False)
    told = [said for _, said in found if said.value_of_answer is not None]
    assert told.count(Match.OTHER) >= 0.95 * len(told)
    long = [said for text, said in found if len(text) > LONG]
    assert long.count(Match.OTHER) >= 0.8 * len(long)


def test_answers_in_the_language_of_their_question_never_fail() -> None:
    found = [said for _, said in pairs(same=True)]
    assert Match.OTHER not in found
    assert found.count(Match.SAME) >= 0.9 * len(found)


@pytest.mark.parametrize(
    "question",
    [
        "Can you give me the answer in German, please?",
        "Translate the text about the payment for me, would you?",
        "What would that be auf Deutsch, and how do I say it?",
        "Which language do you speak with the people who wrote this?",
    ],
)
def test_who_names_a_language_or_asks_for_a_translation_gets_what_was_asked_for(question: str) -> None:
    assert match(question, GERMAN) is Match.ASKED_FOR


def test_a_language_that_was_asked_for_before_is_still_asked_for() -> None:
    before = kept(
        ("user", "Please answer all my questions in German."),
        ("assistant", GERMAN),
        ("user", "How do I reset my password?"),
    )
    assert match_languages(before, 9.0, GERMAN) is Match.ASKED_FOR


def test_who_wrote_in_the_language_of_the_answer_before_is_no_failure() -> None:
    before = kept(
        ("user", "Wie kann ich mein Passwort ändern?"),
        ("assistant", GERMAN),
        ("user", "It says that the server could not be reached and that you should try again"),
    )
    assert match_languages(before, 9.0, GERMAN) is Match.ASKED_FOR


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How do I reset my password?", "Settings > Security > Reset"),
        ("Passwort?", ENGLISH),
        ("Ok", GERMAN),
        (
            "Wie setze ich mein Passwort zurück?",
            "```python\nfor one in the_list:\n    print(one, 'is the one that was')\n```",
        ),
        ("Wie setze ich mein Passwort zurück?", "https://help.example/how-to-reset-the-password-that-you-have"),
        ("mera bill kyun itna zyada hai bhai, kya aap dekh sakte ho", ENGLISH),
    ],
)
def test_what_is_short_or_code_or_of_an_unknown_language_is_not_told(question: str, answer: str) -> None:
    assert match(question, answer) is Match.UNTOLD


def test_a_passage_that_is_quoted_in_another_language_is_no_failure() -> None:
    quoted = f"In dem Dokument, das Sie meinen, steht dazu nur dieser Satz: “{ENGLISH}” Mehr ist dort nicht zu finden."
    assert match("Was steht in der Richtlinie über die Zahlung?", quoted) is Match.SAME
    blocks = f"Das sagt die Richtlinie dazu:\n> {ENGLISH}\nMehr ist dort nicht zu finden."
    assert match("Was steht in der Richtlinie über die Zahlung?", blocks).value_of_answer != 0.0


def test_texts_of_two_languages_are_no_failure() -> None:
    assert match("Was steht in der Richtlinie über die Zahlung?", f"{ENGLISH} {GERMAN}") is Match.UNTOLD
    assert match("Was steht in der Richtlinie über die Zahlung?", f"{ENGLISH} Das ist sehr alt und nicht richtig.") in (
        Match.MIXED,
        Match.UNTOLD,
    )
    assert match(f"Kannst du mir das bitte kurz erklären: {ENGLISH}", GERMAN).value_of_answer != 0.0


def test_a_greeting_and_what_follows_an_unreadable_message_answer_nobody() -> None:
    assert match_languages([], 9.0, GERMAN) is Match.UNASKED
    assert match_languages(kept(("user", "How do I do that?"), ("gap_user", "")), 9.0, GERMAN) is Match.UNASKED
    later = [KeptTurn("u", "user", 20.0, "How do I do that, and when?")]
    assert match_languages(later, 9.0, GERMAN) is Match.UNASKED


def test_messages_that_came_together_are_one_question() -> None:
    assert match_languages(kept(("user", "Hello"), ("user", "How do I reset my password?")), 9.0, GERMAN) is Match.OTHER


@pytest.mark.parametrize("sign", ["`", '"', "“", "«", "> ", "the ", "的", "é", "{", "www.", "a-", "' "])
def test_hostile_texts_are_read_in_part(sign: str) -> None:
    text = sign * 200_000
    assert match("Wie setze ich mein Passwort zurück?", text).value_of_answer != 1.0
    assert match(text[:2_000], GERMAN).value_of_answer != 1.0
