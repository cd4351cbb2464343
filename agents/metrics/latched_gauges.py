"""Latched gauges: what stays on the page until it is taken away, also where several keys share their labels.

Assistants and versions without a label of their own are all "other": what is over for one of them may go on for
another, so labels go with the last key that is shown under them.
"""

from typing import Any

Labels = tuple[str, ...]


class LatchedGauges:
    """The gauges of a family by key, and the labels under which each is shown."""

    def __init__(self) -> None:
        self._labels: dict[Any, Labels] = {}
        self._values: dict[Labels, dict[Any, float]] = {}  # of each key behind the labels, the newest last

    def latch(self, key: Any, labels: Labels, value: float | None, shown: dict[Labels, float]) -> None:
        """Show a gauge, or take it away where there is no value, whatever labels the key had when it was shown.

        shown: what the page has, which is changed.
        """
        before = self._labels.pop(key, labels)
        left = self._values.get(before, {})
        left.pop(key, None)
        if left and before in shown:  # what lost its place on the page does not come back for another key's sake
            shown[before] = next(reversed(left.values()))
        elif not left:
            self._values.pop(before, None)
            shown.pop(before, None)
        if value is not None:
            # Set, not raised: one turn from a clock a day ahead must not hide a stopped topic for a day.
            self._labels[key] = labels
            self._values.setdefault(labels, {})[key] = shown[labels] = value
