"""Parts: thirds of every labelled set are kept apart, so that rules are never measured on what they were made from.

    python tests/measuring/parts.py FOLDER... --part frozen --into out/frozen

A conversation belongs to the frozen third where blake2b of its id, with person "frozen", is a multiple of three: the
same on every machine and for every order of the file. Of the rest, a third is sealed in the same way, with person
"sealed". Rules are made from what is open; figures that are quoted are those of parts that were not looked at. The
frozen part was measured after version 3 of the rules, three times at the end of version 4, at the end of versions 5
and 6 once, three times for version 7, with the shares right of each rule, at the end of version 9 once, with these
shares, of version 10 once, without, for version 11 the shares right alone, at the end of version 15 four sets once, and
at the ends of versions 18 and 19 once; nothing of it but sums was ever seen.
The sealed one was measured once for version 4 and then looked at, so it is open from version 5 on; as versions 1 to 3
were made with it in view, only the frozen part is new to all of the rules.
`make measure PART=frozen` does both steps.
"""

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import orjson

PARTS = ("frozen", "sealed", "open")


def part_of(conversation_id: str) -> str:
    """Say which part a conversation belongs to."""
    if _third(conversation_id, b"frozen"):
        return "frozen"
    return "sealed" if _third(conversation_id, b"sealed") else "open"


def _third(conversation_id: str, person: bytes) -> bool:
    digest = blake2b(conversation_id.encode(), digest_size=8, person=person).digest()
    return int.from_bytes(digest, "big") % 3 == 0


def write_part(folder: Path, into: Path, part: str) -> int:
    """Copy one part of a folder's turns, lines as they are, to a folder of the same name; return how many lines."""
    target = into / folder.resolve().name
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(target / "turns.jsonl.gz", "wb", compresslevel=1) as out:
        for path in sorted([*folder.glob("turns*.jsonl"), *folder.glob("turns*.jsonl.gz")]):
            for line in _lines(path):
                if part_of(str(orjson.loads(line)["conversation_id"])) == part:
                    out.write(line)
                    count += 1
    return count


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from file


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the part of every set among the folders, or of the sets directly in them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--into", type=Path, required=True, help="where the folders of that part are written")
    options = parser.parse_args(arguments)
    for folder in options.folders:
        sets = (
            [folder] if any(folder.glob("turns*.jsonl*")) else sorted(path.parent for path in folder.glob("*/turns*"))
        )
        if not sets:
            print(f"{folder}: expected turns*.jsonl(.gz) in it, or in the folders in it; got neither", file=sys.stderr)
            return 2
        for one in dict.fromkeys(sets):
            print(f"{one.name}: {write_part(one, options.into, options.part):,} turns of the {options.part} part")
    return 0


if __name__ == "__main__":
    sys.exit(main())
