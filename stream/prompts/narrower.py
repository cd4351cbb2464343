"""Narrower: whether a sentence forbids a thing wherever it stands, or only one kind of it, or one way to show it.

"No emojis" forbids all; "no emoji bullets", "no headings with emojis" and "never write links as plain text" do not.
"""

from turnsignal.stream.prompts.instructions import SAYS, WORDED
from turnsignal.stream.prompts.leftover import RequestedCheck, Span
from turnsignal.stream.prompts.wording import compile_pattern

_NOUNS = r"urls?|hyper ?links?|links?|web addresses|lists?|titles?|captions?|names?|labels?|code"
_MORE = rf"{_NOUNS}|italics?|underlin\w+|texts?|answers?|repl(?:y|ies)|messages?"
_THING = "|".join(WORDED["forbidden"])
_AFTER_IT = compile_pattern(rf"^[\s-]+(?:{_THING}|{_MORE})\b|^-\pL")
_BEFORE_IT = compile_pattern(rf"\b(?:{_THING}|{_NOUNS})[\s-]+$|\pL-$|-style\s+$")
#: a kind of Markdown that is written with the very signs that the check looks for
_IN_MARKDOWN = compile_pattern(r"\bmarkdown(?:[ -]style)?[\s-]+$")
_SHOWN = compile_pattern(r"^[^.;:,]{0,60}?\bas\s+[\w·]|^\s+(?:like|instead|rather)\b")
#: what the thing is put around, or the form that is meant, also of things in one list with it: "or bold around names"
_AND_MORE = rf"^(?P<more>(?:(?:\s*,)?\s*(?:(?:or|and|nor)\s+)?(?:any\s+)?(?:{_THING}|{_MORE}|\w+)){{0,3}}?)"
#: what forbids the next thing by itself, so that what is said of it is of no other: "no lists, no bold around names"
_ANEW = compile_pattern(r"\b(?:no|not|never|without|avoid)\b|n[’']t\b")
_AROUND = compile_pattern(rf"{_AND_MORE}\s+(?P<how>around|round|surrounding|enclosing)\s+[\w·]")
_IN_FORM = compile_pattern(
    rf"{_AND_MORE}\s+(?P<how>in\s+(?P<which>[\w’'-]+)(?:\s+(?P<kind>[\w-]+)){{0,3}}?\s+"
    r"(?:formats?|formatting|form|styles?|syntax|notation))\b"
)
_AROUND_JSON = compile_pattern(
    r"^\s+(?:around|round|surrounding|enclosing)\s+(?:it|(?:the|your)\s+(?:\w+\s+)?(?:json|object|output))\b"
)
#: words before "format" that leave no form out, or speak of the answer's
_ANY_FORM = frozenset(
    {"any", "all", "every", "each", "no", "your", "the", "output", "answer", "response", "reply", "shape", "or"}
)
#: what is done to a thing that is there: "do not format links in Markdown"
_DONE = compile_pattern(
    r"\b(?:format|render|wrap|enclose|surround|style)(?:t?ing|p?ing|s)?\s+(?:(?:the|your|any|all|each|every)\s+)*$"
)
_AS = compile_pattern(r"\bas\s+(?:(?:the|your|an?|any|its|their|plain|raw)\s+)*$")
#: what says which of the things before it are meant, and is about all the things after it
_WITH = compile_pattern(
    rf"\b(?:{_THING}|{_NOUNS})\s+(?P<with>with|containing|contain|using|which|whose|made|full of|consisting|that)\s"
)
_SIGNS = compile_pattern(r"^(?:the )?#(?:\s*(?:signs?|symbols?|marks?))?\W*$")
_END = compile_pattern(r"[.;:]|,\s*(?:no|never|not|and|or|do|use)\b")


def only_some(masked: str, check: RequestedCheck) -> str | None:
    """Return why a sentence may forbid only some of what a check finds; None if it forbids all.

    masked: the sentence, with dots for quoted text.
    """
    if check.kind not in ("things", "links"):
        return None
    is_marked = check.kind == "things"
    return next((doubt for span in check.spans if (doubt := _only_some(masked, span, is_marked=is_marked))), None)


def _only_some(masked: str, thing: Span, *, is_marked: bool) -> str | None:
    """Return why words may name only some of a thing; is_marked: whether Markdown has signs of its own for it."""
    start, end = thing
    before, after = masked[:start], masked[end:]
    is_own = is_marked and _IN_MARKDOWN.search(before) is not None
    if _AFTER_IT.search(after) is not None or (_BEFORE_IT.search(before) is not None and not is_own):
        return "names it as a kind of something else"
    if _SHOWN.search(after) is not None or any(done.search(before) is not None for done in (_AS, _DONE)):
        return "says how it is shown"
    kind = "" if _is_all_json(masked[:start], after) else _kind_meant(after, is_marked=is_marked)
    if kind:
        return f"may forbid only some of them ({kind} …)"
    for match in _WITH.finditer(masked):
        if _SIGNS.match(masked[match.end() :]) is not None:
            continue  # "no headings with #": so all are written
        stop = _END.search(masked[match.end() :])
        last = len(masked) if stop is None else match.end() + stop.start()
        if match.start() <= start < last:
            return f"may forbid only some of them ({match['with'].casefold()} …)"
    return None


def _is_all_json(before: str, after: str) -> bool:
    """Return whether a thing is put around the JSON that the whole answer is: "only JSON, no fences around it"."""
    return _AROUND_JSON.search(after) is not None and SAYS["json"].search(before) is not None


def _kind_meant(after: str, *, is_marked: bool) -> str:
    """Return what behind a thing says which are meant: "around JSON", "in Markdown format"; "" if nothing does."""
    around = _AROUND.search(after)
    if around is not None and _ANEW.search(around["more"]) is None:
        return str(around["how"]).casefold()
    form = _IN_FORM.search(after)
    if form is None or _ANEW.search(form["more"]) is not None:
        return ""
    words = [word.casefold() for word in form["how"].split()[1:-1]]
    is_any = _ANY_FORM.issuperset(words)
    return "" if is_any or (is_marked and "markdown" in words) else str(form["how"]).casefold()
