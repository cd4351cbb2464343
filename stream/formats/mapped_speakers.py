"""Mapped speakers: who speaks in a record by the words of a mapping, which of these it names, and what is doubtful."""

from collections.abc import Sequence
from typing import Any

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.hints import speaker_of
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.paths import OTHERS, Field, path_of, value_of
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.text.toml import write_value as toml

_SPOKE, _NAMED, _BY_ITSELF = "turns of the ", " by the mapping: ", " by itself: "  #: parts of what counts who spoke
_SHOWN = 40  #: characters of a word


def role_at(field: Field, role: Any, where: Sequence[Record], assumed: Assumed) -> str:
    """Return the role that a record's word means, and count the word; raises Refused for one that means none."""
    known = role_of(role)
    if known is None:
        raise _unknown_role(field, role)
    spoke = _word(field, value_of(path_of(field), where))
    assumed[f"{_SPOKE}{known}{_NAMED if _names(field, spoke) else _BY_ITSELF}{spoke[:_SHOWN]}"] += 1
    return known


def _word(field: Field, spoke: object) -> str:
    """Return the word of the log for who speaks, or what stands for all that a mapping does not name."""
    is_other = isinstance(field, dict) and OTHERS in field and str(spoke) not in field
    return OTHERS if is_other else str(spoke)


def _names(field: Field, word: str) -> bool:
    """Say whether a mapping gives a word of the log its meaning, which has one by itself otherwise."""
    return isinstance(field, dict) and ("value" in field or word in field)


def doubt_speakers(assumed: Assumed) -> list[str]:
    """Say where words that a mapping does not name have the same meaning, and take away who spoke from the counts.

    Users that it does not name beside those that it names may be staff: they answer.
    """
    spoke = [what for what in list(assumed) if what.startswith(_SPOKE)]
    counted = {what.removeprefix(_SPOKE): assumed.pop(what) for what in spoke}
    doubts = []
    for role in ("user", "assistant"):
        by_itself = [what.removeprefix(role + _BY_ITSELF) for what in counted if what.startswith(role + _BY_ITSELF)]
        named = [what.removeprefix(role + _NAMED) for what in counted if what.startswith(role + _NAMED)]
        words = {word: counted[role + _BY_ITSELF + word] for word in by_itself}
        beside = sorted({*by_itself, *(named if role == "user" else ())})
        if words and len({word.lower() for word in beside}) > 1:
            rarest = min(words, key=words.__getitem__)
            doubts.append(
                f"{' and '.join(beside)} are both read as the {role}: where {rarest} is staff, who answers, a mapping "
                f'says so, as in role = {{ path = "…", {toml(rarest)} = "assistant" }}, or "system", to leave them out'
            )
    return doubts


def _unknown_role(field: Field, role: object) -> Refused:
    """Refuse a role that is none of ours, and say how the mapping gives it a meaning."""
    word = str(role)[:_SHOWN]
    quoted = word if word.isalnum() and word.isascii() else f'"{word}"'
    detail = f"expected a role at {path_of(field)} that is known, got one that is not"
    likely = speaker_of(word) or "user"
    way_out = f'{word!r}; if it is the {likely}: role = {{ path = "{path_of(field)}", {quoted} = "{likely}" }}'
    way_out += f'; {quoted} = "system" for people who took over' if likely == "assistant" else ""
    return Refused(Reason.UNKNOWN_ROLE, detail, actual=way_out)
