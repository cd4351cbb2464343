"""Users: their ids as digests, and nothing else of a turn that might name them."""

import shlex
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path

from turnsignal.stream.errors import ConfigError, describe_unreadable
from turnsignal.stream.formats.protocol import TurnFields
from turnsignal.stream.records.turns import Metadata, Truth, Turn

_KEY_BYTES = 16
_FIELDS = frozenset(each.name for each in fields(Turn) if each.init)
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
    if kept.get("user_id"):
        kept["user_id"] = hash_user(kept["user_id"], key)
    return kept
