"""`make bench`: measure speed and memory beside the neighbours, on one broker, and print the README's tables.

    python tests/bench/run.py [--quick | --full] [--only SECTION]… [--rounds N] [--rate N]… [--rows FILE]

Absolute numbers are this machine's; the ratios are what was promised. Every row is written to --rows as JSON the moment
it is measured.
"""

import argparse
import os
import platform
import signal
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from types import ModuleType

import batches
import check_costs
import growth
import live
import recovery
import replaying
import scaling
import throughput
from session import SIZES, Session
from tables import Target, target_table

from turnsignal.agents.kafka.brokers import Broker, ProcessBroker, find_broker
from turnsignal.stream.errors import TurnsignalError

BUSY = 0.7  #: load average at the start from which on somebody else is at work

SECTIONS: dict[str, ModuleType] = {
    "throughput": throughput,
    "live": live,
    "scaling": scaling,
    "batches": batches,
    "recovery": recovery,
    "growth": growth,
    "replay": replaying,
    "checks": check_costs,
}


def main() -> int:
    """Run what was asked for.

    The exit code is 0 even when targets are missed: the table says it. It is 1 where a process did not get going.
    """
    options = _read_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the broker ends with this process, however it ends
    mode = "quick" if options.quick else "full" if options.full else "default"
    given = {"rounds": options.rounds, "rates": tuple(options.rate or ())}
    sizes = SIZES[mode]._replace(**{name: value for name, value in given.items() if value})
    wanted = [name for name in SECTIONS if not options.only or name in options.only]
    began = time.monotonic()
    load = os.getloadavg()[0]
    if load > BUSY:
        _say(f"this machine is busy (load {load:.1f}): latencies and wall times, and their ratios, will mean little")
    with tempfile.TemporaryDirectory(prefix="turnsignal-bench-") as directory:
        home = Path(directory)
        try:
            with find_broker(os.environ, directory=home / "kafka", say=_say) as broker:
                _say(f"{mode}: {', '.join(wanted)} on {broker.kind}; rows go to {options.rows}")
                session = Session(broker.address, home, sizes, options.rows, broker_pid=_pid(broker))
                for name in wanted:
                    _say(name)
                    SECTIONS[name].measure(session)
        except (TurnsignalError, RuntimeError) as error:  # most likely the machine is too busy
            _say(str(error))
            return 1
    minutes = (time.monotonic() - began) / 60
    print(
        f"{_machine()}, load {load:.1f} at the start; {broker.kind}; `{mode}`, {minutes:.0f} min, "
        f"{sizes.rounds} rounds.\n"
    )
    targets: list[Target] = []
    for name in wanted:
        text, found = SECTIONS[name].report(session.rows)
        targets += found
        print(text + "\n")
    print(target_table(targets))
    return 0


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="some minutes: does everything run? no interval")
    size.add_argument("--full", action="store_true", help="a million open conversations, nine rounds")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="measure only this; may be repeated")
    parser.add_argument("--rounds", type=int, help="rounds of each interleaved comparison")
    parser.add_argument("--rate", action="append", type=int, help="of live traffic, in turns/s; may be repeated")
    parser.add_argument("--rows", type=Path, default=Path("bench-rows.jsonl"), help="where JSON rows are added")
    return parser.parse_args()


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()} built {_build()}"


def _build() -> str:
    """Say how this Python was optimised when it was built; by its own profile it is about 7 % faster."""
    given = " ".join(str(sysconfig.get_config_var(name) or "") for name in ("CONFIG_ARGS", "PY_CORE_CFLAGS"))
    profiled = "--enable-optimizations" in given or "-fprofile-use" in given
    return f"{'with' if profiled else 'without'} PGO{', with LTO' if '-flto' in given or '--with-lto' in given else ''}"


def _pid(broker: Broker) -> int | None:
    return broker.process.pid if isinstance(broker, ProcessBroker) else None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
