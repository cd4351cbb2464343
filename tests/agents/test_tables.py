"""State larger than memory lies in a file that is an image of the changelog, and behaves as a dictionary does."""

from pathlib import Path
from typing import NamedTuple

import pytest

from agents.tables import DiskStore, make_store
from stream.pipeline import Shard
from stream.simulation import steady
from stream.suite import Suite


class Came(NamedTuple):
    offset: int
    key: bytes
    value: bytes
    timestamp: int = -1


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


def test_a_shard_over_a_disk_store_does_what_it_does_over_memory(tmp_path: Path) -> None:
    records = [Came(i, key, value) for i, (key, value) in enumerate(steady(300, 20, seed=3))]
    written = []
    for store in (make_store("memory", "score", 0), make_store(tmp_path, "score", 0)):
        shard = Shard(Suite(), store)
        outputs = []
        for start in range(0, len(records), 50):
            batch = shard.work(records[start : start + 50], 0.0)
            shard.accept(batch)
            outputs += batch.outputs
        written.append((outputs, dict(store.items())))
    assert written[0] == written[1]
