"""Titles: lines that stand above what comes next although they are no headings of Markdown.

"**Refunds**", "REFUNDS" and "Refunds" are, and so is a line that says who is meant, "Guests under 18"; one that says
how much there is of something, "Max 3 emojis", or what to do is a rule.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.instructions import LANGUAGES
from turnsignal.stream.prompts.wording import amounts, mask, read_patterns

MAX_HEADING = 200  #: characters of a heading that the sentences below it see
TITLE, PLAIN = 7, 9  #: levels of titles; PLAIN: in the letters of a sentence, so that it may be a line of a list

_BUILT = tomllib.loads(Path(__file__).with_name("titles.toml").read_text(encoding="utf-8"))
_WORDINGS = {name: "".join(line.strip() for line in text.splitlines()) for name, text in _BUILT["words"].items()}
_SAYS = read_patterns(_BUILT["patterns"], **_WORDINGS, LANGUAGE="|".join(LANGUAGES))
_WORDS = 7  #: in a title on a line of its own, at most
_TEXTS = ("words", "characters", "sentences", "paragraphs", "bullets", "emojis")  #: what rules count


def is_bold(bare: str) -> bool:
    """Return whether all of a line is bold or italic."""
    return _SAYS["bold"].fullmatch(bare) is not None


def is_ruled(bare: str) -> bool:
    """Return whether a line is drawn under a title or between sections: "====="."""
    return _SAYS["ruled"].fullmatch(bare) is not None


def forbids(label: str) -> bool:
    """Return whether a title or tag only forbids what stands below it: "Never", "dont"."""
    return _SAYS["only_forbids"].fullmatch(label) is not None


def title_level(bare: str, near: str, after: str, *, is_list: bool) -> int:
    """Return the level of a title that is no heading of Markdown, as "**Tone**", "TONE", "Tone"; 0 if it is none.

    What stands behind it in brackets says which cases are meant: "Red flags (chest pain, trouble breathing)". near: the
    line below; after: the next that is not empty; is_list: whether that is a list item.
    """
    if len(bare) > MAX_HEADING or not after or _SAYS["hole"].fullmatch(bare.strip("*_ ")) is not None:
        return 0
    is_all_bold = is_bold(bare)
    if not is_all_bold and _SAYS["framed"].fullmatch(bare) is not None:
        return TITLE
    plain = mask(bare.strip("*_: "))
    aside = _SAYS["aside"].search(plain)
    named, beside = (plain, "") if aside is None else (plain[: aside.start()].rstrip("*_ "), aside[0].lstrip("*_ "))
    is_case = not near.strip() and _SAYS["when"].match(named) is not None
    is_long = len(named.split()) > _WORDS and not is_case
    if is_long or named[-1:] in ".!?,;" or plain[-1:] in ".!?,;" or ": ·" in plain:
        return 0
    is_upper = plain.isupper() and sum(map(str.isalpha, plain)) > 1
    wording = _SAYS["compound"].sub("¦", _SAYS["verb" if is_case else "which"].sub("", named))
    is_counted = _is_counted(wording) or any(amount.unit != "number" for amount in amounts(beside))
    if is_all_bold or (is_upper and is_list and not is_counted):
        return TITLE  # "ALWAYS" above a list, too, which ends the one below "NEVER"
    instructs = _SAYS["instructs"].search(wording) is not None and not forbids(wording)
    is_part = bool(beside) and is_bold(bare[: -len(beside)].strip())  # "**Teaser** (max 40 words)"
    if instructs or (is_counted and not is_part) or (not is_upper and not is_list and is_manner(plain)):
        return 0
    if is_upper:
        return TITLE
    if bare.endswith(":") or (": " in bare and not is_list) or _SAYS["describes"].search(plain) is not None:
        return 0
    first = _SAYS["letter"].search(bare)
    if not (first is not None and first[0].isupper()) and not (bare[:1].isdigit() and not near.strip()):
        return PLAIN if is_list else 0
    if is_ruled(near.strip()) or (not near.strip() and not is_list):
        return TITLE
    return PLAIN if is_list or near.strip()[:1].isupper() else 0


def is_manner(bare: str) -> bool:
    """Return whether a line is a rule without a verb that says how answers are: "English only", "Warm tone"."""
    return _SAYS["manner"].fullmatch(bare) is not None


def is_bare(line: str) -> bool:
    """Return whether a line may be one of a list without markers: a few words without a stop."""
    return 0 < len(line.split()) <= _WORDS and line.strip()[-1] not in ".!?:;"


def leads(bare: str) -> bool:
    """Return whether a line right above a list leads it as if it ended with a colon: "If the user is angry"."""
    if bare[-1:] in ".!?,;:" or len(bare.split()) > _WORDS + 1:
        return False
    if _SAYS["describes"].search(bare) is not None or _SAYS["rule"].match(bare) is not None:
        return False
    return not any(amount.unit in _TEXTS for amount in amounts(mask(bare)))


def _is_counted(named: str) -> bool:
    """Return whether a line says how much there is of something, and not who is meant, as "Guests under 18" does."""
    if _SAYS["number"].match(named) is not None and _SAYS["age"].match(named) is None:
        return True
    return any(
        amount.unit not in ("number", "times") or _SAYS["limit"].match(named[amount.start :]) is not None
        for amount in amounts(named)
    )
