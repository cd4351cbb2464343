"""Topics and positions that once stopped the work, or lost or doubled rows without a word.

A case acts on a lab; whatever it does not say otherwise is compared with both oracles when it is over.
"""

import json
import os
import signal
import subprocess
import sys

from confluent_kafka.admin import NewPartitions

from tests.kafka.faults.lab import Lab
from tests.kafka.faults.oracle import ends, read_outcome
from tests.kafka.faults.records import send
from tests.kafka.faults.workers import MODULE, ROOT, FaultyWorker, variables


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
    if lab.app == "all":
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
        return "topics repair" in worker.log_text(since) or lab.all_joined()

    lab.wait(decided, 60, "the worker to go on or to refuse")
    lab.feed(10)

    def goes_on() -> bool:
        return lab.is_caught_up() and (app == "score" or lab.is_watch_caught_up())

    lab.wait(lambda: "topics repair" in worker.log_text(since) or goes_on(), 60, "the work to go on")
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
    command = [sys.executable, "-m", MODULE, *arguments]
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
    keys = {record.key for records in lab.turns().values() for record in records if record.key}
    everybody = sorted(key for key in keys if not key.startswith(b"last-"))  # these speak again
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
    since = worker.said  # a rebalance of its own may come as soon as the partitions are there
    more, topic = lab.settings.partitions + 2, lab.names["turns"]
    lab.admin.create_partitions([NewPartitions(topic, more)])[topic].result(30)
    lab.wait(lambda: len(lab.admin.list_topics(topic).topics[topic].partitions) == more, 30, "new partitions")
    worker.send(signal.SIGKILL)  # as a rebalance would come by itself, at the latest minutes later
    lab.refuses(worker, "topics repair score --align", since=since)
    lab.wait(lambda: not lab.members(), 60, "the group to be empty")
    run(lab, ["topics", "repair", "score", "--align"])
    lab.settings = lab.settings.model_copy(update={"partitions": more})
    lab.start(1)
    lab.feed(800)


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
