"""Kept verdicts: the file to which each is appended as it comes, so that none that was paid for is asked for again."""

import fcntl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from turnsignal.agents.files.judging import encode_verdict, read_verdicts, write_verdicts
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.verdicts import Verdict

_FOLDER = Path("out/verdicts")


def default_file(recordings: Sequence[Path]) -> Path:
    """Return the file for verdicts on recordings, one of its own: a replay takes in all that a file of verdicts holds.

    >>> default_file([Path("logs/turns.jsonl.gz")])
    PosixPath('out/verdicts/turns.jsonl')
    """
    first, *others = recordings
    name = first.name.partition(".")[0].strip("-") or "turns"
    return _FOLDER / (f"{name}-and-{len(others)}-more.jsonl" if others else f"{name}.jsonl")


@contextmanager
def kept_verdicts(out: Path | None) -> Iterator[tuple[dict[str, Verdict], Callable[[Verdict], None]]]:
    """Give what the file already holds, and what appends to it; two runs at once would lose what one has paid for.

    Raises TurnsignalError when it cannot be read or written, ConfigError when another run writes it.
    """
    if out is None:
        yield {}, lambda _: None
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab") as file:
            _lock(file, out)
            known = read_verdicts(out)

            def append(verdict: Verdict) -> None:
                file.write(encode_verdict(verdict) + b"\n")
                file.flush()

            yield known, append
    except OSError as error:
        msg = f"{out}: expected a file that can be written, got: {error.strerror}"
        raise TurnsignalError(msg) from None


def _lock(file: IO[bytes], out: Path) -> None:
    """Keep other runs out of a file until it is closed; pipes and file systems without locks have none."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        msg = f"{out}: expected that nobody writes there, got another run that does; wait for its end, or name another"
        raise ConfigError(msg) from None
    except OSError:
        return


def put_in_order(out: Path, known: Mapping[str, Verdict], verdicts: Sequence[Verdict]) -> int:
    """Write the file anew: what it held of other exchanges and judges first, then one verdict of each.

    Returns how many are of others.
    """
    new = {verdict.id for verdict in verdicts}
    others = [verdict for key, verdict in known.items() if key not in new]
    write_verdicts(out, [*others, *verdicts])
    return len(others)
