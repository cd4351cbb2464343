"""How simulated assistants answer: sentences with citations right behind them, laid out for the platform.

Web gets Markdown (lists, sometimes tables), Slack its own markup, everything else plain text. Format faults are put in
on purpose, one at a time and named, so that the side truth can say which check should have failed.
"""

from collections.abc import Sequence
from random import Random

OPENINGS = (
    "Here is how that works.",
    "Good question.",
    "Happy to help.",
    "This is what our help centre says.",
    "In short, yes.",
)
CLOSINGS = (
    "Let me know if you need anything else.",
    "Does that answer your question?",
    "Tell me if something looks different on your screen.",
)
#: Said in place of an answer; without a full stop, like the facts.
VAGUE = (
    "That depends on your plan and your settings",
    "There are several possibilities here, and which one is right depends on your situation",
    "Please have a look at the help centre, most of it is explained there",
)
#: Said in place of an answer by a version that is broken, by the kind of its regression.
BROKEN = {
    "answers_errors": "Internal error 500.",
    "answers_empty": "",
    "refuses": "I'm sorry, but I can't help with that.",
}
REPLIES = ("You're welcome!", "Glad that I could help.", "Any time. Have a nice day!")

#: Format faults that any answer with citations can have; each breaks the check of nearly the same name.
FAULTS = ("citation_malformed", "citation_dangling", "citation_run", "citation_opens_line", "source_url")
#: Those that only one platform has.
FAULTS_ON: dict[str, tuple[str, ...]] = {"web": ("break_in_cell",), "slack": ("heading_on_slack",)}

Unit = tuple[str, str]  #: one supported sentence without its full stop, and the markers that follow it


def compose(
    random: Random,
    units: Sequence[Unit],
    platform: str,
    title: str,
    fault: str | None,
    cited: str,
) -> str:
    """Lay out an answer.

    units: what it says, at least one; title: the topic; fault: one of FAULTS or FAULTS_ON, or None (`citation_run` is
    already in the units' markers); cited: the id of a document that the units cite, for the faults that name one.
    """
    lines = [random.choice(OPENINGS)] if random.random() < 0.4 else []
    lines.append(_layout(random, units, platform, title, fault))
    if fault == "heading_on_slack":
        lines.insert(0, f"# {title.capitalize()}")
    if fault in _TRAILERS:
        lines.append(_TRAILERS[fault].format(cited))
    if random.random() < 0.3:
        lines.append(random.choice(CLOSINGS))
    return "\n\n".join(lines)


_TRAILERS = {
    "citation_malformed": "The same is described once more in the handbook ({}).",
    "citation_dangling": "This has changed recently [doc_9999999].",
    "citation_opens_line": "[{}] says so too.",
    "source_url": "Read on at https://help.example.com/start for the rest.",
}


def _layout(random: Random, units: Sequence[Unit], platform: str, title: str, fault: str | None) -> str:
    sentences = [f"{text} {markers}".rstrip() for text, markers in units]
    if fault == "break_in_cell":
        return _table([f"{sentences[0]}<br>see below", *sentences[1:]])
    form = random.random()
    if len(units) > 1 and platform == "web":
        if form < 0.12:
            return _table(sentences)
        if form < 0.3:
            return "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1))
        if form < 0.45:
            return f"**{title.capitalize()}**\n\n" + "\n".join(f"- {sentence}" for sentence in sentences)
    if len(units) > 1 and platform == "slack" and form < 0.45:
        return f"*{title.capitalize()}*\n" + "\n".join(f"• {sentence}" for sentence in sentences)
    return ". ".join(sentences) + "."


def _table(sentences: Sequence[str]) -> str:
    rows = "\n".join(f"| {number} | {sentence} |" for number, sentence in enumerate(sentences, start=1))
    return f"| Step | What to know |\n| --- | --- |\n{rows}"
