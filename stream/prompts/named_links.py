"""Named links: the check that answers hold a link to an address which a sentence names."""

from collections.abc import Iterator

import re2

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import SAYS, Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.wording import compile_pattern, negated

_NAMED = compile_pattern(
    r"\b(?:include|includes|contain|contains|have|has|give|gives|add|put|link|end with|close with|finish with)\b"
    r"[^.;]{0,40}?\b(?:links?|urls?|address)?\s*(?:to|of|for)?:?\s+(?:https?://)?"
    r"(?P<site>[\w-]+(?:\.[\w-]+)*\.[a-z]{2,12}(?:/[\w/.-]*[\w/])?)(?:\W|$)"
)
_LINK = compile_pattern(r"\blinks?\b|\burls?\b|\baddress\b|https?://")


def named_links(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the check that requires an address: "Every answer must include a link to acme.example"."""
    match = _NAMED.search(sentence.text)
    if match is None or _LINK.search(match[0]) is None or negated(sentence.masked, match.start()):
        return
    is_of_all = SAYS["each_answer"].search(sentence.masked) is not None or SAYS["at_an_edge"].search(sentence.masked)
    name = write_name("pattern.require", {"regex": f"(?i){re2.escape(match['site'])}"})
    doubt = None if is_of_all or "always" in sentence.masked.casefold() else "may be given where it fits"
    yield from asked([name], "links", match.span(), doubt=doubt)
