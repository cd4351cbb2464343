"""What once stopped the work for ever, or lost or doubled rows without a word: one case per row of the audit.

A case acts on a lab; whatever it does not say otherwise is compared with both oracles when it is over.
"""

import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import NewPartitions

from agents.settings import Settings
from tests.kafka.faults.cluster import PASSWORD
from tests.kafka.faults.lab import Lab, Moment, make_settings
from tests.kafka.faults.oracle import ends, read_outcome, read_states
from tests.kafka.faults.workers import COMMAND, ROOT, FaultyWorker, variables

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


# -- records ---------------------------------------------------------------------------------------------------------


def large_key(lab: Lab) -> None:
    """A key of a megabyte: plain, in a compressed batch, and where conversations are forgotten."""
    lab.start()
    send(lab, "turns", [(b"k" * 1_040_000, b"x")], **{"message.max.bytes": 5_000_000})
    for name in ("turns", "forget"):
        send(lab, name, [(b"k" * 3_000_000, b"x")], **{"compression.type": "gzip", "message.max.bytes": 5_000_000})
    lab.feed(1_000)


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
    send(lab, "turns", [(b"tables", turn("tables", n, text=text)) for n in range(70 if lab.large else 25)])
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
    """A record of 100 MB that is a few hundred kilobytes on the wire."""
    worker = lab.start(1)[0]
    value = turn("bomb", 1)[:-1] + b', "metadata": {"x": [' + b"[]," * (100_000_000 // 3) + b"1]}}"
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


def poison(lab: Lab) -> None:
    """A record that needs more memory than a worker may have ends it, again and again, but not for ever."""
    lab.start(1, memory=3_000_000_000)
    value = b" " * 1_500_000_000
    options = {"compression.type": "gzip", "message.max.bytes": 1_900_000_000, "batch.size": 1_900_000_000}
    send(lab, "turns", [(b"poison", value)], **options)
    lab.feed(500)
    lab.caught_up()
    lab.ignored |= {"letters"}  # the reason is another than the pipeline gives


# -- topics and positions --------------------------------------------------------------------------------------------


def quiet_series(lab: Lab) -> None:
    """No series for longer than their retention, then a restart."""
    lab.start(1)
    lab.feed(800)
    lab.caught_up()
    quiet(lab, "series")


def quiet_turns(lab: Lab) -> None:
    """Turns that were written in transactions, and then none for longer than their retention; then a restart."""
    lab.start(1)
    limits = {"message.timeout.ms": 60_000, "transaction.timeout.ms": 60_000}
    lab.feed(800, options={"transactional.id": f"{lab.settings.prefix}-elsewhere", **limits})
    lab.wait(lambda: {"response"} <= stages(lab), 60, "rows")
    quiet(lab, "turns")
    lab.ignored |= {"positions"}


def stages(lab: Lab) -> set[str]:
    """Return the stages of the rows so far."""
    return {json.loads(row)["stage"] for rows in read_outcome(lab.settings).rows.values() for row in rows}


def quiet(lab: Lab, name: str) -> None:
    """Stop the workers after a while of quiet, have retention do its work, start them again, and feed."""
    app = "watch" if name == "series" else "score"
    lab.without_lag(name, app)
    lab.expire(name)
    restart(lab)
    lab.feed(800)
    lab.caught_up()
    lab.watch_caught_up()
    assert lab.members(app), f"expected {app} at work"
    if name == "series":
        lab.ignored |= {"series", "watched"}  # what retention removed, the oracle cannot know


def restart(lab: Lab) -> None:
    """Stop all workers and start them again."""
    lab.stop()
    for worker in lab.workers:
        worker.start()
    lab.await_members(60)


def anew(lab: Lab, name: str, app: str = "score") -> None:
    """Make a topic anew while all is stopped: nothing may go on as if nothing had been, unless nothing is lost."""
    worker = lab.start(1)[0]
    lab.feed(800)
    lab.caught_up()
    lab.watch_caught_up()
    lab.stop()
    if name not in ("turns", "forget"):
        lab.compare_since = ends(lab.settings)  # what was before is gone, from the topic or from the state
    lab.make_anew(name)
    decide(lab, worker, name, app)


def decide(lab: Lab, worker: FaultyWorker, what: str, app: str = "score") -> bool:
    """Start a worker: it goes on, or refuses and goes on after the command that it names, once; True when it refused.

    what: the topic or group that the refusal has to name.
    """
    since = worker.said
    worker.start()

    def decided() -> bool:
        return "topics repair" in worker.log_text(since) or bool(lab.members() and lab.members("watch"))

    lab.wait(decided, 60, "the worker to go on or to refuse")
    lab.feed(10)
    lab.wait(lambda: "topics repair" in worker.log_text(since) or lab.is_caught_up(), 60, "the work to go on")
    refused = "topics repair" in worker.log_text(since)
    if refused:
        line = lab.refuses(worker, "topics repair", app=app, since=since)
        assert lab.names.get(what, what) in line, f"expected a refusal that names {what}, got {line}"
        lab.wait(lambda: not lab.members(app), 60, "the group to be empty")
        run(lab, lab.command(line))
        lab.start(1)
    lab.feed(800)
    lab.caught_up()
    return refused


def run(lab: Lab, arguments: list[str], check: bool = True) -> str:
    """Run a command of turnsignal with the lab's settings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    command = [*COMMAND[:-1], *arguments]
    done = subprocess.run(
        command, env=env | variables(lab.settings), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert not check or done.returncode == 0, f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def delete_offsets(lab: Lab) -> None:
    """Delete the score group, and with it all positions."""
    group = lab.settings.app_id("score")

    def gone() -> bool:
        lab.admin.delete_consumer_groups([group], request_timeout=20)[group].result(20)
        return True

    lab.wait(gone, 40, "the group to be deleted")


def offsets_gone(lab: Lab) -> None:
    """The group's positions are gone, the state is not."""
    worker = lab.start(1)[0]
    lab.feed(800)
    lab.caught_up()
    lab.stop()
    delete_offsets(lab)
    decide(lab, worker, "turns")


def offsets_and_states_gone(lab: Lab) -> None:
    """The group's positions are gone, and so are all states, because all conversations were forgotten."""
    worker = lab.start(1)[0]
    lab.feed(800)
    lab.caught_up()
    everybody = {record.key for records in lab.turns().values() for record in records if record.key}
    send(lab, "forget", [(key, b"{}") for key in everybody])
    lab.caught_up()
    lab.stop()
    delete_offsets(lab)
    decide(lab, worker, "turns")
    lab.ignored |= {"states", "summaries"}  # those of the first feed are forgotten, which the oracle is not told


def partitions_added(lab: Lab) -> None:
    """Partitions are added while a worker runs; the next rebalance has to say so, and what to do."""
    worker = lab.start(1)[0]
    lab.feed(800)
    lab.caught_up()
    more, topic = lab.settings.partitions + 2, lab.names["turns"]
    lab.admin.create_partitions([NewPartitions(topic, more)])[topic].result(30)
    lab.wait(lambda: len(lab.admin.list_topics(topic).topics[topic].partitions) == more, 30, "new partitions")
    since = worker.said
    worker.send(signal.SIGKILL)  # as a rebalance would come by itself, minutes later
    lab.refuses(worker, "topics repair score --align", since=since)
    lab.wait(lambda: not lab.members(), 60, "the group to be empty")
    run(lab, ["topics", "repair", "score", "--align"])
    lab.settings = lab.settings.model_copy(update={"partitions": more})
    lab.start(1)
    lab.feed(800)


# -- starting --------------------------------------------------------------------------------------------------------


def cold_start(lab: Lab) -> None:
    """Four workers at once on many partitions: nobody ends, nobody is fenced."""
    lab.start(4)
    lab.feed(1_000)
    lab.caught_up()
    said = "".join(worker.log_text() for worker in lab.workers)
    assert not sum(worker.exits for worker in lab.workers), said[-4000:]
    assert "Traceback" not in said, said[said.index("Traceback") - 500 :][:4000]
    assert "FENCED" not in said


def port_in_use(lab: Lab) -> None:
    """The ports of /metrics are somebody else's."""
    with ExitStack() as held:
        while True:
            first, second = held.enter_context(socket.socket()), held.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            break
        first.listen()
        second.listen()
        worker = lab.add(env={"TURNSIGNAL_METRICS_PORT": str(port)})
        worker.start()
        lab.refuses(worker, str(port), timeout=30)
        assert "Traceback" not in worker.log_text(), worker.log_text()


def wrong_password(lab: Lab) -> None:
    """A password that the broker does not take."""
    guarded = {"SECURITY_PROTOCOL": "SASL_PLAINTEXT", "SASL_MECHANISM": "PLAIN", "SASL_USERNAME": "worker"}
    address = {"BROKERS": lab.broker.guarded}
    right, wrong = (
        make_settings(lab.broker, lab.settings.prefix, lab.directory, **guarded, **address, SASL_PASSWORD=password)
        for password in (PASSWORD, "a-wrong-one")
    )
    worker = lab.add(settings=wrong)
    worker.start()
    lab.wait(lambda: not worker.running, 20, "the worker to end")
    said = worker.log_text().lower()
    assert worker.join() == 2, said
    assert "authentication" in said, said
    assert "traceback" not in said, said
    assert "a-wrong-one" not in said
    lab.workers.clear()
    lab.start(1, settings=right)
    lab.feed(500)


def join_after_return(lab: Lab) -> None:
    """Workers that join just after a broker came back get partitions."""
    lab.start(1)
    lab.feed(500)
    lab.caught_up()
    lab.stop()
    lab.broker.crash()
    for _ in range(3):
        lab.add()
    for worker in lab.workers:
        worker.start()  # it takes them about as long as the broker to be there
    lab.broker.start()
    lab.await_members(60)
    lab.feed(500)


# -- networks, disks and neighbours ----------------------------------------------------------------------------------


def behind(lab: Lab, network: str) -> Settings:
    """Return the settings of workers whose way to the broker goes through a network."""
    return lab.settings.model_copy(update={"brokers": lab.broker.networks[network].address})


def slow_network(lab: Lab) -> None:
    """Everything takes a tenth of a second longer, then a second, then a tenth again."""
    network = lab.broker.networks["slow"]
    lab.start(2, settings=behind(lab, "slow"))
    moments = [Moment(at, lambda to=to: network.set_delay(to)) for at, to in ((1.0, 0.1), (3.0, 1.0), (6.0, 0.1))]
    lab.feed(2_000, 8.0, [*moments, Moment(8.0, lambda: network.set_delay(0.0), mended=True)])


def silent_network(lab: Lab) -> None:
    """Nothing comes through for longer than a session, and no connection ends."""
    network, settings = lab.broker.networks["silent"], behind(lab, "silent")
    lab.start(1)
    lab.start(1, settings=settings)
    away = settings.session_timeout * 3
    lab.feed(2_000, 4.0, [Moment(2.0, network.fall_silent), Moment(2.0 + away, network.speak_again, mended=True)])


def forget_and_disk(lab: Lab) -> None:
    """State on disk, conversations forgotten, score and watch killed again and again."""
    store = lab.directory / "store"
    lab.settings = lab.settings.model_copy(update={"store": store})
    workers = lab.start(2)
    lab.feed(800)
    lab.caught_up()
    lab.ignored |= {"states", "summaries"}  # of those forgotten, which the oracle is not told
    keys = {record.key for records in lab.turns().values() for record in records if record.key}
    everybody = sorted(key for key in keys if not key.startswith(b"last-"))  # these speak again
    kills = [
        Moment(1.0 + number, lambda number=number, app=app: workers[number % 2].send(signal.SIGKILL, app))
        for number, app in enumerate(("score", "watch", "score", "watch", "score"))
    ]
    gone = Moment(2.5, lambda: send(lab, "forget", [(key, b"{}") for key in everybody]))
    lab.feed(2_000, 6.0, [*kills, gone])
    lab.caught_up()
    lab.watch_caught_up()
    lab.await_members()
    live = {key for states in read_outcome(lab.settings).states.values() for key in states}
    assert not live & set(everybody), f"{len(live & set(everybody))} of {len(everybody)} have a state all the same"
    lab.stop()
    left = [path for path in store.rglob("*") if path.is_file()] if store.exists() else []
    assert not left, f"expected no copy of the state on disk after a clean stop, got {left}"


#: Topics that are made anew, each in a run of its own, and the app that has to notice.
TOPICS_ANEW = {
    "turns": "score",
    "forget": "score",
    "series": "watch",
    "scores": "score",
    "conversations": "score",
    "dead_letters": "score",
    "conversations_changelog": "score",
    "series_changelog": "watch",
}
