"""Counted: what a sentence says of the things that it counts, and not of the answer.

"Include three bullets in lowercase" says how the bullets are written. "Two hashtags, no emojis" are two rules, and
"answer in three bullets without commas" is of the answer, because it consists of them.
"""

from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.wording import Amount, amounts, compile_pattern

_UNITS = ("bullets", "hashtags", "sections", "highlights", "placeholders", "citations")
_KINDS = ("case", "commas", "language", "things", "links", "words")  #: of wording, as in leftover.toml
_ANSWER = r"answers?|repl(?:y|ies)|responses?|messages?|outputs?|texts?|posts?|everything"
#: what the answer consists of: "Reply with exactly three bullets"
_AS = compile_pattern(
    rf"\b(?:answer|respond|reply|summari[sz]e|speak|format|structure|(?:{_ANSWER}) (?:is|are|as))\b[^.;]{{0,40}}"
    r"\b(?:in|with|as|using|into|is|are)\s+(?:exactly\s+|only\s+|just\s+)?$"
)
_PIECE = compile_pattern(r"[,;:.()]|\b(?:and|but|then)\b")
_OF_THEM = compile_pattern(
    r"^\s*(?:each\s+|all\s+|both\s+|only\s+|always\s+|written\s+|entirely\s+)*"
    r"(?:in|with|without|that|which|whose|containing|free of|lower|upper|capital)\b|^\s*(?:all\s+)?(?:lower|upper)"
)
#: what begins a rule of its own
_ANEW = compile_pattern(
    rf"\b(?:{_ANSWER}|use|write|answer|respond|reply|keep|be|avoid|never|always|do|don['’]t|must|should|end|start|add|include)\b"
)


def of_counted(masked: str, check: RequestedCheck) -> str | None:
    """Return why a check may be of things that its sentence counts before it, and not of the answer."""
    if check.kind not in _KINDS or not check.spans:
        return None
    counted = (one for one in amounts(masked) if one.unit in _UNITS and one.end <= check.spans[0][0])
    unit = next((one.unit for one in counted if _is_of(masked, one, check.spans[0][0])), None)
    return None if unit is None else f"may concern a part of the answer ({unit})"


def _is_of(masked: str, amount: Amount, at: int) -> bool:
    between = masked[amount.end : at]
    if _AS.search(masked[: amount.start]) is not None or _ANEW.search(between) is not None:
        return False
    return any(_OF_THEM.search(piece) is not None for piece in _PIECE.split(between))
