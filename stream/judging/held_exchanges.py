"""Held exchanges: a partition's exchanges from the lowest undecided one on, decided in any order.

The position is the lowest offset that is not decided; what is decided above it is kept until the position gets there.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from turnsignal.stream.judging.docket_entries import QueuedExchange
from turnsignal.stream.judging.exchanges import ExchangeRecord

MOST_HELD = 1_000  #: exchanges from the lowest undecided one on
MOST_BYTES = 16_000_000  #: of exchanges that wait or are asked about


@dataclass(slots=True)
class HeldExchange:
    """One exchange from the lowest undecided one on.

    exchange: None once decided; decided: digests of judges; part: of what judges are asked about, when it came.
    """

    exchange: ExchangeRecord | None
    written: float
    size: int
    part: float = 1.0
    decided: set[str] = field(default_factory=set)


class HeldExchanges:
    """The exchanges of one partition. judges: digests of those who decide each; most: how many are held."""

    def __init__(self, judges: Collection[str], position: int = 0, most: int = MOST_HELD) -> None:
        self._judges = list(judges)
        self._most = most
        self._held: dict[int, HeldExchange] = {}
        self._bytes = 0
        self.position = self._next = position  #: lowest offset that is not decided, and the one behind the last

    def __len__(self) -> int:
        """Return how many are kept, decided ones behind an undecided one among them."""
        return len(self._held)

    def __getitem__(self, offset: int) -> HeldExchange:
        """Return the exchange at an offset, which is held."""
        return self._held[offset]

    @property
    def is_idle(self) -> bool:
        """Whether every exchange that came is decided."""
        return self.position == self._next

    @property
    def queued(self) -> int:
        """Exchanges that came and that not every judge has decided."""
        return sum(held.exchange is not None for held in self._held.values())

    @property
    def room(self) -> int:
        """How many more exchanges may be taken in."""
        return max(0, self._most - (self._next - self.position)) if self._bytes < MOST_BYTES else 0

    @property
    def has_plenty_of_room(self) -> bool:
        """Whether more than half as many may be taken in as are held at most."""
        return self.room > self._most // 2

    @property
    def oldest(self) -> float | None:
        """When the lowest undecided exchange was written, None where there is none."""
        held = self._held.get(self.position)
        return None if held is None or held.exchange is None else held.written

    def behind_oldest(self) -> int:
        """Return the offset behind the oldest tenth."""
        return self.position + max(1, self._most // 10)

    def undecided(self) -> Iterator[tuple[int, HeldExchange, ExchangeRecord]]:
        """Give the exchanges that not every judge has decided, as they are now."""
        for offset, held in list(self._held.items()):
            if held.exchange is not None:
                yield offset, held, held.exchange

    def begin_at(self, position: int) -> float:
        """Begin at this offset, and return the one before which nothing is held any more."""
        first = position if position >= self.position else float("inf")
        for offset in [offset for offset in self._held if offset < first]:
            del self._held[offset]
        self.position = self._next = position
        return first

    def pass_by(self, offset: int) -> HeldExchange:
        """Count an offset as come, and return what is held there."""
        self._next = max(self._next, offset + 1)
        return self._held.setdefault(offset, HeldExchange(None, 0.0, 0))

    def hold(self, record: QueuedExchange, part: float) -> HeldExchange | None:
        """Hold an exchange; None where it is held already."""
        held = self.pass_by(record.offset)
        if held.exchange is not None:
            return None
        held.exchange, held.written, held.size, held.part = record.exchange, record.written, record.size, part
        self._bytes += record.size
        return held

    def decide(self, offset: int, judge: str) -> None:
        """Count an exchange as decided by one judge."""
        self._held[offset].decided.add(judge)

    def decide_all(self, offset: int) -> None:
        """Count an exchange as decided by all of them, whether it came or not."""
        held = self.pass_by(offset)
        held.decided.update(self._judges)
        self._let_go(held)

    def close(self, offset: int) -> None:
        """Let go of an exchange that every judge has decided, and move the position on over those that are."""
        held = self._held.get(offset)
        if held is not None and held.exchange is not None and held.decided.issuperset(self._judges):
            self._let_go(held)

    def dump(self) -> list[tuple[int, int]]:
        """Return the offsets that any judge has decided, and which judges: a bit each, in their order."""
        return [(offset, self._bits(held)) for offset, held in self._held.items() if held.decided]

    def restore(self, position: int, judges: Collection[str], decided: Collection[tuple[int, int]]) -> None:
        """Take in what another one of these judges has dumped."""
        self.position = self._next = position
        for offset, bits in decided:
            by = {digest for n, digest in enumerate(judges) if bits >> n & 1}
            self._held[offset] = HeldExchange(None, 0.0, 0, decided=by)

    def _let_go(self, held: HeldExchange) -> None:
        self._bytes -= held.size
        held.exchange, held.size = None, 0
        while self.position < self._next and self._is_decided(self.position):
            self._held.pop(self.position, None)
            self.position += 1

    def _is_decided(self, offset: int) -> bool:
        """Whether an offset is decided; one that no record came for is a transaction's mark, or compacted away."""
        held = self._held.get(offset)
        return held is None or (held.exchange is None and held.decided.issuperset(self._judges))

    def _bits(self, held: HeldExchange) -> int:
        return sum(1 << n for n, digest in enumerate(self._judges) if digest in held.decided)
