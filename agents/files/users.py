"""Users: their ids as digests, and nothing else of a turn that might name them."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import orjson

from turnsignal.agents.files.reading import read_lines
from turnsignal.stream.errors import ConfigError, describe_unreadable
from turnsignal.stream.formats.protocol import TurnFields
from turnsignal.stream.records.turns import Document, Metadata, Truth, Turn

_NONE_NAMED = (
    "no turn names a user, of whom --hash-users could make a digest: ids and texts stay as they are; where a field of "
    "the records names one, a mapping says which (user_id)"
)
_KEY_BYTES = 16
_LONG = 6  #: digits of a user id that is none of a counter's
_UNIQUE = 16  #: characters of one that stands in no other word
_TELLING = 5  #: characters of one that is looked for in ids of conversations that name nobody,
_USERS = 100_000  #: that are looked for,
_EDGES = 16  #: and places behind its beginning where one may end
_MANY = 100  #: users whom the ids of one conversation name
_FIELDS = frozenset(each.name for each in fields(Turn) if each.init)
_OF_DOCUMENTS = frozenset(each.name for each in fields(Document))
_IDS = ("conversation_id", "turn_id")
_OF_A_DOCUMENT = ("doc_id", "title", "url")
_NAMES = ("assistant", "version", "model", "platform", "environment")
#: fields within a field that something reads; the rest may name a user under any key
_READ = {
    "metadata": frozenset((*Metadata.__annotations__, "origin", "case_id")),
    "truth": frozenset((*(each.name for each in fields(Truth)), "case_id")),
}


def read_user_key(path: Path) -> bytes:
    """Read the secret with which user ids become digests: short ones could be tried out, so it has 16 bytes at least.

    Raises ConfigError when the file cannot be read or holds less.
    """
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        msg = f"{path}: expected a file with a secret, got {describe_unreadable(error)}"
        raise ConfigError(msg) from None
    if len(key) < _KEY_BYTES:
        name = shlex.quote(str(path))
        wanted = f"a secret of {_KEY_BYTES} bytes or more"
        msg = f"{path}: expected {wanted}, got {len(key)}; try: openssl rand -hex 32 > {name}"
        raise ConfigError(msg)
    return blake2b(key, digest_size=32).digest()


def hash_user(user_id: object, key: bytes) -> str:
    """Return what stands for a user: the same digest for the same id and secret, from which nobody finds back.

    >>> hash_user("ann", b"0" * 32) == hash_user("ann", b"0" * 32) != hash_user("ann", b"1" * 32)
    True
    """
    return blake2b(str(user_id).encode("utf-8", "replace"), key=key, digest_size=16).hexdigest()


def hide_user(turn: TurnFields, key: bytes) -> TurnFields:
    """Return a turn whose user id is a digest, without the fields that nothing reads.

    >>> hide_user({"text": "Hi", "userId": "ann", "metadata": {"email": "ann@b.c"}}, b"0" * 32)
    {'text': 'Hi', 'metadata': {}}
    """
    kept = {name: value for name, value in turn.items() if name in _FIELDS}
    for name, known in _READ.items():
        if isinstance(kept.get(name), dict):
            kept[name] = {inner: value for inner, value in kept[name].items() if inner in known}
    if isinstance(kept.get("retrieved"), list):
        kept["retrieved"] = [_plain(document) for document in kept["retrieved"]]
    if kept.get("user_id"):
        user, digest = str(kept["user_id"]), hash_user(kept["user_id"], key)
        kept |= {name: _of(user).sub(digest, text) for name, text in _names_of(kept, user).items()}
        kept["user_id"] = digest
        if _names_a_user(user):
            _hide_in_documents(kept, partial(_of(user).sub, digest))
    return kept


def _hide_in_documents(turn: dict[str, Any], hide: Callable[[str], str]) -> bool:
    """Hide users in the ids, titles and addresses of documents, and where these are cited; return whether any was."""
    changed: dict[str, str] = {}
    is_changed = False
    for document in turn["retrieved"] if isinstance(turn.get("retrieved"), list) else ():
        for name in _OF_A_DOCUMENT if isinstance(document, dict) else ():
            if isinstance(text := document.get(name), str) and (hidden := hide(text)) != text:
                document[name] = hidden
                is_changed = True
                changed |= {text: hidden} if name != "title" else {}
    has_metadata = bool(changed) and isinstance(turn.get("metadata"), dict)
    metadata = orjson.dumps(turn["metadata"]) if has_metadata else b""
    for text, hidden in changed.items():
        turn["text"] = turn["text"].replace(text, hidden)
        metadata = metadata.replace(orjson.dumps(text), orjson.dumps(hidden))
    if has_metadata:
        turn["metadata"] = orjson.loads(metadata)
    return is_changed


class HiddenUsers:
    """The users of a log, as its turns name them, to be hidden in all that is written. turns: how many named one."""

    def __init__(self, key: bytes) -> None:
        self.turns = 0
        self._key = key
        self._named: dict[str, set[str]] = {}  # conversations whose ids or names hold their users → these
        self._known: set[str] = set()  # users in small letters, who may stand in ids of other conversations, too

    def digest(self, user: str) -> str:
        """Return what stands for a user."""
        return hash_user(user, self._key)

    def hide(self, turn: TurnFields) -> TurnFields:
        """Return a turn whose user id is a digest, as `hide_user` does, and remember the user."""
        if user := str(turn.get("user_id") or ""):
            self.turns += 1
            if any(map(_of(user).search, (*_ids_of(turn).values(), *_names_of(turn, user).values()))):
                self._named.setdefault(turn["conversation_id"], set()).add(user)
            if len(user) >= (_LONG if user.isdigit() else _TELLING) and len(self._known) < _USERS:
                self._known.add(user.casefold())
        return hide_user(turn, self._key)

    def doubts(self, before: int) -> list[str]:
        """Say that turns name no user, where none did since. before: how many turns had."""
        return [] if self.turns > before else [_NONE_NAMED]

    def hide_in_ids(self, paths: Iterable[Path]) -> None:
        """Write files of turns, or of feedback, anew with digests in their ids for the users whom they hold.

        The same in all lines of a conversation, so that they are still of one; where it has many users, its whole ids
        become digests, and names hide the user of their turn alone.
        """
        for path in paths if self._known or self._named else ():
            hidden = path.with_suffix(".hidden")
            with hidden.open("wb") as out:
                for block in read_lines(path):
                    lines = (_hidden_in_ids(line, self._named, self._known, self._key) for line in block.lines)
                    out.writelines(line + b"\n" for line in lines)
            hidden.replace(path)


def _hidden_in_ids(line: bytes, users: Mapping[str, set[str]], known: Set[str], key: bytes) -> bytes:
    record = orjson.loads(line)
    ids = hidden = _ids_of(record)
    named = sorted(users.get(record["conversation_id"], ()), key=lambda user: (-len(user), user))
    if len(named) > _MANY:
        hidden = {name: hash_user(text, key) for name, text in hidden.items()}
    for user in named[: _MANY if len(named) <= _MANY else 0]:
        digest = hash_user(user, key)
        hidden = {name: _of(user).sub(digest, text) for name, text in hidden.items()}
        record |= {name: _of(user).sub(digest, text) for name, text in _names_of(record, user).items()}
    hidden = {name: _without_known(text, known, key) for name, text in hidden.items()}
    are_in_documents = _hide_in_documents(record, lambda text: _without_known(text, known, key))
    if hidden == ids and not named and not are_in_documents:
        return line
    if (origin := hidden.pop("origin", None)) is not None:
        record["metadata"]["origin"] = origin
    return orjson.dumps(record | hidden)


def _without_known(text: str, known: Set[str], key: bytes) -> str:
    """Return an id with digests for the users that stand in it between signs of other kinds, the longest first."""
    plain = unquote(text)
    edges = [at for at in range(len(plain) + 1) if plain[at - 1 : at].isalnum() != plain[at : at + 1].isalnum()]
    spans = (plain[start:end] for at, start in enumerate(edges) for end in edges[at + 1 : at + 1 + _EDGES])
    for user in sorted({span for span in spans if span.casefold() in known}, key=lambda user: (-len(user), user)):
        text = _of(user).sub(hash_user(user, key), text)
    return text


def _ids_of(record: Mapping[str, Any]) -> dict[str, str]:
    metadata = record.get("metadata")
    origin = {"origin": metadata.get("origin")} if isinstance(metadata, dict) else {}
    ids = {name: record.get(name) for name in _IDS} | origin
    return {name: text for name, text in ids.items() if isinstance(text, str)}


def _names_of(record: Mapping[str, Any], user: str) -> dict[str, str]:
    """Return what a turn names that may hold its user; none for a short number, which is part of versions."""
    names = _NAMES if _names_a_user(user) else ()
    return {name: text for name in names if isinstance(text := record.get(name), str)}


def _names_a_user(user: str) -> bool:
    return not user.isdigit() or len(user) >= _LONG


@lru_cache(1024)
def _of(user: str) -> re.Pattern[str]:
    """Return what finds a user in an id, in any case and as a URL has it, but not user 1 in conversation 21.

    A number of some length is found behind letters, too, and what nobody spells by chance anywhere.
    """
    spelled = "|".join(map(re.escape, dict.fromkeys((user, quote(user, safe="")))))
    if "@" in user or len(user) >= _UNIQUE:
        return re.compile(spelled, re.IGNORECASE)
    edge = "0-9" if user.isdigit() and len(user) >= _LONG else "0-9A-Za-z"
    return re.compile(rf"(?:(?<=%[0-9A-F]{{2}})|(?<![{edge}]))(?:{spelled})(?![{edge}])", re.IGNORECASE)


def _plain(document: Any) -> Any:
    if not isinstance(document, dict):
        return document
    return {name: value for name, value in document.items() if name in _OF_DOCUMENTS}
