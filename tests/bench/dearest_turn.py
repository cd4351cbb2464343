"""The dearest turn: what the most expensive text of a length costs, beside an ordinary one of that length.

    python tests/bench/dearest_turn.py [--characters 2000 8000 100000] [--platforms web slack] [--limit 50] [--show 25]

Families of hostile texts (one piece or two, repeated, behind openers that wake the parsers, and shapes that no
repetition makes) go through the whole of it, as a user's turn and as an assistant's: reading the record, scoring under
the default suite, pairing, writing. Where it is read matters: for Slack an ordinary text is parsed as well. CPU time,
the best of a few, with the garbage collector as a worker has it; no broker is needed. The exit code is 1 when the
dearest is beyond the limit.
"""

import argparse
import gc
import itertools
import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import NamedTuple

import orjson
from session import ROOT
from tables import table

sys.path.insert(0, str(ROOT))  # the tests' pieces, when this runs as a program

from tests.conformance.hostile import PIECES, SHAPES, repeated
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord
from turnsignal.stream.text.markdown import MAX_CHARACTERS

CHARACTERS, LIMIT, SHOWN = (2_000, 8_000, 100_000), 50.0, 25
PLATFORMS = ("web", "slack")
#: What makes somebody parse the rest, and what is dear to parse: the rest comes on top, up to what is parsed at all.
OPENERS = {
    "": "",
    "a nested list, then ": "- a\n  - b\n\n",
    "a table, then ": "| a | b |\n|---|---|\n| ",
    "an address and a marker, then ": "https://a.example [1] ",
    "dear Markdown, then ": repeated("[!", MAX_CHARACTERS) + "\n\n",
}
SIGNS = "[](<>|`*_!\\\n-#^:.~& 1a"
#: What may be cited: the text decides what is looked up among these, and how often in vain.
DOCUMENTS: dict[str, list[dict[str, object]]] = {
    "8 documents": [
        {"doc_id": f"doc_{n}", "url": f"https://a.example/{n}", "title": f"Title {n}"} for n in range(1, 9)
    ],
    "no document": [],
    "1 document": [{"doc_id": "7"}],
    "50 documents": [{"doc_id": f"step_1-item_{n}"} for n in range(50)],
    "500 documents": [{"doc_id": f"{n:08x}-abc", "rank": 9_000 - n} for n in range(500)],
}
USUAL = "8 documents"
ANSWERED, ASKED = "answered", "asked"  #: conversations whose next turn is the assistant's, and the user's
ORDINARY = (
    "Open **Settings** and choose *Security*, then reset the password [doc_{}]. It takes effect at once [{}], and "
    "everybody who is signed in has to sign in again; see the handbook for the details [doc_{}][doc_{}].\n\n"
)


class Cost(NamedTuple):
    """What one turn cost. seconds: of CPU; turn: what it was made of."""

    seconds: float
    turn: str


def _record(
    text: str,
    role: str,
    conversation: str,
    documents: str = USUAL,
    metadata: object = None,
    offset: int = 1,
    platform: str = PLATFORMS[0],
) -> FakeRecord:
    """Return a turn as Kafka delivers it."""
    fields = {
        "conversation_id": conversation,
        "turn_id": f"t{offset}",
        "role": role,
        "text": text,
        "timestamp": "2026-05-01T10:00:00Z",
        "platform": platform,
        "retrieved": DOCUMENTS[documents] if role == "assistant" else [],
        "metadata": metadata,
    }
    return FakeRecord(offset, conversation.encode(), orjson.dumps(fields), 1_777_629_600_000 + offset)


def ordinary(characters: int) -> str:
    """Return many paragraphs with citations."""
    count = 1 + characters // len(ORDINARY)
    return "".join(ORDINARY.format(n % 8 + 1, n % 7 + 1, n % 5 + 1, n % 3 + 1) for n in range(count))[:characters]


def turns(characters: int, platform: str) -> Iterator[tuple[str, FakeRecord]]:
    """Yield names and records: every family behind each opener, and where brackets count with other documents, too."""
    record = partial(_record, platform=platform)
    openers = [(before, opener) for before, opener in OPENERS.items() if len(opener) < characters]
    for (before, opener), (name, make) in itertools.product(openers, families().items()):
        text = opener + make(characters - len(opener))
        yield f"{before}{name}", record(text, "assistant", ANSWERED)
        if not before:
            yield f"{name}, of a user", record(text, "user", ASKED)
        elif opener[0] == "[" and "[" in text[len(opener) :]:
            for documents in DOCUMENTS:
                yield f"{before}{name}, {documents}", record(text, "assistant", ANSWERED, documents)
    for name, metadata in deliveries(characters // 2).items():
        for words in ("Ordinary words. ", "Öde Wörter. "):
            yield (
                f"{name}, {words!r}",
                record(repeated(words, characters // 2), "assistant", ANSWERED, metadata=metadata),
            )


def families() -> dict[str, Callable[[int], str]]:
    """Return makers of hostile texts by name."""
    pairs = ("".join(pair) for pair in itertools.product(SIGNS, repeat=2))
    pieces = [piece for piece in dict.fromkeys([*PIECES, *pairs]) if piece != "\ud800"]  # which no JSON can carry
    return {f"{piece!r} …": partial(repeated, piece) for piece in pieces} | SHAPES


def deliveries(size: int) -> dict[str, object]:
    """Return metadata of about `size` characters, full of citations beside the text."""
    chunk = {"uri": "https://a.example/1"}
    places = [{"startIndex": n, "endIndex": n + 9, "citedChunkIndices": [0] * 20} for n in range(size // 90)]
    return {
        "citations beside the text": {
            "citations": [{"doc_id": "doc_1", "start": n, "end": n + 9} for n in range(size // 40)]
        },
        "unknown citations beside the text": {"citations": [{"id": f"x{n}"} for n in range(size // 14)]},
        "inline citations": {"citations": {"citedChunks": [chunk], "inlineCitations": places}},
    }


class Stand:
    """A partition with a conversation for each role: timed turns come next in it, and are never accepted."""

    def __init__(self) -> None:
        self.partition = PartitionProcessor(Suite())
        asked, told = _record("How so?", "user", ANSWERED, offset=0), _record("It does.", "assistant", ASKED, offset=0)
        self.partition.accept(self.partition.process([asked, told], 0.0))

    def seconds(self, came: FakeRecord, times: int = 1) -> float:
        """Return the least of several CPU times of one turn."""
        best = float("inf")
        for _ in range(times):
            began = process_time()
            batch = self.partition.process([came], 0.0)
            best = min(best, process_time() - began)
            assert not batch.deltas.dead_letters, came.value[:200]
        return best


def main() -> int:
    """Print the dearest turns of each length."""
    options = _read_arguments()
    gc.set_threshold(50_000, 20, 100)
    kinds = itertools.product(options.platforms, options.characters)
    beyond = [_is_beyond(options.limit, options.show, characters, platform) for platform, characters in kinds]
    return int(any(beyond))


def _is_beyond(limit: float, show: int, characters: int, platform: str) -> bool:
    """Print the dearest turns of one length, and say whether the dearest is beyond the limit."""
    stand = Stand()
    plain = _record(ordinary(characters), "assistant", ANSWERED, platform=platform)
    usual = Cost(stand.seconds(plain, 9), "an ordinary one")
    costs = []
    for name, came in turns(characters, platform):
        seconds = stand.seconds(came)
        if seconds > 10 * usual.seconds:  # once more: it may have met a noisy moment
            seconds = min(seconds, stand.seconds(came, 2))
        costs.append(Cost(seconds, name))
    costs.sort(reverse=True)
    rows = [
        [f"`{name}`".replace("|", "\\|"), f"{seconds * 1e3:.1f}", f"{seconds / usual.seconds:.1f}"]
        for seconds, name in [*costs[:show], usual]
    ]
    print(table([f"{len(costs)} turns of {characters:,} characters on {platform}", "CPU ms", "× ordinary"], rows))
    dearest = costs[0].seconds / usual.seconds
    mark = "pass" if dearest <= limit else "**miss**"
    print(f"\nthe dearest at most {limit:g} × an ordinary one: {mark}\n")
    return dearest > limit


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    lengths = " ".join(map(str, CHARACTERS))
    parser.add_argument("--characters", type=int, nargs="+", default=CHARACTERS, help=f"of a text (default {lengths})")
    parser.add_argument("--platforms", nargs="+", default=PLATFORMS, help="where it is read (default web slack)")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"times an ordinary turn (default {LIMIT:g})")
    parser.add_argument("--show", type=int, default=SHOWN, help=f"families to print (default {SHOWN})")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
