"""Placeholders: holes in a text that a prompt wants said, which every answer fills in its own way.

"Hi {{name}}", "Dear NAME,", "Order #ORDER_ID", "Confidence: X%", and alternatives, scales and samples: "Confidence:
high/medium/low", "Rating: 1-5", "Ticket #0000". Where a word in capitals may be a name or a hole, it is taken for a
hole: a check for the word itself would fail in every answer.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.instructions import SAYS
from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("placeholders.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"])
_LEAST = 3  #: words beside its holes that tell a text from others
_THEMSELVES = frozenset(_BUILT["themselves"].split())


def placeholder_in(quote: str, *, is_choice: bool = False) -> str:
    """Return the placeholder that a quoted text holds, as it is written; "" if it holds none.

    is_choice: whether it is one of several that a prompt lists, of which a word in capitals is what sets it apart.
    """
    for pattern in (SAYS["placeholder"], *(_SAYS[key] for key in ("snake", "role", "somebody", "sample"))):
        match = pattern.search(_SAYS["lasting"].sub("", quote))
        if match is not None:
            return str(match[0]).strip(' :"“”')
    either = _SAYS["either"].search(_SAYS["both"].sub("", quote))
    if either is not None:
        return str(either[0]).strip(' "“”(),.!?:')
    if is_choice or _SAYS["small"].search(quote) is None:
        return ""
    start = len(label[0]) if (label := _SAYS["label"].match(quote)) is not None else 0
    words = (word[0] for word in _SAYS["capitals"].finditer(quote[start:]))
    return next((word for word in words if word not in _THEMSELVES), "")


def with_holes(text: str) -> str | None:
    """Return a text that is to be said with its holes as `{{…}}`, as a suite's exemptions have them; as it is without.

    None if too few of its words are fixed. A text that is one token, `[silence]`, and JSON and HTML have none.

    >>> with_holes("I can only help with <product>.")
    'I can only help with {{product}}.'
    """
    if _SAYS["no_hole"].search(text) is not None or _SAYS["hole"].search(text) is None:
        return text
    held = _SAYS["hole"].sub(lambda hole: f"{{{{{hole[0].strip('{}[]<>%$ ')}}}}}", text)
    fixed = len(_SAYS["fixed_word"].findall(_SAYS["hole"].sub(" ", text)))
    return held if fixed >= _LEAST else None
