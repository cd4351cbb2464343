"""Bounds: which upper bounds let nothing off what another of the same kind bounds."""

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.wording import amounts


def lets_nothing_off(check: str, masked: str) -> bool:
    """Return whether a sentence names nothing but tighter upper bounds of what a check bounds.

    "Maximum length: 300 words" stands whatever is to be shorter than 80.
    """
    name = parse_name(check)
    if name.family != "length.number_words" or "at_least" in name.params or "at_most" not in name.params:
        return False
    limits = amounts(masked)
    most = float(name.params["at_most"])
    return bool(limits) and all(
        one.unit == "words" and one.low is None and one.high is not None and one.high <= most for one in limits
    )


def is_within(check: str, other: str) -> bool:
    """Return whether what keeps one upper bound keeps another, so that the first lets nothing off."""
    own, wider = parse_name(check).params, parse_name(other).params
    if "at_most" not in own or "at_most" not in wider or "at_least" in wider:
        return False
    return float(own["at_most"]) <= float(wider["at_most"])


def is_least(check: str) -> bool:
    """Return whether a check, by its name, is a lower bound alone, which the whole keeps if a part of it does."""
    name = parse_name(check)
    return not check.startswith("pattern.") and "at_least" in name.params and "at_most" not in name.params


def is_length(check: str) -> bool:
    """Return whether a check says how long something is."""
    return check.startswith("length.") or is_character_limit(check)
