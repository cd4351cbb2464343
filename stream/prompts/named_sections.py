"""Named sections: the check that answers have no section of a name: "Do not include a References section"."""

from collections.abc import Iterator

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.literals import spaced
from turnsignal.stream.prompts.wording import compile_pattern, negated

_NAMED = compile_pattern(
    r"\b(?:an?|the|any|no)\s+[\"“']?(?P<name>(?-i:[A-Z][\pL]+(?: (?:and|&|[A-Z][\pL]+)){0,3})"
    r"|references|sources|summary|conclusion|bibliography|introduction)[\"”']?\s+(?:section|heading|list)\b"
    r"(?:\s+at the (?:very )?(?:end|bottom|start|top|beginning)"
    r"(?: of (?:your|the|an?|any|each|every) \w+)?)?"
)


def named_sections(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the check that forbids a line which is the name of a section, as a heading is."""
    match = _NAMED.search(sentence.text)
    if match is None or not negated(sentence.masked, match.start() + 3):
        return
    name = spaced(match["name"])
    regex = rf"(?mi)^[ \t]*(?:#{{1,6}}[ \t]*)?[*_]*{name}[*_]*:?[*_]*[ \t]*$"
    yield from asked([write_name("pattern.forbid", {"regex": regex})], "sections", match.span())
