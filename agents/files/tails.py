"""Tails: what topics took since a run noted how far it came, and which records of that run are among it.

A run that was killed had sent more than it noted. The next one reads what came behind the offsets of that note, whoever
sent it, and knows its own by their headers; so it sends nothing twice, however old the records are.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from turnsignal.agents.files.journal import HEADER, Journal, NotedLog
from turnsignal.agents.kafka.log_records import LogRecord
from turnsignal.agents.kafka.logs import Ranges, ReadDeniedError, find_log, find_topic_id, read_log
from turnsignal.agents.settings import Settings

LONG = 200_000  #: records that take seconds to read, which is said before


class Tails(NamedTuple):
    """What lies on the topics of a run.

    numbers: of its records that are there and that it did not note as done; begins, ends: as `Journal.start` takes
    them.
    """

    numbers: set[int]
    begins: dict[str, NotedLog]
    ends: dict[str, dict[int, int]]


def read_tails(settings: Settings, journal: Journal, topics: Iterable[str], say: Callable[[str], None]) -> Tails:
    """Find the records of a run that its topics took since its last note.

    say: takes a line for a person where some may come twice. Raises TurnsignalError when the broker does not answer.
    """
    tails = Tails(set(), {}, {})
    if journal.skip and not journal.topics:
        say(f"{journal.path} is of an earlier release: what was sent beyond its {journal.skip:,} records comes twice")
    for topic in dict.fromkeys(topics):
        log = find_log(settings, topic)
        now = NotedLog(find_topic_id(settings, topic), {partition: end for partition, (_, end) in log.items()})
        begin = journal.topics.get(topic, now)
        if _is_another(begin, now):
            say(
                f"{topic} was made anew since {journal.path} was written: all beyond {journal.skip:,} records is sent "
                "to it, also what the one before it had taken"
            )
            begin = now
        ranges = _behind(begin, log)
        size = sum(end - first for first, end in ranges.values())
        gone = sum(first - begin.offsets.get(partition, 0) for partition, (first, _) in ranges.items())
        if gone:
            say(f"{topic} has dropped {gone:,} records since {journal.path} was written: so many at most come twice")
        if size >= LONG:
            say(f"looking through {size:,} records that {topic} took since {journal.path} was written")
        try:
            for records in read_log(settings, topic, ranges, committed=False):
                tails.numbers.update(_numbers_in(records, journal))
        except ReadDeniedError:
            begin = now
            say(
                f"{topic} may not be read by this user (READ): of what it took since {journal.path} was written, "
                f"{size:,} records at most come twice"
            )
        tails.begins[topic], tails.ends[topic] = begin, now.offsets
    return tails


def _is_another(noted: NotedLog, now: NotedLog) -> bool:
    """Say whether a topic is not the one that was noted: by its id, or, where brokers give none, as it is shorter."""
    if noted.id and now.id:
        return noted.id != now.id
    return any(now.offsets.get(partition, 0) < offset for partition, offset in noted.offsets.items())


def _behind(noted: NotedLog, log: Ranges) -> Ranges:
    """Return what a topic still has behind the offsets that were noted."""
    begins = {partition: max(first, noted.offsets.get(partition, 0)) for partition, (first, _) in log.items()}
    return {partition: (begin, max(begin, log[partition][1])) for partition, begin in begins.items()}


def _numbers_in(records: Iterable[LogRecord], journal: Journal) -> Iterator[int]:
    """Give the number of each record of the run that it did not note as done."""
    tag = f"{journal.tag}:".encode()
    for record in records:
        for name, value in record.headers:
            number = value[len(tag) :] if name == HEADER and value is not None and value.startswith(tag) else b""
            if number.isdigit() and int(number) >= journal.skip:
                yield int(number)
