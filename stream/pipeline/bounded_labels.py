"""Labels: which words from the traffic may become metric labels, and for how long.

A version that is a build number per request would give Prometheus a new series per turn, and one lone surrogate in one
label makes every later scrape fail. So a word that was only seen in traffic needs a clean spelling and a free place.
"""

import re
import unicodedata
from collections.abc import Collection, Hashable, Iterable
from hashlib import blake2b
from typing import Generic, TypeVar

from turnsignal.stream.errors import ConfigError

OTHER = "other"  #: stands for every value that was not let in
NONE = "none"  #: stands for a value that was not given
MAX_LABEL = 120  #: bytes of a declared name as a label; our scrape configuration refuses values over 128
MAX_VALUES = 20  #: of a label that the traffic may fill
COOLDOWN = 3600.0  #: seconds that a value keeps its place after its last use, and that it stays away once it lost it

_CLEAN = re.compile(r"[A-Za-z0-9._:@+-]{1,64}")

K = TypeVar("K", bound=Hashable)


class BoundedLabels(Generic[K]):
    """Give a bounded number of places to whoever is in use; the longest unused gives way.

    limit: places beside those of `declared`, who never lose theirs. A place may be lost after `COOLDOWN` without use,
    and is not regained for as long then. So a burst of made-up values can neither push out those in use,
    nor create more than `limit` new ones in that time.
    """

    def __init__(self, limit: int, *, declared: Iterable[K] = ()) -> None:
        self.limit = limit
        self.last_use: dict[K, float] = dict.fromkeys(declared, float("-inf"))
        self._declared = frozenset(self.last_use)
        self._away: dict[K, float] = {}
        self._evicted: list[K] = []

    def admit(self, key: K, now: float) -> bool:
        """Say whether the key has a place, and note its use; now: seconds on any clock that does not jump back."""
        if key in self.last_use:
            self.last_use[key] = now
            return True
        if key in self._away and now - self._away[key] < COOLDOWN:
            return False
        if len(self.last_use) - len(self._declared) >= self.limit and not self._make_room(now):
            return False
        self._away.pop(key, None)
        self.last_use[key] = now
        return True

    def replace(self, key: K, kept: Collection[K], now: float) -> bool:
        """Give a key the place of the longest unused one, at once, unless that is kept; False where all are.

        Whoever calls sees to it that this does not happen too often.
        """
        candidates = [known for known in self.last_use if known not in self._declared and known not in kept]
        oldest = min(candidates, key=self.last_use.__getitem__, default=None)
        if oldest is None:
            return False
        self._evict(oldest, now)
        self._away.pop(key, None)
        self.last_use[key] = now
        return True

    def drop(self, key: K) -> None:
        """Take the place away now, without a report: whoever calls knows."""
        self.last_use.pop(key, None)

    def take_evicted(self) -> list[K]:
        """Name those who lost their place since the last call, so that their series can be removed."""
        evicted, self._evicted = self._evicted, []
        return evicted

    def _make_room(self, now: float) -> bool:
        candidates = [key for key in self.last_use if key not in self._declared]
        oldest = min(candidates, key=self.last_use.__getitem__, default=None)
        if oldest is None or now - self.last_use[oldest] < COOLDOWN:
            return False
        self._evict(oldest, now)
        return True

    def _evict(self, key: K, now: float) -> None:
        used = self.last_use.pop(key) != float("-inf")
        self._away = {away: since for away, since in self._away.items() if now - since < COOLDOWN}
        if used:
            self._away[key] = now
        self._evicted.append(key)


class LabelGuard:
    """Let at most `limit` clean values of one label through; the rest become "other", counted in `overflow`.

    Clean: after NFC (UAX 15), 1 to 64 of `A–Z a–z 0–9 . _ : @ + -`. declared: values from the configuration, always let
    through beside the limit; ConfigError when one is not clean. overflow: how often `admit` answered "other".
    A value that was not given is "none", which is no overflow.

    >>> guard = LabelGuard(limit=1)
    >>> guard.admit("v1", 0.0), guard.admit("v2", 1.0), guard.overflow
    ('v1', 'other', 1)
    """

    def __init__(self, limit: int = MAX_VALUES, *, declared: Iterable[str] = ()) -> None:
        declared = list(declared)
        for value in declared:
            if not _CLEAN.fullmatch(value):
                msg = f"a declared label value must be 1 to 64 of A–Z a–z 0–9 . _ : @ + -; got {value!r}"
                raise ConfigError(msg)
        self._places = BoundedLabels(limit, declared=(NONE, OTHER, *declared))
        self._last_use = self._places.last_use
        self.overflow = 0

    @property
    def live(self) -> tuple[str, ...]:
        """The values that are let through now, "none" and "other" among them."""
        return tuple(self._last_use)

    def admit(self, value: str | None, now: float) -> str:
        """Give the label for a value from the traffic; now: seconds on any clock that does not jump back."""
        if value in self._last_use:
            self._last_use[value] = now
            return value
        if not value:
            return NONE
        # NFC can only shorten a text that ends up clean, and it is slow on long runs of combining marks: length first.
        clean = unicodedata.normalize("NFC", value) if len(value) <= 64 else ""
        if _CLEAN.fullmatch(clean) and self._places.admit(clean, now):
            return clean
        self.overflow += 1
        return OTHER

    def take_evicted(self) -> list[str]:
        """Name the values that lost their place since the last call, so that their series can be removed."""
        return self._places.take_evicted()


def name_label(name: str) -> str:
    """Spell a declared name (scorer, check, topic) as a label: printable and at most 120 bytes of UTF-8.

    A name that has to be changed ends in eight hex digits of its digest, so that two names never share a label.

    >>> name_label("nDCG(order=retrieval)@10")
    'nDCG(order=retrieval)@10'
    """
    printable = "".join(char if char.isprintable() else "?" for char in name[: MAX_LABEL + 1])
    raw = printable.encode()
    if name and printable == name and len(raw) <= MAX_LABEL:
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{raw[: MAX_LABEL - 9].decode(errors='ignore')}#{digest}"
