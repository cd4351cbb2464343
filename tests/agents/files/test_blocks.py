"""Files are unpacked a bounded piece at a time, whole or with what is wrong with them."""

import gzip
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from turnsignal.agents.files.blocks import BLOCK, is_packed, read_blocks
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.suite import Suite

GOLDEN = Path(__file__).parents[2] / "data" / "golden.jsonl"
PACKERS = {"gzip": gzip.compress, "zstd": zstd.compress}


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", PACKERS)
def test_members_one_after_another_are_one_text(kind: str, tmp_path: Path) -> None:
    parts = [b"a" * 3_000_000, b"", b"b\n" * 10, bytes(range(256)) * 5_000]
    path = written(tmp_path / "file", b"".join(map(PACKERS[kind], parts)))
    took: list[int] = []
    assert b"".join(read_blocks(path, took.append)) == b"".join(parts)
    assert sum(took) == path.stat().st_size
    assert is_packed(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_is_refused_after_little_of_it_in_little_memory(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path / "file", PACKERS[kind](bytes(300_000_000)))
    assert path.stat().st_size < 400_000
    unpacked = iter(read_blocks(path))
    tracemalloc.start()
    try:
        with pytest.raises(TurnsignalError, match="file: too_large: expected a log, got one that unpacks to more than"):
            assert sum(map(len, unpacked)) < 0
        assert tracemalloc.get_traced_memory()[1] < 20 * BLOCK
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_blank_lines_without_end_are_refused(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = written(tmp_path / "file", pack(b"\n" * 20_000_000))
    with pytest.raises(TurnsignalError, match="too_large: expected a log, got more than 16 MB of blank lines in a row"):
        assert sum(map(len, read_blocks(path))) < 0


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize(("cut", "told"), [(slice(0, -20), "expected a whole"), (slice(0, 60), "expected a whole")])
def test_a_file_that_is_cut_says_so(kind: str, cut: slice, told: str, tmp_path: Path) -> None:
    path = written(tmp_path / "file", PACKERS[kind](b"".join(b"line %d\n" % n for n in range(10_000)))[cut])
    with pytest.raises(TurnsignalError, match=f"{told} {kind} file, got one that ends early"):
        list(read_blocks(path))


def test_a_recording_in_zstd_gives_the_rows_of_the_same_in_text(tmp_path: Path) -> None:
    packed = written(tmp_path / "golden.jsonl.zst", zstd.compress(GOLDEN.read_bytes()))
    replay_files([GOLDEN], tmp_path / "plain", Suite(), 1_900_000_000.0)
    replay_files([packed], tmp_path / "packed", Suite(), 1_900_000_000.0)
    assert (tmp_path / "plain" / "scores.jsonl").read_bytes() == (tmp_path / "packed" / "scores.jsonl").read_bytes()


def test_without_what_unpacks_zstd_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(ConfigError, match=r"got zstd, for which backports\.zstd is not installed"):
        list(read_blocks(written(tmp_path / "file", zstd.compress(b"a"))))
