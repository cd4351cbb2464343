"""Hashtags: a number of hashtags as a check that counts them, and not every `#`: a heading begins with one, too.

IFEval counts the letter `#`. A prompt that names the sign gets IFEval's check, and one that names hashtags a pattern.
"""

from collections.abc import Iterable, Iterator

from turnsignal.stream.names import parse_name, write_name
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.wording import compile_pattern

_FAMILY = "keywords.letter_frequency"
_NAMED = compile_pattern(r"\bhash ?tags?\b")
_HASHTAG = r"(?:^|[^\pL\pN/&#])#(?:[\pN_]*\pL[\pL\pN_]*\pL|[\pL_]).*?"
_MOST = 50  #: hashtags that a pattern counts; its size grows with them


def any_hashtags(proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yield proposals, with patterns for numbers of hashtags."""
    for one in proposals:
        params = parse_name(one.check).params if one.check.startswith(_FAMILY) else {}
        if params.get("letter") == "#" and any(_NAMED.search(sentence) for sentence in one.sentences):
            yield from (one._replace(check=check) for check in _counting(one.check))
        else:
            yield one


def _counting(check: str) -> Iterator[str]:
    """Yield the patterns for at least and at most so many hashtags."""
    bounds = parse_name(check).params
    least, most = int(bounds.get("at_least", 0)), int(bounds.get("at_most", 0))
    if max(least, most) >= _MOST:
        yield check
        return
    if least:
        yield _pattern("require", least)
    if "at_most" in bounds:
        yield _pattern("forbid", most + 1)


def _pattern(kind: str, number: int) -> str:
    return write_name(f"pattern.{kind}", {"regex": f"(?s)(?:{_HASHTAG}){{{number}}}", "skip_code": True})
