"""Calls that came twice: a handler that is attached twice, shippers that send again, files that overlap, two loggers.

    10:00:00.125   "How do I pay?"   gets: By card.
    10:00:00.126   "How do I pay?"   gets: By card.      the same call, as another handler wrote it

A call that says word by word what another does, within a second, is that call, unless each has a response's id of its
own and most calls came once; so is one that has its response's id and its last words within a minute. Two users may say
the same at that time by chance. How likely that is the log's other calls show: how many of those that say other things
are as near to each other. Where chance would do it, or no time is known, nothing is left out, but that is told.
"""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.heads import digested, words_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.quotations import NUMBER, SHORT, digest_of

LEFT_OUT = "records that came twice left out"
KEPT = "calls that say at once what another does, kept as chance may have it"
_AT_ONCE = (0.0, 0.05, 1.0)  #: seconds between two that say the same: as near as they are, as near others must not be
_ONE_ID = (*_AT_ONCE, 10.0, 60.0)  #: and between two of one response's id
_CHANCE = 0.1  #: pairs of calls that say the same, and that chance may bring together, of which none is taken for one
_MORE = 4  #: times as many pairs as chance would make
_NEARLY_ALL = 0.8  #: of the calls that come twice; then those come twice, too, which chance would bring together
_TELLING = 40  #: characters of an answer that is hardly given twice,
_FEWEST, _SHARE = 5, 0.2  #: records without a time that repeat one, and the share of them, to be told of,
_OFTEN = 0.02  #: and the share of calls with one that chance may have brought together
_MOST_MESSAGES = 30_000  #: that are counted
_OF_RESPONSES = ("chatcmpl-", "cmpl-", "resp_", "msg_", "gen-")  #: what ids begin with that models' servers give


class CameTwice:
    """The calls of a log, some forty bytes each, and which of them are others once more."""

    def __init__(self) -> None:
        self._words, self._ids, self._exchanges = bytearray(), bytearray(), bytearray()  # digests, SHORT bytes each
        self._owners = bytearray()
        self._given = bytearray()  # whether the id is a response's
        self._starts = array("d")
        self._sizes = array("H")
        self._lines = array("L")
        self._timeless = bytearray()  # digests of what calls without a time say, where that is telling
        self._again: bytearray | None = None  # of each line, whether it is left out
        self._unsure = self._repeated = self._calls = 0

    def add(self, call: Call) -> None:
        """Take in the next call; called for each before the first `taken_out`."""
        answers = spoken_in(call.outputs) or [message for message in call.inputs[-1:] if message.role == "assistant"]
        is_one = call.kind == "answer" and call.trace is None and call.response is None and not call.partial
        if not is_one or not (answers or any(message.called for message in call.outputs)):
            return
        named = call.origin.partition(":")[2]
        by = f"{call.conversation or call.session}\0{call.fields.get('user_id')}\0{call.fields.get('assistant')}"
        words = digest_of(f"{by}\0{call.fields.get('model')}\0{words_of(call).hex()}")
        if call.start is None:
            self._timeless += words if answers and len(answers[-1].text) >= _TELLING else b""
            return
        self._words += words
        self._ids += digest_of(named)
        self._given.append(named.startswith(_OF_RESPONSES))
        asked = [digested(message)[1] for message in spoken_in(call.inputs)[-1:]]
        self._exchanges += digest_of(b"".join((*asked, *(digested(answer)[1] for answer in answers[:1]))).hex())
        owner = call.conversation or call.session
        self._owners += digest_of(owner) if owner else bytes(SHORT)
        self._starts.append(call.start)
        self._sizes.append(min(len(call.inputs), _MOST_MESSAGES) + _MOST_MESSAGES * (owner is not None))
        self._lines.append(call.line)

    def taken_out(self, calls: Sequence[Call], assumed: Assumed) -> list[Call]:
        """Return calls without those that came before."""
        if self._again is None:
            self._again = self._find()
        kept = [call for call in calls if call.line >= len(self._again) or not self._again[call.line]]
        assumed[LEFT_OUT] += len(calls) - len(kept)
        assumed[KEPT] = self._unsure
        return kept

    def doubts(self) -> list[str]:
        """Say what may have come twice, though nothing tells that it did."""
        doubts = []
        if self._unsure >= max(_FEWEST, _OFTEN * self._calls):
            doubts.append(
                f"{self._unsure:,} calls say at once what another does, word by word, as often as chance brings two "
                "users together; each counts: where the log was written twice, log an id with each call "
                "(request_id), or leave its repeated lines out first (awk '!seen[$0]++')"
            )
        if self._repeated:
            doubts.append(
                f"{self._repeated:,} records without a time say word by word what another does; each counts: where "
                "the log was written twice, leave its repeated lines out first (awk '!seen[$0]++'), or log a time"
            )
        return doubts

    def _find(self) -> bytearray:
        """Return for each line whether its call is another once more."""
        again = bytearray(max(self._lines, default=-1) + 1)
        timeless = np.frombuffer(bytes(self._timeless), NUMBER)
        repeated = len(timeless) - len(np.unique(timeless))
        self._repeated = repeated if repeated >= max(_FEWEST, _SHARE * len(timeless)) else 0
        self._calls = len(self._lines)
        if self._calls > 1:
            lines = np.frombuffer(self._lines, f"u{self._lines.itemsize}")
            for chosen in (self._of_one_id(), self._of_the_same_words()):
                for at in lines[chosen].tolist():
                    again[at] = 1
        self._words = self._ids = self._exchanges = self._owners = self._given = self._timeless = bytearray()
        self._starts, self._sizes, self._lines = array("d"), array("H"), array("L")
        return again

    def _of_the_same_words(self) -> Any:
        """Return the places of calls that say what another does."""
        near = self._near(np.frombuffer(bytes(self._words), NUMBER), _AT_ONCE)
        ids, given = np.frombuffer(bytes(self._ids), NUMBER), np.frombuffer(bytes(self._given), bool)
        one, other = near.order[:-1], near.order[1:]
        differ = given[one] & given[other] & (ids[one] != ids[other])
        twice = int(np.count_nonzero(near.sure))
        if twice >= _NEARLY_ALL * (len(ids) - twice):  # a gateway gives ids of its own, and logs what an app does
            differ[:] = False
        self._unsure = int(np.count_nonzero(near.unsure & ~differ))
        return self._others(near, near.sure & ~differ)

    def _of_one_id(self) -> Any:
        """Return the places of calls that have the response's id, and the last words, of another.

        An id that stands for different words is none of a response; nor is one under several conversations' ids.
        """
        ids, exchanges = (np.frombuffer(bytes(each), NUMBER) for each in (self._ids, self._exchanges))
        owners = np.frombuffer(bytes(self._owners), NUMBER)
        near = self._near(ids, _ONE_ID)
        one, other = near.order[:-1], near.order[1:]
        same = (ids[one] == ids[other]) & (exchanges[one] != exchanges[other])
        differ = np.unique(ids[one[same]])
        agree = (owners[one] == owners[other]) | (owners[one] == 0) | (owners[other] == 0)
        return self._others(near, near.sure & agree & ~np.isin(ids[one], differ))

    def _near(self, keys: Any, within: Sequence[float]) -> "_Near":
        """Find calls of one key that are nearer to each other than chance would have it."""
        starts = np.frombuffer(self._starts, float)
        order: Any = np.lexsort((starts, keys))
        key, start = keys[order], starts[order]
        gaps = np.diff(start)
        near = (key[1:] == key[:-1]) & (gaps <= within[-1])
        if not near.any():
            return _Near(order, near, near)
        events = np.sort(start[~np.concatenate(([False], near))])  # each that came twice is one
        chances = np.array([_chance(events, seconds) for seconds in within])
        _, place, times = np.unique(key, return_inverse=True, return_counts=True)
        pairs = (times * (times - 1) / 2)[place[1:]]
        expected = pairs * chances[np.minimum(np.searchsorted(within, gaps), len(within) - 1)]
        sure = near & (expected < _CHANCE)
        _, of_each = np.unique(key[1:][sure], return_index=True)
        if np.count_nonzero(sure) < _MORE * float(expected[sure][of_each].sum()):
            sure = np.zeros_like(near)
        unsure = near & ~sure
        if np.count_nonzero(sure) >= _NEARLY_ALL * max(len(events) - int(np.count_nonzero(unsure)), 1):
            sure, unsure = near, np.zeros_like(near)
        return _Near(order, sure, unsure)

    def _others(self, near: "_Near", linked: Any) -> Any:
        """Return the places of all calls but the one of each chain that says most, or came first."""
        chain = np.concatenate(([0], np.cumsum(~linked)))
        lines, sizes = np.frombuffer(self._lines, f"u{self._lines.itemsize}"), np.frombuffer(self._sizes, np.uint16)
        members = np.lexsort((lines[near.order], -sizes[near.order].astype(np.int64), chain))
        is_other = np.concatenate(([False], np.diff(chain[members]) == 0))
        return near.order[members[is_other]]


class _Near(NamedTuple):
    """Calls in the order of their keys and times; of all but the last, whether the next one surely is it, or may be."""

    order: Any
    sure: Any
    unsure: Any


def _chance(events: Any, seconds: float) -> float:
    """Return which share of pairs of different calls are so near to each other. events: their times, in order."""
    pairs = len(events) * (len(events) - 1) / 2
    near = np.searchsorted(events, events + seconds, side="right") - np.arange(len(events)) - 1
    return float(near.sum() / pairs) if pairs else 0.0
