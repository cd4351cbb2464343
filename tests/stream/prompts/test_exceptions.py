"""An exception counts wherever it stands in a prompt: it makes the check doubtful that it is an exception to."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are a support assistant of Acme.\n\n"


def doubt(prompt: str, check: str) -> str | None:
    """Why the first check of a family is doubtful, None if it is not."""
    return next(one.doubt for one in read_prompt(ROLE + prompt).proposals if one.check.startswith(check))


EXCEPTIONS = {
    "citation.required": {
        "Every answer must cite an article.\n- Be kind.\n- If no article helps, say so; do not cite an article.": (
            "do not cite an article."
        ),
        "Always cite a source. When nothing fits, say that you don't know; no citation is needed.": "no citation is",
        "Always cite a source.\n\nBe kind.\n\nGreetings and thanks are answered without citations.": "Greetings",
        'Always cite a source.\n\n# No answer\nUse: "The sources do not say." without a citation': "Use: ",
        "Don't cite anything when you greet the user.\n\nBe kind.\n\nAlways cite a source.": "Don't cite",
        "Always cite a source.\n\n<greeting>\nBe warm. Leave the citation out.\n</greeting>": "Leave the",
        "Always cite a source.\n\nBe kind.\n\n- Where the documents are empty, cite nothing.": "Where the documents",
    },
    "pattern.require": {
        "Always end with a question.\n\nBe kind.\n\nIf the user says goodbye, do not ask a question.": "If",
        "Always end with a question mark.\n\n<crisis>Give the number 988. Do not ask a question.</crisis>": "Do",
        'Always end with a question.\n\nBe kind.\n\nWhen the user says "stop", do not ask anything.': "When",
        'Always end with a question.\n\nBe kind.\n\nWhen the hero dies, end with "THE END".': "When the",
        'Always end with "Anything else?".\n\nBe kind.\n\nIf the user says goodbye, do not ask a question.': "If",
        'End each turn with "What do you do?"\nBe kind.\nWhen the player dies, end with "THE END".': "When the",
    },
    "length.number_words": {
        "Keep replies under 100 words.\n\n# Recipes\nThere is no word limit.": "There is no word limit.",
        "No more than 90 words per turn.\n\nBe kind.\n\nCombat turns may run to 150 words.": "Combat turns may run",
        "Keep replies under 100 words.\nBe kind.\nIf the user asks for details, use up to 300 words.": "If the",
    },
    "language.is": {"Answer in German.\nBe kind.\nIf the user writes French, answer in French.": "If the user writes"},
    "format.json": {
        "Output valid JSON only.\n\n# Errors\n\nExplain them in plain text.": "Explain them in plain text."
    },
}


@pytest.mark.parametrize(
    ("check", "prompt", "reason"),
    [(check, prompt, reason) for check, prompts in EXCEPTIONS.items() for prompt, reason in prompts.items()],
)
def test_an_exception_is_the_reason_for_doubt_wherever_it_stands(check: str, prompt: str, reason: str) -> None:
    assert f"has an exception (“{reason}" in (doubt(prompt, check) or "")


@pytest.mark.parametrize(
    ("check", "prompt"),
    [
        ("citation.required", "Always cite a source. Be kind. Never cite Wikipedia. Don't cite more than two sources."),
        ("citation.required", "Always cite a source.\n\nBe kind.\n\nDon't put citations in headings."),
        ("pattern.require", "Always end with a question.\n\nBe kind.\n\nDon't ask more than one question."),
        ("length.number_words", "Keep replies under 300 words.\nBe kind.\nIf the user is angry, use up to 100 words."),
        ("length.number_words", "On Slack, at most 40 words.\n\nBe kind.\n\nOn web, answers can be longer."),
        ("format.json", "Output valid JSON only.\n\nBe kind.\n\nDo not use Markdown."),
        ("language.is", "Always reply in Arabic. Do not use English words."),
        ("pattern.forbid", "No question marks. Put quotation marks around titles."),
    ],
)
def test_what_excepts_nothing_changes_nothing(check: str, prompt: str) -> None:
    assert doubt(prompt, check) is None


@pytest.mark.parametrize(
    "prescribing",
    [
        "If the documents don't contain the answer, say \"I couldn't find that.\" and don't cite anything.",
        "If the documents don't contain the answer, say \"I couldn't find that.\" and cite nothing.",
        "If the documents don't contain the answer, say \"I couldn't find that.\" without a citation.",
    ],
)
def test_a_prescribed_reply_that_does_without_is_exempt_and_no_exception(prescribing: str) -> None:
    reading = read_prompt(f"{ROLE}- Always cite a source.\n- Be kind.\n- {prescribing}\n")
    assert [one.text for one in reading.exempt] == ["I couldn't find that."]
    assert [one.check for one in reading.proposals if one.doubt is None] == ["citation.required"]


def test_what_no_check_can_tell_beside_what_one_can_is_listed() -> None:
    reading = read_prompt(ROLE + "Do not use slang, abbreviations or emojis.")
    assert reading.uncovered == ("Do not use slang, abbreviations or emojis. (no check: slang, abbreviations)",)
    assert [one.doubt for one in reading.proposals] == [None]


OTHERS_TEXTS = [
    "You check our marketing copy. The copy must not contain jargon, ever. It must not use exclamation marks.",
    "You review e-mails that agents wrote. They should be under 100 words. They should not contain exclamation marks.",
    "You check our blog drafts. They must not contain emojis.",
    "You grade tickets. The agent's reply must be in English. It must not use emojis.",
    "A rep pastes the e-mail. A good e-mail is short: it must be under 120 words. It should not contain emojis.",
    'You improve CVs. Users paste a CV. It must not contain the word "responsible".',
    "Agents send you drafts of replies. Drafts must be polite. They must not contain emojis.",
    "Agents send you drafts. Do not use emojis in them.",
    "You make slides. Each slide has a title. No more than 30 words.",
]


@pytest.mark.parametrize("prompt", OTHERS_TEXTS)
def test_a_rule_about_the_subject_of_the_sentence_before_is_doubtful(prompt: str) -> None:
    assert [one.check for one in read_prompt(prompt).proposals if one.doubt is None] == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Keep your answers short. They must not contain emojis.",
        "You write product texts. They must not contain emojis.",
        "Each reply is short. It must not contain emojis.",
        "The assistant's replies are short. They must not contain emojis.",
    ],
)
def test_a_rule_about_the_answer_of_the_sentence_before_is_sure(prompt: str) -> None:
    assert [one.doubt for one in read_prompt(ROLE + prompt).proposals] == [None]


def test_to_leave_nothing_out_is_no_exception() -> None:
    prompt = 'Close with: "Internal use only."\n\nNever:\n- leave the disclaimer out'
    assert any(one.doubt is None for one in read_prompt(prompt).proposals)


def test_a_word_within_another_is_not_quoted() -> None:
    prompt = 'Never use the words "he" or "she".\n\nWrite "the candidate".'
    assert [one.doubt for one in read_prompt(prompt).proposals][:1] == [None]


@pytest.mark.parametrize("marker", ["(Source 2)", "[Source: a.pdf]", "[Clause 4.2]", "(section 3.1)"])
def test_a_marker_that_is_not_read_as_a_citation_makes_citing_doubtful(marker: str) -> None:
    reading = read_prompt(f"Always cite your sources.\n\nA citation looks like {marker}.")
    assert [one.doubt for one in reading.proposals] == [f"may cite in a form of its own ({marker})"]


def test_a_phrase_that_some_answers_leave_out_is_no_end_of_all() -> None:
    prompt = 'End with "Bye".\n\nNever end complaints with "Bye".'
    assert all(one.doubt is not None for one in read_prompt(prompt).proposals)


@pytest.mark.parametrize(
    "exception",
    ["When all is there, show the data as a bulleted list.", "In an emergency, take all the space you need."],
)
def test_a_list_or_more_space_in_some_case_exceeds_a_limit_of_sentences(exception: str) -> None:
    prompt = f"Messages are one or two sentences.\n\n{exception}"
    assert [one.doubt is None for one in read_prompt(prompt).proposals] == [False]


@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        ("Use at most 60 words.", "The Sunday letter may run to 150."),
        ("Two short paragraphs at most.", "Once all dates are known, show them in a table."),
    ],
)
def test_a_number_alone_and_a_table_at_the_end_exceed_limits(rule: str, exception: str) -> None:
    proposals = read_prompt(f"{ROLE}- {rule}\n- Be kind.\n- {exception}\n").proposals
    assert [one.doubt for one in proposals] == [f"has an exception (“{exception}”)"]


def test_bans_may_be_of_what_is_shown_where_thoughts_stand_in_a_tag() -> None:
    prompt = "First put your thoughts in <thinking>. Then answer in <answer>.\n\n- No tables.\n- No emojis."
    assert [one.doubt is None for one in read_prompt(ROLE + prompt).proposals] == [False, True]


@pytest.mark.parametrize("ban", ["no emojis", "no headings"])
def test_what_a_sentence_says_of_some_texts_is_of_those_alone(ban: str) -> None:
    prompt = f"Captions stay under 90 words and contain {ban}."
    assert [one.doubt is None for one in read_prompt(ROLE + prompt).proposals] == [False, False]


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("Do not use semicolons or dashes.", "dashes"),
        ("Never use bold or italics.", "italics"),
    ],
)
def test_what_has_no_check_leaves_the_check_beside_it_sure(rule: str, left: str) -> None:
    reading = read_prompt(ROLE + rule)
    assert [one.doubt for one in reading.proposals] == [None]
    assert reading.uncovered == (f"{rule} (no check: {left})",)


def test_other_markdown_after_kinds_of_it_is_all_of_it() -> None:
    proposals = read_prompt(f"{ROLE}Never use tables, headings, or any other Markdown.").proposals
    assert [one.doubt for one in proposals] == [None] * 3


@pytest.mark.parametrize(
    "rule", ["Thanks get a short reply.", "Traffic: brief answer.", "You may use two emojis per post."]
)
def test_what_some_answers_get_and_how_many_are_allowed_is_listed(rule: str) -> None:
    assert read_prompt(ROLE + rule).uncovered == (rule,)


def test_an_end_behind_a_start_is_of_the_answer() -> None:
    (proposal,) = read_prompt(f'{ROLE}Start with a two-line teaser and finish with "Read on!"').proposals
    assert proposal.doubt is None
    assert read_prompt(f'{ROLE}Start each paragraph with a verb and end with "Go!"').proposals == ()
