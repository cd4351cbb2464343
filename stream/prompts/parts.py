"""Parts: a part of the answer that one sentence asks for, and of which the next may say how long it is.

"Open with a hook. Use no more than two sentences." Only a length without a subject of its own, in the same paragraph,
may belong to the part.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("parts.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"], ANSWER=_BUILT["answer"], FIRST="".join(line.strip() for line in _BUILT["first"].splitlines())
)


def part_made(masked: str, product: str) -> str:
    """Return the part of an answer that a sentence asks for, as "hook"; "" if it asks for none.

    product: words for the text that the whole prompt orders, which is no part.
    """
    for key in ("edge", "ordinal", "kept", "made"):
        match = _SAYS[key].search(masked)
        if match is not None:
            words = match["part"].casefold().split()
            # "Start every reply with a summary", "Add a title to each answer"
            named = match["part"] if key in ("edge", "kept") else _SAYS["placed"].sub("", masked)
            is_whole = _SAYS["answer"].search(named) is not None or not set(words).isdisjoint(product.split())
            return "" if is_whole or "·" in masked else match["part"].casefold()
    return ""


def goes_on(masked: str) -> bool:
    """Return whether a sentence goes on about a part: "Make it punchy.", "It must not sell."."""
    return _SAYS["goes_on"].search(masked) is not None


def is_of_whole(masked: str) -> bool:
    """Return whether a sentence says that it is about the answer as a whole."""
    return _SAYS["whole"].search(masked) is not None
