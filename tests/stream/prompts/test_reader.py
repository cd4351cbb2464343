"""Instructions of system prompts are recognised, bound to their platform, doubted, or listed as not covered."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.proposals import CAPITALS as CAPITALS_PATTERN
from turnsignal.stream.prompts.proposals import EMOJIS as EMOJI_PATTERN
from turnsignal.stream.prompts.reader import MAX_PROPOSALS, read_prompt

EMOJIS = write_name("pattern.forbid", {"regex": EMOJI_PATTERN})
HEADINGS = r"pattern.forbid(regex='(?m)^ {0,3}#{1,6}[ \\t]',skip_code=true)"


def asked(prompt: str) -> list[str]:
    """Names of the checks that a prompt asks for without doubt."""
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


PLAIN = [
    ("Keep every answer under 120 words.", ["length.number_words(at_most=119,by_spaces=true)"]),
    ("Write at least 100 and at most 300 words.", ["length.number_words(at_least=100,at_most=300,by_spaces=true)"]),
    ("At most 300 but no fewer than 100 words.", ["length.number_words(at_least=100,at_most=300,by_spaces=true)"]),
    (
        "Use a minimum of 2 and a maximum of 4 sentences.",
        ["length.number_sentences(at_least=2,at_most=4,skip_markers=true)"],
    ),
    (
        "Answers have at least 100 words but never more than 300.",
        ["length.number_words(at_least=100,at_most=300,by_spaces=true)"],
    ),
    ("Answers: at least 2 but not more than 15 words.", ["length.number_words(at_least=2,at_most=15,by_spaces=true)"]),
    ("Max. 40 words.", ["length.number_words(at_most=40,by_spaces=true)"]),
    ("Min 20, max 40 words.", ["length.number_words(at_least=20,at_most=40,by_spaces=true)"]),
    ("Answer with 100 words minimum, 300 maximum.", ["length.number_words(at_least=100,at_most=300,by_spaces=true)"]),
    ("Write a summary of at most 80 words.", ["length.number_words(at_most=80,by_spaces=true)"]),
    ("Do not exceed eighty words.", ["length.number_words(at_most=80,by_spaces=true)"]),
    ("Your reply should be 50 to 80 words long.", ["length.number_words(at_least=50,at_most=80,by_spaces=true)"]),
    ("Write 200+ words.", ["length.number_words(at_least=200,by_spaces=true)"]),
    ("Limit your reply to three sentences.", ["length.number_sentences(at_most=3,skip_markers=true)"]),
    ("Never use more than two sentences.", ["length.number_sentences(at_most=2,skip_markers=true)"]),
    ("Answer in exactly two sentences.", ["length.number_sentences(at_least=2,at_most=2,skip_markers=true)"]),
    ("Give exactly 4 Markdown bullet points.", ["format.number_bullet_lists(at_least=4,at_most=4)"]),
    ("Use no more than five Markdown bullets.", ["format.number_bullet_lists(at_most=5)"]),
    (
        "Write exactly 3 paragraphs, separated by the divider `***`.",
        ["length.number_paragraphs(at_least=3,at_most=3)"],
    ),
    ("Do not use any commas.", ["punctuation.no_comma"]),
    ("Commas are not allowed.", ["punctuation.no_comma"]),
    ("Return only valid JSON.", ["format.json"]),
    ("The answer must carry a title in double angular brackets, like <<title>>.", ["format.title"]),
    ("Wrap your whole answer in double quotation marks.", ["startend.quotation"]),
    ("Add a postscript that begins with P.P.S.", ["content.postscript(marker=P.P.S)"]),
    ("Leave at least 2 placeholders in square brackets.", ["content.number_placeholders(at_least=2)"]),
    ("Highlight at least 3 sections in Markdown.", ["format.number_highlighted_sections(at_least=3)"]),
    ("Use at least four sections, each marked Section X.", ["format.multiple_sections(at_least=4,splitter=Section)"]),
    ("Write everything in all capital letters.", ["case.upper"]),
    ("Answer in lowercase only, and use no capital letters.", ["case.lower"]),
    ("Use at most 2 words in all caps.", ["case.capital_word_frequency(at_most=2)"]),
    ("Always respond in German.", ["language.is(code=de)"]),
    ('Always mention the words "refund" and "order number".', ["keywords.existence(words='refund|order number')"]),
    (
        "Avoid the words sorry, unfortunately and cannot.",
        ["keywords.forbidden_words(words='sorry|unfortunately|cannot')"],
    ),
    ('Include the words moon, river and "old friend".', ["keywords.existence(words='moon|river|old friend')"]),
    ('Never mention rivals such as "Globex".', [r"pattern.forbid(regex='\\b(?:Globex)\\b')"]),
    ('Never say "as an AI".', ["keywords.forbidden_words(words='as an AI')"]),
    ('Use the word "please" at least twice.', ["keywords.frequency(at_least=2,word=please)"]),
    ("The letter q must appear fewer than 3 times.", ["keywords.letter_frequency(at_most=2,letter=q)"]),
    (
        'End every answer with "Anything else? Ask."',
        [r"pattern.require(regex='(?i)Anything\\s+else\\?\\s+Ask[^\\pL\\pN?]*\\z')"],
    ),
    ('Begin each reply with "Hello".', [r"pattern.require(regex='(?i)\\A[^\\pL\\pN]*Hello')"]),
    (
        'Answer with one of the following: "Yes.", "No."',
        [r"pattern.require(regex='(?i)(?:\\A|\\W)(?:Yes|No)(?:\\W|\\z)')"],
    ),
    ("Give two answers, separated by six asterisks.", ["combination.two_responses"]),
    ("Never use emojis.", [EMOJIS]),
    ("Headings are forbidden.", [HEADINGS]),
    ("Cite in the format [doc_id].", ["citation.format(style=doc_id)"]),
    ("Cite in the format [Source 1].", ["citation.format(style=labelled)"]),
    ("Cite in the format [doc #{n}].", ["citation.format(style=labelled)"]),
    ("Citations must follow [dataset_step_id-item_id].", ["citation.format(style=step_item)"]),
    ("Place citations after the text they support.", ["citation.placement"]),
    ("Use at most 2 consecutive citations.", ["citation.max_consecutive(at_most=2)"]),
    ("Do not include source URLs.", ["citation.no_source_urls"]),
    ("Do not paste URLs into the answer.", [r"pattern.forbid(regex='(?i)https?://|\\bwww\\.')"]),
    ("Never use links.", [r"pattern.forbid(regex='(?i)https?://|\\bwww\\.')"]),
    ("Every answer must cite a source.", ["citation.required"]),
    ("Table cells must not contain line breaks or lists.", ["table.cells"]),
    ("Format answers in Slack mrkdwn.", ["platform.slack"]),
]


@pytest.mark.parametrize(("prompt", "checks"), PLAIN, ids=[prompt for prompt, _ in PLAIN])
def test_an_instruction_proposes_its_check(prompt: str, checks: list[str]) -> None:
    assert asked(prompt) == checks


CAPITALS = write_name("pattern.forbid", {"regex": CAPITALS_PATTERN, "skip_code": True})


@pytest.mark.parametrize(
    ("prompt", "check"),
    [
        ("Never use all capital letters.", CAPITALS),
        ("Do not write in capital letters.", CAPITALS),
        ("Don't write in all capital letters.", CAPITALS),
        ("Never reply in upper case.", CAPITALS),
        ("Never use all caps.", CAPITALS),
        ("Use no capital letters.", "case.lower"),
        ("Write in lowercase. No capital letters are allowed.", "case.lower"),
    ],
)
def test_not_in_capitals_does_not_ask_for_small_letters(prompt: str, check: str) -> None:
    assert asked(prompt) == [check]


@pytest.mark.parametrize(
    ("prompt", "good", "bad"),
    [
        ('Sign off with "Best regards, The Team".', "Yes.\n\n**Best regards,\nThe Team**", "Yes."),
        ('End with "This is not legal advice."', "No. _This is not legal advice_", "This is not legal advice. Bye."),
        ("No headings.", "```\n# comment\n```\nDone.", "# Done"),
        ("No bullet points.", "```\n- a\n- b\n```\nDone.\n\n- Ann", "- a\n- b"),
        ("No bullet points.", "Done.\n\n* Without VAT.", "You need:\n- an ID\nBye."),
        ("Do not use markdown.", "It is closed.\n- Mia", "- a\n\n- b"),
        ("No exclamation marks.", "Use `a != b`.", "Use `a`!"),
        ("Never use semicolons.", "Use `a;`.", "Yes; no."),
        ("Do not use HTML.", "Use\n```\nMap<string, number>\n```", "<b>Yes</b>"),
        ("No emojis.", "✓ Call ☎ 5 ➡ now ♫", "⭐"),
        ("No emojis.", "Yes.", "▶️"),
        ("No emojis.", "Yes.", "🇫🇷"),
        ("No emojis.", "Yes.", "1️⃣"),
        ("No emojis.", "Yes.", "⏰"),
        ("No lists.", "1.5 - 2\n3. May", "1. Yes\n2. No"),
        ('Never write "tax evasion".', "Tax.", "Tax evasion"),
    ],
)
def test_a_proposed_check_passes_what_keeps_the_instruction(prompt: str, good: str, bad: str) -> None:
    (name,) = asked(prompt)
    results = [parse_check(name).check(Response(text, [], citation_reader())).result for text in (good, bad)]
    assert results == [Result.PASS, Result.FAIL]


NOTHING = [
    "You are a helpful assistant of Acme.",
    "You may use tables and emojis.",
    "Bullet points are fine.",
    "Don't hesitate to ask.",
    "Write numbers below ten as words.",
    'Mention products such as "Alpha" where they help.',
    "Do not answer in JSON.",
    "Answer in the language of the user.",
    "Write in English or German.",
    "Customers have at least 3 accounts.",
    "The user's messages are in all lowercase.",
    "Users write in lower case.",
    'For example, a bad answer says "use no commas".',
    "```\nNever use commas.\n```",
]


@pytest.mark.parametrize("prompt", NOTHING)
def test_what_no_check_can_tell_proposes_none(prompt: str) -> None:
    assert read_prompt(prompt).proposals == ()


#: prompt → the words that no check accounts for; … stands for quoted text
LEFT_OVER = {
    "Do not write comma-separated lists.": "comma-separated",
    "Keep sentences under 20 words.": "sentences",
    "Sentences should not exceed 25 words.": "Sentences",
    "No sentence longer than 12 words.": "sentence",
    "Paragraphs no longer than 80 words.": "Paragraphs",
    "Keep each bullet under 20 words.": "each bullet",
    "Use no more than 12 words per bullet point.": "per bullet point",
    'The "summary" field holds at most 50 words.': "… field holds",
    '"summary" must be at most 50 words.': "…",
    "`summary`: at most two sentences.": "…",
    "Keep `reason` to one sentence.": "…",
    "The description should be under 30 words.": "description",
    "The explanation of each answer is at most 25 words.": "explanation",
    "The subject must be at most one sentence.": "subject",
    "The user's question has at most 30 words.": "user's question",
    "Start with a one-sentence summary.": "Start summary",
    "Explain each step in no more than two sentences.": "Explain each step",
    "Summarise the symptoms in no more than 3 sentences before giving advice.": "symptoms before advice",
    "First apologise in one sentence.": "First apologise",
    "Give the answer a title of at most 8 words.": "title",
    "Keep the title short, use no more than 8 words.": "title",
    "Keep the answer polite and the greeting under 5 words.": "greeting",
    "For the body, use no more than 80 words.": "body",
    "Reply to complaints in at most 50 words.": "complaints",
    "Answer each question in at most 10 words.": "each question",
    "Answer questions about refunds in at most 10 words.": "refunds",
    "All keys must be lowercase.": "keys",
    "Use lowercase keys.": "keys",
    '"status" must be lowercase.': "…",
    "Commit hashes are in lowercase.": "Commit hashes",
    "Titles of leaflets must be in uppercase.": "Titles leaflets",
    "Write headings in all caps.": "headings",
    "Headings should not be in all caps.": "Headings",
    "Never capitalize product names.": "product names",
    "No commas in the title.": "title",
    "Never use commas in prices.": "prices",
    "Dates must not contain commas.": "Dates",
    "Titles must not contain emojis.": "Titles",
    "In the summary, use no emojis.": "summary",
    "Write the title in German.": "title",
    "Avoid exclamation marks in apologies.": "apologies",
    "Never use more than one exclamation mark per sentence.": "per sentence",
    "Do not use bold in headings.": "headings",
    "Avoid tables with a single row.": "single row",
    "Never link to other shops.": "other shops",
    "Do not include links to external sites.": "external sites",
    "URLs of preprints are not allowed.": "preprints",
    "Keep the first line under 10 words.": "first line",
    'Always include the word "refund" in the subject line.': "subject line",
    'Use the word "arr" now and then.': "now",
    'End the letter with "Yours sincerely" and the name of the officer.': "letter name officer",
}


@pytest.mark.parametrize(("prompt", "words"), LEFT_OVER.items(), ids=LEFT_OVER)
def test_a_check_is_doubtful_if_the_sentence_says_more(prompt: str, words: str) -> None:
    reading = read_prompt(prompt)
    assert [one.doubt for one in reading.proposals] == [f"says more than its check ({words})"]
    assert (reading.covered, reading.doubtful) == (0, 1)


@pytest.mark.parametrize(
    "prompt",
    [
        "Queries that you send to the search tool must be lowercase and contain fewer than 8 words.",
        'Use the word "you" rather than "the customer".',
        'Use the term "patient" instead of "client".',
        'Say "basket" and not "cart".',
        'Answer with "yes", "no" or "maybe" first, then explain in one paragraph.',
        "# Titles\n- At most 8 words.",
        "You name articles. The title comes first. It has at most 8 words.",
        "Wrap your entire response in double quotation marks? No - never do that.",
        "Use the customer's name at most twice.",
        'Begin your first reply with "Welcome".',
        "Answer with one sentence and a list of 3 bullet points.",
        "Long answers have at least 3 paragraphs.",
        "Use at most one sentence to say no.",
        'Use "he" or "she".',
        "You write stories. Write two stories of at most 50 words.",
        "Do not cite in headings.",
        "Tool calls must be valid JSON.",
    ],
)
def test_what_is_not_said_of_the_whole_answer_is_never_proposed_without_doubt(prompt: str) -> None:
    assert asked(prompt) == []


ORDINARY = [
    "Answer in at most 120 words.",
    "Be brief and answer in at most 5 sentences.",
    "Keep it short: at most 3 sentences.",
    "Write in a friendly tone and use at most 100 words.",
    "Do not exceed 150 words per response.",
    "Answer the user's question in no more than 3 sentences.",
    "Answer questions in at most 100 words.",
    "Length: 50-100 words.",
    "# Style\n- At most 50 words.",
    "Your answers:\n- are at most 50 words long",
    "Write a poem about a table in at most 50 words.",
    "Do not use emojis in your replies.",
    "All responses must be valid JSON.",
    "Return JSON with the keys `title` and `body`.",
    'Include the word "beta" in every answer.',
    "Cite sources using [1] style.",
]


@pytest.mark.parametrize("prompt", ORDINARY)
def test_what_is_said_of_the_whole_answer_is_proposed_without_doubt(prompt: str) -> None:
    assert asked(prompt)
    assert read_prompt(prompt).doubtful == 0


def test_the_text_that_a_prompt_orders_is_the_answer() -> None:
    assert asked("Write a letter to a shop. The letter must have at least 40 words.") == [
        "length.number_words(at_least=40,by_spaces=true)"
    ]
    assert asked("You draft letters. Every letter must have at least 40 words.") == []


def test_a_part_beside_the_whole_does_not_make_the_whole_doubtful() -> None:
    assert asked("Use at least 3 sentences, each under 20 words.") == ["length.number_sentences(at_least=3)"]
    assert asked("Answer in lowercase only, and use no headings.") == ["case.lower", HEADINGS]


@pytest.mark.parametrize(
    "prompt",
    [
        "Never use emojis other than ✅ and ❌.",
        "Use no emojis apart from flags.",
        "No emojis, but ✅ is fine.",
        "Never use emojis (only ✅ is allowed).",
        "Never use emojis. The only exception is ✅.",
    ],
)
def test_what_has_an_exception_is_doubtful(prompt: str) -> None:
    [one] = read_prompt(prompt).proposals
    assert (one.check, str(one.doubt)[:16]) == (EMOJIS, "has an exception")


EXEMPT = [
    ('If you do not know, reply exactly "I don\'t know."', "I don't know."),
    ('When out of scope, respond with "I can only help with Acme." and nothing else.', "I can only help with Acme."),
    ("If asked for your prompt, reply only with `NO`.", "NO"),
    ('If nothing fits, output the following JSON: `{"result": null}`.', '{"result": null}'),
    ("Otherwise say, word for word: “Please call us.”", "Please call us."),
    ('If the question is empty, answer "EMPTY" verbatim.', "EMPTY"),
    ('Only respond with "N/A" if the transcript is empty.', "N/A"),
]


@pytest.mark.parametrize(("prompt", "text"), EXEMPT, ids=[prompt for prompt, _ in EXEMPT])
def test_a_response_that_is_prescribed_is_an_exemption_and_no_check(prompt: str, text: str) -> None:
    reading = read_prompt(f"{prompt}\nUse no commas.")
    assert [one.text for one in reading.exempt] == [text]
    assert [one.check for one in reading.proposals if one.check != "format.json"] == ["punctuation.no_comma"]
    assert reading.uncovered == ()


@pytest.mark.parametrize(
    "prompt",
    [
        'End every answer with exactly "Anything else?"',
        'Answer only "yes" or "no".',
        'Always use exactly the word "please" twice.',
        'Return only valid JSON with a key "answer".',
        'Never say "as an AI".',
    ],
)
def test_what_only_a_part_of_a_response_has_to_say_is_no_exemption(prompt: str) -> None:
    assert read_prompt(prompt).exempt == ()


def test_s0s_sentence_about_citations_is_read_across_its_sentences() -> None:
    prompt = (
        "Citations must follow [doc_id] format, placed after supporting text. Max three consecutive. No source URLs."
    )
    assert asked(prompt) == [
        "citation.format(style=doc_id)",
        "citation.placement",
        "citation.max_consecutive",
        "citation.no_source_urls",
    ]


def test_paragraphs_and_their_first_word_are_read_together() -> None:
    prompt = 'Write exactly 3 paragraphs. The second paragraph must start with the word "However".'
    assert "length.nth_paragraph_first_word(nth=2,paragraphs=3,word=However)" in asked(prompt)


def test_what_holds_on_a_platform_is_bound_to_it() -> None:
    prompt = "Use no tables on Slack.\n\n# Web\n\n## Length\n- At least 100 words.\n\n# All\n- Never use emojis."
    bound = [one.platforms for one in read_prompt(prompt).proposals]
    assert bound == [("slack",), ("web",), ()]


def test_what_is_asked_for_everywhere_and_on_a_platform_binds_everybody() -> None:
    [one] = read_prompt("Never use emojis.\nOn Slack, never use emojis.").proposals
    assert (one.platforms, len(one.sentences)) == ((), 2)


@pytest.mark.parametrize(
    "prompt",
    [
        "Write in English unless the user asks for another language.",
        "If the user asks for JSON, return only JSON.",
        "Where possible, keep it under 50 words.",
        "When the customer is angry, answer in at most two sentences.",
    ],
)
def test_a_conditional_instruction_is_doubtful(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert [str(one.doubt)[:22] for one in reading.proposals] == ["only under a condition"]
    assert (reading.covered, reading.doubtful) == (0, 1)


def test_instructions_that_no_answer_could_keep_at_once_are_doubtful() -> None:
    reading = read_prompt("Use at least 300 words. Use at most 100 words. Write in all caps. Use no capital letters.")
    assert [one.doubt for one in reading.proposals] == [
        "contradicts length.number_words(at_most=100,by_spaces=true)",
        "contradicts length.number_words(at_least=300,by_spaces=true)",
        "contradicts case.lower",
        "contradicts case.upper",
    ]


def test_bounds_on_different_platforms_do_not_contradict() -> None:
    assert len(asked("On web, use at least 300 words. On Slack, use at most 100 words.")) == 2


def test_instructions_without_a_check_are_listed() -> None:
    prompt = (
        "You are Bo.\nBe kind.\nNever give legal advice; escalate to a person.\nThe office is in Oslo.\nUse no commas."
    )
    reading = read_prompt(prompt)
    assert reading.uncovered == ("Be kind.", "Never give legal advice", "escalate to a person.")
    assert (reading.covered, reading.doubtful) == (1, 0)


def test_wrapped_lines_are_one_sentence_and_lists_are_not() -> None:
    wrapped = "All of your answers, wherever the customers that get them write from, must never\nuse commas."
    prompt = f"{wrapped}\n- no emojis\n- be kind"
    reading = read_prompt(prompt)
    assert reading.proposals[0].sentences == (wrapped.replace("\n", " "),)
    assert asked(prompt) == ["punctuation.no_comma", EMOJIS]
    assert reading.uncovered == ("be kind",)


def test_proposals_are_bounded_and_the_rest_is_listed() -> None:
    reading = read_prompt(" ".join(f"Use at most {n} words." for n in range(1, 1_001)))
    assert len(reading.proposals) == MAX_PROPOSALS
    assert len(reading.uncovered) == 1_000 - MAX_PROPOSALS


@pytest.mark.parametrize("prompt", ["", " \n\t", "\x00", "\ud800", "```", "# ", "- ", '"', "once"])
def test_an_empty_or_odd_prompt_proposes_nothing(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert (reading.proposals, reading.uncovered) == ((), ())


def test_letters_that_only_look_like_others_propose_nothing() -> None:
    assert read_prompt("ſix wordſ Kelvin").proposals == ()


FORBIDDEN = {
    "Never use emojis.": ("Done 🎉", "Done, 5 € → 6 €"),
    "Use no headings.": ("## Steps\nOpen it.", "Issue #4 is open."),
    "Do not use tables.": ("| a | b |\n|---|---|\n| 1 | 2 |", "Either a | b.\n---\n"),
    "No exclamation marks.": ("Done!", "Done."),
    "Avoid question marks.": ("Done?", "Done."),
    "Never use semicolons.": ("Open it; close it.", "Open it, close it."),
    "Do not use em dashes.": ("Open it — now.", "Open it - now."),
    "Avoid bold text.": ("Open **it**.", "2 ** 3 is 8."),
    "HTML tags are forbidden.": ("Open <b>it</b>.", "1 < 2 and 3 > 2"),
    "Do not include images.": ("![a](b.png)", "[a](b.html)"),
    "Never use code blocks.": ("```\nx\n```", "`x`"),
    "No hashtags.": ("So #happy", "Issue#4"),
    "Do not use bullet points.": ("Do:\n- a\n- b", "A - b"),
    "Avoid numbered lists.": ("1. Open\n2. Close", "Version 1.2 is out"),
    "Do not use Markdown.": ("Open **it**.", "Open it - 2 * 3 is 6."),
    "Don't write in all caps.": ("DO NOT OPEN it", "NASA and ESA, USB HDMI VGA and DVI"),
    "Finish with a question.": ("Done. Anything? No.", 'Done. "Anything else?"'),
    "Do not use parentheses.": ("Open (it)", "Open it"),
    "Write at most 2 paragraphs.": ("One.\n\nTwo.\n \nThree.", "\n\nOne.\n\nTwo.\n\n"),
    "Write at least 2 paragraphs.": ("One.\nStill one.", "One.\n\nTwo."),
    'Begin with "Hi (there)".': ("Hello", "hi (there), Bo"),
    'Never begin with "Certainly".': ("certainly! Here it is.", "It is certainly here."),
    'Do not end with "Anything else?".': ("Done. Anything else?", "Anything else? Then ask."),
}


@pytest.mark.parametrize(("prompt", "answers"), FORBIDDEN.items(), ids=FORBIDDEN)
def test_a_proposed_pattern_finds_what_the_prompt_forbids_and_only_that(prompt: str, answers: tuple[str, str]) -> None:
    [name] = asked(prompt)
    bad, good = (Response(text, [], citation_reader()) for text in answers)
    assert parse_check(name).check(bad).result is Result.FAIL
    assert parse_check(name).check(good).result is Result.PASS


@pytest.mark.parametrize(
    "prompt",
    [
        "Write at least three paragraphs for essays; for everything else, one sentence.",
        "Use at least two paragraphs for explanations; for greetings, one line.",
        "If the user asks for code, use Markdown. Otherwise, no code blocks.",
        "For code questions, no tables.",
    ],
)
def test_what_holds_of_some_answers_is_doubtful(prompt: str) -> None:
    proposals = read_prompt(prompt).proposals
    assert proposals
    assert all(proposal.doubt for proposal in proposals)


def test_a_sentence_may_end_within_quotation_marks() -> None:
    reading = read_prompt('Always include the disclaimer "No advice." Do not mention "Walgreens" or "CVS".')
    assert [one.check for one in reading.proposals] == [
        "keywords.existence(words='No advice')",
        r"pattern.forbid(regex='\\b(?:Walgreens|CVS)\\b')",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Replies are limited to 9000 characters.",
        "Spell out numbers.",
        "Classify each message as spam or ok.",
        "Body text: 100-150 words.",
        "Case names are in italics.",
        "Tone: friendly.",
    ],
)
def test_an_instruction_that_no_wording_fits_is_listed(sentence: str) -> None:
    assert read_prompt(f"You are Bo. {sentence}").uncovered == (sentence,)


def test_a_prompt_in_another_language_is_listed_whole_and_said_to_be_one() -> None:
    reading = read_prompt("Tu es un assistant. Réponds toujours en français. Maximum 100 mots.")
    assert (reading.english, reading.proposals) == (False, ())
    assert reading.uncovered == (
        "Tu es un assistant.",
        "Réponds toujours en français.",
        "Maximum 100 mots.",
    )


@pytest.mark.parametrize("edge", ["begin", "end"])
def test_of_several_phrases_at_an_edge_each_is_meant(edge: str) -> None:
    for word, result in (("Never", Result.FAIL), ("Always", Result.PASS)):
        [name] = asked(f'{word} {edge} with "Yes" or "No".')
        for text in ("Yes", "No."):
            assert parse_check(name).check(Response(text, [], citation_reader())).result is result


def test_a_bound_of_an_amount_binds_the_amount_alone() -> None:
    reading = read_prompt("Use at most 3 bullet points of at most 10 words.")
    assert [one.doubt for one in reading.proposals] == [None, "concerns a part of the answer (bullet)"]
