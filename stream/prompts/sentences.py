"""Sentences: a prompt's blocks as sentences, each with why it may not hold of every answer.

A label at a sentence's head, and a condition that opens a paragraph, go on to hold of the sentences after it there,
until one names all answers.
"""

import tomllib
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.stream.prompts.conditions import (
    begins_anew,
    condition,
    falls_back,
    keeps_the_answer,
    names_all,
    opens,
    tells_of_a_text,
    without_no_conditions,
)
from turnsignal.stream.prompts.headings import (
    FORBIDS,
    GENERAL,
    UNKNOWN,
    Surroundings,
    held,
    joined,
    keeps,
    kind_of,
    orders,
    surroundings,
    title_of,
)
from turnsignal.stream.prompts.instructions import LANGUAGES
from turnsignal.stream.prompts.leftover import Span, ordered, part_named, written
from turnsignal.stream.prompts.polarity import narrowed
from turnsignal.stream.prompts.reasons import without_reason
from turnsignal.stream.prompts.repeats import without_repeats
from turnsignal.stream.prompts.siblings import counterparts
from turnsignal.stream.prompts.structure import Above, PromptBlock, read_structure
from turnsignal.stream.prompts.third_person import headed_to, own_names, spoken_to
from turnsignal.stream.prompts.wording import QUOTED, compile_pattern, mask, read_patterns

MAX_SENTENCE = 2_000  #: characters read from one sentence
MAX_SENTENCES = 4_000  #: sentences and headings read from one prompt

_BUILT = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"])
_REWORDED, _REWORDED_LAST = (
    [
        (compile_pattern(pattern.replace("LANGUAGE", "|".join(LANGUAGES))), wording)
        for pattern, wording in _BUILT[table].items()
    ]
    for table in ("reworded", "reworded_last")
)
_NUMBERED = _SAYS["inline"].groupindex["n"]
_TOO = _SAYS["denies_too"].groupindex["too"]
_WORDS = 8  #: of a label, at most
_FIRST = 4  #: sentences that say what an assistant is there for


class PlacedSentence(NamedTuple):
    """A sentence, on one line and cut to MAX_SENTENCE, with what stands around it.

    sentence: without signs for bold, said to the assistant where it is said of it; read: as it is to be read, a label
    left out or joined to it; heading: the headings above; is_heading: whether it is one; doubt: why it may not hold of
    every answer as it is read, None if all around it is general; number: that of its rule, 0 for none; follows: whether
    another sentence comes before it in its paragraph or item; written: as the prompt has it; may_rule: whether it is a
    heading by its place alone; is_shown: whether it is one of what answers look like.
    """

    sentence: str
    read: str
    heading: str
    is_heading: bool
    doubt: str | None
    number: int = 0
    follows: bool = False
    written: str = ""
    may_rule: bool = False
    is_shown: bool = False


class ReadSentences(NamedTuple):
    """A prompt's sentences, without examples.

    product: the words for the one text that it orders, if it does; made: those for what its assistant is there to write
    and nothing else, "" if there is none; unread: sentences beyond those that are read.
    """

    placed: list[PlacedSentence]
    product: str
    made: str
    unread: list[str]


def placed_sentences(text: str, most: int = MAX_SENTENCES) -> ReadSentences:
    """Read a prompt into its sentences, `most` at most; what says again what was said just before is left out."""
    blocks, above = read_structure(text)
    around = surroundings(above)
    blocks = [block for block in blocks if block.above < 0 or not around[block.above].is_example]
    blocks = _without_repeated(blocks, above)
    written = [without_repeats(_split(block.text)) for block in blocks]
    unread = _cut(written, most)
    names = own_names(
        [mask(one) for block, ones in zip(blocks, written, strict=True) if not block.is_heading for one in ones]
    )
    above = [one._replace(label=headed_to(one.label, names)) for one in above]
    split = [ones if block.is_heading else spoken_to(ones, names) for block, ones in zip(blocks, written, strict=True)]
    product = ordered(mask(sentence) for sentences in split for sentence in sentences)
    rules = [
        (mask(sentence), block.above)
        for block, sentences in zip(blocks, split, strict=True)
        for sentence in sentences
        if not block.is_heading
    ]
    made = "" if product else _made_by_role(rule for rule, _ in rules)
    around = surroundings(above, product or made, title_of(above))
    if made and any(_answers_otherwise(rule, index >= 0 and bool(around[index].narrow), made) for rule, index in rules):
        made, around = "", surroundings(above, "", title_of(above))
    words = frozenset(product.split())
    labels: dict[int, list[str]] = {}
    for block, sentences in zip(blocks, split, strict=True):
        labels.setdefault(block.above, []).extend(
            _label(one, mask(one))[0] for one in sentences if not block.is_heading
        )
    several = {above: counterparts(beside) for above, beside in labels.items()}
    placed: list[PlacedSentence] = []
    for block, sentences, wrote in zip(blocks, split, written, strict=True):
        surrounding = around[block.above] if block.above >= 0 else Surroundings()
        ones = _place(block, sentences, surrounding, words, several[block.above])
        placed += [
            one._replace(written=text, may_rule=block.may_rule, is_shown=block.is_shown)
            for one, text in zip(ones, wrote, strict=True)
        ]
    return ReadSentences(placed, product, made, unread)


def _without_repeated(blocks: list[PromptBlock], above: list[Above]) -> list[PromptBlock]:
    """Leave out blocks that come again behind themselves, below headings with the same words."""
    known: dict[Above, int] = {}
    same = {-1: -1}  # of what stands above, the first that stands in the same place with the same words
    for index, one in enumerate(above):
        same[index] = known.setdefault(one._replace(parent=same[one.parent]), index)
    return without_repeats(block._replace(above=same[block.above]) for block in blocks)


def _cut(written: list[list[str]], most: int) -> list[str]:
    """Cut the sentences of all blocks to so many together, and return the others."""
    unread: list[str] = []
    for sentences in written:
        unread += sentences[most:]
        del sentences[most:]
        most -= len(sentences)
    return unread


def _answers_otherwise(masked: str, is_narrow: bool, made: str) -> bool:
    """Return whether a sentence wants some questions answered, and not what the assistant is there to write.

    "When a parent writes, answer in two sentences": so a story is not the only answer. is_narrow: whether something
    stands above it that narrows it.
    """
    if _SAYS["answers"].search(masked) is None or _SAYS["in_a_language"].search(masked) is not None:
        return False
    if "·" in masked or falls_back(masked):
        return False  # what is said in place of a story is no answer of another kind
    if not set(made.split()).isdisjoint(masked.casefold().split()):
        return False
    return is_narrow or condition(masked, "")[1] is not None or names_a_case(masked)


def _made_by_role(rules: Iterable[str]) -> str:
    """Return the words for what an assistant is there to write, as its prompt says before all else.

    rules: the sentences of the prompt, masked, without headings.
    """
    first = islice(rules, _FIRST)
    return written(one for one in first if condition(one, "")[1] is None and not opens(one))


def _split(block: str) -> Iterator[str]:
    text = _SAYS["run_in"].sub(lambda title: f"{title[1]}: ", block, 1)  # "**Refunds.** Be kind."
    text = _SAYS["unquoted"].sub(_quoted, text, 1)
    text = _SAYS["emphasis"].sub(lambda bold: bold[1] or bold[2], text)
    plain = _SAYS["named"].sub(lambda match: match[0].replace("!", "·").replace("?", "·"), text)
    masked = _closed(mask(_SAYS["short"].sub(lambda match: match[0].replace(".", "·"), plain)), text)
    marks = _numbered(masked)
    ends = {stop.end() for stop in _SAYS["stop"].finditer(masked)} | {start for start, _ in marks}
    markers = dict(marks)
    for begin, end in pairwise([0, *sorted(ends), len(text)]):
        sentence = text[markers.get(begin, begin) : end].strip(" \t;")[:MAX_SENTENCE]
        if sentence:
            yield from _denials(sentence)


def _quoted(ban: Any) -> str:
    """Put what must not be said in quotation marks, so that no semicolon parts it from its ban."""
    lead: str = ban["lead"]
    return lead + ", ".join(f'"{phrase.strip()}"' for phrase in ban["list"].split(";") if phrase.strip())


def _denials(sentence: str) -> Iterator[str]:
    """Yield the clauses of a sentence that only forbids: "You never diagnose, you never say …"."""
    masked = mask(sentence)
    matches = list(_SAYS["denies_too"].finditer(masked)) if _SAYS["denies"].match(masked) is not None else []
    begins = [0, *(match.start(_TOO) for match in matches)]
    ends = [*(match.start() for match in matches), len(sentence)]
    yield from (sentence[begin:end] for begin, end in zip(begins, ends, strict=True))


def _numbered(masked: str) -> list[Span]:
    """Return where the numbers of rules stand within a text: "(1) English only. (2) No emojis!"."""
    matches = list(_SAYS["inline"].finditer(masked))
    first = int(matches[0]["n"]) if matches else 0  # the first number of a paragraph is read as that of an item
    marks: list[Span] = []
    for match in matches if first in (1, 2) else ():
        if int(match["n"]) == first + len(marks):
            marks.append((match.start(_NUMBERED) - 1, match.end() - 1))
    return marks if len(marks) + first > 2 else []


def _closed(masked: str, block: str) -> str:
    """Put back the stop of a quote that ends its sentence: … the note "Ask a doctor." Do not …"""
    signs = list(masked)
    for quote in _SAYS["stop_in_quote"].finditer(block):
        if signs[quote.start()] == "·" and signs[quote.end() - 1] != "·":
            signs[quote.start()] = block[quote.start()]
    return "".join(signs)


def _place(
    block: PromptBlock, sentences: list[str], around: Surroundings, product: frozenset[str], several: frozenset[str]
) -> Iterator[PlacedSentence]:
    outer = f"stands under “{around.narrow}”" if around.narrow else None
    carried: str | None = None
    is_opener = is_of_verbs = False
    listing = ""
    for index, sentence in enumerate(sentences):
        masked = mask(sentence)
        plain = (
            sentence if block.is_heading or around.forbids else _reworded(sentence, is_last=index + 1 == len(sentences))
        )
        label, rest = ("", plain) if block.is_heading else _label(plain, mask(plain))
        if label:
            listing = label if kind_of(label, product, is_label=True) == FORBIDS else ""
            is_of_verbs = orders(rest)
        elif listing and orders(rest) == is_of_verbs:
            label, rest = listing, sentence  # "Prohibited: off-label claims; exclamation marks; emojis."
        kind = kind_of(label, product, is_label=True) if label else GENERAL
        kind = UNKNOWN if kind == GENERAL and label in several else kind
        doubt, read = None if _SAYS["whole_output"].search(masked) is not None else outer, plain
        if names_all(masked) or label or (not is_opener and begins_anew(masked)):
            carried = None
        if index and falls_back(mask(sentences[index - 1])) and keeps_the_answer(masked):
            carried = None  # "If you don't know, say so. Use three sentences and keep the answer concise."
        if kind == FORBIDS:
            read = joined(label, rest)
            doubt = doubt or (f"stands under “{label}”, which forbids it" if keeps(rest) else None)
        elif label and kind != GENERAL:
            carried, is_opener = f"stands under “{label}”", block.is_item or not _is_order(mask(label))
        elif label and not narrowed(masked)[0] and _SAYS["bound"].search(label) is None:
            read = rest
        if around.holds and block.is_item and not index and not label:
            read = held(read)
        whose = None if block.is_heading else _SAYS["duties"].match(masked)
        if whose is not None and kind_of(whose["whose"], product) == UNKNOWN:
            carried, is_opener = f"stands under “{sentence[: whose.end()].strip(': ')}”", True
        if around.forbids and kind != FORBIDS:
            is_joined = block.is_item and not index and not label
            read = _reworded(joined(around.forbids, read), is_last=len(sentences) < 2) if is_joined else read
            if read == plain or index or label:
                doubt = doubt or _forbidden(around.forbids, sentence)
        yield PlacedSentence(
            sentence, read, around.heading, block.is_heading, doubt or carried, block.number, index > 0
        )
        listing = "" if sentence.endswith((".", "!", "?")) else listing
        if kind == GENERAL and not product and len(sentences) > 1 and tells_of_a_text(masked):
            carried, is_opener = f"may be about something else (“{sentence[:80]}”)", not index
        if kind == GENERAL and opens(mask(without_reason(sentence))):
            carried, is_opener = f"comes after a condition (“{sentence[:80]}”)", not index


def _is_order(label: str) -> bool:
    """Return whether a label is an order itself, "Decide which agent takes over", so that the next rule is another."""
    return _SAYS["order"].match(label) is not None and _SAYS["in_a_case"].match(label) is None


def _forbidden(forbids: str, sentence: str) -> str | None:
    """Return a doubt about what stands under a word that forbids, unless it forbids in words of its own."""
    is_own = joined(forbids, sentence) == sentence and not keeps(sentence)
    return None if is_own else f"stands under “{forbids}”, which forbids it"


def _reworded(sentence: str, *, is_last: bool) -> str:
    """Bring a rule that is worded without a verb, or with a condition that is none, into the usual wording."""
    sentence = without_reason(sentence)
    for pattern, wording in [*_REWORDED, *(_REWORDED_LAST if is_last else ())]:
        if pattern.search(sentence) is not None:
            sentence = pattern.sub(wording, sentence, 1)
    return sentence if QUOTED.search(sentence) is not None else without_no_conditions(sentence)


def names_a_case(sentence: str) -> bool:
    """Return whether a label at a sentence's head says when it holds: "Emergencies: …", and not "Tone: …"."""
    label, rest = _label(sentence, mask(sentence))
    return bool(rest) and bool(label) and kind_of(label) == UNKNOWN and not part_named(label)


def _label(sentence: str, masked: str) -> tuple[str, str]:
    """Return the label at a sentence's head, and the rest; "" and the sentence if it has none."""
    matches = (_SAYS[key].match(masked) for key in ("bracketed", "arrowed", "label"))
    match = next((one for one in matches if one is not None), None)
    if match is None:
        return "", sentence
    groups = match.re.groupindex
    label = sentence[slice(*match.span(groups["label"]))].strip()
    named = masked[slice(*match.span(groups["label"]))]
    if len(label.split()) > _WORDS or (_SAYS["clause"].search(named) is not None and kind_of(label) != FORBIDS):
        return "", sentence
    return label, sentence[match.start(groups["rest"]) :]
