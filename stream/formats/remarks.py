"""Remarks: calls of a moment that are about an exchange which a user had, and are none: verdicts, titles, notes.

    call 1   sends: "Where is my card?"                                           gets: In the app, under Cards.
    call 2   sends: "A title for: Where is my card? In the app, under Cards."     gets: The missing card
    call 3   sends: "Be polite.", "In the app, under Cards."                      gets: Kindly look into the app.

Call 2 is one: it quotes the exchange before it, and gets a few words. Call 3 words the answer anew, for a user to see.
"""

import re
from collections.abc import Sequence

from turnsignal.stream.formats.asides import LEFT_OUT
from turnsignal.stream.formats.instructions import are_others, instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import quoted_in

#: What is asked of an answer, by whom no user is answered; and of an exchange. Others ask for a better answer.
_JUDGES = (
    r"\b(?:judge|evaluat(?:e|es|or|ion)|grade[sr]?|hallucinat\w*|groundedness|faithful(?:ness)?|verdict)\b"
    r"|\b(?:rate|score|assess)\b[^.\n]{0,40}\b(?:answer|response|reply|output|assistant)\b"
    r"|\b(?:a|the|one) (?:score|rating)\b"
)
_NOTES = (
    r"\bextract (?:\w+ ){0,3}facts\b|\bsuggest (?:\w+ ){0,3}questions\b"
    r"|\bsummar\w+ (?:of )?(?:the|this) (?:conversation|chat|exchange|lines)\b"
)
_JUDGING = re.compile(_JUDGES, re.IGNORECASE)
_NOTING = re.compile(f"{_JUDGES}|{_NOTES}", re.IGNORECASE)
_GRADED = re.compile(  #: how what a judge says ends
    r"\b(?:verdict|rating|grade)\W{1,8}\w+\W*(?:\w+\W*)?\Z"
    r"|\b(?:overall |final )?score\W{1,8}(?:\d|10|[01]\.\d+)(?: ?(?:/|out of) ?\d+)?\W*\Z",
    re.IGNORECASE,
)
_QUERY = re.compile(r"\s*(?:```|[{\[]|SELECT\b|WITH\b)", re.IGNORECASE)  #: how what no user reads begins
_BEFORE = 3  #: calls of a trace that a call may be about
_VERDICT = 4  #: words that are more than a guard says
_AT_ONCE = 5.0  #: seconds after an answer, within which no person pastes it
_QUOTES = "\"'”’*` "  #: and what may stand around one
_QUOTED = 8  #: characters that are no quotation by chance,
_EXCHANGED = 16  #: and those of a question with its answer
_TYPED = 32  #: parts of a question, of which one may be what was typed
_READ = 200  #: characters of what is asked
_ENDS = 60  #: and of what is got
_TITLED = 9  #: words that are more than a title has


def without_remarks(answers: Sequence[Call], assumed: Assumed) -> list[Call]:
    """Leave out of a trace's calls, in their order, those that are about one of the calls before them.

    One that words the answer before it anew is given what that was asked, which is left out then, too.
    """
    kept: list[Call] = []
    for call in answers:
        if kept and polishes(call, kept[-1]):
            draft = kept.pop()
            call.inputs, call.documents = draft.inputs, call.documents or draft.documents
            kept.append(call)
            continue
        if not any(_is_beside(call, before) for before in kept[-_BEFORE:]):
            kept.append(call)
    assumed[LEFT_OUT] += len(answers) - len(kept)
    return kept


def _is_beside(call: Call, before: Call) -> bool:
    """Say whether a call of a trace is about another, and not what the user saw."""
    exchange = [*spoken_in(before.inputs)[-1:], *spoken_in(before.outputs)[:1]]
    is_other = are_others(call, before) or call.fields.get("model") != before.fields.get("model")
    return _is_verdict(call, before) or _is_title(call, before) or is_about(call, exchange, is_other=is_other)


def polishes(call: Call, before: Call) -> bool:
    """Say whether a call words the answer of another anew: it sends that alone, under other instructions."""
    sent, got, answer = spoken_in(call.inputs), spoken_in(call.outputs)[:1], spoken_in(before.outputs)[:1]
    if [message.role for message in sent] != ["user"] or not got or not answer:
        return False
    words = answer[0].text.strip()
    is_about_as_long = 2 * len(got[0].text.strip()) >= len(words)  # a guard says less
    is_at_once = before.end is None or call.start is None or call.start - before.end < _AT_ONCE
    return is_at_once and is_about_as_long and words == sent[0].text.strip() and are_others(call, before)


def is_about(call: Call, exchange: Sequence[Message], *, is_other: bool = True) -> bool:
    """Say whether a call is about the exchange before it: it quotes question and answer at once, and gets few words.

    is_other: another model answers, or under other instructions, which may ask for a judgement, or for notes.
    """
    sent, got = spoken_in(call.inputs)[-1:], spoken_in(call.outputs)[:1]
    if not sent or not got or [message.role for message in exchange] != ["user", "assistant"]:
        return False
    question, answer = (message.text.strip() for message in exchange)
    if _QUERY.match(answer):  # a step on the way
        return False
    if not is_other and any(message.text.strip() == answer for message in spoken_in(call.inputs)[:-1]):
        return False  # its user quotes what was said before
    is_noted = is_other and (_is_asked(call, _NOTING, question, answer) or bool(_GRADED.search(got[0].text[-_ENDS:])))
    is_remark = _is_few(got[0].text) or is_noted
    questions = (question, *quoted_in(question)[:_TYPED])  # of a search, the one among its documents
    return is_remark and bool(answer) and any(_quotes(sent[0].text, each, answer) for each in questions if each)


def _is_asked(call: Call, words: re.Pattern[str], *quoted: str) -> bool:
    """Say whether what a call is asked, besides what it quotes, has one of some words in it."""
    asked = spoken_in(call.inputs)[-1].text
    for text in quoted:
        asked = asked.replace(text, "")
    return any(words.search(text) for text in (instructions_of(call), asked[:_READ], asked[-_READ:]))


def _quotes(text: str, question: str, answer: str) -> bool:
    """Say whether a text quotes an exchange; few words may be there by chance, and stand in lines of their own."""
    if len(question + answer) >= _EXCHANGED:
        return answer in text.partition(question)[2]
    return bool(re.search(rf"\b{re.escape(question)}\s*\n.{{0,24}}\b{re.escape(answer)}", text))


def _is_title(call: Call, before: Call) -> bool:
    """Say whether a call titles or sorts a question that another answered: it gets a few words, or an object, for it.

    A router, or a planner, comes before the answer.
    """
    (asked, got), (question, answer) = ((spoken_in(each.inputs), spoken_in(each.outputs)) for each in (call, before))
    if not (asked and got and question and answer) or not are_others(call, before):
        return False
    are_same = asked[-1].role == "user" and asked[-1].text.strip() in (question[-1].text, *quoted_in(question[-1].text))
    return are_same and _is_few(got[0].text) and not _is_few(answer[0].text)


def _is_few(text: str) -> bool:
    """Say whether a text is a title's few words, or an object."""
    words = text.strip()
    is_title = len(words.split(None, _TITLED)) < _TITLED and not words.rstrip(_QUOTES).endswith((".", "?", "!", "…"))
    return is_title or words.startswith(("{", "["))


def _is_verdict(call: Call, before: Call) -> bool:
    """Say whether a call is a guard's: right after an answer it sends that under other instructions, and gets a word.

    A step that polishes or translates the answer gets about as much as it sent.
    """
    sent, got, answer = (spoken_in(messages)[-1:] for messages in (call.inputs, call.outputs, before.outputs))
    if not sent or not got or not answer or not are_others(call, before):
        return False
    words, about = got[0].text.strip(), answer[0].text.strip()
    is_object = words.startswith(("{", "["))
    is_word = is_object or (len(words) < len(about) and len(words.split(None, _VERDICT)) < _VERDICT)
    is_word = is_word or _is_asked(call, _JUDGING, about) or bool(_GRADED.search(words[-_ENDS:]))
    is_at_once = before.end is None or call.start is None or call.start - before.end < _AT_ONCE
    return is_word and is_at_once and len(about) >= _QUOTED and about in sent[0].text
