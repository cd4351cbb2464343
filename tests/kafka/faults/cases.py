"""Starts, networks and neighbours under which workers once ended or stood still.

A case acts on a lab; whatever it does not say otherwise is compared with both oracles when it is over.
"""

import signal
import socket
from contextlib import ExitStack

from tests.kafka.faults.cluster import PASSWORD
from tests.kafka.faults.lab import Lab, Moment
from tests.kafka.faults.oracle import read_outcome
from tests.kafka.faults.records import send
from tests.kafka.faults.traffic import make_settings
from turnsignal.agents.settings import Settings


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
