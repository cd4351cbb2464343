"""State larger than memory lies in a file that is an image of the changelog, and behaves as a dictionary does."""

import subprocess
import sys
from pathlib import Path

import pytest

from turnsignal.agents.worker.stores import DiskStore, check_directory, make_store
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord


def test_a_disk_store_behaves_like_a_dictionary(tmp_path: Path) -> None:
    store, same = DiskStore(tmp_path / "made", "score-0"), dict[bytes, bytes]()
    for mapping in (store, same):
        mapping[b"a"], mapping[b"b\0"], mapping[b"a"] = b"1", b"", b"2"
        assert mapping.pop(b"missing", None) is None
        del mapping[b"b\0"]
        mapping[b"c"] = b"3"
    assert dict(store.items()) == same
    assert (len(store), sorted(store), b"a" in store, b"x" in store) == (2, [b"a", b"c"], True, False)
    with pytest.raises(KeyError):
        store[b"x"]
    with pytest.raises(KeyError):
        del store[b"x"]


def test_memory_is_a_dictionary_and_a_directory_is_on_disk(tmp_path: Path) -> None:
    assert make_store("memory", "score", 0) == {}
    assert isinstance(make_store(tmp_path, "score", 0), DiskStore)


def test_a_partition_over_a_disk_store_does_what_it_does_over_memory(tmp_path: Path) -> None:
    records = [FakeRecord(i, key, value) for i, (key, value) in enumerate(steady(300, 20, seed=3))]
    written = []
    for store in (make_store("memory", "score", 0), make_store(tmp_path, "score", 0)):
        processor = PartitionProcessor(Suite(), store)
        outputs = []
        for start in range(0, len(records), 50):
            batch = processor.process(records[start : start + 50], 0.0)
            processor.accept(batch)
            outputs += batch.outputs
        written.append((outputs, dict(store.items())))
    assert written[0] == written[1]


_FILL_AND_BE_KILLED = """
import os, pathlib, signal, sys
from turnsignal.agents.worker.stores import make_store
store = make_store(pathlib.Path(sys.argv[1]), "score", 0)
for number in range(20_000):
    store[b"c-%d" % number] = b"what somebody said" * 20
print(len(store), *os.listdir(sys.argv[1]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_leaves_no_file_and_while_it_runs_the_state_has_no_name(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", _FILL_AND_BE_KILLED, str(tmp_path)],
        env={"TMPDIR": str(tmp_path), "SQLITE_TMPDIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert (killed.returncode, killed.stdout.split()) == (-9, [b"20000"])
    assert list(tmp_path.iterdir()) == []


def test_what_earlier_versions_left_behind_goes_and_other_files_stay(tmp_path: Path) -> None:
    left = ["score-0-a1b2c3d4.sqlite", "watch-12-________.sqlite"]
    others = ["score-0-a1b2c3d4.sqlite.bak", "mine.sqlite", "score-x-a1b2c3d4.sqlite", "judge-0-a1b2c3d4.sqlite"]
    for name in (*left, *others):
        (tmp_path / name).touch()
    make_store(tmp_path, "score", 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_a_directory_that_no_file_can_be_made_in_is_named_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place, reason in ((tmp_path / "file", "File exists"), (Path("/proc/nope"), "No such file or directory")):
        with pytest.raises(ConfigError, match=rf"^TURNSIGNAL_STORE: expected memory, or .*, got {place}: {reason}$"):
            check_directory(place)


def test_a_disk_that_is_full_is_said_with_the_setting_that_names_it(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, "score-0")
    store._db.execute("PRAGMA max_page_count=2")
    with pytest.raises(TurnsignalError, match=f"TURNSIGNAL_STORE: expected room in {tmp_path} for the state, got: "):
        store[b"a"] = bytes(1_000_000)


def test_looking_at_a_directory_leaves_nothing_in_it(tmp_path: Path) -> None:
    check_directory(tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []
