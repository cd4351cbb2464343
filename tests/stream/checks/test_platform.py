import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response


def find(name: str, text: str, platform: str | None) -> CheckResult:
    return parse_check(name).check(Response(text, [], lambda _text, _documents: Citations(), platform))


@pytest.mark.parametrize(
    "text",
    [
        "*bold* _it_ ~s~ `code` :wave: <https://a.example/x|the page> and <https://a.example>",
        "<!here> <@U123> <#C123|general> <!subteam^S1|@team> look",
        "> quoted\n> more\n\n>>> all of this",
        "• one\n• two\n    ◦ three",
        "- one\n- two\n- *three*",
        "* one\n* two",
        "1. one\n2. two\n3. three",
        "```\n# not a heading\n| a | b |\n|---|---|\n<b>x</b>\n```",
        "Clone it with `git clone <repo>` into <your-folder>",
        "#general has 3 > 2 and a -- b | c",
        "*Steps*\n- one\n\nA line [1] with a citation.",
        "Raise it with `**kwargs` and `[t](u)`.\n```\n**bold** [t](u)\n```",
        "Here 2**3 is 8 and 4**5 is 1024, 2 ** 3 too.",
        "Call `f` (see [1]).\n\n[1]: https://a.example/x",
        "See <https://a.example/x|page> and <https://a.example/x>, __init__ too",
    ],
)
def test_slack_markup_passes_on_slack(text: str) -> None:
    assert find("platform.slack", text, "slack") == CheckResult(Result.PASS)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("# Title\ntext", "a heading"),
        ("Text\n\n### Title", "a heading"),
        ("Title\n=====\ntext", "a heading"),
        ("Title\n-----\ntext", "a heading"),
        ("> # quoted heading", "a heading"),
        ("| a | b |\n|---|---|\n| c | d |", "a table"),
        ("See ![a picture](https://a.example/x.png)", "an image"),
        ("a <b>bold</b> word", "raw HTML"),
        ("<div>\ntext\n</div>", "raw HTML"),
        ("a<br>b", "raw HTML"),
        ("<!-- hidden -->", "raw HTML"),
        ("<!here> <b>look</b>", "raw HTML"),
        ("one\n\n---\n\ntwo", "a rule"),
        ("***\ntwo", "a rule"),
        ("one\n\n_ _ _\ntwo", "a rule"),
        ("- one\n  - two", "a nested list"),
        ("1. one\n   - two\n2. three", "a nested list"),
        ("> - one\n>   - two", "a nested list"),
        ("- one\n\n  text\n\n  1. two", "a nested list"),
        ("Open **Settings** first.", "bold in Markdown"),
        ("- **One:** open it", "bold in Markdown"),
        ("**重要：**これを開く", "bold in Markdown"),
        ("***Both***", "bold in Markdown"),
        ("See [the page](https://a.example/x).", "a Markdown link"),
        ("See [the page](/relative) [1].", "a Markdown link"),
    ],
)
def test_what_slack_cannot_show_fails_on_slack(text: str, what: str) -> None:
    finding = find("platform.slack", text, "slack")
    assert finding.result is Result.FAIL
    assert str(finding.explanation).startswith(f"{what}, which Slack does not show")


def test_the_failing_line_is_pointed_at() -> None:
    text = "Do this:\n\n## Steps\ntext"
    finding = find("platform.slack", text, "Slack")
    assert text[finding.start : finding.end] == "## Steps"


@pytest.mark.parametrize("text", ["Open it.", "Open it [1].", "One.\n\nTwo: 3 > 2, a < b, #4.", "- one\n- two"])
def test_plain_text_on_the_web_neither_keeps_nor_breaks_anything(text: str) -> None:
    assert find("platform.web", text, "web").result is Result.NOT_APPLICABLE


@pytest.mark.parametrize("text", ["Open **it**.", "See [it](https://a.example/x).", "```\n<!here>\n```", "a\n## b"])
def test_markdown_on_the_web_counts_as_kept(text: str) -> None:
    assert find("platform.web", text, "web").result is Result.PASS


@pytest.mark.parametrize(
    "markup", ["<https://a.example/x|the page>", "<@U024BE7LH>", "<#C123|general>", "<!here>", "<!subteam^S1|@team>"]
)
def test_slacks_markup_fails_on_the_web_and_in_code_it_does_not(markup: str) -> None:
    text = f"**Look** at {markup}, please"
    finding = find("platform.web", text, "Web")
    assert (finding.result, text[finding.start : finding.end]) == (Result.FAIL, markup)
    assert find("platform.web", f"**Look** at `{markup}`", "web").result is Result.PASS


@pytest.mark.parametrize("text", ["See <https://a.example/x>.", "a <b>c</b> <your|name> <@name>", "x <!-- y -->"])
def test_other_angle_brackets_are_not_slacks(text: str) -> None:
    assert find("platform.web", text, "web").result is not Result.FAIL


def test_full_markdown_is_allowed_on_the_web() -> None:
    assert find("platform.web", "# Title\n\n| a |\n|---|\n| b |\n\n- a\n  - b", "web").result is Result.PASS


@pytest.mark.parametrize(
    ("name", "platform"), [("platform.slack", "web"), ("platform.web", "slack"), ("platform.slack", None)]
)
def test_another_or_unknown_platform_is_not_bound(name: str, platform: str | None) -> None:
    assert find(name, "# Title", platform).result is Result.NOT_APPLICABLE
