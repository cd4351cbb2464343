"""Settings: instructions that no verb at their head tells: labels, schemas, orders behind a case.

"Currency: EUR", the keys of a JSON object, "If nothing fits return an empty array." They are listed, so that nobody
believes that a suite watches them.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("settings.toml").read_text(encoding="utf-8"))["patterns"])
_WORDS = 8  #: of what a label is set to, at most


def is_setting(masked: str) -> bool:
    """Return whether a sentence sets something: by a label, as a schema, or by an order behind a case."""
    if _SAYS["schema"].search(masked) is not None or _orders_behind_a_case(masked):
        return True
    match = _SAYS["label"].match(masked)
    if match is None or _SAYS["of_facts"].search(match["label"]) is not None or len(match["value"].split()) > _WORDS:
        return False
    return _SAYS["finite"].search(match["value"]) is None


def _orders_behind_a_case(masked: str) -> bool:
    match = _SAYS["behind_a_case"].match(masked)
    return match is not None and _SAYS["of_the_case"].fullmatch(match["before"]) is None
