"""Beside: what a sentence asks for beside its checks, so that nobody believes that it is watched as a whole.

"No slang, no emojis" has a check for the emojis alone.
"""

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.proposals import CAPITALS, MARKDOWN, NAMED_THINGS
from turnsignal.stream.prompts.wording import read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("beside.toml").read_text(encoding="utf-8"))["patterns"])
_SINGLE = "single words in capitals"  #: of which an abbreviation is one


def beside(sentence: str, masked: str, names: Sequence[str], unchecked: Sequence[str]) -> list[str]:
    """Return the sentence with what no check tells beside what one can, [] if there is nothing.

    names: of its checks; unchecked: its clauses that no check accounts for.
    """
    forbids = [name for name in names if name.startswith("pattern.forbid")]
    clauses = [_SAYS["joins"].sub("", clause) for clause in unchecked]
    clauses = [clause for clause in clauses if not (forbids and _is_untold(clause))]
    words = [*clauses, *(_untold(masked, clauses) if forbids else ())]
    words += _how(masked, names, [*clauses, *words])
    words += _in_json(sentence, masked, [*clauses, *words]) if "format.json" in names else ()
    shouts = any(_regex(name) == CAPITALS for name in forbids)
    words += [_SINGLE] if shouts and _SAYS["words"].search(masked) is not None else []
    return [f"{sentence} (no check: {', '.join(words)})"] if words else []


@lru_cache(maxsize=512)  # many sentences ask for the same check
def _regex(check: str) -> str:
    """Return the pattern of a check, by its name; "" if it has none."""
    return str(parse_name(check).params.get("regex", ""))


def _untold(masked: str, clauses: Sequence[str]) -> list[str]:
    """Return the words for what is forbidden and no check can tell, but for those in clauses that are named whole."""
    for thing in NAMED_THINGS.values():
        masked = thing.sub("", masked)  # "em dashes" are told from dashes
    words = dict.fromkeys(match[0] for match in _SAYS["untold"].finditer(masked))
    return [word for word in words if not any(word in clause for clause in clauses)]


def _how(masked: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the phrases that say what is left out, or how it is written, and that no check tells.

    names: of the checks of the sentence; known: what is named already.
    """
    checked = [NAMED_THINGS[regex] for name in names if (regex := _regex(name)) in NAMED_THINGS]
    checked += [_SAYS["formless"]] if any(_regex(name) == MARKDOWN for name in names) else []
    checked += [_SAYS["commas"]] if "punctuation.no_comma" in names else []
    phrases: dict[str, None] = {}
    for match in _SAYS["without"].finditer(masked):
        rest = masked[match.start(_SAYS["without"].groupindex["what"]) if match["what"] else match.start() :]
        is_told = any(thing.match(rest) is not None for thing in checked)
        if not is_told and (match["what"] is None or _SAYS["no_thing"].fullmatch(match["what"]) is None):
            phrases[match[0].strip()] = None
    return [phrase for phrase in phrases if not any(phrase in one for one in known)]


def _in_json(sentence: str, masked: str, known: Sequence[str]) -> list[str]:
    """Return what a sentence says of the keys and values of its JSON, which no check tells.

    known: what is named already.
    """
    for key in ("json_of", "as_json"):
        match = _SAYS[key].search(masked)
        if match is not None:
            what = sentence[slice(*match.span(match.re.groupindex["what"]))].strip(" ,:.!(")
            return [] if any(what in one for one in known) else [what]
    return []


def _is_untold(clause: str) -> bool:
    """Return whether a clause is nothing but a word for what no check can tell: "no slang"."""
    return _SAYS["untold"].fullmatch(_SAYS["around"].sub("", clause).rstrip(" .!")) is not None
