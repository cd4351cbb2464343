"""Prompts: a system prompt → the checks that its instructions ask for, and the instructions that no check covers.

Most instructions use common wording, which the patterns recognise; the rest needs a person. So each proposed check
comes with the sentence that asks for it, and every other instruction is listed as uncovered: none is skipped silently.
"""

import tomllib
from itertools import takewhile
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.any_language import in_any_language
from turnsignal.stream.prompts.aspects import is_users_choice, relaxed
from turnsignal.stream.prompts.beside import beside
from turnsignal.stream.prompts.bounds import is_length, is_within, lets_nothing_off
from turnsignal.stream.prompts.bullets import any_bullets
from turnsignal.stream.prompts.characters import doubt_rivals
from turnsignal.stream.prompts.conditions import (
    condition,
    goes_back,
    names_all,
    opens,
    platforms_in,
    without_clause,
    without_no_conditions,
)
from turnsignal.stream.prompts.conflicts import held_by_another, merge, settle
from turnsignal.stream.prompts.deliverables import of_one_deliverable
from turnsignal.stream.prompts.edges import is_first, is_last
from turnsignal.stream.prompts.exceptions import excepted
from turnsignal.stream.prompts.fillers import is_filler
from turnsignal.stream.prompts.fragments import is_fragment, is_of_other_text, is_of_persona, is_predicate, personas
from turnsignal.stream.prompts.hashtags import any_hashtags
from turnsignal.stream.prompts.headings import UNKNOWN, kind_of, leads_in
from turnsignal.stream.prompts.instructions import LANGUAGES, Sentence
from turnsignal.stream.prompts.kinds import held_answers, prompt_kind, whose_answers
from turnsignal.stream.prompts.leftover import (
    Scope,
    is_anew,
    is_english,
    is_of_answers,
    is_of_each,
    is_pronoun,
    is_role,
    keeps_it,
    keeps_them,
    makes_beside,
    names_whole,
    part_named,
    referent,
)
from turnsignal.stream.prompts.numerals import NUMBER
from turnsignal.stream.prompts.parts import goes_on as goes_on_about_it
from turnsignal.stream.prompts.parts import is_of_whole, part_made
from turnsignal.stream.prompts.permissions import permits, permitted
from turnsignal.stream.prompts.placeholders import with_holes
from turnsignal.stream.prompts.pointers import lifted, points
from turnsignal.stream.prompts.polarity import allows, is_bound, let_off
from turnsignal.stream.prompts.pronouns import taken_back
from turnsignal.stream.prompts.proposals import NAMED_THINGS, propose
from turnsignal.stream.prompts.raw_code import code_written, is_raw_code, of_code, of_statements
from turnsignal.stream.prompts.reading import Exemption, PromptReading, Proposal
from turnsignal.stream.prompts.reasons import without_reason
from turnsignal.stream.prompts.said_against import said_against
from turnsignal.stream.prompts.senders import of_senders, sent_by_users
from turnsignal.stream.prompts.sentences import MAX_SENTENCES, PlacedSentence, placed_sentences
from turnsignal.stream.prompts.settings import is_setting
from turnsignal.stream.prompts.stand_ins import replaced
from turnsignal.stream.prompts.statements import states_a_rule
from turnsignal.stream.prompts.steps import is_of_step, steps, tells_of_a_dialogue
from turnsignal.stream.prompts.wording import QUOTED, VERBS, amounts, mask, read_patterns

MAX_PROPOSALS = 200  #: different checks from one prompt; each of them will run on every response
MAX_EXEMPT = 50  #: prescribed responses from one prompt

_DEVICES = ("combination.", "format.title", "content.postscript")  #: checks of what only answers are asked for
_SHOWN = 80  #: characters of another sentence in the reason for a doubt
_ROLE = 2  #: sentences at the start of a prompt that may say what its answers are
_INTRODUCTION = 4  #: sentences at the start of a prompt that may say who its reader is
_FEW = 3  #: words that are too few for a whole response
_MARKDOWN = "bold, italics, headings, bullet points, numbered lists, tables, code blocks, quotes"  #: its kinds
_STEP = "may be of one step of a conversation"
_UNREAD = "what stands behind the first {:,} sentences is not read"

_BUILT = tomllib.loads(Path(__file__).with_name("reader.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    LANGUAGE="|".join(LANGUAGES),
    AMOUNT=NUMBER,
    VERB=VERBS,
)


def read_prompt(text: str, most: int = MAX_SENTENCES) -> PromptReading:
    """Read a system prompt, plain text or Markdown; in time linear in the text, and in bounded time beyond `most`.

    A check that holds only on a platform is bound to it. A check is doubtful if it holds only under a condition,
    concerns only a part of the answer, has an exception, or contradicts another sentence. most: sentences that are
    read; the others are listed, and as they may say anything, all checks are doubtful.
    """
    text = text.encode("utf-8", "replace").decode()  # RE2 takes no lone surrogates
    placed, order, made, unread = placed_sentences(text, most)
    if not is_english(text):
        listed = [*(one.sentence for one in placed if not one.is_heading), *unread]
        return PromptReading((), tuple(listed), 0, 0, english=False)
    dividers, paragraphs = _paragraphs(text, placed)
    marked = _SAYS["section"].search(text)
    splitter = marked[1] if marked is not None else ""
    rules = [mask(one.sentence) for one in placed if not one.is_heading]
    roles = list(takewhile(lambda rule: _SAYS["instructs"].search(rule) is None, rules[:_INTRODUCTION]))
    several = personas(rules)
    kind, held = prompt_kind(one for one in rules if not opens(one)), held_answers(rules)
    is_code, coding, sending = is_raw_code(rules), code_written(rules), sent_by_users(rules)
    proposed: dict[str, Proposal] = {}
    exempt: dict[str, Exemption] = {}
    uncovered: list[str] = []
    covered: list[list[str]] = []
    prescribed = 0
    about = previous = own = subject = part = ""
    is_item = False  # whether a sentence stands in a list behind one that ends with a colon
    of_part: list[str] = []  # what fragments forbid behind a part, which is of that if they say how long it is, too
    is_sized = False
    is_named = False  # whether a sentence is about answers that are not the whole of what is written
    is_carried = False  # whether the sentence before is about another text, which the next may go on about
    names: list[str] = []
    of_steps, is_dialogue = steps(placed), tells_of_a_dialogue(rules)
    for index, (sentence, read, heading, is_heading, around, _, follows, _, may_rule, is_shown) in enumerate(placed):
        masked, before, about = mask(sentence), about, f"{heading} {sentence}"
        ruled = mask(without_reason(_SAYS["enumerated"].sub("", sentence)))
        earlier_sentence, previous = previous, masked
        previous_leads = earlier_sentence.endswith(":")
        is_bare = follows and not is_heading and is_fragment(masked)
        is_of_another = is_bare and (is_of_other_text(masked, subject, made.split()) or is_of_persona(subject, several))
        of_each = follows and is_of_each(masked, subject)
        is_it = keeps_them(masked) or (follows and keeps_it(masked) and makes_beside(subject))
        goes_on = not is_heading and bool(subject) and (is_pronoun(ruled) or of_each or is_it or is_of_another)
        is_carried = is_carried and follows and not goes_on and not is_anew(masked)
        subject = subject if goes_on or is_carried or is_heading else masked
        is_elsewhere = goes_on and not is_of_answers(subject, order) and not (is_it and _is_role(subject, rules))
        is_elsewhere = is_elsewhere or is_carried or is_of_another or is_of_persona(masked, several)
        is_carried = is_elsewhere and (is_carried or is_it or makes_beside(subject))
        part = part if follows else ""
        part_before = "" if is_of_whole(masked) else part
        part = part_before if is_bare or goes_on_about_it(masked) else part_made(masked, order)
        is_item = previous_leads or (is_item and (is_fragment(masked) or is_predicate(masked)))
        is_named = held is not None and (
            held.named(masked)
            or (held.is_part and held.named(heading))
            or (held.is_part and is_named and (follows or is_item) and not held.exceeded(masked))
        )
        rest, exemption = _prescribed(read, mask(read), earlier_sentence)
        is_first_of_two = index + 1 < len(placed) and _SAYS["adds"].search(placed[index + 1].sentence) is not None
        if exemption is not None and (is_filler(exemption, masked, heading) or is_first_of_two):
            rest, exemption = read, None
        is_near = exemption is None and not points(masked)
        if (
            is_near and goes_back(masked) and (any(map(is_bound, names)) or not amounts(masked))
        ):  # "The only exception is …"
            for name in names:
                earlier = proposed[name]
                proposed[name] = earlier._replace(doubt=earlier.doubt or _in_the_next(sentence))
        for name in names if is_near and not is_heading else ():
            earlier = proposed[name]
            proposed[name] = earlier._replace(doubt=earlier.doubt or _let_off(earlier, own, sentence, masked))
        last, names = () if is_heading else names, []
        instructs = any(_SAYS["instructs"].search(text) for text in (masked, mask(read)))
        if exemption is None and (_permits(ruled) or not instructs):
            says_who = masked in rules[:_INTRODUCTION] and _SAYS["in_form"].search(masked) is None
            may_ask = _may_ask(ruled) or (_SAYS["told"].search(ruled) is not None and not says_who)
            may_ask = (may_ask and not _permits(ruled)) or _is_to_say(masked, heading) or _speaks_of_answers(ruled)
            may_ask = may_ask or _carries_a_rule(masked) or is_users_choice(masked) or is_setting(masked)
            may_ask = may_ask or states_a_rule(masked, is_early=masked in roles)
            may_ask = may_ask or _SAYS["among_cases"].search(around or "") is not None
            if is_shown or _is_rule(masked, may_rule=may_rule) if is_heading else may_ask and not leads_in(sentence):
                uncovered.append(sentence)
            continue
        if exemption is not None and len(exempt) < MAX_EXEMPT:
            exempt.setdefault(exemption, Exemption(exemption, sentence))
        before = before if before.startswith(heading) else heading
        it = "" if order else _referent(masked, earlier_sentence, follows=follows)
        it = it or (part_before if keeps_it(masked) and not order else "")
        headed = part_named(heading)
        is_whole = names_whole(masked) or (headed in made.split() and len(heading.split()) > 1)
        scope = Scope(order, "" if is_whole else headed, it, part_before, made)
        asked, unchecked = propose(
            Sentence(rest, without_clause(mask(rest)), dividers, paragraphs, splitter, before, scope)
        )
        asked = of_code(asked) if is_code else asked
        names, own = [name for name in asked if name in proposed or len(proposed) < MAX_PROPOSALS], masked
        platforms, doubt = condition(ruled, heading)
        if len(platforms) > 1 and len(set(map(_family, names))) < len(names):
            doubt = doubt or "names another limit for each platform"
        for earlier_name in last:  # "Complex questions get up to 200 words."
            if any(
                name != earlier_name
                and _family(name) == _family(earlier_name)
                and (doubt or (asked[name] and not part_named(masked)))
                and not (doubt and is_within(name, earlier_name))
                for name in names
            ):
                earlier = proposed[earlier_name]
                proposed[earlier_name] = earlier._replace(doubt=earlier.doubt or _in_the_next(sentence, doubt))
        elsewhere = f"may be about something else (“{subject[:_SHOWN]}”)" if is_elsewhere else None
        is_sized = bool(part_before) and is_bare and (is_sized or any(map(is_length, names)))
        bans = [name for name in names if not name.startswith("keywords.")]
        of_part = of_part + bans if part_before and is_bare else []
        of_a_part = f"may concern a part of the answer ({part_before})" if is_sized else None
        for name in of_part:
            if name not in names and len(proposed[name].sentences) == 1:
                proposed[name] = proposed[name]._replace(doubt=proposed[name].doubt or of_a_part)
        for name in names:
            other = None if name.startswith(_DEVICES) else elsewhere or (of_a_part if name in of_part else None)
            above = None if _is_headed_by_edge(name, around, masked) else around
            whose = (kind and kind.doubt(name, masked)) or whose_answers(name, masked, held, is_named=is_named)
            whose = whose or of_senders(masked, sending) or of_statements(name, coding)
            is_step = index in of_steps or (is_dialogue and not is_length(name))
            whose = whose or (_STEP if is_step and is_of_step(name, masked) else None)
            why = doubt or asked[name] or above or other or (None if name.startswith("combination.") else whose)
            one = Proposal(name, (sentence,), platforms, why)
            uncovered += held_by_another(proposed.get(name), one)
            proposed[name] = merge(proposed.get(name), one)
        if names:
            covered.append(names)
            is_kept = any(sentence in proposed[name].sentences for name in names)
            uncovered += beside(sentence, masked, names, unchecked) if is_kept else [sentence]
        elif exemption is not None:
            prescribed += 1
        elif is_shown or _is_rule(masked, may_rule=may_rule) if is_heading else not leads_in(sentence):
            uncovered.append(sentence)
    if not (proposed or uncovered or exempt):  # whatever is there may be meant as an instruction
        uncovered = [one.sentence for one in placed if not one.is_heading and not _SAYS["who"].search(one.sentence)]
    proposals = taken_back(lifted(list(proposed.values()), placed), placed)
    proposals = said_against(settle(proposals, placed, exempt, is_one_text=bool(order)), placed)
    prescribing = {one.sentence for one in exempt.values()}
    proposals = replaced(excepted(proposals, placed, prescribing), placed, prescribing)
    proposals = permitted(relaxed(proposals, placed, prescribing), placed)
    proposals = in_any_language(of_one_deliverable(doubt_rivals(proposals), placed), placed)
    if unread:
        proposals = [one._replace(doubt=one.doubt or _UNREAD.format(most)) for one in proposals]
        uncovered += [f"({_UNREAD.format(most)}, from here on:) {unread[0]}", *unread[1:]]
    sure = {proposal.check for proposal in proposals if proposal.doubt is None}
    plainly = sum(any(name in sure for name in names) for names in covered)
    exemptions = tuple(exempt.values())
    proposals = list(any_hashtags(any_bullets(proposals, text)))
    reading = PromptReading(
        tuple(proposals), tuple(uncovered), plainly + prescribed, len(covered) - plainly, exemptions
    )
    return reading.quoting({one.sentence: one.written for one in placed})


def _is_role(masked: str, rules: list[str]) -> bool:
    """Return whether a sentence says, as a prompt begins, what its answers are: "You write tweets."."""
    return masked in rules[:_ROLE] and is_role(masked)


def _is_headed_by_edge(name: str, around: str | None, masked: str) -> bool:
    """Return whether what all answers start or end with stands below a heading that says so, as "Ending".

    Without "always" it may be what a conversation starts or ends with.
    """
    if not around or not (is_first(name) or is_last(name)) or _SAYS["under_an_edge"].search(around) is None:
        return False
    return names_all(masked) or "always" in masked.casefold()


def _prescribed(sentence: str, masked: str, before: str) -> tuple[str, str | None]:
    """Find a response that is prescribed word for word; return the sentence with it masked, and the response.

    before: the sentence before, masked; where it quotes something, "instead" is of those words, and not of an answer.
    """
    fixed = None if _SAYS["to_all"].search(masked) else _SAYS["fixed"].search(masked)  # "To every question reply …"
    match = _SAYS["exactly"].search(masked) or fixed
    if match is None or _SAYS["ends_with"].search(without_clause(masked)[: match.start()]):
        return sentence, None
    at = match.start() if match.re is _SAYS["fixed"] else max(match.start(), match.start(1))
    quotes = [quote for quote in QUOTED.finditer(sentence) if quote.end() > at]
    if not quotes or _SAYS["or_another"].search(masked[quotes[0].end() :]):
        return sentence, None
    text = next(part for part in quotes[0].groups() if part).strip()
    start, end = match.start(), quotes[0].end()
    filled = with_holes(text)
    if filled is None or (_SAYS["swaps"].search(masked) is not None and (len(text.split()) < _FEW or "·" in before)):
        return sentence, None  # a word for another: 'say "basket" instead'
    return sentence[:start] + "¦" * (end - start) + sentence[end:], filled or None


def _paragraphs(text: str, sentences: list[PlacedSentence]) -> tuple[str, int]:
    """Return the divider that a prompt wants between paragraphs, and how many paragraphs it wants, 0 if it is not said.

    The two are read from the whole prompt, because prompts often state them in different sentences.
    """
    divided = "***" in text.replace("******", "")
    for one in sentences:
        for amount in amounts(mask(one.sentence)):
            if amount.unit == "paragraphs" and amount.low and amount.low == amount.high:
                return ("***" if divided else "\n\n"), amount.low
    return ("***" if divided else "\n\n"), 0


def _may_ask(masked: str) -> bool:
    """Return whether a sentence may be an instruction although no usual wording of one stands in it."""
    if _SAYS["demands"].search(masked) or _SAYS["allots"].search(masked) or is_predicate(masked):
        return True
    if _SAYS["in_a_case"].search(masked) and (_SAYS["tells"].search(masked) is None or "·" in masked):
        return True
    if _SAYS["describes"].search(masked):
        return False
    is_placed = any(_SAYS[key].search(masked) is not None for key in ("placed", "in_its_case"))
    if is_placed and _SAYS["tells"].search(masked) is None and not masked.endswith(":"):
        return True
    if _is_fragment(masked) or _SAYS["of_a_text"].search(masked) is not None:
        return True
    imperative = _SAYS["imperative"].search(masked) is not None and _SAYS["declarative"].search(masked) is None
    return imperative or any(_SAYS[key].search(masked) is not None for key in ("looks", "given", "of_the_answer"))


def _speaks_of_answers(masked: str) -> bool:
    """Return whether a sentence says what answers are like, what they may hold, or how somebody is treated in them."""
    return permits(masked) or any(
        _SAYS[key].search(masked) is not None
        for key in ("manner", "treated", "we_say", "permitted", "in_a_form", "in_a_tag", "labelled", "weighs")
    )


def _carries_a_rule(masked: str) -> bool:
    """Return whether what the assistant is or does holds a rule, too: "You summarize emails in two sentences."."""
    if _SAYS["of_assistant"].search(masked) is None:
        return _SAYS["wanted"].search(masked) is not None
    return bool(amounts(masked)) or _SAYS["carries"].search(masked) is not None


def _is_to_say(masked: str, heading: str) -> bool:
    """Return whether words alone are what to say in the case that their heading names: "When nobody is there"."""
    return _SAYS["quote_alone"].fullmatch(masked) is not None and _SAYS["of_a_case"].search(heading) is not None


def _is_fragment(masked: str) -> bool:
    """Return whether a sentence is a rule without a verb: "Dates as DD/MM/YYYY."."""
    return _SAYS["fragment"].search(masked) is not None and _SAYS["finite"].search(masked) is None


def _is_rule(masked: str, *, may_rule: bool) -> bool:
    """Return whether a heading is a rule of its own: "Never give legal advice"; "Never" alone is none."""
    return (may_rule or _SAYS["orders"].search(masked) is not None) and kind_of(masked) == UNKNOWN


def _permits(masked: str) -> bool:
    """Return whether a sentence only permits something and asks for nothing; "emojis are fine, up to two" asks."""
    if _SAYS["permits"].search(masked) is None or _SAYS["asks"].search(masked) is not None:
        return False
    return _SAYS["at_most"].search(masked) is None


def _referent(masked: str, before: str, *, follows: bool) -> str:
    """Return the part of the answer that "it" may stand for, "" if there is none.

    In a list of rules "keep it short" is of a part only if the rule before has each answer hold one: it is not of
    "first names", and not of a table that only some answers hold.
    """
    part = referent(masked, before)
    if follows or not keeps_it(masked) or is_pronoun(masked):
        return part
    return "" if part.endswith("s") or condition(before, "")[1] is not None else part


def _family(check: str) -> str:
    """Return what a check bounds: its name without its bounds."""
    return check.partition("(")[0] if check.startswith("length.") else check


def _in_the_next(sentence: str, condition: str | None = "") -> str:
    """Return that the next sentence holds an exception, or, where it is under no condition, another limit."""
    what = "another limit stands" if condition is None else "has an exception"
    return f'{what} in the next sentence ("{sentence[:_SHOWN]}")'


def _let_off(earlier: Proposal, own: str, sentence: str, masked: str) -> str | None:
    """Return why the next sentence makes a check doubtful; what it says of another platform does not."""
    platforms = platforms_in(masked)
    if platforms and earlier.platforms and set(platforms).isdisjoint(earlier.platforms):
        return None
    if lets_nothing_off(earlier.check, masked):
        return None
    languages = frozenset(LANGUAGES[match[0].casefold()] for match in _SAYS["a_language"].finditer(masked))
    if earlier.check.startswith("language."):
        masked = without_no_conditions(masked)  # "Never switch to English, even if …" lets nobody off
    name = parse_name(earlier.check)
    thing = NAMED_THINGS.get(str(name.params.get("regex", ""))) if name.family == "pattern.forbid" else None
    if _SAYS["of_all"].search(masked) is not None and (thing is None or thing.search(masked) is None):
        return None  # "Every answer must be shorter than …" is a rule of its own
    is_markdown = thing is not None and thing.search("markdown") is not None
    others = [one for one in NAMED_THINGS.values() if not is_markdown or one.search(_MARKDOWN) is None]
    if allows(earlier.check, without_no_conditions(masked), thing, others):
        return _in_the_next(sentence)
    return let_off(earlier.check, own, sentence, masked, languages, thing)
