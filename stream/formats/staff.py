"""Staff: which of several words for users stands for people who answer them, as the software of help desks has it.

    Contact    Where is my parcel?      message_type 0
    AgentBot   I hand you over.                      1
    User       Hello, this is Ann.                   1
    Contact    Thanks.                               0

A column that says which way messages went tells it, or who opens conversations: Contact opens each, User none, and
Contact goes on behind User. A visitor who signs in is a user from then on, too, but the assistant goes on behind him.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from turnsignal.stream.text.toml import write_value as toml

_MOST_WAYS = 6  #: values of a column that says which way messages went


class SpokenRow(NamedTuple):
    """What somebody said. ways: what each column says of it that may tell which way it went."""

    conversation: str
    word: str
    ways: Mapping[str, str]


def staff_among(rows: Sequence[SpokenRow], roles: Mapping[str, str | None]) -> dict[str, str]:
    """Return the words for users that are staff, each with why. rows: in order; roles: what words mean alone."""
    users = [word for word, role in roles.items() if role == "user"]
    if len(users) < 2:
        return {}
    conversations: dict[str, list[str]] = defaultdict(list)
    for each in rows:
        conversations[each.conversation].append(each.word)
    opened = Counter(words[0] for words in conversations.values())
    first = max(users, key=lambda word: opened[word])
    others = [word for word in users if word != first]
    for column in dict.fromkeys(column for each in rows for column in each.ways):
        way_of = _ways_of(rows, column)
        answering = {way_of.get(word) for word, role in roles.items() if role == "assistant"} - {None}
        is_way = first in way_of and way_of[first] not in answering
        staff = [word for word in others if is_way and way_of.get(word, way_of[first]) != way_of[first]]
        if staff and all(not answering or way_of[word] in answering for word in staff):
            why = f"{column} is {way_of[first]} for {toml(first)} alone"
            return dict.fromkeys(staff, f"{why}, and {way_of[staff[0]]} for {toml(staff[0])}")
    why = f"{toml(first)} opens conversations, and is who goes on behind it"
    return dict.fromkeys((word for word in others if _answers(word, list(conversations.values()), roles)), why)


def odd_among(rows: Sequence[SpokenRow], roles: Mapping[str, str | None]) -> list[str]:
    """Say where a column tells both sides apart, but has another value beside some of what a side says."""
    for column in dict.fromkeys(column for each in rows for column in each.ways):
        pairs = Counter((each.word, each.ways[column]) for each in rows if column in each.ways)
        main = {word: value for (word, value), _ in reversed(pairs.most_common())}
        sides = {role: {value for word, value in main.items() if roles.get(word) == role} for role in roles.values()}
        users, assistants = sides.get("user", set()), sides.get("assistant", set())
        odd = [(word, value) for word, value in pairs if value not in {*users, *assistants}]
        if users and assistants and not users & assistants and len({value for _, value in odd}) == 1:
            word, value = odd[0]
            doubt = (
                f"{column} is {value} for {pairs[odd[0]]:,} turns of {toml(word)}, and {main[word]} for its others: "
                "were these said to users? What is hidden from them is left out by hidden = "
                f'{{ path = {toml(column)}, {toml(value)} = "yes" }}'
            )
            return [doubt]
    return []


def _ways_of(rows: Sequence[SpokenRow], column: str) -> dict[str, str]:
    """Return word → the one value that a column has beside it; nothing where a word has several, or there are many."""
    values: dict[str, set[str]] = defaultdict(set)
    for each in rows:
        if column in each.ways:
            values[each.word].add(each.ways[column])
    ways = {word: next(iter(of)) for word, of in values.items() if len(of) == 1}
    is_one = len(ways) == len(values) and 1 < len(set(ways.values())) <= _MOST_WAYS
    return ways if is_one else {}


def _answers(word: str, conversations: Sequence[Sequence[str]], roles: Mapping[str, str | None]) -> bool:
    """Say whether who goes by a word opens no conversation, and those who go on behind him are users."""
    own = [words for words in conversations if word in words]
    if any(roles.get(words[0]) != "user" or words[0] == word for words in own):
        return False
    behind = Counter(roles.get(after) for words in own for one, after in pairwise(words) if one == word != after)
    before = Counter(roles.get(one) for words in own for one, after in pairwise(words) if one != word == after)
    telling = behind or before
    return telling["user"] > telling["assistant"]
