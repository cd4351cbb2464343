"""Client labels: what a client writes around each message is told from what users say."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.text.client_labels import without_labels

RULES = FollowUpRules()


@pytest.mark.parametrize(
    ("text", "other", "own"),
    [
        ("User: thanks!", "User: How do I pay?", "thanks!"),
        ("[10:22] thanks", "[10:20] how do I pay?", "thanks"),
        ("[Web] [app 4.2 | job 8] and Rome?", "[Web] [app 4.2 | job 7] how?", "and Rome?"),
        ("Page: /a/13\nthanks", "Page: /a/12\nhow do I pay?", "thanks"),
        ("Plan: pro plus\nthanks", "Plan: pro plus\nhow do I pay?", "thanks"),
        ("<context>device=1</context>\nthanks", "<context>device=2</context>\nhow?", "thanks"),
        ("User: one\nUser: two", "User: how?", "one\n two"),
        ("User: it is\nstill red", "User: how do I\nreset it?", "it is\nstill red"),
        ("📎 IMG_1234.jpg\nthanks", "how do I pay?", "thanks"),
        ("thanks\n\nAnswer in their language.", "how?\n\nAnswer in their language.", "thanks"),
        ("[Web] [my page](http://a.test) is gone", "[Web] how?", "[my page](http://a.test) is gone"),
        ("## Message 3\n\nthanks", "## Message 1\n\nhow do I pay?", "thanks"),
        ("**Turn 3**\nthanks", "**Turn 1**\nhow do I pay?", "thanks"),
        ("3. thanks", "1. how do I pay?", "thanks"),
        ("#3 thanks", "#1 how do I pay?", "thanks"),
        ("Case 48213 | thanks", "Case 48213 | how do I pay?", "thanks"),
        ("Question 3: thanks", "Question 1: how do I pay?", "thanks"),
        ("### User (message 3)\nthanks", "### User (message 1)\nhow do I pay?", "thanks"),
        ("12.11.2026, 10:42: thanks", "12.11.2026, 10:40: how do I pay?", "thanks"),
        ("10:42 thanks", "10:40 how do I pay?", "thanks"),
        ("thanks\n[no attachments]", "how do I pay?\n[no attachments]", "thanks"),
        ("thanks\n\n(rated: none)", "how do I pay?\n\n(rated: none)", "thanks"),
        ("thanks\n--\nI agree to the terms.", "how?\n--\nI agree to the terms.", "thanks"),
        ("It is: red\nSolved? No\nUrgent? No", "It is: how?\nSolved? No\nUrgent? No", "red"),
        ("thanks\nBrowser: Firefox 92", "how?\nBrowser: Firefox 91", "thanks"),
        (
            "<query>thanks</query>\n<context>page=1</context>",
            "<query>how?</query>\n<context>page=2</context>",
            "thanks",
        ),
        (
            "<page>1</page><user_message>thanks</user_message>",
            "<page>1</page><user_message>how?</user_message>",
            "thanks",
        ),
        ("<message>thanks</message>", "<message>how?</message>", "thanks"),
        # what only one of both has, or users write themselves
        ("Note: it is red", "How do I pay?", "Note: it is red"),
        ("[1] is wrong", "How do I pay?", "[1] is wrong"),
        ("Error: 503", "Error: 404", "Error: 503"),
        ("https://a.test: gone", "https://a.test: what is it?", "https://a.test: gone"),
        ("thanks\n\nBye!", "how?\n\nBye!", "thanks\n\nBye!"),
        ("User: ", "User: ", "User: "),
        ("I did that\nit does not work", "How do I reset it?\nit does not work", "I did that\nit does not work"),
        ("<b>thanks</b>", "<b>how?</b>", "<b>thanks</b>"),
        ("3 tickets for Rome", "2 tickets for Rome", "3 tickets for Rome"),
        ("12 euros?", "10 euros for what?", "12 euros?"),
        ("12.50 is wrong", "12.50 for what?", "12.50 is wrong"),
        ("Windows 11 then?", "Windows 10 or newer?", "Windows 11 then?"),
        ("not that (the red one)", "which one (the red one or the blue one)?", "not that (the red one)"),
        ("", "", ""),
    ],
)
def test_what_both_messages_have_around_them_is_the_clients(text: str, other: str, own: str) -> None:
    assert without_labels(text, other)[0] == own
    assert without_labels(other, text)[1] == own


@pytest.mark.parametrize(
    "label",
    [
        "User: ",
        "Anna: ",
        "[Web] ",
        "## Message 2\n\n",
        "2. ",
        "Case 12 | ",
        "[10:22] ",
        "Page: /a/12\n",
        "<context>a=1</context>\n",
    ],
)
@pytest.mark.parametrize("message", ["thanks!", "and for two?", "that's wrong", "How do I reset the pump?", "no"])
def test_a_follow_up_is_read_the_same_behind_a_label(label: str, message: str) -> None:
    asked, answer = "How do I reset the pump?", "Hold the red key for five seconds [doc_1]."
    plain = RULES.read(Exchange(asked, answer, message))
    assert RULES.read(Exchange(label + asked, answer, label + message)) == plain
