"""Everyday follow-ups of our own, as labelled turns that `turnsignal measure` reads.

    python tests/measuring/everyday.py --part frozen --into out/frozen

`tests/data/everyday` has sentences collected and labelled before any rule was made for them: `open` for making rules,
`frozen` kept apart from version 3 of them, `sealed` from version 4 until it was measured (then what it had shown was
mended), `late` written before that mending and measured after it, `held` the half by hash of what was written before
version 6 (the other half is open); figures are quoted of what was kept apart.
`en_*.txt` is support, code and office work, `answers_*.txt` questions answered from documents, doubted and gone on
from, `documents_*.txt` the same in the manner of MTRAG (`open` and `held` are looked at, `late` was written and
labelled after them and measured once before it was looked at), `asides_*.txt` what is said beside an answer: questions
about cancelling, complaints and errors, reports of what happened elsewhere, pauses, a step done and the next one asked
for. `@ name | prompt | response` begins a context, `class | follow-up` stands in it; classes of GOES_ON are labelled as
going on, all others ask for a clarification; a `check` ("so only on weekdays?") is neither, as annotators of public
sets take most of them for going on, and is left out. `languages_*.txt`: `de+` a clarification in German, `de-` none,
`xx` a language that the rules do not read. One person wrote them and the rules: the words of others are further off.
`stranger` is another's, who saw no rule: eight messages in each of thirty languages that are not read, four in ten
more; `read_stranger.txt`, 25 in each that is read. `written_*.txt` is nine others', who saw no rule either, in the
seven languages (`@ en name` is a context in English) and asked for what has no complaining word in it: a bare fact
against the answer `complains`; `goes_on`, `other` (a new topic, an aside) and `thanks` do not. Halves by a hash of the
sentence: `open` was looked at from version 33 on, `held` never.
"""

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

SENTENCES = Path(__file__).parents[1] / "data" / "everyday"
GOES_ON = frozenset(
    {"next", "related", "detail", "format", "thanks", "topic", "answer_on", "second_on"}
    | {"more", "negq", "self", "opinion", "new"}  # a question with a no in it, words about oneself or the world
    | {"about", "state", "pause", "onward"}  # asides
)
_ANY = (
    "Invoice 4471?",
    "Settings > Billing > 4471",
)  #: what sentences in other languages follow, where nothing is said


def english(stem: str, part: str) -> Iterator[list[dict[str, Any]]]:
    """Give the conversations of the English sentences, three turns each."""
    for number, name, asked, kind, text in _sentences(stem, part):
        labels = {"class": kind, "clarification": "between" if kind == "check" else kind not in GOES_ON}
        yield _conversation(f"{name}:{number}", asked, text.replace("\\n", "\n"), labels)


def languages(part: str, *, read: bool) -> Iterator[list[dict[str, Any]]]:
    """Give the conversations in other languages: those that the rules read, or those that they do not."""
    for number, _, asked, kind, text in _sentences("languages", part):
        if (kind != "xx") is read:
            labels = {"class": kind.rstrip("+-"), "clarification": kind[-1] == "+"}
            yield _conversation(f"{kind}:{number}", asked, text, labels)


def written(part: str) -> Iterator[list[dict[str, Any]]]:
    """Give the conversations that others wrote, by language and label."""
    for number, name, asked, kind, text in _sentences("written", part):
        labels = {"class": f"{name[:2]} {kind}", "clarification": kind == "complains"}
        yield _conversation(f"{name}:{number}", asked, text, labels)


def _sentences(stem: str, part: str) -> Iterator[tuple[int, str, tuple[str, str], str, str]]:
    """Give (line, context, its prompt and response, class, sentence)."""
    path = SENTENCES / f"{stem}_{part}.txt"
    name, asked = "", _ANY
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else ()):
        if line.startswith("@"):
            name, prompt, response = (field.strip() for field in line[1:].split("|", 2))
            asked = prompt, response
        else:
            kind, text = (field.strip() for field in line.split("|", 1))
            yield number, name, asked, kind, text


def write(folder: Path, conversations: Iterator[list[dict[str, Any]]]) -> int:
    """Write conversations as a labelled set; return how many."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(folder / "turns.jsonl.gz", "wb", compresslevel=1) as out:
        for turns in conversations:
            out.write(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
            count += 1
    return count


def _conversation(name: str, asked: tuple[str, str], text: str, labels: dict[str, Any]) -> list[dict[str, Any]]:
    said = (("user", asked[0], {}), ("assistant", asked[1], {}), ("user", text, labels))
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
    parser.add_argument("--part", choices=("frozen", "sealed", "late", "held", "stranger", "open"), required=True)
    parser.add_argument("--into", type=Path, required=True, help="where the folders are written")
    options = parser.parse_args(arguments)
    sets = {
        "everyday": english("en", options.part),
        "answers": english("answers", options.part),
        "asides": english("asides", options.part),
        "documents": english("documents", options.part),
        "everyday_languages": languages(options.part, read=True),
        "unread_languages": languages(options.part, read=False),
        "written": written(options.part),
    }
    for name, conversations in sets.items():
        print(f"{name}: {write(options.into / name, conversations):,} conversations of the {options.part} part")
    return 0


if __name__ == "__main__":
    sys.exit(main())
