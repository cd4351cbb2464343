"""Leftover: what a sentence says beside the checks that were read from it.

A check binds whole answers, so it is proposed without doubt only if the whole sentence is accounted for: it speaks of
the answer, and beside what the check says nothing stands in it but words known to add nothing. Whatever else a limit
may belong to (a title, a price, a query, the user's question) or depend on is unknown, and so a reason for doubt.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.stream.prompts.objects import object_made
from turnsignal.stream.prompts.wording import VERBS, compile_pattern, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("leftover.toml").read_text(encoding="utf-8"))
_KNOWN = frozenset(" ".join(_BUILT["known"].values()).split())
_OF_KIND = {kind: frozenset(words.split()) for kind, words in _BUILT["kinds"].items()}
_CONDITIONS = frozenset(_BUILT["conditions"].split())
_NARROWING = frozenset(_BUILT["narrowing"].split())
_MODALS = frozenset(_BUILT["modals"].split())
_ENGLISH = _KNOWN.union(*_OF_KIND.values()) - frozenset(_BUILT["shared"].split())
_OWNERS = frozenset(_BUILT["owners"].split())
_LOOSE = frozenset(_BUILT["loose"])
_SIZES = ("counts", "bullets")
_OF_PARTS = frozenset(_BUILT["of_parts"])
_FORBIDDEN = ("things", "links", "words")  #: kinds that may be forbidden in what an earlier clause makes
_SAYS = read_patterns(
    _BUILT["patterns"],
    ANSWER=_BUILT["answer"],
    MAKE="".join(line.strip() for line in _BUILT["make"].splitlines()),
    PART="|".join(_BUILT["parts"]),
    VERB=VERBS,
)
_WORD = compile_pattern(r"[\pL\pN][\pL\pN'’/-]*|·+")
_ORDER = 120  #: characters in which a prompt names the text that it orders
_FEW = 8  #: words that are too few to tell a language
_LEAST = 0.15  #: the least share of words that are known; of an English prompt half are
_SHOWN = 6  #: leftover words in the reason for a doubt

Span = tuple[int, int]


class RequestedCheck(NamedTuple):
    """A check that a sentence asks for.

    spans: the words that it accounts for, with no others between them; kind: how its wording is known, a key of `kinds`
    in leftover.toml; doubt: why it is doubtful whatever is left over, None if there is no such reason.
    """

    check: str
    spans: tuple[Span, ...]
    kind: str
    doubt: str | None = None


class Scope(NamedTuple):
    """What stands around a sentence and may narrow it.

    product: words for the text that the whole prompt orders; heading: a part of the answer that the headings name;
    referent: one that "it" may stand for; sized: one that the sentence before asks for, whose length may be meant;
    made: words for what the assistant is there to write, which is the answer.
    """

    product: str = ""
    heading: str = ""
    referent: str = ""
    sized: str = ""
    made: str = ""


def doubts(masked: str, asked: Sequence[RequestedCheck], signs: list[Span], scope: Scope) -> list[str | None]:
    """Return for each check why it is doubtful: what the sentence says beside it, or None if it says nothing else.

    masked: the sentence, with dots for quoted text; signs: quotes without a letter, such as "*".
    """
    clauses = _clauses(masked)
    taken = [*signs, *(span for one in asked for span in one.spans)]
    kinds = [frozenset(one.kind for one in asked if _holds(clause, one)) for clause in clauses]
    left = [_left(masked, clause, taken, kinds[at], scope) for at, clause in enumerate(clauses)]
    return [_narrowed(one.kind, scope) or _doubt(masked, clauses, left, one, scope) or one.doubt for one in asked]


def unchecked(masked: str, asked: Sequence[RequestedCheck], signs: list[Span], scope: Scope) -> list[Span]:
    """Return the clauses that are rules of their own, and that no check of their sentence accounts for."""
    taken = [*signs, *(span for one in asked for span in one.spans)]
    starts = {match.start() for key in ("clause", "rule_behind") for match in _SAYS[key].finditer(masked)}
    clauses = []
    for at, clause in enumerate(pairwise([0, *sorted(starts), len(masked)])):
        text = masked[slice(*clause)]
        is_rule = at > 0 or (_SAYS["own_rule"].search(text) is not None and _SAYS["in_passing"].search(text) is None)
        is_rule = is_rule and _SAYS["of_subject"].match(masked[clause[1] :] if at == 0 else "") is None
        if (
            is_rule
            and not any(_holds(clause, one) for one in asked)
            and _left(masked, clause, taken, frozenset(), scope)
        ):
            clauses.append(clause)
    return clauses


def ordered(sentences: Iterable[str]) -> str:
    """Return the words for the one text that a prompt orders, as "poem" in "Write a poem about …".

    "" for the prompt of an assistant, which gives many answers.
    """
    names: list[str] = []
    for sentence in sentences:
        assistant = _SAYS["assistant"].search(sentence)
        if assistant is not None and (assistant["verb"] or "").casefold() not in _MODALS:
            return ""
        orders = list(_SAYS["orders"].finditer(sentence))
        if any(_SAYS["another"].match(sentence[match.start(1) :][:_ORDER]) for match in orders):
            continue  # "a title and a description": neither is the answer
        texts = [match[1].casefold() for match in orders]
        names += texts if not names else [text for text in texts if not part_named(text)]
        names += ("it" for _ in _SAYS["rewrites"].finditer(sentence))
    return " ".join(dict.fromkeys(word for name in names for word in name.split() if word == "it" or len(word) > 2))


def written(sentences: Iterable[str]) -> str:
    """Return the words for the one text that an assistant is there to write, as "story stories"; "" if there is none.

    sentences: how the prompt begins. What it is called there, "You write a digest", the rules below are about.
    """
    texts: set[str] = set()
    for sentence in sentences:
        texts |= {match["text"].casefold() for match in _SAYS["role_writes"].finditer(sentence)}
        texts |= {text for text in ("summary", "article") if _SAYS[f"role_{text}"].search(sentence) is not None}
    singular = {f"{text[:-3]}y" if text.endswith("ies") else text.removesuffix("s") for text in texts}
    if len(singular) != 1:
        return ""
    (one,) = singular
    return f"{one} {one[:-1]}ies" if one.endswith("y") else f"{one} {one}s"


def referent(masked: str, before: str) -> str:
    """Return the part of the answer that "it" may stand for, as the sentence before names one; "" if there is none."""
    if not before or _SAYS["names"].search(before) or _SAYS["names"].search(masked):
        return ""
    part = part_named(before)
    if _SAYS["stands_for"].search(masked):
        return part or "it"
    return part if _SAYS["keeps_it"].search(masked) and _SAYS["without_it"].search(before) is None else ""


def keeps_it(masked: str) -> bool:
    """Return whether a sentence says how "it" is to be written: "Keep it short."."""
    return _SAYS["keeps_it"].search(masked) is not None


def names_whole(masked: str) -> bool:
    """Return whether a sentence names the answer as a whole: "the whole document"."""
    return any(not part_named(match[0]) for match in _SAYS["entirety"].finditer(masked))


def is_pronoun(masked: str) -> bool:
    """Return whether a sentence speaks of what the one before it is about: "It must not …", "no emojis in them"."""
    return _SAYS["about_it"].search(_SAYS["impersonal"].sub("", masked)) is not None


def keeps_them(masked: str) -> bool:
    """Return whether a sentence says how "them" are to be written: "Keep them short."."""
    return _SAYS["keeps_them"].search(masked) is not None


def makes_beside(masked: str) -> bool:
    """Return whether a sentence has a text made beside the answers: "You can create a ticket."."""
    match = _SAYS["makes_beside"].search(masked)
    return match is not None and _SAYS["own_kind"].search(match["beside"] or match["by_tool"]) is None


def is_anew(masked: str) -> bool:
    """Return whether a sentence is of the answers again after one that was of another text: "Always …"."""
    return _SAYS["is_anew"].search(masked) is not None


def is_role(masked: str) -> bool:
    """Return whether a sentence, which begins a prompt, says what the answers are: "You write tweets."."""
    return _SAYS["writes"].search(masked) is not None and _SAYS["too"].search(masked) is None


def is_of_each(masked: str, before: str) -> bool:
    """Return whether an amount alone is of what the sentence before says "each" of."""
    if _SAYS["without_subject"].search(masked) is None or _SAYS["of_each"].search(before) is None:
        return False
    return _SAYS["whole"].search(before) is None  # "Every answer ends with …": what follows is of the answer, too


def is_of_answers(masked: str, product: str) -> bool:
    """Return whether "it" after a sentence may be the answer: it names the answer, or what the prompt has written."""
    left = _SAYS["owned"].sub(
        lambda owned: owned[0] if (owned[1] or "").casefold() in _OWNERS else "¦" * len(owned[0]), masked
    )
    if makes_beside(left):
        return False
    left = _SAYS["of_a_kind"].sub(_without_kind, left)
    if _names(left, Scope(product)):
        return True
    rest = _left(left, (0, len(left)), [], frozenset(), Scope(product))
    made = object_made(left, rest)
    is_besides = _SAYS["besides"].search(left) is not None  # "You write commit messages, too."
    return (
        not is_besides
        and _SAYS["writes"].search(left) is not None
        and (not made or _SAYS["one"].match(made) is not None)
    )


def _without_kind(message: Any) -> str:
    """Blank a message of a kind of its own, as "push messages"; "short messages" are the answers."""
    is_answer = message["kind"].casefold() in _KNOWN or message["kind"][0] == "¦"
    return message[0] if is_answer else "¦" * len(message[0])


def is_english(text: str) -> bool:
    """Return whether a text is English: whether the words of instructions are common in it."""
    words = [word[0].casefold() for word in _WORD.finditer(text)]
    return len(words) < _FEW or sum(word in _ENGLISH for word in words) >= _LEAST * len(words)


def part_named(text: str) -> str:
    """Return the first word of a text for a part of an answer, as "title"; "" if there is none."""
    match = _SAYS["part"].search(text)
    return "" if match is None else str(match[0]).casefold()


def without_parts(text: str) -> str:
    """Leave the words for parts of an answer out of a text that speaks of none: "bot for field technicians"."""
    plain: str = _SAYS["part"].sub("", text)
    return plain


def _holds(clause: Span, one: RequestedCheck) -> bool:
    return any(clause[0] <= start < clause[1] for start, _ in one.spans)


def _clauses(masked: str) -> list[Span]:
    """Split a sentence where another instruction begins: "…, and use …", "… and no …"."""
    return list(pairwise([0, *(match.start() for match in _SAYS["clause"].finditer(masked)), len(masked)]))


def _left(masked: str, clause: Span, taken: list[Span], kinds: frozenset[str], scope: Scope) -> list[str]:
    """Return the words of a clause that nothing accounts for."""
    text = masked[slice(*clause)]
    known = _KNOWN.union(scope.product.split(), _own(masked, scope), *(_OF_KIND.get(kind, ()) for kind in kinds))
    held = [(start - clause[0], end - clause[0]) for start, end in taken]
    held += [match.span() for match in _SAYS["entirety"].finditer(text) if not part_named(match[0])]
    held += [match.span() for key in _held(kinds, scope) for match in _SAYS[key].finditer(text)]
    left = []
    for word in _WORD.finditer(text):
        start, end = word.span()
        is_known = word[0].casefold().replace("’", "'") in known
        if not is_known and not any(first < end and start < last for first, last in held):
            left.append("…" if word[0].startswith("·") else word[0])
    if "things" in kinds:
        left = [word for word in left if word not in _forbidden_beside(text, held)]
    if scope.product and _orders(text, scope):
        return []  # what the one text that is ordered is about
    return [word for word in left if word in _CONDITIONS] if kinds == {"device"} else left


def _own(text: str, scope: Scope) -> frozenset[str]:
    """Return the words for what the assistant writes if a text names it as that: "your summary", "Stories are …".

    "Summary (60 words)" may be a part of a longer answer.
    """
    made = frozenset(scope.made.split())
    named = ((match["text"] or match["texts"]).casefold() for match in _SAYS["own_text"].finditer(text)) if made else ()
    return made if not made.isdisjoint(named) else frozenset()


def _forbidden_beside(text: str, held: list[Span]) -> frozenset[str]:
    """Return the words for what a clause forbids beside its checks: "code" in "Do not use lists, headings or code."

    Each thing in such a list is forbidden by itself, whatever the others are.
    """
    ban = _SAYS["bans"].match(text)
    if ban is None:
        return frozenset()
    words: list[str] = []
    start = ban.end()
    for comma in [*_SAYS["or_comma"].finditer(text, start), None]:
        end = len(text) if comma is None else comma.start()
        piece = text[start:end]
        is_checked = any(first < end and start < last for first, last in held)
        if not is_checked and _SAYS["one_thing" if start == ban.end() else "a_thing"].fullmatch(piece) is not None:
            named = [word[0] for word in _WORD.finditer(piece)]
            words += named if _NARROWING.isdisjoint(map(str.casefold, named)) else ()
        start = end if comma is None else comma.end()
    return frozenset(words) - _CONDITIONS


def _orders(text: str, scope: Scope) -> bool:
    names = [match[1].casefold().split()[-1] for match in _SAYS["orders"].finditer(text)]
    return any(name in scope.product.split() for name in names) or _SAYS["rewrites"].search(text) is not None


def _held(kinds: frozenset[str], scope: Scope) -> Iterator[str]:
    """Yield the patterns for phrases of several words that add nothing."""
    yield "whole"
    yield "counted"
    yield "at_a_time"
    yield "each_reply"
    yield "in_any_form"
    yield "free_of"
    yield "one_label"
    yield "answers_it"
    yield "to_the_user"
    if not kinds.isdisjoint(("citations", "sections", "marks")):
        yield "example"
    if "citations" in kinds:
        yield "by_the_stop"
        yield "in_a_row"
    if not kinds.isdisjoint(("counts", "sections", "commas")):
        yield "separated"
    if not kinds.isdisjoint(("words", "edges")):
        yield "named"
    if "case" in kinds:
        yield "likened"
    if kinds and kinds.issubset(_FORBIDDEN):
        yield "in_all_parts"
    if scope.product:
        yield "yours"


def _narrowed(kind: str, scope: Scope) -> str | None:
    part = "" if kind in _LOOSE else scope.heading or scope.referent
    part = part or (scope.sized if kind in _SIZES else "")
    return f"may concern a part of the answer ({part})" if part else None


def _doubt(masked: str, clauses: list[Span], left: list[list[str]], one: RequestedCheck, scope: Scope) -> str | None:
    """Return what is left over of the check's own clause, and of those before it that may hold its subject."""
    own = next((at for at, clause in enumerate(clauses) if _holds(clause, one)), 0)
    if scope.product and (part := _beside(masked, one, scope)):
        return _reason([part])
    if left[own]:
        return _reason(left[own])
    if one.kind in _SIZES and one.spans and _SAYS["each_of"].search(masked[: one.spans[0][0]]) is not None:
        return "may concern a part of the answer (each)"
    narrows = _SAYS["which_answers"].search(masked[slice(*clauses[own])])
    if narrows is None and one.kind not in _LOOSE and one.spans:
        narrows = _SAYS["purpose"].search(masked[one.spans[0][1] : clauses[own][1]])
    if narrows is not None:
        return _reason([narrows[0]])
    named = _names(masked[slice(*clauses[own])], scope)
    if one.kind in _FORBIDDEN and not named and (made := _made(masked, clauses[: own + 1], left)):
        return f"may be about something else (“{made}”)"
    for at in range(own):
        text = masked[slice(*clauses[at])]
        if at == 0 and _SAYS["in_passing"].search(text) is not None:
            continue
        opens = at == 0 and (_SAYS["subject"].search(text) is not None or _says_when(text, masked[clauses[0][1] :]))
        if left[at] and (opens or not (one.kind in _LOOSE or named or _names(text, scope))):
            return _reason(left[at])
    return None


def _says_when(first: str, rest: str) -> bool:
    """Return whether a first clause says when the rest of its sentence holds, as "Outside of opening hours, …" does."""
    if _SAYS["circumstance"].search(first) is not None:
        return True
    return rest.startswith(",") and _SAYS["own_rule"].search(first) is None


def _made(masked: str, clauses: Sequence[Span], left: Sequence[list[str]]) -> str:
    """Return what the clauses before the last make, if the last may be about it; "" if they make the answer."""
    *earlier, last = (masked[slice(*clause)] for clause in clauses)
    return next(
        (made for text, words in zip(earlier, left, strict=False) if (made := object_made(text, words, last))), ""
    )


def _beside(masked: str, one: RequestedCheck, scope: Scope) -> str:
    """Return the part of an ordered text right before or after the words of a check: "a title of 8 words"."""
    if one.kind not in _OF_PARTS or not one.spans:
        return ""
    start, end = one.spans[0]
    if _SAYS["several"].search(masked[:start]):
        return "each"
    before = _SAYS["pause"].split(masked[max(0, start - 40) : start])[-1]
    after = _SAYS["pause"].split(masked[end : end + 25])[0]
    part = part_named(after) or ("" if _SAYS["topic"].search(before) else part_named(before))
    return "" if set(part.split()) & set(scope.product.split()) else part


def _names(text: str, scope: Scope) -> bool:
    """Return whether a clause names the answer itself."""
    words = (word[0].casefold() for word in _WORD.finditer(text))
    own = {*scope.product.split(), *_own(text, scope)}
    return _SAYS["names"].search(text) is not None or not own.isdisjoint(words)


def _reason(left: list[str]) -> str:
    words = " ".join(dict.fromkeys(left[:_SHOWN]))
    return f"says more than its check ({words}{' …' if len(left) > _SHOWN else ''})"
