"""Proposing: a first mapping for records of an unknown kind, every guess under the values that it saw."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.errors import ConfigError, Refused
from turnsignal.stream.formats.bodies import calls_in
from turnsignal.stream.formats.columns import Columns, is_constant, is_unique, lists_in, sample_items
from turnsignal.stream.formats.date_formats import date_formats_of
from turnsignal.stream.formats.doubts import doubts_of
from turnsignal.stream.formats.fitting import (
    SEPARATORS,
    are_late,
    are_lists_of_documents,
    are_mostly,
    are_said,
    are_times,
    are_zoneless,
    fits,
    hold_json,
    id_key,
    longest_texts,
    place_path,
    repeats,
    separator_of,
)
from turnsignal.stream.formats.followed import PARENTS, followed, last_among
from turnsignal.stream.formats.hints import (
    CHANNELS,
    HINTS,
    asked_like,
    is_about,
    is_id,
    may_be_id,
    paths_like,
    speaker_of,
)
from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.messages import role_of, spoken_in
from turnsignal.stream.formats.paths import MappedPaths, is_null, said_at, value_of
from turnsignal.stream.formats.proposed_votes import propose_vote
from turnsignal.stream.formats.protocol import Call, Record, TurnFields
from turnsignal.stream.formats.speakers import Speakers, describe_speakers, sides_in, speaker_path
from turnsignal.stream.formats.unnamed import likest_key
from turnsignal.stream.formats.unseen import is_marked, mark_among
from turnsignal.stream.records.turns import LABELS
from turnsignal.stream.text.toml import write_value as toml
from turnsignal.stream.text.visible import one_line

_SEEN = 3  #: values that are shown of a path
_TRIED = 10  #: records in which lists are looked for
_TRIED_LISTS = 16  #: that are tried, those within fewer lists first
_ENOUGH = 0.8  #: of the records that a mapping should read
_OF_ITEMS = ("role", "text", "question", "answer", "documents", "turn_id")  #: that stand in the items of a list
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?( ?[AaPp]\.?[Mm]\.?)?")
_NUMBER = re.compile(r"[^\w\s][0-9]{1,9}")  #: behind a conversation's id, that of a turn in it
_OTHER_TEXT = 5  #: of so many items, one that says something elsewhere
_CONTENTS = {  #: what is to be doubted of fields that only their contents tell
    "turn_id": "{} was taken for the turn's id because a number follows the conversation's id in it: is it?",
    "platform": "{} was taken for the platform because its values are called as channels are: is it where users write?",
}
_REPEATS = "{} was taken for the conversation's id because it repeats: is it?"
_TRUTH = "truth."  #: before the labels of a turn
_ONE = "no conversation's id was recognised: all turns are taken for one conversation"


class ProposedMapping(NamedTuple):
    """A mapping as TOML, and how it did on the records that it was made of.

    read: records that give what was said, or items of their list; of: how many there are; doubts: in sentences;
    is_open: nothing is read until somebody fills in who speaks.
    """

    text: str
    read: int
    of: int
    doubts: list[str]
    is_open: bool = False

    @property
    def is_poor(self) -> bool:
        """Whether it leaves out so much that nobody should use it unread."""
        return self.read < _ENOUGH * self.of


class _Trial(NamedTuple):
    """A mapping that was tried. of_calls: whether it reads the requests and responses of a model."""

    mapping: ProposedMapping
    of_calls: bool


def propose_mapping(sample: Sequence[Record], origin: str) -> ProposedMapping:
    """Write a mapping as commented TOML for the first records of a file; what nothing was recognised for says so.

    Turns may stand in a list of each record: of all lists, and the records themselves, what can be read best is taken.
    Calls of a model go before lists of messages, which they repeat.
    """
    lists = sorted({path for record in sample[:_TRIED] for path in lists_in(record)}, key=_nearness)
    trials = [_propose(sample, origin, path) for path in ((), *((path,) for path in lists[:_TRIED_LISTS]))]
    return max(trials, key=lambda each: (not each.mapping.is_poor, each.of_calls, each.mapping.read)).mapping


def _tells_turns(
    path: str, values: Sequence[Any], wheres: Sequence[Sequence[Record]], role: str | None, taken: Mapping[str, str]
) -> bool:
    """Say whether an id tells turns apart: by itself, or, where it is called so, in each conversation."""
    text, conversation = taken.get("text"), taken.get("conversation_id")
    if is_unique(values, _count_speaking(wheres, role, text)):
        return True
    if path != "turn_id" or conversation is None:  # another is of a user, or of a question that many ask
        return False
    spoken = [where for where in wheres if _speaks(where, role, text)]
    ids = {(str(value_of(conversation, where)), str(value_of(path, where))) for where in spoken}
    return len(values) >= len(spoken) == len(ids)


def _nearness(path: str) -> tuple[int, str]:
    return path.count("*"), path


def _propose(sample: Sequence[Record], origin: str, listed: tuple[str, ...]) -> _Trial:
    """Write a mapping for records, or for the items of lists in each."""
    wheres, inner, outer = sample_items(sample, listed)
    seen = {**outer, **inner}
    calls = calls_in(inner, [where[0] for where in wheres])
    role = None if calls else speaker_path(inner)
    sides = None if calls or role else sides_in(inner)
    wanted = ["role", "text"] if role else ["question", "answer"]
    holders = len({id(where[1]) for where in wheres}) if listed else 0
    taken: dict[str, str] = {} if calls is None else {"question": calls.question, "answer": calls.answer}
    for field in ("conversation_id", "timestamp", *wanted, "documents", "turn_id", *list(HINTS)[8:]):
        if field in taken:
            continue
        among = paths_like(inner, field) + ([] if field in _OF_ITEMS else paths_like(outer, field))
        if field == "conversation_id" and (calls is None or not calls.have_history):
            among = _ids(inner, outer, len(wheres), holders, is_turn=role is not None)
        elif field == "conversation_id":  # what is said before tells conversations apart, where no id does
            among = [path for path in among if 1 < len(set(map(str, seen[path]))) < len(wheres)]
        elif field in ("text", "question", "answer"):
            among = among or (longest_texts(inner) if field == "text" else [])
            among = [*among, getattr(sides, field)] if sides and field != "text" else among
            among = (
                among if field != "question" or any(map(_count_said, map(inner.get, among))) else _asked_as_told(inner)
            )
            most = max((_count_said(inner[at]) for at in among), default=0)
            among = sorted(among, key=lambda at: (is_constant(inner[at]) and field != "text", hold_json(inner[at])))
            among.sort(key=lambda at: _count_said(inner[at]) * 2 < most)  # stable
        if field == "role" and role:
            taken[field] = role
            continue
        for path in among:
            if path in taken.values() or not fits(field, seen[path]):
                continue
            if field == "turn_id" and not _tells_turns(path, seen[path], wheres, role, taken):
                continue
            taken[field] = path
            break
    guesses = _guess(taken, inner, len(wheres), holders) if role else []
    by_contents = _told_by_contents(taken, seen, wheres)
    taken |= by_contents
    guesses += [_CONTENTS[field].format(path) for field, path in by_contents.items()]
    if not (role or holders or "conversation_id" in taken or (calls and calls.have_history)):
        guesses += _guess_key(taken, inner, len(wheres))
    if role and len(listed) == 1 and (beside := _beside(outer, len(wheres), role, taken.get("text"))):
        keys = [path.partition(".")[0] for path in (beside, *listed)]
        is_first = next((key for key in sample[0] if key in keys), keys[0]) == keys[0]
        return _propose(sample, origin, (beside, *listed) if is_first else (*listed, beside))
    wheres = [where for where in wheres if _speaks(where, role, taken.get("text"))]
    lines = ["[turns]" if role else "[exchanges]"]
    if listed:
        lines.append(f"list = {toml(listed[0] if len(listed) == 1 else list(listed))}")
        if (last := last_among(outer, wheres)) is not None:
            taken["last"] = last
            lines += ["# Of a tree, what leads to the last one that its user sees.", f"last = {toml(last)}"]
            wheres = list(followed(last, wheres))
    if role and (mark := mark_among(inner, wheres, taken.get("conversation_id"))) is not None:
        taken[mark[0]] = mark[1]
        lines += ["# What it marks as none for users is left out.", f"{mark[0]} = {toml(mark[1])}"]
        paths, marked = MappedPaths(**{mark[0]: mark[1]}), len(wheres)
        wheres = [where for where in wheres if not is_marked(paths, [part for part in where if part], Counter())]
        if marked := marked - len(wheres):
            guesses.append(f"{marked:,} of the first records are left out, by {mark[1]}: are these notes among staff?")
    texts = _texts(taken.get("text"), inner, wheres) if role else ()
    missing: list[str] = []
    speakers: Speakers | None = None
    if calls is not None and calls.history is not None:
        taken["history"] = calls.history
        wanted.append("history")
    for field in ("conversation_id", *wanted, "timestamp", "turn_id", "documents", *list(HINTS)[8:]):
        if field == "role" and role:
            speakers = describe_speakers(role, seen, wheres, taken, texts)
            lines += [f"# {_examples(seen[role])}", *speakers.lines]
            guesses += speakers.doubts
        elif field == "text" and len(texts) > 1:
            lines += [f"# {_examples(seen[texts[0]])}", f"text = {toml(list(texts))}"]
            taken |= {f"text {number}": text for number, text in enumerate(texts)}
        elif field in taken:
            values = seen.get(taken[field], [])  # of messages there are none: their parts have paths of their own
            lines += [f"# {_examples(values)}"] * bool(values) + list(_lines_of(field, taken[field], values))
        elif field == "conversation_id" and calls is not None and calls.have_history:
            lines.append(f'# {field} = "…"   # not needed: each call repeats what was said before')
        elif field == "conversation_id" and role and holders < 2:
            lines.append(f'{field} = {{ value = "1" }}   # not recognised: all turns are taken for one conversation')
            guesses.append(_ONE)
        elif field == "timestamp" and role and not listed:
            place = place_path(inner, taken.get("conversation_id"))
            lines += [f"# {_examples(seen[place])}"] if place else []
            lines.append(f"order = {toml(place)}" if place else 'order = { value = "file" }   # no time was recognised')
            taken |= {"order": place} if place else {}
            guesses.append(f"no time was recognised: turns are in the order of {place or 'the file'}; are they?")
        elif field in ("conversation_id", "timestamp", *wanted):
            lines.append(f'# {field} = "…"   # not recognised')
            missing.append(field)
    if (voted := propose_vote(seen, len(wheres) // 2 if role else len(wheres))) is not None:
        lines += [f"# {_examples(seen[voted.path])}", voted.line]
        taken["vote"] = voted.path
    if labels := [path for path in inner if path.startswith(_TRUTH) and path.removeprefix(_TRUTH) in LABELS]:
        lines += [f"# {labels[0]}: {_examples(seen[labels[0]])}", 'truth = "truth"']
        taken |= {path: path for path in labels}
    rest = [path for path in seen if path not in taken.values()]
    lines += ["", "# Not used:", *(f"# {one_line(path, 120)}: {_examples(seen[path])}" for path in rest[:50])]
    is_open = speakers is not None and speakers.are_open
    tried = [speakers.guess if speakers and line == speakers.lines[-1] else line for line in lines]
    read = _read_once("\n".join(tried), wheres)
    doubts = [*guesses, *_unclear_dates(taken, seen), *_days_alone(taken, seen)]
    doubts += doubts_of(read, taken.get("conversation_id"), wheres, holders)
    around = dict.fromkeys([*paths_like(outer, "text"), *(path for path in longest_texts(outer) if not is_about(path))])
    unread = [path for path in around if path not in taken.values() and _may_be_said(outer[path], len(wheres))]
    if listed and unread and not calls:
        doubts.append(f"{unread[0].removeprefix('../')} stands beside the list and is not read; is it a turn, too?")
    if not read and missing:
        doubts.append(f"not recognised: {', '.join(missing)}; name their paths in the mapping, as far as there are any")
    head = [
        f"# Proposed by `turnsignal convert --propose` for {one_line(origin, 120)}: read it before you use it.",
        *(f"# Doubtful: {one_line(doubt, 200)}" for doubt in doubts),
        "# Above each line stand values that were seen there.",
    ]
    text = "\n".join((*head, *lines)) + "\n"
    return _Trial(ProposedMapping(text, len(read), len(wheres), doubts, is_open=is_open), calls is not None)


def _count_said(values: Sequence[Any] | None) -> int:
    """Return how many values say anything."""
    return sum(value not in ("", [], [""]) for value in values or ())


def _asked_as_told(inner: Columns) -> list[str]:
    """Return the columns of what a model was told, where it is another thing each time: it stands for the question."""
    return [path for path in asked_like(inner) if not is_constant(inner[path]) and are_said(inner[path])]


def _texts(text: str | None, inner: Columns, wheres: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the path of the text, and that of what is said where it is empty, as where answers are lists of blocks."""
    if text is None:
        return ()
    empty = [where for where in wheres if said_at(text, where) in (None, "", [])]
    for path in paths_like(inner, "text"):
        says = sum(said_at(path, where) not in (None, "", []) for where in empty)
        if path != text and says * _OTHER_TEXT >= len(wheres) > 0 and fits("text", inner[path]):
            return text, path
    return (text,)


def _may_be_said(values: Sequence[Any], of: int) -> bool:
    """Say whether values beside a list are texts of one turn each, and not the same for all."""
    return len(values) * 2 >= of and are_said(values) and not is_constant(values)


def _guess(taken: dict[str, str], inner: Columns, of: int, holders: int) -> list[str]:
    """Take for the conversation's id what repeats like one, and for the time what is one, where no name says which.

    Return what is to be doubted of it.
    """
    guesses = []
    if "timestamp" not in taken:
        late = [path for path, values in inner.items() if path not in taken.values() and are_late(values)]
        taken |= {"timestamp": late[0]} if late else {}
    if "conversation_id" not in taken and not holders:
        counts = {path: repeats(values, of) for path, values in inner.items() if path not in taken.values()}
        if any(counts.values()):
            taken["conversation_id"] = max((path for path in counts if may_be_id(path)), key=lambda path: counts[path])
            guesses.append(_REPEATS.format(taken["conversation_id"]))
    return guesses


def _told_by_contents(taken: Mapping[str, str], seen: Columns, wheres: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Return the turn's id and the platform where their columns have names of their own, and contents that leave none.

    An id is the conversation's with a number behind it, another in each record; a platform is one of several channels.
    """
    fields: dict[str, str] = {}
    rest = {path: values for path, values in seen.items() if path not in taken.values()}
    conversation = taken.get("conversation_id")
    if conversation is not None and "turn_id" not in taken:
        keys = [str(value_of(conversation, where)) for where in wheres]
        for path, values in rest.items():
            if len(values) != len(wheres) or not is_unique(values, len(wheres)):
                continue
            parts = [str(value_of(path, where)).partition(key) for key, where in zip(keys, wheres, strict=True)]
            if all(not before and _numbers(key, behind) for before, key, behind in parts):
                fields["turn_id"] = path
                break
    if "platform" not in taken:
        for path, values in rest.items():
            channels = {str(value).casefold() for value in values if value != ""}
            if len(channels) > 1 and channels <= CHANNELS:
                fields["platform"] = path
                break
    return fields


def _numbers(key: str, behind: str) -> bool:
    """Say whether a number is what stands behind a conversation's id: behind a number, "12.50" is a decimal."""
    return bool(key and _NUMBER.fullmatch(behind)) and not (key.isdigit() and behind.startswith((".", ",")))


def _guess_key(taken: dict[str, str], inner: Columns, of: int) -> list[str]:
    """Take for the conversation's id of exchanges what is called an id and repeats; return what is to be doubted."""
    rest = {path: values for path, values in inner.items() if path not in taken.values()}
    if (key := likest_key(rest, of)) is None:
        return []
    taken["conversation_id"] = key
    return [_REPEATS.format(key)]


def _ids(inner: Columns, outer: Columns, of: int, holders: int, *, is_turn: bool) -> list[str]:
    """Return the paths that may be the conversation's id, the likest first; of: items, holders: of their lists.

    One that is the same everywhere merges all, and one that differs everywhere tears all apart: both come last.
    """

    counted: dict[int, int] = {}

    def how_many(seen: Columns, path: str) -> int:
        values = seen[path]
        if id(values) not in counted:
            counted[id(values)] = len(set(map(str, values))) if len(values) * 2 >= of else 0
        return counted[id(values)]

    def likest(path: str) -> int:
        n = how_many(inner, path)
        if n == 0:
            return 3
        return 0 if 1 < n < of else 2 if (n == 1) != is_turn else 1

    own = sorted(paths_like(inner, "conversation_id"), key=likest)
    if not holders:
        return own
    telling = [path for path in outer if how_many(outer, path) > (holders > 1) and may_be_id(path)]
    telling.sort(key=lambda path: -how_many(outer, path))
    hinted = [path for path in paths_like(outer, "conversation_id") if path in telling]
    keys = [path for path in ("*", "../*") if path in outer]
    are_nodes = not inner.keys().isdisjoint(PARENTS)  # of a tree, whose keys are the ids of messages
    named = [path for path in telling if is_id(path) and not (are_nodes and path == "*")]
    given = [path for path in keys if not is_unique(outer[path], of) and isinstance(outer[path][0], str)]
    is_own = bool(own) and likest(own[0]) == 0
    rest = [path for path in telling if how_many(outer, path) * 2 >= holders and path not in keys]
    return [*hinted, *given, *(own if is_own else []), *named, *rest, *own, *keys]


def _beside(outer: Columns, of: int, role: str, text: str | None) -> str | None:
    """Return the path of an object that stands beside a list and is like its items, as what was said first may be."""
    ending = f".{text}"
    parents = Counter(path.removesuffix(ending).rpartition(".")[0] for path in outer if path.endswith(ending))
    for path, values in outer.items():
        before = path.removesuffix(ending)
        if before == path or path.startswith("../") or len(values) * 2 < of:
            continue
        if "." in before and parents[before.rpartition(".")[0]] > 1:
            continue  # its name is a key among others, such as a message's id
        words = [str(word) for word in outer.get(f"{before}.{role}", ())]
        if words and all(role_of(word) or speaker_of(word) for word in words):
            return before
    return None


def _speaks(where: Sequence[Any], role: str | None, text: str | None) -> bool:
    """Say whether an item has what a mapping reads a turn by; those that have nothing of it are left out of a list."""
    holders = [part for part in where if isinstance(part, Mapping)]
    paths = [path for path in (role, text) if path is not None]
    if role is None or len(where) == 1:
        return True
    if text is not None and isinstance(where[0], Mapping) and is_null(text, where[0]):
        return False
    return any(value_of(path, holders) is not None for path in paths)


def _count_speaking(wheres: Sequence[Sequence[Any]], role: str | None, text: str | None) -> int:
    return sum(_speaks(where, role, text) for where in wheres)


def _read_once(text: str, wheres: Sequence[Sequence[Any]]) -> list[Call | TurnFields]:
    """Return the turns or exchanges that a mapping reads whole, each id once.

    Where most exchanges are whole, those that nobody answered are read as they are, too.
    """
    try:
        mapping = parse_format_mapping(text, "proposed")
    except ConfigError:
        return []
    whole: dict[str, Call | TurnFields] = {}
    halves: dict[str, Call | TurnFields] = {}
    for number, where in enumerate(wheres):
        try:
            part = mapping.read_item(where, Counter())
        except Refused:
            continue
        if part is not None:
            kept = whole if _is_whole(part) else halves if isinstance(part, Call) else {}
            kept[_id_of(part) or f"\0{number}"] = part
    return list(whole.values()) + (list(halves.values()) if len(halves) < len(whole) else [])


def _is_whole(part: Call | TurnFields) -> bool:
    if isinstance(part, Call):
        has_called = any(message.called for message in part.outputs)
        return bool(spoken_in(part.inputs)) and (has_called or bool(spoken_in(part.outputs)))
    return bool(part["text"].strip())


def _id_of(part: Call | TurnFields) -> str:
    if isinstance(part, Call):
        return part.origin.removeprefix("mapping:")
    return f"{part['conversation_id']}/{part['turn_id']}" if part["turn_id"] else ""


def _unclear_dates(taken: Mapping[str, str], seen: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    values = seen[taken["timestamp"]] if "timestamp" in taken else []
    if values and not are_times(values) and len(formats := date_formats_of(values)) > 1:
        yield (
            f"days and months cannot be told apart in {one_line(str(values[0]), 40)!r}: it was taken for "
            f"{formats[0]}, and could be {formats[1]}; see date_format in the mapping"
        )


def _days_alone(taken: Mapping[str, str], seen: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Say where a column of days is taken for the time, and one of clock times beside it is not."""
    days = seen[taken["timestamp"]] if "timestamp" in taken else []
    clocks = [path for path, values in seen.items() if path not in taken.values() and are_mostly(values, _is_clock)]
    if clocks and are_mostly(days, lambda value: isinstance(value, str) and ":" not in value):
        yield (
            f"{clocks[0]} holds the time of day, which is not read beside {taken['timestamp']}: all turns of a day "
            "have one time; put both into one column, and name that"
        )


def _is_clock(value: object) -> bool:
    return isinstance(value, str) and _CLOCK.fullmatch(value.strip()) is not None


def _lines_of(field: str, path: str, values: Sequence[Any]) -> Iterator[str]:
    """Give the line of a field, and what the mapping has to know beside it."""
    key = id_key(values) if field == "documents" else None
    yield f"{field} = {toml(path)}" if key is None else f"{field} = {{ path = {toml(path)}, id = {toml(key)} }}"
    if field == "timestamp" and not are_times(values):
        chosen, *others = date_formats_of(values)
        if others:
            yield f"# Days and months cannot be told apart in these values; it could also be {toml(others[0])}."
        yield f"date_format = {toml(chosen)}"
    if field == "timestamp" and are_zoneless(values):
        yield '# zone = "Europe/Berlin"   # left out: these times, which name no zone, are UTC'
    if field == "documents" and not are_lists_of_documents(values):
        yield f"separator = {toml(separator_of(values) or SEPARATORS[0])}"


def _examples(values: Sequence[Any]) -> str:
    return " · ".join(one_line(str(value), 40) for value in list(dict.fromkeys(map(str, values)))[:_SEEN])
