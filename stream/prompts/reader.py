"""Prompts: a system prompt → the checks that its instructions ask for, and the instructions that no check covers.

Most instructions use common wording, which the patterns recognise; the rest needs a person. So each proposed check
comes with the sentence that asks for it, and every other instruction is listed as uncovered: none is skipped silently.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.leftover import Scope, is_english, ordered, part_named, referent
from turnsignal.stream.prompts.polarity import is_general, let_off, narrowed
from turnsignal.stream.prompts.proposals import LANGUAGES, NAMED_THINGS, Sentence, propose
from turnsignal.stream.prompts.wording import QUOTED, amounts, read_patterns

MAX_PROPOSALS = 200  #: different checks from one prompt; each of them will run on every response
MAX_EXEMPT = 50  #: prescribed responses from one prompt
MAX_HEADING = 200  #: characters of a heading that the sentences below it see
MAX_SENTENCE = 2_000  #: characters read from one sentence

_FOREIGN = "(Only prompts in English are read: here is every sentence.) "

_BUILT = tomllib.loads(Path(__file__).with_name("reader.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    PLATFORM="|".join(_BUILT["platforms"]),
    LANGUAGE="|".join(LANGUAGES),
    VERB="".join(line.strip() for line in _BUILT["verbs"].splitlines()),
)
_OPPOSED = {"case.upper": "case", "case.lower": "case"}


class Proposal(NamedTuple):
    """A check that a prompt asks for.

    check: its name; sentences: the sentences that ask for it; platforms: where it holds, () for everywhere; doubt: why
    a person should look at it before it is used, None if there is no reason.
    """

    check: str
    sentences: tuple[str, ...]
    platforms: tuple[str, ...] = ()
    doubt: str | None = None


class Exemption(NamedTuple):
    """A response that a prompt prescribes word for word, and the sentence that does; checks do not apply to it."""

    text: str
    sentence: str


class PromptReading(NamedTuple):
    """The checks, gaps and exemptions read from a prompt.

    proposals: in the order of the prompt, each check once; uncovered: instructions without a check; covered: how many
    sentences gave a proposal without doubt, or an exemption; doubtful: how many gave doubtful proposals only; exempt:
    responses that the prompt prescribes, each once.
    """

    proposals: tuple[Proposal, ...]
    uncovered: tuple[str, ...]
    covered: int
    doubtful: int
    exempt: tuple[Exemption, ...] = ()


def read_prompt(text: str) -> PromptReading:
    """Read a system prompt, plain text or Markdown; in time linear in the text.

    A check that holds only on a platform is bound to it. A check is doubtful if it holds only under a condition,
    concerns only a part of the answer, has an exception, or contradicts another sentence.
    """
    text = text.encode("utf-8", "replace").decode()  # RE2 takes no lone surrogates
    sentences = list(_sentences(text))
    if not is_english(text):
        listed = [placed.sentence for placed in sentences if not placed.is_heading]
        return PromptReading((), (f"{_FOREIGN}{listed[0]}", *listed[1:]) if listed else (), 0, 0)
    dividers, paragraphs = _paragraphs(text, sentences)
    marked = _SAYS["section"].search(text)
    splitter = marked[1] if marked is not None else ""
    proposed: dict[str, Proposal] = {}
    exempt: dict[str, Exemption] = {}
    uncovered: list[str] = []
    covered: list[list[str]] = []
    prescribed = 0
    about = previous = ""
    names: list[str] = []
    order = ordered(_mask(sentence) for sentence, *_ in sentences)
    for sentence, heading, is_heading, lead, narrow in sentences:
        masked, before, about = _mask(sentence), about, f"{heading} {sentence}"
        earlier_sentence, previous = previous, masked
        if names and (_SAYS["goes_back"].search(masked) is not None):  # "The only exception is …"
            for name in names:
                earlier = proposed[name]
                proposed[name] = earlier._replace(doubt=earlier.doubt or "has an exception in the next sentence")
        for name in () if is_heading else names:
            earlier = proposed[name]
            proposed[name] = earlier._replace(doubt=earlier.doubt or _let_off(earlier, sentence, masked))
        last, names = () if is_heading else names, []
        if not _SAYS["instructs"].search(masked) or _permits(masked):
            if not is_heading and not _permits(masked) and _may_ask(masked):
                uncovered.append(sentence)
            continue
        rest, exemption = _prescribed(sentence, masked)
        if exemption is not None and len(exempt) < MAX_EXEMPT:
            exempt.setdefault(exemption, Exemption(exemption, sentence))
        # "If you don't know, …": this negation is about the user's case, not about the answer.
        main = _SAYS["clause"].sub(lambda clause: "¦" * len(clause[0]), _mask(rest), 1)
        before = before if before.startswith(heading) else heading
        scope = Scope(order, lead, part_named(heading), "" if order else referent(masked, earlier_sentence))
        asked = propose(Sentence(rest, main, dividers, paragraphs, splitter, before, scope))
        names = [name for name in asked if name in proposed or len(proposed) < MAX_PROPOSALS]
        platforms, doubt = _condition(_SAYS["no_other"].sub("", masked), heading)
        if doubt is None and narrow:
            doubt = f'stands under the heading "{narrow}"'
        for earlier_name in last:  # "Complex questions get up to 200 words."
            if any(
                name != earlier_name and _family(name) == _family(earlier_name) and (doubt or asked[name])
                for name in names
            ):
                earlier = proposed[earlier_name]
                proposed[earlier_name] = earlier._replace(doubt=earlier.doubt or _in_the_next(sentence))
        for name in names:
            proposed[name] = _merge(proposed.get(name), Proposal(name, (sentence,), platforms, doubt or asked[name]))
        if names:
            covered.append(names)
        elif exemption is not None:
            prescribed += 1
        elif not is_heading:
            uncovered.append(sentence)
    all_proposed = list(proposed.values())
    proposals = _contradictions(all_proposed if order else _said_elsewhere(all_proposed, sentences, exempt))
    sure = {proposal.check for proposal in proposals if proposal.doubt is None}
    plainly = sum(any(name in sure for name in names) for names in covered)
    exemptions = tuple(exempt.values())
    return PromptReading(tuple(proposals), tuple(uncovered), plainly + prescribed, len(covered) - plainly, exemptions)


def _prescribed(sentence: str, masked: str) -> tuple[str, str | None]:
    """Find a response that is prescribed word for word; return the sentence with it masked, and the response."""
    match = _SAYS["exactly"].search(masked)
    if match is None or _SAYS["ends_with"].search(masked[: match.start()]):
        return sentence, None
    at = max(match.start(), match.start(1))
    quotes = [quote for quote in QUOTED.finditer(sentence) if quote.end() > at]
    if not quotes or _SAYS["or_another"].search(masked[quotes[0].end() :]):
        return sentence, None
    text = next(part for part in quotes[0].groups() if part).strip()
    start, end = match.start(), quotes[0].end()
    return sentence[:start] + "¦" * (end - start) + sentence[end:], text or None


class _Placed(NamedTuple):
    """A sentence, on one line and cut to MAX_SENTENCE, with what stands above it.

    heading: the headings; lead: the line that introduces its list; narrow: a heading that names some answers only.
    """

    sentence: str
    heading: str
    is_heading: bool
    lead: str
    narrow: str = ""


def _sentences(text: str) -> Iterator[_Placed]:
    headings: list[tuple[int, str]] = []
    lead = title = ""
    seen = False
    for block, level, in_list in _blocks(text):
        if level:
            headings = [above for above in headings if above[0] < level]
        heading = " ".join(title for _, title in headings)
        narrow = next((above for _, above in reversed(headings) if above != title and not is_general(above)), "")
        if level:
            headings.append((level, block[:MAX_HEADING]))
            title = title or ("" if seen or level > 1 else block[:MAX_HEADING])  # a prompt's title names the assistant
        seen = True
        if not in_list:
            lead = ""
        masked = _closed(_mask(_SAYS["short"].sub(lambda match: match[0].replace(".", "·"), block)), block)
        ends = [stop.end() for stop in _SAYS["stop"].finditer(masked)]
        for begin, end in pairwise([0, *ends, len(block)]):
            sentence = block[begin:end].strip(" \t;")[:MAX_SENTENCE]
            if sentence:
                yield _Placed(sentence, heading, level > 0, lead if in_list else "", narrow)
        if not in_list and block.endswith(":"):
            lead = _mask(block[-MAX_HEADING:])


def _closed(masked: str, block: str) -> str:
    """Put back the stop of a quote that ends its sentence: … the note "Ask a doctor." Do not …"""
    signs = list(masked)
    for quote in _SAYS["stop_in_quote"].finditer(block):
        if signs[quote.start()] == "·" and signs[quote.end() - 1] != "·":
            signs[quote.start()] = block[quote.start()]
    return "".join(signs)


def _blocks(text: str) -> Iterator[tuple[str, int, bool]]:
    """Yield paragraphs, list items and headings, lines joined and markers dropped; with a heading's level, else 0.

    The last value says whether it is a list item. Text between code fences is skipped, because it is an example.
    """
    sentence: list[str] = []
    fenced = in_list = False
    lines = text.split("\n")
    fences = sum(line.lstrip().startswith("```") for line in lines) // 2 * 2  # an unclosed fence does not count
    for line in [*lines, ""]:
        bare = line.strip()
        if bare.startswith("```") and fences:
            fences, fenced, bare = fences - 1, not fenced, ""
        elif fenced:
            continue
        marker = _SAYS["marker"].match(bare)
        if sentence and (not bare or marker is not None or _begins(sentence[-1], bare)):
            yield " ".join(sentence), 0, in_list
            sentence = []
        if marker is not None and marker[0].startswith("#"):
            yield bare[marker.end() :].strip(" #"), marker[0].count("#"), False
        elif bare:
            in_list = marker is not None or (in_list and bool(sentence))
            sentence.append(bare[marker.end() :] if marker is not None else bare)


def _begins(before: str, line: str) -> bool:
    """Return whether a line begins a new sentence although neither an empty line nor a full stop comes before it."""
    return len(before) < 70 and line[:1].isupper() and before[-1:] not in ",;(–-"


def _mask(text: str) -> str:
    masked: str = QUOTED.sub(lambda quote: "·" * len(quote[0]), text)
    return masked


def _paragraphs(text: str, sentences: list[_Placed]) -> tuple[str, int]:
    """Return the divider that a prompt wants between paragraphs, and how many paragraphs it wants, 0 if it is not said.

    The two are read from the whole prompt, because prompts often state them in different sentences.
    """
    divided = "***" in text.replace("******", "")
    for sentence, *_ in sentences:
        masked = _mask(sentence)
        for amount in amounts(masked):
            if amount.unit == "paragraphs" and amount.low and amount.low == amount.high:
                return ("***" if divided else "\n\n"), amount.low
    return ("***" if divided else "\n\n"), 0


def _may_ask(masked: str) -> bool:
    """Return whether a sentence may be an instruction although no usual wording of one stands in it."""
    if _SAYS["demands"].search(masked):
        return True
    if _SAYS["describes"].search(masked):
        return False
    imperative = _SAYS["imperative"].search(masked) is not None and _SAYS["declarative"].search(masked) is None
    return imperative or _SAYS["looks"].search(masked) is not None


def _permits(masked: str) -> bool:
    """Return whether a sentence only permits something and asks for nothing."""
    return _SAYS["permits"].search(masked) is not None and _SAYS["asks"].search(masked) is None


def _condition(masked: str, heading: str) -> tuple[tuple[str, ...], str | None]:
    """Return the platforms on which a sentence holds, and why its checks are doubtful, if they are."""
    platforms = tuple(dict.fromkeys(match[1].casefold() for match in _SAYS["platform"].finditer(masked)))
    unless = _SAYS["unless"].search(masked)
    if unless is not None:
        return (), f"only under a condition ({unless[0].casefold()} …)"
    exception = _SAYS["exception"].search(masked)
    if exception is not None:
        return (), f"has an exception ({exception[0].casefold()} …)"
    condition = _SAYS["if"].search(masked)
    if condition is not None and not platforms:
        return (), f"only under a condition ({condition[0].casefold()} …)"
    platforms = platforms or tuple(dict.fromkeys(match[1].casefold() for match in _SAYS["headed"].finditer(heading)))
    return (platforms, None) if platforms else narrowed(masked)


def _family(check: str) -> str:
    """Return what a check bounds: its name without its bounds."""
    return check.partition("(")[0] if check.startswith("length.") else check


def _in_the_next(sentence: str) -> str:
    return f'has an exception in the next sentence ("{sentence[:80]}")'


def _let_off(earlier: Proposal, sentence: str, masked: str) -> str | None:
    """Return why the next sentence makes a check doubtful; what it says of another platform does not."""
    platforms = {match[1].casefold() for match in _SAYS["platform"].finditer(masked)}
    if platforms and earlier.platforms and platforms.isdisjoint(earlier.platforms):
        return None
    languages = frozenset(LANGUAGES[match[0].casefold()] for match in _SAYS["a_language"].finditer(masked))
    name = parse_name(earlier.check)
    thing = NAMED_THINGS.get(str(name.params.get("regex", ""))) if name.family == "pattern.forbid" else None
    return let_off(earlier.check, sentence, masked, languages, thing)


def _said_elsewhere(
    proposals: list[Proposal], sentences: list[_Placed], exempt: dict[str, Exemption]
) -> list[Proposal]:
    """Mark as doubtful the words that are forbidden but that another sentence quotes for an answer to say."""
    forbidding = [one for one in proposals if one.check.startswith("keywords.forbidden_words")]
    own = {sentence for one in forbidding for sentence in one.sentences} | {one.sentence for one in exempt.values()}
    starts: list[int] = []
    quoting: list[str] = []
    parts: list[str] = []
    for placed in sentences if forbidding else ():
        for quote in QUOTED.finditer(placed.sentence) if placed.sentence not in own else ():
            starts.append(starts[-1] + len(parts[-1]) if parts else 0)
            quoting.append(placed.sentence)
            parts.append(f"{quote[0].casefold()}\n")
    quoted = "".join(parts)
    for index, one in enumerate(proposals):
        if one.doubt is None and one.check.startswith("keywords.forbidden_words"):
            words = [word.casefold() for word in str(parse_name(one.check).params["words"]).split("|")]
            at = next((place for word in words if (place := quoted.find(word)) >= 0), None)
            if at is not None:
                other = quoting[bisect_right(starts, at) - 1]
                proposals[index] = one._replace(doubt=f'another sentence quotes it ("{other[:80]}")')
    return proposals


def _merge(first: Proposal | None, second: Proposal) -> Proposal:
    """Merge two proposals of the same check. If either holds everywhere, the result holds everywhere."""
    if first is None:
        return second
    sentences = first.sentences if second.sentences[0] in first.sentences else first.sentences + second.sentences
    if first.doubt is None and second.doubt is not None:
        return first._replace(sentences=sentences[:5])
    if first.doubt is not None and second.doubt is None:
        return second._replace(sentences=sentences[:5])
    both = first.platforms and second.platforms
    platforms = tuple(dict.fromkeys(first.platforms + second.platforms)) if both else ()
    return Proposal(first.check, sentences[:5], platforms, first.doubt)


def _contradictions(proposals: list[Proposal]) -> list[Proposal]:
    """Mark as doubtful the proposals that no response could satisfy together on one platform."""
    groups: dict[str, list[int]] = {}
    parsed = [parse_name(proposal.check) for proposal in proposals]
    for index, name in enumerate(parsed):
        others = {key: value for key, value in name.params.items() if key not in ("at_least", "at_most")}
        if "at_least" in name.params or "at_most" in name.params:
            groups.setdefault(f"{name.family} {others}", []).append(index)
        elif name.family in _OPPOSED:
            groups.setdefault(_OPPOSED[name.family], []).append(index)
    for group in groups.values():
        _mark_group(proposals, [parsed[index].params for index in group], group)
    return proposals


def _mark_group(proposals: list[Proposal], params: list[dict[str, Any]], group: list[int]) -> None:
    doubtful = {index for index in group if proposals[index].doubt is not None}
    for number, index in enumerate(group[:50]):
        for other_number, other in enumerate(group[:50]):
            proposal, rival = proposals[index], proposals[other]
            apart = proposal.platforms and rival.platforms and not set(proposal.platforms) & set(rival.platforms)
            if index == other or apart or proposal.doubt is not None or other in doubtful:
                continue
            low, high = params[number].get("at_least", 0), params[other_number].get("at_most")
            low_2, high_2 = params[other_number].get("at_least", 0), params[number].get("at_most")
            if (high is not None and low > high) or (high_2 is not None and low_2 > high_2) or not params[number]:
                proposals[index] = proposal._replace(doubt=f"contradicts {rival.check}")
