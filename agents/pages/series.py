"""Series: what the watch app remembers of each assistant's scorers, version by version."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from turnsignal.agents.pages.content import Asked, MissingError, Page, choices
from turnsignal.agents.pages.searching import Searchable, snapshots
from turnsignal.stream.records.turns import MAX_ID

SHOWN = 300  #: series on one page


class SeriesPages:
    """What a watch worker shows of the series in its partitions; processors: asked for whenever something is shown."""

    def __init__(self, processors: Callable[[], Iterable[Searchable]]) -> None:
        self._processors = processors

    def pages(self) -> list[Page]:
        """Return the pages that there are."""
        return [
            Page(
                "/series",
                "series.html.j2",
                self._list,
                "counts and rolling means of each assistant's scorers, by version",
                "/series",
            ),
            Page("/conversations/{id:.+}", "message.html.j2", _refuse, "score workers have these", texts=True),
        ]

    async def _list(self, asked: Asked) -> Mapping[str, Any]:
        assistant, scorer = (asked.query.get(name, "")[:MAX_ID] or None for name in ("assistant", "scorer"))
        known, kept = [], 0
        async for processor, key, _ in snapshots(self._processors()):
            kept += 1
            described = processor.describe(key)
            if described is not None and "scorer" in described:  # what else is kept there has pages of its own
                known.append(described)
        series = [
            described
            for described in known
            if assistant in (None, described["assistant"]) and scorer in (None, described["scorer"])
        ]
        series.sort(key=lambda described: (described["assistant"], described["scorer"], described.get("lane", 0)))
        return {
            "assistant": assistant,
            "assistants": choices(described["assistant"] for described in known),
            "scorer": scorer,
            "scorers": choices(described["scorer"] for described in known),
            "series": series[:SHOWN],
            "left_out": max(0, len(series) - SHOWN),
            "kept_here": kept,
        }


async def _refuse(asked: Asked) -> Mapping[str, Any]:
    raise MissingError("this worker keeps no conversations; ask a score worker", asked.words["id"][:MAX_ID])
