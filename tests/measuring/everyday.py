"""Everyday follow-ups of our own, as labelled turns that `turnsignal measure` reads.

    python tests/measuring/everyday.py --part frozen --into out/frozen

`tests/data/everyday` has sentences from support, code and office work, collected and labelled before any rule was made
for them, in two parts by hash: `open` for making rules, `frozen` kept apart, the only one that figures are quoted of.
Lines of `en_*.txt`: `@ name | prompt | response` begins a context, `class | follow-up` stands in it; classes of GOES_ON
are labelled as going on, all others ask for a clarification. `languages_*.txt`: `de+` a clarification in German, `de-`
none, `xx` a language that the rules do not read.
"""

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

SENTENCES = Path(__file__).parents[1] / "data" / "everyday"
GOES_ON = frozenset({"next", "related", "detail", "format", "thanks", "topic", "answer_on", "second_on"})


def english(part: str) -> Iterator[list[dict[str, Any]]]:
    """Give the conversations of the English sentences, three turns each."""
    name = prompt = response = ""
    for number, line in enumerate((SENTENCES / f"en_{part}.txt").read_text(encoding="utf-8").splitlines()):
        if line.startswith("@"):
            name, prompt, response = (field.strip() for field in line[1:].split("|", 2))
        else:
            kind, text = (field.strip() for field in line.split("|", 1))
            labels = {"class": kind, "clarification": kind not in GOES_ON}
            yield _conversation(f"{name}:{number}", prompt, response, text.replace("\\n", "\n"), labels)


def languages(part: str, *, read: bool) -> Iterator[list[dict[str, Any]]]:
    """Give the conversations in other languages: those that the rules read, or those that they do not."""
    prompt, response = "Invoice 4471?", "Settings > Billing > 4471"
    for number, line in enumerate((SENTENCES / f"languages_{part}.txt").read_text(encoding="utf-8").splitlines()):
        kind, text = (field.strip() for field in line.split("|", 1))
        if (kind != "xx") is read:
            labels = {"class": kind.rstrip("+-"), "clarification": kind[-1] == "+"}
            yield _conversation(f"{kind}:{number}", prompt, response, text, labels)


def write(folder: Path, conversations: Iterator[list[dict[str, Any]]]) -> int:
    """Write conversations as a labelled set; return how many."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(folder / "turns.jsonl.gz", "wb", compresslevel=1) as out:
        for turns in conversations:
            out.write(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
            count += 1
    return count


def _conversation(name: str, prompt: str, response: str, text: str, labels: dict[str, Any]) -> list[dict[str, Any]]:
    said = (("user", prompt, {}), ("assistant", response, {}), ("user", text, labels))
    return [
        {
            "conversation_id": name,
            "turn_id": f"{name}:{i}",
            "role": role,
            "text": words,
            "timestamp": f"2025-03-01T10:00:{10 * i:02}Z",
            "labels": known,
        }
        for i, (role, words, known) in enumerate(said)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sets of one part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=("frozen", "open"), required=True)
    parser.add_argument("--into", type=Path, required=True, help="where the folders are written")
    options = parser.parse_args(arguments)
    sets = {
        "everyday": english(options.part),
        "everyday_languages": languages(options.part, read=True),
        "unread_languages": languages(options.part, read=False),
    }
    for name, conversations in sets.items():
        print(f"{name}: {write(options.into / name, conversations):,} conversations of the {options.part} part")
    return 0


if __name__ == "__main__":
    sys.exit(main())
