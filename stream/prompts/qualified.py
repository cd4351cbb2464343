"""Qualified: what a sentence says of a quote or of a part of the answer, and not of the answer.

'End with "NOT ADVICE" in capital letters' asks for no answer in capitals, 'never write "Acme" in lower case' forbids no
name, and "no bullet points over 15 words" neither bullet points nor answers of more words.
"""

import tomllib
from collections.abc import Collection
from pathlib import Path

from turnsignal.stream.prompts.leftover import RequestedCheck, Span
from turnsignal.stream.prompts.wording import amounts, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("qualified.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], **{name.upper(): _BUILT[name] for name in ("parts", "case", "alone")})
_OF_QUOTE = ("case", "commas", "counts", "letters", "things")  #: kinds that may be of a quote before them
_OF_PART = ("counts", "commas")  #: kinds that may be of a part before them
_SAID = ("words", "edges")  #: kinds whose spans are quotes
_FORBID = ("keywords.forbidden_words", "pattern.forbid")


def qualifies(masked: str, check: RequestedCheck, product: Collection[str] = ()) -> str | None:
    """Return why a check may be of a quote or of a part; None if it is of the answer.

    masked: the sentence, with dots for quoted text; product: words for the one text that a prompt orders.
    """
    if not check.spans:
        return None
    if check.kind in _SAID:
        return _written_so(masked, check) if check.check.startswith(_FORBID) else None
    if check.kind in _OF_QUOTE and _is_of_quote(masked, check):
        return "may be of what is quoted before it"
    if check.kind in _OF_PART and not product:
        is_with = check.kind == "commas"
        match = _SAYS["part_with" if is_with else "part"].search(masked[: check.spans[0][0]])
        if match is None or (is_with and _SAYS["form_of"].search(masked[: match.start()]) is not None):
            return None
        return f"concerns a part of the answer ({match['part'].casefold()})"
    if check.kind in ("things", "links"):
        return next((doubt for span in check.spans if (doubt := _which(masked, span))), None)
    return None


def _is_of_quote(masked: str, check: RequestedCheck) -> bool:
    """Return whether the words of a check are said of the quote before them: '"X" in capitals'."""
    start, end = check.spans[0]
    quoted = masked.rfind("·", 0, start)
    behind = _SAYS["of_quote"].search(masked[quoted : max(end, quoted)]) if quoted >= 0 else None
    if behind is None or _SAYS["goes_on"].search(behind["how"]) is not None:
        return False
    is_apart = behind["how"].lstrip().startswith(",") or masked[quoted + 1 : quoted + 2] == ","
    return (check.kind == "case" or not is_apart) and _SAYS["of_answers"].search(behind["how"]) is None


def _written_so(masked: str, check: RequestedCheck) -> str | None:
    """Return why a ban of what is quoted may be of one way to write it."""
    behind = masked[masked.rfind("·") + 1 :] if "·" in masked else masked[check.spans[-1][1] :]
    match = _SAYS["written_so"].search(behind)
    return None if match is None else f"may forbid one way to write it ({match[0].strip(' ,').casefold()} …)"


def _which(masked: str, thing: Span) -> str | None:
    """Return why a ban of things may be of some of them: of the long ones, of those in capitals, of all but one."""
    behind = masked[thing[1] :]
    if _SAYS["in_case"].search(behind) is not None:
        return "may forbid only some of them (in …)"
    sized = (one for one in amounts(masked) if one.start >= thing[1] and not one.exact)
    if any(_SAYS["sized"].search(masked[thing[1] : one.start]) is not None for one in sized):
        return "may forbid only some of them (of a length)"
    match = _SAYS["instead"].search(behind) or _SAYS["sign_instead"].search(behind)
    return None if match is None else "names one that may be used"
