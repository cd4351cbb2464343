"""Unversioned: what could tell releases apart where no answer names a version, so that none are compared.

Two models that share the traffic are two releases to whoever dealt it to them, and so are two versions that the turns
of users name; nobody can tell unless it is said.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from turnsignal.stream.pipeline.release_times import ReleaseTimes
from turnsignal.stream.text.timestamps import read_given_time

_TOLD_APART = 64  #: models, or versions; what names others counts as naming none
_NAMED = 3  #: of them
_SHARE = 0.1  #: of the conversations or turns, from which one is named
_STAYED = 0.05  #: of the answers, from which it is said that they count for an earlier release
_BY_TIME = "--released TIME compares before and after a time"


class Unversioned:
    """Counts conversations whose first answer names a model and no version, and turns of users that name a version.

    stayed: answers that came after a release that was given by its time, in conversations that began before it.
    """

    def __init__(self) -> None:
        self.stayed = 0
        self._models: Counter[str] = Counter()
        self._users: Counter[str] = Counter()

    def count(self, model: str) -> None:
        """Take in a conversation."""
        _add(self._models, model, 1)

    def count_user(self, version: str) -> None:
        """Take in a turn of a user."""
        _add(self._users, version, 1)

    def merge(self, other: "Unversioned") -> None:
        """Add another partition's."""
        self.stayed += other.stayed
        for model, n in other._models.items():
            _add(self._models, model, n)
        for version, n in other._users.items():
            _add(self._users, version, n)

    def models(self) -> list[dict[str, Any]]:
        """Return models with their conversations, the most frequent first."""
        return [{"model": model, "conversations": n} for model, n in _ordered(self._models)]

    def versions_of_users(self) -> list[dict[str, Any]]:
        """Return versions with the turns of users that name them, the most frequent first."""
        return [{"version": version, "turns": n} for version, n in _ordered(self._users)]


def _add(counts: Counter[str], name: str, n: int) -> None:
    if name in counts or len(counts) < _TOLD_APART:
        counts[name] += n


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda part: (-part[1], part[0]))


def tell_releases_apart(summary: Mapping[str, Any]) -> str | None:
    """Say what could tell releases apart where no answer of a replay names a version; None where some do."""
    versions = {row["version"] for row in summary["quality"] if row.get("answers_per_conversation")}
    if summary.get("released"):
        return _by_times(versions, summary["released"])
    if versions != {None}:
        return None
    by_name = _by_users(summary.get("versions_of_users", ())) or _by_models(summary.get("unversioned_models", ()))
    return f"{by_name}; {_BY_TIME}" if by_name else f"no version on any answer, so no releases are compared: {_BY_TIME}"


def stayed_before(summary: Mapping[str, Any]) -> str | None:
    """Say that many answers came after a release in conversations that began before it; None where few did."""
    answers, stayed = summary.get("turns", {}).get("assistant", 0), summary.get("of_earlier_release", 0)
    if not stayed or stayed < _STAYED * answers:
        return None
    return (
        f"{stayed:,} of {answers:,} answers came after a release in conversations that began before it, and count as "
        "before it: where an id is that of a user or a chat and lives on, give each visit an id of its own"
    )


def _by_times(versions: Set[str | None], released: Sequence[str]) -> str | None:
    """Say of times that were given to tell releases apart where they do not."""
    names = ReleaseTimes(read_given_time(text, "released") for text in released).names
    told_apart = versions & {*names}
    if not versions or len(told_apart) > 1:
        return None
    if not told_apart:
        return "no release could be told apart by --released: nearly every answer names its version, and keeps it"
    (name,) = told_apart
    return f"every conversation without a version began {name}, so --released tells none apart"


def _by_users(rows: Sequence[Mapping[str, Any]]) -> str | None:
    named = _several(rows, "turns")
    if not named:
        return None
    versions = ", ".join(f"{row['version']} on {row['turns']:,} turns" for row in named[:_NAMED])
    return (
        f"no answer names its version, so nothing is compared, though turns of users name {len(named)} ({versions}): a "
        "release is read from the turn of the assistant that it wrote; log the version there"
    )


def _by_models(rows: Sequence[Mapping[str, Any]]) -> str | None:
    named = _several(rows, "conversations")
    if not named:
        return None
    models = ", ".join(f"{row['model']} in {row['conversations']:,} conversations" for row in named[:_NAMED])
    return (
        f"no answer names its version, so nothing is compared, though {len(named)} models answered ({models}): to "
        "compare them, log a version, or give each turn its model as its version (`turnsignal convert`, then "
        "`jq -c '.version = .model'`)"
    )


def _several(rows: Sequence[Mapping[str, Any]], counted: str) -> list[Mapping[str, Any]]:
    """Return what is frequent, none where that is one alone."""
    total = sum(row[counted] for row in rows)
    frequent = [row for row in rows if row[counted] >= _SHARE * total]
    return frequent if len(frequent) > 1 else []
