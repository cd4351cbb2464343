"""Third person: what a prompt says of its assistant by name is said to the one who reads it.

"You are Meridian. … Meridian never uses emojis." is read as "You never use emojis."; so is "The assistant …" where the
prompt makes an assistant of its reader and speaks of no other one, or begins with it and says "you" to nobody.
"""

import tomllib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from turnsignal.stream.prompts.fragments import personas
from turnsignal.stream.prompts.instructions import LANGUAGES
from turnsignal.stream.prompts.wording import compile_pattern, mask, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("third_person.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"])
_VERBS: dict[str, str] = _BUILT["verbs"]
_SUBJECT = compile_pattern(
    r"(?:^|[,;:]\s+|\b(?:and|but)\s+)"
    r"((?:the (?P<word>assistant|bot|chatbot|agent)|(?P<name>(?-i:[A-Z][\pL]+)))(?P<own>['’]s)?)\s"
)
_PRONOUN = compile_pattern(r"^s?he\b")
_NAMED = compile_pattern(r"(?-i:\b([A-Z][\pL]+)\b)(?:['’]s\b)?")
_ROLE = 4  #: sentences at the start of a prompt that may say who its reader is


def own_names(rules: Sequence[str]) -> frozenset[str]:
    """Return what a prompt calls its assistant: names, in their letters, and "assistant" or its like in small ones.

    rules: its sentences, masked, without headings. Nothing where it has several personas.
    """
    if personas(rules):
        return frozenset()
    named = {
        name
        for rule in rules
        for match in _SAYS["names"].finditer(rule)
        if (name := match["one"] or match["two"]).casefold() not in LANGUAGES
    }
    if len(named) > 1:
        return frozenset()
    roles = {match["word"].casefold() for rule in rules[:_ROLE] if (match := _SAYS["role"].search(rule)) is not None}
    if named:
        roles.add("assistant")
    opening = _SAYS["told_of"].search(rules[0]) if rules else None
    if opening is not None and not any(_SAYS["reader"].search(rule) for rule in rules):
        roles.add(opening["word"].casefold())
    return frozenset(named if any(_SAYS["others"].search(rule) is not None for rule in rules) else named | roles)


def spoken_to(sentences: Iterable[str], names: Collection[str]) -> list[str]:
    """Return the sentences of a block with "you" in the place of the assistant's name, wherever that is who acts.

    "She" and "he" go on about it behind a sentence that is about nobody else: "Cora is brief. She never …".
    """
    if not names:
        return list(sentences)
    own = next((name for name in names if not name.islower()), "")
    addressed: list[str] = []
    is_own = False
    for sentence in sentences:
        named = _PRONOUN.sub(own, sentence, 1) if own and is_own else sentence
        addressed.append(_spoken_to(named, names))
        others = {name[1] for name in _NAMED.finditer(mask(sentence)[1:])} - set(names)
        is_own = addressed[-1].startswith(("You ", "Your ")) and not others
    return addressed


def _spoken_to(sentence: str, names: Collection[str]) -> str:
    masked = mask(sentence)
    parts: list[str] = []
    end = 0
    for match in _SUBJECT.finditer(masked):
        acts = _SAYS["acts"].match(masked[match.end() :])
        is_own = (match["name"] or match["word"].casefold()) in names and match.start(1) >= end
        if not is_own or (acts is None and not match["own"]):
            continue
        verb = "" if acts is None or match["own"] else acts["verb"] or ""
        if verb and verb.casefold() not in _VERBS and _SAYS["noun"].search(acts["after"]) is not None:
            continue
        you = "your" if match["own"] else "you"
        parts += [sentence[end : match.start(1)], you if match.start(1) else you.capitalize()]
        end = match.end() - 1
        if verb:
            parts += [sentence[end : match.end() + acts.start(1)], _second(verb)]
            end = match.end() + acts.end(1)
            for more in _SAYS["also"].finditer(masked, end):
                parts += [sentence[end : more.start(1)], _second(more[1])]
                end = more.end(1)
    return "".join([*parts, sentence[end:]])


def headed_to(label: str, names: Collection[str]) -> str:
    """Return a heading with "you" in the place of the assistant's name: "How Meridian writes", "Meridian's habits"."""
    addressed: str = _NAMED.sub(lambda match: "you" if match[1] in names else match[0], label)
    return addressed


def _second(verb: str) -> str:
    """Return a verb of the third person as it follows "you".

    >>> _second("uses"), _second("replies"), _second("finishes"), _second("is")
    ('use', 'reply', 'finish', 'are')
    """
    if verb.casefold() in _VERBS:
        return _VERBS[verb.casefold()]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes")) else verb[:-1]
