"""A check is proposed without doubt only where everything around its sentence is known to be general."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

HEADINGS = r"pattern.forbid(regex='(?m)^ {0,3}#{1,6}[ \\t]',skip_code=true)"


def asked(prompt: str) -> list[str]:
    return [one.check.partition("(")[0] for one in read_prompt(prompt).proposals if one.doubt is None]


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


def doubts(prompt: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(prompt).proposals]


GENERAL = [
    "## Grounding\n- No emojis.",
    "# Guardrails\nNo emojis.",
    "## Safety & security\n- No emojis.",
    "**Format:**\n- no emojis",
    "STYLE GUIDE\n\nNo emojis.",
    "Tone\n- no emojis",
    "Please follow these rules when answering:\n1. No emojis.",
    "Restrictions:\n- no emojis",
    "The reply must:\n- not contain emojis",
    "<rules>\n<rule>No emojis.</rule>\n</rules>",
    "<output_format>No emojis.</output_format>",
    "| Topic | Rule |\n|---|---|\n| Style | No emojis. |",
    "**IMPORTANT:** no emojis",
    "Format: no emojis",
    "# Acme bot\n## Style\nNo emojis.",
    "Acme support agent\n\nPrinciples\n- No emojis.",
    "# Support assistant\nNo emojis.",
    "# Acme help desk\nYou are Bo.\n\nNo emojis.",
    "Write a news brief.\n\nWhole brief\n- no emojis",
]


@pytest.mark.parametrize("prompt", GENERAL)
def test_what_is_general_narrows_nothing(prompt: str) -> None:
    assert asked(prompt) == ["pattern.forbid"]


NARROW = {
    "S: one paragraph.\nA: at most three sentences.": "A",
    "# Part A\nNo emojis.": "Part A",
    "# Section 2\nNo emojis.": "Section 2",
    "Part B: no emojis": "Part B",
    "## Escalations\n- No emojis.": "Escalations",
    "1. Details: no emojis": "Details",
    "Headline:\n- no emojis": "Headline",
    "The subject line:\n- at most 8 words": "The subject line",
    "If the user is angry:\n1. No emojis.": "If the user is angry",
    "Dos and don'ts:\n- no emojis": "Dos and don'ts",
    "Lead\n- no emojis": "Lead",
    "Lead\n\n- no emojis": "Lead",
    "SMS RULES\n- No emojis.": "SMS RULES",
    "**Email**\nNo emojis.": "Email",
    "Be kind.\n**Email**\n\nNo emojis.": "Email",
    "Interview questions\nNo emojis.": "Interview questions",
    "Step 1: Outline\n- no emojis": "Step 1: Outline",
    "1. Triage\n   - No emojis.": "Triage",
    "Reviews with one star:\nno emojis": "Reviews with one star",
    "Subject line: no emojis": "Subject line",
    "Angry customers: no emojis": "Angry customers",
    "Small talk: reply briefly. No emojis.": "Small talk",
    "| Channel | Rule |\n|---|---|\n| Forum | No emojis. |": "Forum Rule",
    "<subject_line>No emojis.</subject_line>": "subject line",
    "<when_refusing>\nNo emojis.\n</when_refusing>": "when refusing",
    '<rules for="mails">\n- No emojis.\n</rules>': "rules for mails",
    "<mails>\n## Style\nNo emojis.\n</mails>": "mails",
    "Refunds\n=======\nNo emojis.": "Refunds",
    "=== Refunds ===\nNo emojis.": "=== Refunds ===",
    "[REFUNDS]\nNo emojis.": "[REFUNDS]",
    "Refunds\n\nBe kind.\n\nNo emojis.": "Refunds",
    "1. Refunds\n\nNo emojis.": "Refunds",
    "1. Refunds\nNo emojis.": "Refunds",
    "2.1 Refunds\nNo emojis.": "Refunds",
    "- For refunds:\n  No emojis.": "For refunds",
    "**Refunds.** Be kind. No emojis.": "Refunds",
    "# Acme bot\n## Tool: search\n### Style\n- No emojis.": "Tool: search",
    "# Refunds\nNo emojis.\n# Complaints\nBe kind.": "Refunds",
}


@pytest.mark.parametrize(("prompt", "label"), NARROW.items(), ids=NARROW)
def test_what_is_not_known_to_be_general_narrows(prompt: str, label: str) -> None:
    assert doubts(prompt) == [f"stands under “{label}”"]


@pytest.mark.parametrize(
    "prompt",
    [
        "<mails>\nBe kind.\n</mails>\nNo emojis.",
        "Mails\n- be kind\n\nStay in your role. No emojis.",
        "Mails:\n- be kind\n\nNo emojis.",
        "## Mails\nBe kind.\n## Style\nNo emojis.",
        "**Mails**\nBe kind.\n**Style**\nNo emojis.",
        "1. Mails\n   - be kind\n2. No emojis.",
        "Mails: be kind. Every answer is free of emojis. No emojis in any answer.",
        "Wrap the verdict in <answer> tags. No emojis.",
    ],
)
def test_what_narrows_ends_where_its_list_tag_or_section_does(prompt: str) -> None:
    assert None in doubts(prompt)


FORBIDDEN = {
    '## Never\n- Use the word "sure"\n- Write more than 90 words': ["keywords.forbidden_words", "length.number_words"],
    "**Don'ts**\n- Use tables": ["pattern.forbid"],
    "Avoid:\n- emojis\n- answers of more than 90 words": ["pattern.forbid", "length.number_words"],
    "You must not:\n- use tables": ["pattern.forbid"],
    'Forbidden:\n1. Begin with "Hello"': ["pattern.forbid"],
    "<never>\n<rule>Emojis</rule>\n</never>": ["pattern.forbid"],
    '❌ Use the word "cheap".\n✅ Use the word "value".': ["keywords.forbidden_words", "keywords.existence"],
    "Never: use emojis": ["pattern.forbid"],
    "# Don't\n- Don't use tables": ["pattern.forbid"],
}


@pytest.mark.parametrize(("prompt", "checks"), FORBIDDEN.items(), ids=FORBIDDEN)
def test_an_item_under_a_word_that_forbids_is_forbidden(prompt: str, checks: list[str]) -> None:
    assert asked(prompt) == checks


@pytest.mark.parametrize(
    "prompt",
    [
        "## Never\n- Answer in French",
        "## Never\n- use fewer than 20 words or tables for prices",
        "What to avoid:\n- At least 200 words",
        "## Never\nStart small talk. Use at least 200 words.",
        "### Do not\n- Answer in JSON format\n- write in all lowercase\n- End every reply with a question",
    ],
)
def test_what_cannot_be_turned_with_certainty_is_doubtful(prompt: str) -> None:
    assert asked(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "<example>\nAssistant: Never use emojis. Answer in French.\n</example>",
        "<bad_examples>Keep answers under 10 words.</bad_examples>",
        "## Examples\n- Never use emojis.",
        "Example 1\nUser: No emojis.\nAssistant: Never use emojis.",
        "Q: May I?\nA: Never use emojis.",
    ],
)
def test_examples_are_not_read_as_rules(prompt: str) -> None:
    assert read_prompt(prompt).proposals == ()


def test_tags_are_no_part_of_sentences() -> None:
    reading = read_prompt("<rules><rule>Keep answers under 90 words.</rule><rule>Be kind.</rule></rules>")
    assert [one.sentences for one in reading.proposals] == [("Keep answers under 90 words.",)]
    assert reading.uncovered == ("Be kind.",)


@pytest.mark.parametrize(
    "prompt",
    [
        "You are an LLM judge. The response must be under 50 words. Output a score.",
        "Evaluate whether the assistant followed these: Always answer in French.",
        "You are a proofreader. Mark every text that breaks these rules:\n1. No semicolons",
        "You check texts against our style guide:\n\n- No em dashes",
        "You write unit tests for a chatbot. The chatbot's rules are:\n- Never use emojis.",
        "You are a prompt engineer. Write system prompts. Never use emojis.",
        "Write eight questions. Answers are at most 40 words.",
        "Suggest three possible replies. Replies must be under 20 words.",
    ],
)
def test_a_prompt_about_other_texts_binds_no_answer(prompt: str) -> None:
    assert asked(prompt) == []
    assert doubts(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Do not use headings in replies shorter than 100 words.",
        "No headings in responses with fewer than 3 paragraphs.",
        "Avoid tables in messages of less than 80 words.",
        'Don\'t begin every reply with "Sure".',
        "Do not use emojis in every message.",
        "The previous assistant wrote answers of more than 500 words, always in French.",
        "The old bot never used emojis.",
        "Those replies never contained emojis.",
        "They never use emojis.",
        "If asked about prices, do this. Keep it under 30 words. Do not use tables. End with “Ask sales.”",
        "In debug mode, output the log. Add no headings.",
        "Phase two. Use at most 10 words.",
        "Answers in English must be under 90 words.",
        "Angry customer? Use at most two sentences.",
        "* headline – no emojis",
        "No bold headings.",
        "No bare URLs.",
        'Close with "{{closing}}".',
        'Start with "Hi [Your Name],".',
        'Include the phrase "Ref: <ticket id>".',
        'Say "please" and "thank you".',
        'Choose a tone from "formal" and "casual".',
        'Use the formal "usted".',
        'Use "ss" instead of "ß" in German.',
        "Respond in JSON or plain text.",
        "Citations go in square brackets, never in parentheses.",
    ],
)
def test_a_sentence_that_holds_of_some_answers_or_means_something_else_is_not_proposed(prompt: str) -> None:
    assert asked(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Never use emojis. Be kind. Never use emojis unless the user does.",
        "Answer in English. Be kind. Mirror the language that the customer uses.",
        "Write in British English. Be kind. Answer in the language of the user.",
        "Answer in English. Be kind. Answer in French.",
        "Keep answers under 100 words; complex questions may take more.",
        "No emojis. Birthday cards may have a few.",
        'No exclamation marks. Be kind. Begin with "Welcome!".',
        'Never use question marks. Be kind. End with "Anything else?".',
        "Do not include links. Be kind. Point users to https://acme.example.",
        "No emojis. Be kind. Start alerts with ⚠️.",
        'Never use bullet points. Be kind. List the steps with "- ".',
        "Never use tables. Be kind. Prices go in a table.",
    ],
)
def test_what_another_sentence_takes_back_is_doubtful(prompt: str) -> None:
    assert asked(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "check"),
    [
        ("Maximum length: 200 words.\n- Figures are given with a comma.", "length.number_words"),
        ('Start with "Thank you".\n- Do not give links unless the guest asks.', "pattern.require"),
        ("Keep it under 80 words. Speak only of bikes.", "length.number_words"),
        ("Never use tables. Do not give advice unless asked.", "pattern.forbid"),
        ('Never say "cheap"; say "affordable" instead.', "keywords.forbidden_words"),
    ],
)
def test_an_unrelated_sentence_lets_nothing_off(prompt: str, check: str) -> None:
    assert asked(prompt) == [check]


@pytest.mark.parametrize(
    ("prompt", "check"),
    [
        ("Under 80 words.", "length.number_words(at_most=79,by_spaces=true)"),
        ("80 words or less.", "length.number_words(at_most=80,by_spaces=true)"),
        ("150 to 200 words", "length.number_words(at_least=150,at_most=200,by_spaces=true)"),
        ("Never go beyond 150 words.", "length.number_words(at_most=150,by_spaces=true)"),
        ("≤ 90 words", "length.number_words(at_most=90,by_spaces=true)"),
        ("1-3 sentences", "length.number_sentences(at_least=1,at_most=3,skip_markers=true)"),
        ("5 sentences", "length.number_sentences(at_least=5,at_most=5,skip_markers=true)"),
        ("Max length: 3 sentences", "length.number_sentences(at_most=3,skip_markers=true)"),
        ("Headings: none", HEADINGS),
        ("Headings are banned.", HEADINGS),
        ("Do not use headings under any circumstances.", HEADINGS),
        ("Language: German", "language.is(code=de)"),
        ("German only.", "language.is(code=de)"),
        ("**ALWAYS** answer in **German**.", "language.is(code=de)"),
        ("Always answer in German, even if the user writes in English.", "language.is(code=de)"),
        ("Banned words: cheap, budget.", "keywords.forbidden_words(words='cheap|budget')"),
        ('Say "arr" at least once in every reply.', "keywords.existence(words=arr)"),
        ("Responses shorter than 250 words.", "length.number_words(at_most=249,by_spaces=true)"),
        ("Total length below 150 words.", "length.number_words(at_most=149,by_spaces=true)"),
        ("One or two short sentences per message.", "length.number_sentences(at_least=1,at_most=2,skip_markers=true)"),
        ("Language: Portuguese (Brazil)", "language.is(code=pt)"),
        ('Add "Enjoy!" at the end.', r"pattern.require(regex='(?i)Enjoy\\![^\\pL\\pN?]*\\z')"),
        ('Sign off as "Ada from Acme".', r"pattern.require(regex='(?i)Ada\\s+from\\s+Acme[^\\pL\\pN?]*\\z')"),
        ('Every response must contain "No advice".', "keywords.existence(words='No advice')"),
        ("Input: the text.\nOutput: a single JSON object and nothing else.", "format.json"),
        ("Respond with valid JSON and nothing else.", "format.json"),
        ('Every reply ends with "Thank you."', r"pattern.require(regex='(?i)Thank\\s+you[^\\pL\\pN?]*\\z')"),
        ("Return a valid JSON array.", "format.json"),
        ("Do not wrap the answer in code fences.", "pattern.forbid(regex='```')"),
    ],
)
def test_a_plain_rule_without_a_verb_is_read(prompt: str, check: str) -> None:
    assert [one.check for one in read_prompt(prompt).proposals if one.doubt is None] == [check]


@pytest.mark.parametrize(
    "prompt",
    [
        'Answer only questions on taxes; otherwise say "I can only help with taxes."',
        'Do not answer questions about others; say "I can only help with taxes." instead.',
        'For anything else say "I can only help with taxes."',
        'If it is about law, say "I can only help with taxes."',
    ],
)
def test_a_reply_that_is_prescribed_instead_of_an_answer_is_an_exemption(prompt: str) -> None:
    assert [one.text for one in read_prompt(prompt).exempt] == ["I can only help with taxes."]


@pytest.mark.parametrize(
    "prompt", ["<a>" * 9, "</a>", "<a>\n</b>\n</a>", "<a><b></a></b>\nNo emojis.", "||", "|\n|", "❌", "**", ": x"]
)
def test_odd_structure_breaks_nothing(prompt: str) -> None:
    assert read_prompt(prompt).exempt == ()


@pytest.mark.parametrize(
    ("never", "always"),
    [("WHAT YOU DON'T DO", "ALWAYS"), ("DO NOT", "DO"), ("DO NOT:", "DO:"), ("MUST NOT", "MUST"), ("NEVER", "DO THIS")],
)
def test_a_list_under_what_is_to_be_done_is_not_under_what_must_not_before_it(never: str, always: str) -> None:
    prompt = f'{never}\n- Use slang\n- Argue\n\n{always}\n- End with "Bye!"\n- Use headings\n'
    assert not {"pattern.forbid"} & set(asked(prompt))


@pytest.mark.parametrize("rule", ["links as <url|text>", "links in Markdown", "links in full"])
def test_what_says_how_a_thing_is_to_be_is_not_denied_with_what_stands_before_it(rule: str) -> None:
    (headings,) = (one.check for one in read_prompt(f"No headings, {rule}.").proposals if one.doubt is None)
    assert headings == HEADINGS


@pytest.mark.parametrize(
    "heading",
    ["How you work", "How you answer", "How we talk", "The way you write", "These rules hold for all answers"],
)
def test_a_heading_that_says_that_rules_hold_of_all_answers_is_no_part(heading: str) -> None:
    assert sure(f"You are Bo.\n\n## {heading}\n- No headings.") == [HEADINGS]


@pytest.mark.parametrize("above", ["## Never", "## Don'ts", "Avoid:", "MUST NOT"])
def test_what_keeps_an_answer_short_is_not_turned_by_what_forbids_above_it(above: str) -> None:
    (short,) = read_prompt(f"You are Bo.\n\n{above}\n- Keep it under 60 words.\n").proposals
    assert short.check == "length.number_words(at_most=59,by_spaces=true)"
    assert short.doubt is not None
    assert "which forbids it" in short.doubt


def test_a_limit_under_what_forbids_is_turned() -> None:
    assert sure("You are Bo.\n\n## Avoid\n- replies under 20 words\n") == [
        "length.number_words(at_least=20,by_spaces=true)"
    ]


@pytest.mark.parametrize(
    ("prompt", "checks"),
    [
        ('Append "No advice" to every answer.', [r"pattern.require(regex='(?i)No\\s+advice[^\\pL\\pN?]*\\z')"]),
        ('Append the line "No advice".', [r"pattern.require(regex='(?i)No\\s+advice[^\\pL\\pN?]*\\z')"]),
        ("At no point exceed 120 words.", ["length.number_words(at_most=120,by_spaces=true)"]),
        ("At no time should you use headings.", [HEADINGS]),
        ("Cite inline with [n].", ["citation.format(style=numeric)"]),
        ("Never, ever use more than 60 words.", ["length.number_words(at_most=60,by_spaces=true)"]),
    ],
)
def test_usual_wording_is_read(prompt: str, checks: list[str]) -> None:
    assert sure(f"You are Bo. {prompt}") == checks


@pytest.mark.parametrize(
    "prompt",
    [
        "You create multiple-choice quizzes for teachers. The answers must be at most 10 words.",
        "You build pub quizzes. Each round has ten questions with answers. No answer may contain a comma.",
        "You host a trivia night. Answers must be at most 3 words.",
        "You write training data for a chatbot. Responses must be at most 60 words. Up to 5 sentences.",
        "You write mock chats between customers and a bot. Replies have at most 30 words.",
        "You design intake forms for clinics. Answers must be in English.",
        "You ask patients ten questions. Store their answers. Answers must be at most 50 words.",
        "You coach our support agents. Replies must be under 80 words.",
        "An agent pastes a reply. You say what to mend. Replies contain no exclamation marks.",
        "You proofread abstracts. Answers must be at most 100 words.",
    ],
)
def test_a_rule_for_answers_that_others_give_is_doubtful(prompt: str) -> None:
    reasons = doubts(prompt)
    assert reasons
    assert all(" about " in (reason or "") for reason in reasons)


@pytest.mark.parametrize(
    "prompt",
    [
        "You host a trivia night. Never use more than 80 words.",
        "You create quizzes. Your replies must be at most 80 words.",
        "You create quizzes. Your own messages must be at most 80 words.",
        "You conduct a mock interview. Use at most 80 words.",
        "Wait for the student's answer. Keep replies under 80 words.",
    ],
)
def test_a_rule_for_the_assistants_own_answers_is_sure_beside_others(prompt: str) -> None:
    assert doubts(prompt) == [None]


def test_what_the_assistant_does_in_some_case_is_not_what_the_prompt_is_about() -> None:
    assert doubts("You are a tutor. Use at most 80 words.\n\nWhen grading, give a score from 1 to 10.") == [None]


def test_each_answer_is_followed_by_rules_of_the_answer() -> None:
    assert doubts('Every turn ends with "Go on?" No more than 90 words.') == [None, None]
    assert doubts("- Every sentence must have a citation.\n- No more than 200 words.")[-1] is None


def test_a_prescribed_reply_after_a_condition_is_exempt() -> None:
    reading = read_prompt('If the texts don\'t contain the answer, reply "The texts do not say." and nothing else.')
    assert [one.text for one in reading.exempt] == ["The texts do not say."]


@pytest.mark.parametrize(
    "prompt",
    [
        "Default language: English.",
        "By default, answer in English.",
        "Always answer in English.\nFrench customers are answered in French.",
        "Couriers must: ring twice; answer customers in English; never use emojis.",
        "Save a memory note after each turn. Keep it under 30 words. Write it in English.",
        'A recipe has ingredients and steps. Finish with "Enjoy!".',
        "Write the answer in <answer> tags. The answer must be at most 60 words.",
        "No links.\nOrder status answers contain the tracking link.",
        "Users often send long posts: posts should be short, without emojis.",
    ],
)
def test_what_is_said_of_something_else_binds_no_answer(prompt: str) -> None:
    assert all(one.doubt is not None for one in read_prompt(prompt).proposals)


def test_the_number_of_a_section_is_no_amount() -> None:
    reading = read_prompt("§1 Never use emojis.\n§2 Keep replies under 50 words.")
    assert [one.sentences for one in reading.proposals if one.doubt is None] == [
        ("Never use emojis.",),
        ("Keep replies under 50 words.",),
    ]


def test_a_section_is_lifted_by_its_number() -> None:
    (ban, limit) = read_prompt(
        "§1 Never use emojis.\n§2 Keep replies under 50 words.\n§3 §2 does not apply to lists."
    ).proposals
    assert ban.doubt is None
    assert limit.doubt is not None
