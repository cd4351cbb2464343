"""Hashtags: a number of hashtags as a check that counts them, and not every `#`: a heading begins with one, too.

IFEval counts the letter `#`. A prompt that names the sign gets IFEval's check, and one that names hashtags a pattern.
"""

from collections.abc import Iterable, Iterator

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.repetitions import repetitions
from turnsignal.stream.prompts.wording import compile_pattern

_FAMILY = "keywords.letter_frequency"
_NAMED = compile_pattern(r"\bhash ?tags?\b")
_HASHTAG = r"(?:^|[^\pL\pN/&#])#(?:[\pN_]*\pL[\pL\pN_]*\pL|[\pL_]).*?"


def any_hashtags(proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yield proposals, with patterns for numbers of hashtags."""
    for one in proposals:
        params = parse_name(one.check).params if one.check.startswith(_FAMILY) else {}
        if params.get("letter") == "#" and any(_NAMED.search(sentence) for sentence in one.sentences):
            yield from (one._replace(check=check) for check in repetitions(one.check, _HASHTAG))
        else:
            yield one
