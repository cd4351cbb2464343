"""Any language: answers that are in the language of whoever asks, of which some checks read only English.

Where "Reply in the user's language" stands, a sentence may end with "。" or hold "z. B.", a question with "؟", and
what is written without spaces has few words.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import mask, negated, read_patterns

_SAYS = read_patterns(
    tomllib.loads(Path(__file__).with_name("any_language.toml").read_text(encoding="utf-8"))["patterns"]
)
_ENDING_MARK = r"pattern.require(regex='\\?"  #: how the check of a question at the end begins
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def in_any_language(proposals: Sequence[Proposal], placed: Sequence[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what reads English alone, where answers may be in any language; in linear time."""
    other = next((one.sentence for one in placed if _follows(mask(one.sentence))), None)
    if other is None or any(one.check.startswith("language.") for one in proposals):
        return list(proposals)
    doubt = f"reads English, and answers may be in another language (“{other[:_SHOWN]}”)"
    return [one._replace(doubt=doubt) if one.doubt is None and _reads_english(one.check) else one for one in proposals]


def _follows(masked: str) -> bool:
    match = _SAYS["follows"].search(masked)
    return match is not None and not negated(masked, match.end() - 1)


def _reads_english(check: str) -> bool:
    is_floor = check.startswith("length.number_words") and "at_least" in check
    return is_floor or check.startswith(("length.number_sentences", _ENDING_MARK))
