"""Runs on more than one machine's worth: three brokers, many partitions, two versions, a disk that is full."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.kafka.faults.cluster import Cluster
from tests.kafka.faults.lab import Lab, Moment, Result
from tests.kafka.faults.traffic import make_settings
from tests.kafka.faults.workers import ROOT
from turnsignal.agents.kafka.process import KafkaProcess

OLD = "7389a91"  #: the version that a rolling upgrade begins with; it pairs messages as this one does
THREE = {"REPLICATION": "3", "MIN_INSYNC_REPLICAS": "2"}
DISK_MEGABYTES = 96


def run_alone(
    act: Callable[[Lab], None], prefix: str, directory: Path, *, large: bool, seed: int, patience: float, **env: str
) -> Result:
    """Run a case on a cluster of its own: three brokers, or one on a small disk."""
    directory.mkdir(parents=True, exist_ok=True)
    small = act is full_disk
    with ExitStack() as stack:
        if small:
            stack.enter_context(small_disk(directory / "kafka" / "node-1"))
        cluster = stack.enter_context(Cluster(directory / "kafka", 1 if small else 3))
        more = env if small else env | THREE
        settings = make_settings(cluster, prefix, directory, patience=patience, **more)
        lab = Lab(cluster, settings, directory, large=large, seed=seed)
        stack.callback(lab.close)
        act(lab)
        return lab.finish()


@contextmanager
def small_disk(directory: Path) -> Iterator[None]:
    """Have a directory on a disk of a few megabytes of its own; needs the right to mount."""
    directory.mkdir(parents=True)
    size = f"size={DISK_MEGABYTES}m"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(directory)], check=False)
    if mounted.returncode:
        msg = "a full disk needs the right to mount a small one"
        raise PermissionError(msg)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=False)


def three_brokers(lab: Lab) -> None:
    """Replication 3: each broker is restarted in turn, then the leader of a partition is killed."""
    cluster: Cluster = lab.broker
    lab.start(2)
    turns, seconds = (20_000, 60.0) if lab.large else (4_000, 30.0)

    def restart(node: KafkaProcess) -> None:
        node.stop()
        node.start()
        lab.wait(cluster.in_sync, 60, "all replicas to be in sync")

    lost: list[KafkaProcess] = []

    def lose_leader() -> None:
        lost.append(cluster.leader(lab.names["turns"], 0))
        lost[0].crash()

    restarts = [Moment(seconds * (0.1 + 0.2 * n), partial(restart, node)) for n, node in enumerate(cluster.nodes)]
    gone = Moment(seconds * 0.75, lose_leader)
    back = Moment(seconds * 0.75 + lab.settings.session_timeout * 2, lambda: lost[0].start(), mended=True)
    lab.feed(turns, seconds, [*restarts, gone, back])


def many(lab: Lab) -> None:
    """Four workers on many partitions: they are killed, join and leave."""
    lab.start(4)
    turns, seconds = (50_000, 60.0) if lab.large else (4_000, 15.0)
    first, second, third, last = lab.workers
    lab.feed(
        turns,
        seconds,
        [
            Moment(seconds * 0.1, partial(first.send, signal.SIGKILL)),
            Moment(seconds * 0.25, second.kill),
            Moment(seconds * 0.35, partial(third.send, signal.SIGKILL)),
            Moment(seconds * 0.45, second.start),
            Moment(seconds * 0.55, last.terminate),
            Moment(seconds * 0.7, lambda: (last.join(), last.start())),
            Moment(seconds * 0.8, partial(first.send, signal.SIGKILL), mended=True),
        ],
    )


@contextmanager
def old_tree() -> Iterator[Path]:
    """Check out the old version beside this one, for as long as it is needed."""
    git = ["git", "-C", str(ROOT), "worktree"]
    with TemporaryDirectory(prefix="turnsignal-old-") as directory:
        tree = Path(directory) / OLD
        subprocess.run([*git, "add", "--detach", str(tree), OLD], capture_output=True, check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], capture_output=True, check=False)


def upgrade(lab: Lab) -> None:
    """Workers of the old version are replaced by this one's, one after the other, in one group under load."""
    with old_tree() as tree:
        first, second = lab.start(2, tree=tree)
        new = [lab.add(), lab.add()]
        seconds = 40.0 if lab.large else 20.0

        def replace(old: int) -> None:
            (first, second)[old].terminate()
            (first, second)[old].join()
            lab.workers.remove((first, second)[old])  # how it ended is the old version's affair
            new[old].start()

        moments = [Moment(seconds * 0.2, partial(replace, 0)), Moment(seconds * 0.6, partial(replace, 1), mended=True)]
        lab.feed(20_000 if lab.large else 4_000, seconds, moments)
        lab.caught_up()
        lab.await_members()
        # The old version's suite, states and letters are not this one's; the plain oracle knows of pairs alone.
        lab.ignored |= {"missing", "unexpected", "altered", "summaries", "exchanges", "series"}
        lab.ignored |= {"letters", "states", "watched"}


def full_disk(lab: Lab) -> None:
    """The broker's disk is full; the broker ends, gets room, and comes back."""
    lab.start(1)
    lab.feed(1_000)
    lab.caught_up()
    filler = lab.broker.nodes[0].directory / "filler"

    def fill() -> None:
        with filler.open("wb") as file:
            try:
                while True:
                    file.write(b"x" * 1_000_000)
                    file.flush()
            except OSError:
                sys.stderr.write("the disk is full\n")

    def make_room() -> None:
        filler.unlink()
        lab.broker.crash()
        lab.broker.start()

    lab.feed(3_000, 10.0, [Moment(2.0, fill), Moment(12.0, make_room, mended=True)])
