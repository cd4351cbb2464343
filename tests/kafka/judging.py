"""Judge workers in the lab: a real broker, a real endpoint, and verdicts that are compared with what was queued."""

import re
import urllib.request
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.agents.providers.conftest import Served
from tests.kafka.faults.oracle import committed, ends, read_topic
from tests.kafka.faults.play import make_settings
from tests.kafka.faults.workers import FaultyWorker, wait
from tests.stream.judging.exchanges import an_exchange
from turnsignal.agents.kafka.topics import create_topics, partition_for, topic_names
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS
from turnsignal.stream.records.verdicts import VERDICTS, Verdict

KEY = "sk-test-secret-0123456789"
_MARK = re.compile(r"Answer (\d+)\.")


class JudgeLab:
    """Topics of one test, exchanges on them, and workers that ask an endpoint about them.

    suite: the part about judges; env: more variables of the workers.
    """

    def __init__(
        self,
        broker: Any,
        prefix: str,
        directory: Path,
        endpoint: Served,
        suite: str,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = make_settings(broker, prefix, directory)
        assert self.settings.suite is not None
        self.settings.suite.write_text(f"[exchanges]\nshare = 1.0\n{suite}", encoding="utf-8")
        self.workers: list[FaultyWorker] = []
        self.queued = 0
        self._directory = directory
        self._env = {"TURNSIGNAL_JUDGE_LAB_URL": endpoint.url, "TURNSIGNAL_JUDGE_LAB_KEY": KEY, **(env or {})}
        self._topics = topic_names(self.settings.prefix)
        create_topics(self.settings)

    def start(self, name: str = "judge") -> FaultyWorker:
        """Start a worker."""
        worker = FaultyWorker(name, self.settings, self._directory, app="judge", env=self._env)
        self.workers.append(worker)
        worker.start()
        return worker

    def queue(self, count: int, **changes: Any) -> None:
        """Queue exchanges, each with an answer of its own."""
        producer = Producer(self.settings.producer() | {"enable.idempotence": True})
        for number in range(self.queued, self.queued + count):
            fields = {
                "conversation_id": f"c{number}",
                "row": f"row-{number}",
                "response": f"Answer {number}.",
            } | changes
            exchange = EXCHANGE_RECORDS.dump_json(an_exchange(**fields))
            producer.produce(self._topics["exchanges"], exchange, fields["conversation_id"])
            producer.poll(0)
        assert producer.flush(60) == 0
        self.queued += count

    def write(self, value: bytes, key: bytes = b"c0") -> None:
        """Put any bytes on the queue."""
        producer = Producer(self.settings.producer() | {"enable.idempotence": True})
        producer.produce(self._topics["exchanges"], value, key)
        assert producer.flush(60) == 0

    def verdicts(self) -> list[Verdict]:
        """Everything that is committed, from the exchange's own partition."""
        written = []
        for partition, records in read_topic(self.settings, self._topics["verdicts"]).items():
            for record in records:
                assert record.key is not None
                assert partition == partition_for(record.key, self.settings.partitions)
                written.append(VERDICTS.validate_json(record.value or b""))
        return written

    def await_verdicts(self, judges: int = 1, seconds: float = 60.0) -> list[Verdict]:
        """Wait until everything is decided; one verdict per exchange and judge, whatever happened."""
        wait(lambda: self.is_decided, seconds, f"{self.queued} exchanges to be decided", self.workers)
        verdicts = self.verdicts()
        found = Counter((verdict.row, verdict.judge.name) for verdict in verdicts)
        assert len(found) == self.queued * judges
        assert set(found.values()) == {1}
        assert len({verdict.id for verdict in verdicts}) == len(verdicts)
        return verdicts

    @property
    def is_decided(self) -> bool:
        """Whether the group stands at the end of the queue."""
        return committed(self.settings, "exchanges", "judge") == ends(self.settings, "exchanges")

    def letters(self) -> list[dict[str, bytes]]:
        """Headers of the dead letters."""
        topic = read_topic(self.settings, self._topics["dead_letters"])
        return [dict(record.headers) for records in topic.values() for record in records]

    def page(self, worker: FaultyWorker, name: str) -> str:
        """Read a page of a worker."""
        pages = re.findall(r"pages on (http://[\d.:]+)", worker.log_text())
        with urllib.request.urlopen(f"{pages[-1]}/{name}", timeout=10) as answer:
            return str(answer.read().decode())

    def close(self) -> None:
        """End all workers; no log may hold the key."""
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.join()
            worker.kill()
        assert not any(KEY in worker.log_text() for worker in self.workers)


def count_asked(calls: Iterable[Mapping[str, Any]]) -> Counter[int]:
    """Count how often each exchange was asked about."""
    marks = (_MARK.search(call["body"]["messages"][1]["content"]) for call in calls)
    return Counter(int(mark[1]) for mark in marks if mark is not None)
