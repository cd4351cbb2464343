"""Other ids: documents that carry other ids than labels name, as after an import, look like ones that nobody asked for.

Labels are usually older than an index. Where what came before is replaced by documents that never did, and nothing that
knows nothing of labels is worse, what labels say of both is neither better nor worse.
"""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.records.scores import CITED, CITED_ARTICLE, DANGLING
from turnsignal.stream.statistics.directions import (
    BETTER,
    BY_USERS,
    FAILED,
    FALL,
    LEAST,
    RISE,
    WITH_DOCUMENTS,
    WORSE,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import PROMISE, moved
from turnsignal.stream.statistics.record_change import RecordChange

_OF_OTHERS = 1.5  #: labels for each document that comes in another's place: what is asked for most may be among them
#: Figures that know nothing of labels, and how they move where what was found is worse.
_IS_WORSE = {**BY_USERS, FAILED: RISE, WITH_DOCUMENTS: FALL, CITED: FALL, DANGLING: RISE}


class Replaced(NamedTuple):
    """Documents in whose place others come.

    share: of those that came before; alike: others come as often as they did, the rare and the common ones. Where they
    do not, a search finds anything, or the same few, or what was one document is several.
    """

    share: float
    alike: bool


def other_ids(deltas: Mapping[str, Difference], replaced: Replaced | None) -> RecordChange | None:
    """Say where labels may name documents by ids that they no longer have, or did not have yet.

    Who finds what nobody asked for looks the same, so where anything else is worse, that may be, too.
    """
    labelled = [name for name in deltas if name == CITED_ARTICLE or "on=truth" in name]
    if replaced is None or not labelled:
        return None
    why = f"{replaced.share:.0%} of what came before is replaced by documents that never did"
    ask = f"{why}: do labels name those of both by their ids?"
    is_worse = any(
        moved(deltas[name], way, LEAST.get(name, 0.0)) and len(_IS_WORSE) * deltas[name].p <= PROMISE
        for name, way in _IS_WORSE.items()
        if name in deltas
    )
    withdraws = (WORSE, BETTER) if replaced.alike and not is_worse else (BETTER,)
    return RecordChange(why, dict.fromkeys(labelled, _OF_OTHERS * replaced.share), ask, withdraws)
