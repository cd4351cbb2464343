"""Regressions: the incidents that a watch worker keeps, and each one with what moved and where to see it.

An incident names five conversations. Those are kept by score workers: the page links to where one of them is, which
finds the others' conversations by itself.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from turnsignal.agents.pages.content import Asked, MissingError, Page, choices
from turnsignal.agents.pages.searching import Searchable, snapshots
from turnsignal.stream.records.turns import MAX_ID

SHOWN = 200  #: incidents on one page

_NOT_KEPT_HERE = (
    "not kept here: unknown, over for long, or in a partition of another watch worker; `turnsignal regressions show ID`"
    " reads it from the topic"
)


class RegressionPages:
    """What a watch worker shows of incidents.

    processors: asked for whenever something is shown; conversations: where a score worker's pages are, as a URL, ""
    where nobody knows; names: whether ids of conversations are shown.
    """

    def __init__(
        self, processors: Callable[[], Iterable[Searchable]], conversations: str = "", *, names: bool = True
    ) -> None:
        self._processors = processors
        self._conversations = conversations
        self._names = names

    def pages(self) -> list[Page]:
        """Return the pages that there are."""
        return [
            Page("/regressions", "regressions.html.j2", self._list, "incidents: answers that changed", "/regressions"),
            Page(
                "/regressions/{id}",
                "regression.html.j2",
                self._show,
                "one incident, with five conversations to look at",
                beyond="all",
            ),
        ]

    async def _list(self, asked: Asked) -> Mapping[str, Any]:
        assistant = asked.query.get("assistant", "")[:MAX_ID] or None
        known = [incident async for incident in self._incidents()]
        incidents = [incident for incident in known if assistant in (None, incident["assistant"])]
        incidents.sort(key=lambda incident: (incident["closed"] is None, incident["opened"]), reverse=True)
        return {
            "assistant": assistant,
            "assistants": choices(incident["assistant"] for incident in known),
            "incidents": [self._hide_names(incident) for incident in incidents[:SHOWN]],
            "left_out": max(0, len(incidents) - SHOWN),
        }

    async def _show(self, asked: Asked) -> Mapping[str, Any]:
        async for incident in self._incidents():
            if incident["id"] == asked.words["id"]:
                return {**self._hide_names(incident), "conversations_at": self._conversations}
        raise MissingError(_NOT_KEPT_HERE, asked.words["id"][:MAX_ID])

    async def _incidents(self) -> Any:
        async for processor, key, _ in snapshots(self._processors()):
            described = processor.describe(key)
            if described is not None and "changes" in described:
                yield described

    def _hide_names(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out which conversations an incident is seen in, where nobody is to see people's."""
        if self._names:
            return dict(incident)
        changes = [{**change, "conversations": []} for change in incident["changes"]]
        return {**incident, "conversations": [], "changes": changes, "text": []}
