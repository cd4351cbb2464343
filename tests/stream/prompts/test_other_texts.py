"""What is said of a text that is no answer, in the sentence after the one that names it, binds no answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the support assistant of a web shop.\n\n"
FORMS = ["{}", "- Be friendly.\n- {}\n- Stay on topic."]


def active(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "rule",
    [
        "You can create tickets. Keep them under 50 words.",
        "You can leave a note on the account. Keep it under 20 words.",
        "You may also post status updates. Write them in lowercase.",
        "You can send SMS messages. They must not exceed 160 characters.",
        "You write commit messages, too. They should be lowercase and under 50 characters.",
        "Your tool `notify` sends push messages. Keep those under 100 characters and don't use emojis in them.",
        "Refund memos are stored in the CRM. Limit these to 60 words and use no exclamation marks.",
        "Handover notes are read by agents. Keep them under 80 words. Start with the ticket number. No emojis.",
        'Escalation notes go to a human. Keep them under 40 words and start with "ESC".',
    ],
)
def test_what_is_said_of_another_text_binds_no_answer(form: str, rule: str) -> None:
    assert active(ROLE + form.format(rule)) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "rule",
    [
        "Customers like short answers. Keep them under 50 words.",
        "Your messages are shown in a narrow window. Keep them under 300 characters.",
        "Your answers are shown on a phone, so keep them below 300 words.",
        "You can create tickets. Always answer in English.",
        "You can create tickets. Never use emojis.",
        "Never give a score out of 100. Never use emojis.",
        "Write clear replies. Keep them under 50 words.",
        "Answer questions about orders. Keep answers under 50 words.",
    ],
)
def test_what_is_said_of_answers_does(form: str, rule: str) -> None:
    assert len(active(ROLE + form.format(rule))) == 1


@pytest.mark.parametrize("start", ["You write tweets.", "You are a copywriter. Write product descriptions."])
def test_what_a_prompt_begins_with_is_the_answer(start: str) -> None:
    assert active(f"{start} Keep them under 60 words.") == ["length.number_words(at_most=59,by_spaces=true)"]


def test_a_text_is_told_of_until_a_rule_names_all_answers() -> None:
    prompt = "You can create tickets. Keep them short. No emojis. Never use tables. No links."
    sentences = [one.sentences[0] for one in read_prompt(ROLE + prompt).proposals if one.doubt is None]
    assert sentences == ["Never use tables.", "No links."]


STORIES = "You tell bedtime stories to children.\n\n"


def test_what_every_story_is_like_binds_no_other_answer() -> None:
    rules = 'Every story:\n- begins with "Once"\n- has at most 90 words\n- uses no emojis\n'
    chat = "If the child only wants to chat, answer in one sentence."
    plain = [one.check for one in read_prompt(f"{STORIES}{rules}").proposals if one.doubt is None]
    beside_chat = [one.check for one in read_prompt(f"{STORIES}{rules}\n{chat}").proposals if one.doubt is None]
    assert len(plain) == 3
    assert beside_chat == []


@pytest.mark.parametrize("role", ["You tell bedtime stories.", "You write poems.", "You summarise articles."])
@pytest.mark.parametrize(
    "chat",
    [
        "When someone just chats, answer in two sentences.",
        "If a teacher asks how the app works, explain it step by step.",
        "## Parents\nAnswer in two sentences.",
    ],
)
def test_what_an_assistant_writes_is_not_the_answer_where_some_questions_are_answered(role: str, chat: str) -> None:
    text = {"stories.": "Stories", "poems.": "Poems", "articles.": "Summaries"}[role.split()[-1]]
    rules = f'{text} have at most 90 words. {text} have no emojis. {text} never use the word "very".'
    assert len(active(f"{role}\n\n{rules}")) > 1
    assert active(f"{role}\n\n## {text}\n{rules}\n\n{chat}") == []


@pytest.mark.parametrize("rule", ["If the article is in German, answer in German.", 'If it is empty, reply "No text."'])
def test_a_language_or_fixed_words_for_some_make_no_answer_of_another_kind(rule: str) -> None:
    assert len(active(f"You summarise articles.\n\nSummaries have no emojis.\n\n{rule}")) == 1


def test_what_the_reply_is_free_of_binds_no_text_beside_it() -> None:
    rules = "The reply:\n- uses no emojis\n- has no tables\n"
    prompt = f"You help reps answer e-mails.\n\n{rules}\nBefore the reply, write one line for the rep."
    assert [one.check for one in read_prompt(prompt).proposals if one.doubt is None] == []
