"""Examples: the lines of a prompt that show what is said, and are no rules: code between fences, and transcripts.

"Input: the text. Output: at most 80 words." says what comes in and goes out, and is no transcript: an example holds
sample texts, a specification says how they are to be.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))["patterns"])
_BELOW = 12  #: lines of a specification that are looked at


def examples(lines: Sequence[object], following: Sequence[int]) -> set[int]:
    """Return the lines between code fences, and of transcripts: "User: …", "Assistant: …", up to an empty line.

    lines: texts, and tags in between; following: for each the index of the next that is not empty, -1 for none.
    """
    skipped: set[int] = set()
    fences = [index for index, line in enumerate(lines) if isinstance(line, str) and line.lstrip().startswith("```")]
    for start, end in zip(fences[0::2], fences[1::2], strict=False):  # an unclosed fence does not count
        skipped.update(range(start, end + 1))
    in_transcript = False
    for index, line in enumerate(lines):
        after = _text(lines, following[index])
        if index in skipped or not isinstance(line, str) or not line.strip():
            in_transcript = in_transcript and _SAYS["speaker"].match(after) is not None
            continue
        if _SAYS["asker"].match(line) is not None and after:
            in_transcript = in_transcript or _is_answered(line, after, _below(lines, following[index]))
        if in_transcript:
            skipped.add(index)
    return skipped


def _text(lines: Sequence[object], index: int) -> str:
    """Return a line, "" if there is none or it is a tag."""
    line = lines[index] if index >= 0 else ""
    return line if isinstance(line, str) else ""


def _below(lines: Sequence[object], index: int) -> list[str]:
    """Return the lines below one, up to an empty line."""
    below: list[str] = []
    for line in lines[index + 1 : index + 1 + _BELOW]:
        if not isinstance(line, str) or not line.strip() or _SAYS["speaker"].match(line) is not None:
            break
        below.append(line)
    return below


def _is_answered(line: str, after: str, below: Sequence[str]) -> bool:
    """Return whether a line and the one after it are said by two, and specify nothing."""
    if _SAYS["answerer"].match(after) is None:
        return False
    if line.rstrip().endswith("?"):
        return True
    is_kind = _SAYS["kind"].match(line) is not None and _SAYS["of_somebody"].search(line) is None
    is_specified = is_kind and any(_SAYS["specified"].search(one) is not None for one in (after, *below))
    return not is_specified and _SAYS["described"].match(after) is None
