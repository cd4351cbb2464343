"""What goes into a docket and comes out of it."""

from typing import NamedTuple

from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.material import Material
from turnsignal.stream.records.verdicts import Verdict

ATTEMPTS = 3  #: times that an exchange may be in flight when a worker ends
SUSPECT = ATTEMPTS - 1  #: such times, after which it is asked about while no other is


class QueuedExchange(NamedTuple):
    """One exchange of the topic. written: when, in seconds since 1970; size: bytes."""

    offset: int
    exchange: ExchangeRecord
    written: float
    size: int


class ReservedCall(NamedTuple):
    """A call that may be sent once it is committed. most: its greatest price, in billionths."""

    offset: int
    judge: Judge
    exchange: ExchangeRecord
    material: Material
    attempt: int
    most: int

    @property
    def is_suspect(self) -> bool:
        """Whether its exchange was in flight at so many ends of workers that it may be what ends them."""
        return self.attempt > SUSPECT


class DocketResult(NamedTuple):
    """What has to be committed together. changes: of the store, None removes a key; calls: to be sent afterwards."""

    verdicts: list[Verdict]
    changes: dict[bytes, bytes | None]
    position: int
    calls: list[ReservedCall]


class Question(NamedTuple):
    """One exchange and one judge, by the judge's digest."""

    offset: int
    judge: str
