"""Speakers: which path says who speaks, in words, flags or codes, and what is written of it in a proposed mapping."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.formats.columns import Columns, is_constant
from turnsignal.stream.formats.fitting import are_prose, are_said, longest_texts
from turnsignal.stream.formats.hints import are_speakers, named_speaker, paths_like, speaker_of, words_of, words_of_text
from turnsignal.stream.formats.messages import role_of, text_of
from turnsignal.stream.formats.paths import OTHERS, said_at, value_of
from turnsignal.stream.formats.staff import SpokenRow, odd_among, staff_among
from turnsignal.stream.formats.values import seconds
from turnsignal.stream.text.toml import write_value as toml
from turnsignal.stream.text.visible import one_line

_FLAGS = {
    **dict.fromkeys(("1", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no"), False),
}
_ABOUT = frozenset(("is", "from", "by", "was", "sent", "message", "msg", "role"))  #: beside who: is_bot, from_user
_SHOWN = 60  #: characters of a text, or of a name
_SENDERS = frozenset(
    ("speaker", "sender", "author", "from", "who", "absender", "sprecher", "wer", "von", "autor", "auteur")
)
_CODE = 2  #: characters of a code for who speaks
_NAMES = 5  #: of people who speak, at least, where one is the assistant,
_BOT = 4  #: who says one turn of so many,
_LESS = 2  #: and so many times as much as anybody else


class Speakers(NamedTuple):
    """The lines of a mapping that say who speaks, and what is to be doubted of them.

    guess: the last line as it may be filled in where nothing tells two speakers apart; otherwise the last line.
    """

    lines: list[str]
    doubts: list[str]
    guess: str

    @property
    def are_open(self) -> bool:
        """Whether nothing is read until somebody says who is who."""
        return self.guess != self.lines[-1]


class Sides(NamedTuple):
    """The paths of what users and assistants say, each under a name of its own."""

    question: str
    answer: str


def speaker_path(columns: Columns) -> str | None:
    """Return the path that says who speaks; None where there is none, or an exchange stands in each record."""
    has_sides = all(paths_like(columns, field) for field in ("question", "answer"))
    named = [path for path in paths_like(columns, "role") if not (has_sides and is_constant(columns[path]))]
    spoken = [path for path in named if are_speakers(columns[path])]
    if spoken:  # where each word has a meaning, names of people are not needed
        return next((path for path in spoken if _are_all_known(columns[path])), spoken[0])
    if flag := next((path for path, values in columns.items() if _roles_of_flag(path, values)), None):
        return flag
    if has_sides or not longest_texts(columns):
        return None
    codes = next((path for path in named if _are_codes(columns[path]) or _are_two_names(path, columns[path])), None)
    return codes or next((path for path in named if _bot_among(columns[path])), None)


def sides_in(columns: Columns) -> Sides | None:
    """Return the columns that are named after who speaks, one for each side; None where these hold no sentences."""
    sides: dict[str, str] = {}
    for path, values in columns.items():
        words = words_of_text(path)
        roles = {role for role in map(role_of, words) if role in ("user", "assistant")}
        whole = role_of(" ".join(words))
        role = whole if whole in ("user", "assistant") else roles.pop() if len(roles) == 1 else None
        if role is not None and (are_prose(values) if role == "assistant" else are_said(values)):
            sides.setdefault(role, path)
    return Sides(sides["user"], sides["assistant"]) if len(sides) == 2 else None


def describe_speakers(
    path: str, columns: Columns, wheres: Sequence[Sequence[Any]], taken: Mapping[str, str], texts: tuple[str, ...]
) -> Speakers:
    """Give the line of the role, with the words that mean one; the only one that never begins is the assistant's.

    Two words that nobody knows stay open: bots greet first, too. Who says nothing begins nothing. taken: paths of other
    fields; texts: those of what is said.
    """
    conversation = taken.get("conversation_id")
    first_texts: dict[str, str] = {}  # a word → the first text
    begun: dict[object, str] = {}
    words: dict[str, None] = {}
    rows: list[SpokenRow] = []
    ways = [way for way in paths_like(columns, "role") if way != path]
    for where in _in_order(wheres, taken.get("timestamp")):
        holders = [part for part in where if isinstance(part, Mapping)]
        if (word := value_of(path, holders)) is not None:
            words[str(word)] = None
            spoken = said_at(texts, holders)
            if spoken not in (None, "", []):
                begun.setdefault(str(value_of(conversation, holders)), str(word))
                went = {way: str(value) for way in ways if isinstance(value := value_of(way, holders), str | int)}
                rows.append(SpokenRow(str(value_of(conversation, holders)), str(word), went))
                first_texts.setdefault(
                    str(word), text_of(spoken, {}, Counter()) if isinstance(spoken, list) else str(spoken)
                )
    if bot := _bot_among([each.word for each in rows]):
        return _name_bot(path, bot, rows)
    words = dict.fromkeys(word for word in words if word in first_texts) or words
    flagged = _roles_of_flag(path, list(words))
    guesses = {word: flagged.get(word) or speaker_of(word) for word in words if role_of(word) is None}
    unknown = [word for word, role in guesses.items() if role is None]
    roles = {role_of(word) or guesses[word] for word in words}
    never = [word for word in unknown if word not in begun.values()]
    if len(unknown) == len(words) == 2:
        return _left_open(path, sorted(unknown, key=lambda word: word in never), first_texts)
    lines = []
    known = {word: role_of(word) or guesses[word] for word in words}
    doubts = odd_among(rows, known)
    for word, why in staff_among(rows, known).items():
        guesses[word] = "assistant"
        roles.add("assistant")
        doubts.append(
            f"{toml(word)} is read as the assistant, because {why}: where these are people whose answers are not to be "
            f'scored, {toml(word)} = "system" leaves them out'
        )
    if unknown:
        shown = ", ".join(toml(word) for word in unknown)
        meant = "assistant" if unknown[0] in never else "user"
        lines.append(f"# Not known: {shown}. Say what each is: {_line(path, {unknown[0]: meant})}")
    if len(unknown) == 1 and never and "assistant" not in roles:
        lines.append(f"# {toml(never[0])} never begins a conversation, and is taken for the assistant.")
        guesses[never[0]] = "assistant"
    lines.append(_line(path, guesses))
    return Speakers(lines, doubts, lines[-1])


def _name_bot(path: str, bot: str, rows: Sequence[SpokenRow]) -> Speakers:
    """Take who says most for the assistant, and all others, who have names, for users."""
    turns = sum(each.word == bot for each in rows)
    line = _line(path, {bot: "assistant", OTHERS: "user"})
    doubt = (
        f"{toml(bot)} says {turns:,} of {len(rows):,} turns and is taken for the assistant, and all others for users: "
        f'those who are staff have to be named in the line of the role, as "…" = "system"'
    )
    return Speakers([line], [doubt], line)


def _in_order(wheres: Sequence[Sequence[Any]], timestamp: str | None) -> Sequence[Sequence[Any]]:
    """Return records by their times where all have one: tables may have the newest first."""
    holders = ([part for part in where if isinstance(part, Mapping)] for where in wheres)
    times = [seconds(value_of(timestamp, parts)) if timestamp is not None else None for parts in holders]
    known = [time for time in times if time is not None]
    if len(known) < len(wheres):
        return wheres
    return [wheres[at] for at in sorted(range(len(wheres)), key=known.__getitem__)]


def _left_open(path: str, words: Sequence[str], first_texts: Mapping[str, str]) -> Speakers:
    """Leave open which of two is the user, and say how to fill it in, with what each says first."""
    guesses = [dict(zip(order, ("user", "assistant"), strict=True)) for order in (words, words[::-1])]
    shown = [f"{toml(word)} first says “{one_line(first_texts.get(word, ''), _SHOWN)}”" for word in words]
    lines = [*(f"# {each}" for each in shown), *(f"# either: {_line(path, guess)}" for guess in guesses)]
    doubt = (
        f"nothing tells which of {' and '.join(map(toml, words))} in {path} is the user: say it in the mapping, as "
        f"{_line(path, guesses[0])} or the other way round; {' and '.join(shown)}"
    )
    return Speakers([*lines, _line(path, {})], [doubt], _line(path, guesses[0]))


def _line(path: str, meanings: Mapping[str, str | None]) -> str:
    """Return the line of a mapping that says who speaks."""
    known = "".join(f", {toml(word)} = {toml(role)}" for word, role in meanings.items() if role is not None)
    return f"role = {{ path = {toml(path)}{known} }}" if known else f"role = {toml(path)}"


def _roles_of_flag(path: str, values: Sequence[Any]) -> dict[str, str]:
    """Return what yes and no mean under a name such as is_bot or fromUser; nothing for any other."""
    words = {str(value) for value in values}
    about = [word for word in words_of(path) if word not in _ABOUT]
    role = named_speaker(about[0]) if len(about) == 1 else None
    is_flag = len(words) == 2 and all(word.lower() in _FLAGS for word in words)
    if role not in ("user", "assistant") or not is_flag:
        return {}
    other = "assistant" if role == "user" else "user"
    return {word: role if _FLAGS[word.lower()] else other for word in words}


def _are_all_known(values: Sequence[Any]) -> bool:
    """Say whether each value is a word for who speaks, and there are some for both sides."""
    roles = {speaker_of(str(value)) for value in values}
    return {"user", "assistant"} <= roles and None not in roles


def _bot_among(values: Sequence[Any]) -> str:
    """Return the one among many names who says most by far, where each of the others says little; "" without one."""
    if not all(isinstance(value, str) and 0 < len(value) <= _SHOWN for value in values):
        return ""
    counted = Counter(values).most_common()
    if len(counted) <= _NAMES or counted[0][1] * _BOT < len(values) or counted[1][1] * _LESS > counted[0][1]:
        return ""
    return str(counted[0][0])


def _are_two_names(path: str, values: Sequence[Any]) -> bool:
    """Say whether a column that is called after who speaks has two names: one of them is the assistant's."""
    words = {value.strip() for value in values if isinstance(value, str)}
    is_sender = not _SENDERS.isdisjoint(words_of(path))
    return is_sender and len(words) == 2 < len(values) and all(0 < len(word) <= _SHOWN for word in words)


def _are_codes(values: Sequence[Any]) -> bool:
    """Say whether values are two codes that nobody knows by themselves, such as 0 and 1."""
    words = {str(value).strip() for value in values}
    return len(words) == 2 < len(values) and all(0 < len(word) <= _CODE or word.lower() in _FLAGS for word in words)
