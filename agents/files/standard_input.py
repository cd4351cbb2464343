"""Standard input: `-` in the place of a file, kept in one while a command reads it."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.errors import ConfigError

DASH = Path("-")


def keep_standard_input(paths: Sequence[Path], directory: Path) -> list[Path]:
    """Return the paths, `-` replaced by a file in the directory that holds what came in.

    Raises ConfigError when it stands there twice: it can be read once.
    """
    if DASH not in paths:
        return list(paths)
    if paths.count(DASH) > 1:
        msg = f"expected - once, which is standard input, got it {paths.count(DASH)} times"
        raise ConfigError(msg)
    if sys.stdin.isatty():
        print("turnsignal: reading standard input; Ctrl-D ends it", file=sys.stderr)
    kept = directory / "stdin"
    with kept.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    return [kept if path == DASH else path for path in paths]
