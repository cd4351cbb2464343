"""Characters: the checks of how many characters an answer has at most or at least.

They are patterns. White space around an answer does not count, an emoji counts as one or a few, and Markdown does
count. Few characters are those of a story or a code, and no length of answers.
"""

from collections.abc import Iterator, Sequence

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.wording import Amount, compile_pattern

_LEAST = 40  #: characters; fewer are those of something else
_MOST = 5_000  #: characters; a pattern for more takes too much memory
_REPEATED = 1_000  #: how often a pattern may repeat something
_LIMIT = r"(?s)\A\s*\S.{"  #: how the patterns begin
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def character_limits(amount: Amount) -> Iterator[str]:
    """Yield the names of the checks for an amount of characters; none for so few or many that it is no length."""
    bounds = [bound for bound in (amount.low, amount.high) if bound is not None]
    if not all(_LEAST <= bound <= _MOST for bound in bounds):
        return
    if amount.low is not None:
        yield write_name("pattern.require", {"regex": _longer_than(amount.low - 1)})
    if amount.high is not None:
        yield write_name("pattern.forbid", {"regex": _longer_than(amount.high)})


def is_character_limit(check: str) -> bool:
    """Return whether a check, by its name, is of an amount of characters."""
    return check.startswith(_NAMES)


def most_characters(check: str) -> int | None:
    """Return how many characters a check allows; None if it is no upper limit of them."""
    if not check.startswith(_NAMES[0]):
        return None
    return sum(int(repeat[1]) for repeat in _REPEATS.finditer(check)) + 1


def doubt_rivals(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return proposals, limits in characters doubtful where there are several: each may be of something else."""
    limits = [one for one in proposals if is_character_limit(one.check)]
    rivals = [
        next((other for other in limits if other.check != one.check and other.sentences[0] not in one.sentences), None)
        if one in limits and one.doubt is None
        else None
        for one in proposals
    ]
    return [
        one if rival is None else one._replace(doubt=f"another limit stands in “{rival.sentences[0][:_SHOWN]}”")
        for one, rival in zip(proposals, rivals, strict=True)
    ]


def _longer_than(number: int) -> str:
    """Return the pattern of a text that has more than so many characters, the last of them visible."""
    whole, rest = divmod(number - 1, _REPEATED)
    repeats = [_REPEATED] * whole + ([rest] if rest else [])
    return r"(?s)\A\s*\S" + "".join(f".{{{repeat}}}" for repeat in repeats) + r"\s*\S"


_REPEATS = compile_pattern(r"\.\{(\d+)\}")
_NAMES = tuple(write_name(f"pattern.{kind}", {"regex": _LIMIT}).removesuffix("')") for kind in ("forbid", "require"))
