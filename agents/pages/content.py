"""Content: what an app has to show beside its health, as answers that are JSON and pages alike."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

CHOICES = 200  #: names that a form offers


class Asked(NamedTuple):
    """What is asked for.

    words: the parts of the path by name; query: what stands behind the question mark, each name once; by_worker:
    whether another worker asks, which is not to be asked in turn.
    """

    words: Mapping[str, str]
    query: Mapping[str, str]
    by_worker: bool = False


class MissingError(Exception):
    """There is no such thing here; reason: in words, with what to try; about: the id that was asked for."""

    def __init__(self, reason: str, about: str = "") -> None:
        super().__init__(reason)
        self.about = about


class ElsewhereError(Exception):
    """What is asked for stands under another path of this worker."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Page(NamedTuple):
    """One kind of page.

    path: a route of aiohttp's; template: draws the answer for people; answer: gives what is to be shown, as JSON,
    raises MissingError and ElsewhereError; texts: whether it shows what people said, or their ids; summary: one line
    for the front page; link: where that line leads, None where the path has parts to be filled in; beyond: who is asked
    for what is not here: the worker that has the partition of the conversation `id`, all other workers, or nobody.
    """

    path: str
    template: str
    answer: Callable[[Asked], Awaitable[Mapping[str, Any]]]
    summary: str
    link: str | None = None
    texts: bool = False
    beyond: Literal["owner", "all"] | None = None


def choices(names: Iterable[str]) -> list[str]:
    """Return the names that a form offers, in order; not those with signs that cannot be seen: strangers make them."""
    return sorted({name for name in names if name.isprintable()})[:CHOICES]
