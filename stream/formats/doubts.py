"""Doubts: what speaks against a mapping, by the conversations that it makes of the records that it was proposed for."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from turnsignal.stream.formats.followed import PARENTS
from turnsignal.stream.formats.messages import role_of, spoken_in
from turnsignal.stream.formats.protocol import Call, TurnFields
from turnsignal.stream.formats.values import first

_FEW = 4  #: turns, or twice as many exchanges, that may well be one conversation, or each one of its own
_LONG = 20  #: characters of a text that nobody says twice


def doubts_of(
    read: Sequence[Call | TurnFields], path: str | None, wheres: Sequence[Sequence[Any]], holders: int
) -> Iterator[str]:
    """Say in sentences what is unlikely of what a mapping read.

    path: of the conversation's id, None without one; wheres: the items of its lists, each with what holds it; holders:
    how many hold them, 0 for records that are no lists.
    """
    turns = [part for part in read if not isinstance(part, Call)]
    exchanges = [part for part in read if isinstance(part, Call)]
    named = Counter(str(turn["conversation_id"]) for turn in turns)
    named.update(call.conversation for call in exchanges if call.conversation is not None)
    what = "turn" if turns else "exchange"
    have_history = any(len(spoken_in(call.inputs)) > 1 for call in exchanges)
    if exchanges and not named and len(exchanges) > 1 and not have_history:
        yield f"no conversation's id was recognised: each of {len(exchanges):,} exchanges is a conversation of its own"
    elif len(named) > _FEW / 2 and max(named.values()) == 1:
        why = "is that the id of a turn?" if turns else "is that right, or do users ask again?"
        yield f"each of {len(named):,} conversations has one {what} by {path}: {why}"
    elif len(named) == 1 and len(read) > _FEW and holders != 1:
        yield f"all {len(read):,} {what}s are one conversation by {path}: is that its id?"
    roles = {role_of(turn["role"]) for turn in turns}
    missing = [role for role in ("user", "assistant") if role not in roles]
    if len(turns) > 1 and missing:
        yield f"nobody is the {' or the '.join(missing)} in {len(turns):,} turns: what is it that they say, and who?"
    if holders and (repeated := _repeated(turns)):
        yield f"{repeated}: each call of a model repeats what was said before, which a list of turns does not leave out"
    if branches := _branches(wheres):
        yield f"{branches:,} items of a tree have several children: all branches are read, in the order of their times"


def _repeated(turns: Sequence[TurnFields]) -> str:
    """Say how much of the history lists hold again, empty where they hold turns once."""
    texts: dict[str, list[str]] = {}
    for turn in turns:
        texts.setdefault(turn["conversation_id"], []).append(turn["text"])
    begins = {turn["conversation_id"]: turn["role"] for turn in reversed(turns)}
    chains = {name: _chain(spoken) for name, spoken in texts.items()}
    whole = {chain[-1] for name, chain in chains.items() if len(chain) > 1 or role_of(begins[name]) == "user"}
    growing = sum(not whole.isdisjoint(chain[:-1]) for chain in chains.values())
    if growing * _FEW > len(texts):
        return f"{growing:,} of {len(texts):,} lists begin with all that another one holds"
    long = [(name, text) for name, spoken in texts.items() for text in spoken if len(text) >= _LONG]
    again = len(long) - len(set(long))
    return f"{again:,} turns are said twice in their conversation" if again * _FEW > len(long) else ""


def _chain(spoken: Sequence[str]) -> list[int]:
    """Return a digest of each beginning of a list, the whole of it last."""
    return list(accumulate(spoken, lambda before, text: hash((before, text)), initial=0))[1:]


def _branches(wheres: Sequence[Sequence[Any]]) -> int:
    """Count items that several others of the same list name as their parent."""
    followed: Counter[tuple[int, str]] = Counter()
    for item, *holders in wheres:
        parent = first(item, *PARENTS) if isinstance(item, Mapping) and holders else None
        if isinstance(parent, str | int):
            followed[id(holders[-1]), str(parent)] += 1
    return sum(n > 1 for n in followed.values())
