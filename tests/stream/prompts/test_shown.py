"""Shown: a ban of what the prompt itself shows as to be said is doubtful."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"
SHOWN = [
    ("No all caps.", "The states are RECEIVED, WAITING FOR PARTS and READY."),
    ("Never use parentheses.", "Formulas are separated by semicolons, e.g. =SUM(A1;B1)."),
    ("No exclamation marks.", 'Open with "Hello and welcome!".'),
    ("No hashtags.", "Point people to the channel #incidents."),
    ("Do not use HTML.", "Break lines with <br> in cells."),
    ("Use Slack mrkdwn, not Markdown.", "Be brief."),
    ("No Markdown.", "Use WhatsApp formatting."),
]
NOT_SHOWN = [
    ("No all caps.", "NEVER EVER DO THAT to a customer."),
    ("No hashtags.", "Refer to pull requests as #123."),
    ("Do not use HTML.", "Links look like <https://url|text>."),
    ("Never use parentheses.", "Prefer simple food (e.g. soups)."),
    ("No exclamation marks.", 'Never write "Great!".'),
]


def doubts(prompt: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(prompt).proposals if one.check.startswith("pattern.forbid")]


@pytest.mark.parametrize(("ban", "other"), SHOWN)
@pytest.mark.parametrize("is_before", [False, True])
def test_a_ban_of_what_another_sentence_shows_is_doubtful(ban: str, other: str, is_before: bool) -> None:
    lines = (other, ban) if is_before else (ban, other)
    (doubt,) = doubts(ROLE + "".join(f"- {line}\n" for line in lines))
    assert doubt is not None


@pytest.mark.parametrize(("ban", "other"), NOT_SHOWN)
def test_a_ban_of_what_is_not_shown_holds(ban: str, other: str) -> None:
    assert doubts(f"{ROLE}- {ban}\n- {other}\n") in ([None], [None, None])


@pytest.mark.parametrize(
    ("rule", "is_doubtful"),
    [
        ('Greet with "Hello!" and avoid exclamation marks.', True),
        ('Avoid exclamation marks, but sign with "Yours, Bo!"', True),
        ('Never use exclamation marks ("Great!").', False),
        ("Avoid exclamation marks.", False),
    ],
)
def test_a_ban_of_what_its_own_sentence_wants_said_is_doubtful(rule: str, is_doubtful: bool) -> None:
    banning = [one for one in read_prompt(f"{ROLE}- {rule}").proposals if "regex='!" in one.check]
    assert [one.doubt is not None for one in banning] == [is_doubtful]


@pytest.mark.parametrize(
    ("ban", "passing", "failing"),
    [
        ("No hashtags.", "Your ticket #48213 is open.", "So good #blessed"),
        ("No hashtags.", "See issue #7, please.", "#sale today"),
        ("Do not use HTML.", "Ask <@U0123> or <help@shop.example>.", "This is <b>bold</b>."),
        ("Do not use HTML.", "<https://dash.example/1|Sales>", "One<br>two"),
        ('Never write "*innen" or ":innen".', "Der Aufzug ist innen.", "Alle Mieter:innen kommen."),
        ('Never write "The End".', "In the end the whale wins.", "So be it. The End"),
    ],
)
def test_a_ban_finds_what_is_meant_and_no_more(ban: str, passing: str, failing: str) -> None:
    (proposal,) = read_prompt(f"{ROLE}- {ban}").proposals
    check = parse_check(proposal.check)
    reader = citation_reader()
    results = [str(check.check(Response(text, [], reader)).result) for text in (passing, failing)]
    assert proposal.doubt is None
    assert results[0] != results[1]
    assert "fail" in results[1].lower()
