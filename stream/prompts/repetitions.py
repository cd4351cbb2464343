"""Repetitions: bounds on how many of a thing an answer has, as patterns that find so many of it."""

from collections.abc import Iterator

from turnsignal.stream.names import parse_name, write_name

_MOST = 50  #: of a thing that a pattern counts; its size grows with them


def repetitions(check: str, thing: str) -> Iterator[str]:
    """Yield the patterns for a check's bounds; the check itself where they are larger than a pattern should be.

    thing: a pattern of one, and of what lies between it and the next.
    """
    bounds = parse_name(check).params
    least, most = int(bounds.get("at_least", 0)), int(bounds.get("at_most", 0))
    if max(least, most) > _MOST:
        yield check
        return
    for kind, number in (("require", least), ("forbid", most + 1 if "at_most" in bounds else 0)):
        if number:
            yield write_name(f"pattern.{kind}", {"regex": f"(?ms)(?:{thing}){{{number}}}", "skip_code": True})
