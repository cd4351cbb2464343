"""Platform checks: formatting that the place where the answer is read can show.

Hoffer: "Slack responses skip markdown headers and complex formatting. Web responses use full markdown."
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from markdown_it.token import Token

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult, Result
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markdown import CUT, Markdown
from turnsignal.stream.text.markup import code_spans, covers

_INDENTED = frozenset(" \t>=")  #: a line that begins so may be nested, quoted or underline a heading
_RULES = frozenset("-*_")
_TAG = re.compile(r"<!--|</?([A-Za-z][A-Za-z0-9]{0,15})\b")
#: HTML's own elements; `<repo>` or `<your-name>` is a placeholder, not HTML
_HTML = """
a abbr b blockquote body br button center cite code col dd del details div dl dt em font footer form h1 h2 h3 h4 h5 h6
head header hr html i iframe img input ins kbd label li link main mark meta nav ol option p pre q s samp script section
select small span strong style sub summary sup svg table tbody td textarea tfoot th thead title tr u ul var video
"""
_ELEMENTS = frozenset(_HTML.split())
_BOLD = re.compile(r"\*\*(?=[^\s*])[^*\n]{1,200}+\*\*")  #: what CommonMark does not close: `**重要：**これ`
#: Slack's own links and mentions
_SLACK = re.compile(
    r"<(?:(?:https?://|mailto:)[^\s<>|]{1,2000}+\|[^<>\n]{1,300}+"
    r"|(?:[@#][CGUW](?=[A-Z]{0,20}+\d)[A-Z0-9]{2,20}+|!subteam\^[A-Z0-9]{1,20}+)(?:\|[^<>\n]{0,80}+)?"
    r"|!(?:here|channel|everyone))>"
)
_SIMPLE = {"heading_open": "a heading", "table_open": "a table", "hr": "a rule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack(InstructionCheck):
    """On Slack: no headings, tables, images, raw HTML, rules, nested lists, **bold** or [text](url).

    Source: Hoffer, and Slack's formatting reference (mrkdwn), whose own markup passes: *bold*, _italic_, ~strike~,
    `code`, > quotes, bullets, <url|text>, <@user>, <!here>, :emoji:. Not applicable to responses of another or unknown
    platform; error where the text is too intricate to be parsed whole, and what is gives no reason to fail.
    """

    family: ClassVar[str] = "platform.slack"
    example: ClassVar[str] = "platform.slack"
    breaks: ClassVar[str] = "# Title"
    version: ClassVar[int] = 3  # since bold and links of Markdown fail

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first block that Slack cannot show."""
        platform = response.platform
        if platform is None or (platform != "slack" and platform.casefold() != "slack"):
            return NOT_APPLICABLE
        return PASSED if _is_plain(response.text) else _inspect(response.text, response.markdown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Web(InstructionCheck):
    """On the web, full Markdown is allowed; Slack's links and mentions (<url|text>, <@user>, <!here>) are shown raw.

    Source: Hoffer, "Web responses use full markdown". Not applicable to responses of another or unknown
    platform, and where there is neither that nor a heading, bold, a link, a table or a code block: plain text keeps
    and breaks nothing.
    """

    family: ClassVar[str] = "platform.web"
    example: ClassVar[str] = "platform.web"
    breaks: ClassVar[str] = "<!channel> Done."
    version: ClassVar[int] = 3  # since it applies only where there is markup

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first piece of Slack's markup outside code."""
        platform = response.platform
        if platform is None or (platform != "web" and platform.casefold() != "web"):
            return NOT_APPLICABLE
        text = response.text
        if "<" in text:
            hidden = code_spans(text)
            for markup in _SLACK.finditer(text):
                if not covers(hidden, markup.start()):
                    return failed(f"Slack's markup, which the web shows raw: {shown(markup[0])}", *markup.span())
        return PASSED if _is_marked_up(text) else NOT_APPLICABLE


def _is_marked_up(text: str) -> bool:
    """Tell at a glance whether there is a link, bold, a code block, a table or a heading."""
    return (
        ("*" in text and "**" in text)
        or ("`" in text and "```" in text)
        or "](" in text
        or ("|" in text and ("|-" in text or "| -" in text or "|:" in text or "| :" in text))
        or ("#" in text and (text[0] == "#" or "\n#" in text))
    )


def _is_plain(text: str) -> bool:
    """Tell at a glance that there is nothing that Slack does not show, so that parsing is saved."""
    if "#" in text or "|" in text or "<" in text or "**" in text or "](" in text or "\r" in text:
        return False
    for line in text.split("\n"):
        if line and (line[0] in _INDENTED or (line[0] in _RULES and not line.strip("-*_ \t"))):
            return False
    return True


def _inspect(text: str, markdown: Markdown) -> CheckResult:
    """Walk the blocks in order; each list item remembers its line, so that a list that begins lower is nested."""
    items: list[int] = []
    line = 0
    for token in markdown.tokens:
        line = token.map[0] if token.map else line
        what = _SIMPLE.get(token.type)
        if token.type == "list_item_open":
            items.append(line)
        elif token.type == "list_item_close":
            items.pop()
        elif token.type in ("bullet_list_open", "ordered_list_open") and items and line > items[-1]:
            what = "a nested list"
        elif token.type == "html_block" and _is_html(token.content):
            what = "raw HTML"
        elif token.type == "inline":
            what = _inline(token)
        if what is not None:
            return _failure(text, what, line)
    return CheckResult(Result.ERROR, CUT) if markdown.cut else PASSED


def _inline(token: Token) -> str | None:
    linked = "](" in token.content  # the parser makes links of `[1]` too, where its definition is shown as it is
    before = ""
    for child in token.children or ():
        if child.type == "image":
            return "an image"
        if child.type == "html_inline" and _is_html(child.content):
            return "raw HTML"
        if child.type == "link_open" and linked and child.markup != "autolink":
            return "a Markdown link"
        if child.type == "strong_open" and child.markup == "**" and not before[-1:].isdecimal():  # 2**3 and 4**5
            return "bold in Markdown"
        if child.type == "text" and "**" in child.content and _BOLD.search(child.content):
            return "bold in Markdown"
        before = child.content
    return None


def _is_html(content: str) -> bool:
    return any(tag[1] is None or tag[1].lower() in _ELEMENTS for tag in _TAG.finditer(content))


def _failure(text: str, what: str, line: int) -> CheckResult:
    start = 0
    for _ in range(line):
        start = text.find("\n", start) + 1
        if start == 0:  # lines that end in a bare carriage return
            return failed(f"{what}, which Slack does not show")
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return failed(f"{what}, which Slack does not show: {shown(text[start:end].strip())}", start, end)
