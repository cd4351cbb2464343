"""Records that once stopped the work for ever, whoever's they were.

A case acts on a lab; whatever it does not say otherwise is compared with both oracles when it is over.
"""

import json
import re
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.kafka.faults.lab import Lab, Moment
from tests.kafka.faults.oracle import read_outcome, read_states

SERIES = 11_000  #: kept of a partition, those of "other" among them
TABLE_COLUMNS, TABLE_CHARACTERS = 30, 8_000


def turn(conversation: str, number: int, role: str = "assistant", **more: Any) -> bytes:
    """Write a turn of an hour ago, a second after the one before."""
    when = datetime.fromtimestamp(time.time() - 3600 + number, UTC).isoformat()
    who = {"conversation_id": conversation, "turn_id": f"t{number}", "role": role, "timestamp": when}
    return json.dumps({**who, "text": "Hold the button. [doc_1]", **more}).encode()


def send(lab: Lab, name: str, records: list[tuple[bytes, bytes]], **options: Any) -> None:
    """Write records to a topic, all of which the broker has to take."""
    refused: list[Any] = []
    producer = Producer({**lab.settings.producer(), "enable.idempotence": False, "linger.ms": 100, **options})
    for key, value in records:
        producer.produce(lab.names[name], value, key, on_delivery=lambda error, _: refused.append(error))
        producer.poll(0)
    assert producer.flush(120) == 0
    assert not any(refused), refused
    lab.fed += len(records) if name == "turns" else 0


def vote(conversation: str, number: int, name: str, value: int = -1) -> bytes:
    """Write a vote on a turn of an hour ago, given two minutes after it."""
    when = datetime.fromtimestamp(time.time() - 3600 + number + 120, UTC).isoformat()
    about = {"id": name, "conversation_id": conversation, "turn_id": f"t{number}", "kind": "vote", "vote": value}
    return json.dumps({**about, "timestamp": when}).encode()


def feedback(lab: Lab) -> None:
    """Votes before their turn, after it, twice, long after their conversation closed; score killed again and again."""
    workers = lab.start(2)
    names = [f"heard-{n}" for n in range(400 if lab.large else 120)]
    keys = [name.encode() for name in names]
    before = [(key, vote(name, 1, "before")) for name, key in zip(names[::2], keys[::2], strict=True)]
    after = [(key, vote(name, 1, "after", 1)) for name, key in zip(names, keys, strict=True)]
    late = [(key, vote(name, 3, "late")) for name, key in zip(names, keys, strict=True)]
    said = [
        (key, turn(name, n, "assistant" if n % 2 else "user"))
        for n in range(4)
        for name, key in zip(names, keys, strict=True)
    ]
    kills = [
        Moment(at, lambda n=n: workers[n % 2].send(signal.SIGKILL, "score")) for n, at in enumerate((1.5, 3.5, 5.5))
    ]
    send(lab, "feedback", before * 2)
    sent = [
        Moment(1.0, lambda: send(lab, "turns", said)),
        Moment(3.0, lambda: send(lab, "feedback", after)),
        Moment(5.0, lambda: send(lab, "feedback", [*before, *after])),
    ]
    lab.feed(2_000, 8.0, [*kills, *sent])
    lab.caught_up()
    send(lab, "feedback", late * 2)
    workers[0].send(signal.SIGKILL, "score")
    lab.caught_up()
    rows = [json.loads(row) for rows in read_outcome(lab.settings).feedback.values() for row in rows]
    assert {row["assistant"] for row in rows} == {"default"}, "expected every vote to find its answer"
    assert len(rows) == len({*before, *after, *late}), f"expected a row for each vote, got {len(rows)}"


def large_key(lab: Lab) -> None:
    """A key of a megabyte: plain, in a compressed batch, and where conversations are forgotten."""
    lab.start()
    send(lab, "turns", [(b"k" * 1_040_000, b"x")], **{"message.max.bytes": 5_000_000})
    for name in ("turns", "forget"):
        send(lab, name, [(b"k" * 3_000_000, b"x")], **{"compression.type": "gzip", "message.max.bytes": 5_000_000})
    lab.feed(1_000)
    lab.caught_up()
    letters = [place for place, _, _ in read_outcome(lab.settings).letters if place[0] == lab.names["forget"]]
    assert len(letters) == 1, f"expected a dead letter of forget, got {letters}"


def codecs(lab: Lab) -> None:
    """Every codec that Kafka has."""
    lab.start()
    for codec in ("zstd", "lz4", "snappy", "gzip"):
        lab.feed(400, options={"compression.type": codec, "linger.ms": 100})


def ragged_tables(lab: Lab) -> None:
    """Tables with one-cell rows in many columns: a parser fills them up with cells."""
    lab.start()
    head = "|a" * TABLE_COLUMNS + "|\n" + "|-" * TABLE_COLUMNS + "|\n"
    text = head + "|b\n" * ((TABLE_CHARACTERS - len(head)) // 3)
    count = 70 if lab.large else 25
    turns = [turn("tables", n, "assistant" if n % 2 else "user", text=text if n % 2 else "?") for n in range(2 * count)]
    send(lab, "turns", [(b"tables", value) for value in turns])
    lab.feed(1_000)


def made_up_names(lab: Lab) -> None:
    """Names of assistants that nobody has: what watch keeps of them is bounded."""
    lab.start()
    count = 60_000 if lab.large else 4_000
    names = [f"c{n}" for n in range(count)]
    send(lab, "turns", [(name.encode(), turn(name, n % 900, assistant=f"made-up-{n}")) for n, name in enumerate(names)])
    lab.feed(500)
    lab.caught_up()
    lab.watch_caught_up(120)
    kept = sum(map(len, read_states(lab.settings, "series_changelog").values()))
    assert kept <= SERIES, (
        f"expected watch to keep {SERIES} series of its partition, got {kept} after {count} assistants"
    )


def bomb(lab: Lab) -> None:
    """A record of 20 MB that is a few dozen kilobytes on the wire; a batch that unpacks to more is another test's."""
    worker = lab.start(1)[0]
    value = turn("bomb", 1)[:-1] + b', "metadata": {"x": [' + b"[]," * (20_000_000 // 3) + b"1]}}"
    options = {"compression.type": "gzip", "message.max.bytes": 900_000_000, "batch.size": 900_000_000}
    send(lab, "turns", [(b"bomb", value)], **options)
    lab.feed(500)
    lab.caught_up()
    child = worker.child
    status = Path(f"/proc/{child}/status").read_text()
    peak = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) // 1024
    assert peak < 1_200, f"expected a peak of less than 1,200 MiB, got {peak}"
    assert not worker.exits, worker.log_text()[-2000:]
    lab.ignored |= {"pairs_missing", "pairs_letters"}  # whether it is read or refused is the product's to say
