"""Remarks: calls of a moment that are about an exchange which a user had, and are none: verdicts, titles, notes.

    call 1   sends: "Where is my card?"                                           gets: In the app, under Cards.
    call 2   sends: "A title for: Where is my card? In the app, under Cards."     gets: The missing card
    call 3   sends: "Be polite.", "In the app, under Cards."                      gets: Kindly look into the app.

Call 2 is one: it quotes the exchange before it. Call 3 words the answer anew, for a user to see: it sends the answer
alone, or gets most of its words, or what it is asked says so. `answering` knows what calls like it do in other traces.
"""

import re
from collections.abc import Sequence

from turnsignal.stream.formats.answering import Answering, are_a_titles, are_few, asks_otherwise, rewords
from turnsignal.stream.formats.asides import LEFT_OUT
from turnsignal.stream.formats.instructions import are_others, instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.prompts import Prompts
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import quoted_in, stands_in

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
_WRITING = re.compile(  #: what is asked of those who write to users out of what another step got
    r"\b(?:draft\w*|refine\w*|polish\w*|rewrit\w+|re-?phras\w+|improv\w+|revis\w+|translat\w+|notes|plan|findings|outline"
    r"|research|context|analys[ie]s|reasoning|results?|background)\b"
    r"|\b(?:existing|original|previous|initial|final) (?:answer|reply|response)\b"
    r"|\b(?:write|answer|reply|respond)\s+(?:to\s+)?(?:the\s+|a\s+)?(?:customer|user|client|question|reply)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(  #: and of those who write to none
    r"\b(?:title\w*|follow[- ]?ups?|suggest\w*|summar\w+|sentiment|feel\w*|satisf\w+|remember\w*|memor\w+|classif\w+"
    r"|categor\w+|tags?|topics?|facts|extract\w*|intent)\b",
    re.IGNORECASE,
)
_JUDGING = re.compile(_JUDGES, re.IGNORECASE)
_NOTING = re.compile(f"{_JUDGES}|{_NOTES}", re.IGNORECASE)
_GRADED = re.compile(  #: how what a judge says ends
    r"\b(?:verdict|rating|grade)\W{1,8}\w+\W*(?:\w+\W*)?\Z"
    r"|\b(?:overall |final )?score\W{1,8}(?:\d|10|[01]\.\d+)(?: ?(?:/|out of) ?\d+)?\W*\Z",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"\s*(?:```|[{\[]|SELECT\b|WITH\b|select\b.+\bfrom\b|with \w+ as \()"
)  #: how what no user reads begins
_BEFORE = 3  #: calls of a trace that a call may be about
_VERDICT = 4  #: words that are more than a guard says
_AT_ONCE = 5.0  #: seconds after an answer, within which no person pastes it
_QUOTED = 8  #: characters that are no quotation by chance,
_SENT_ON = 40  #: of an answer that a call sends on,
_EXCHANGED = 16  #: and those of a question with its answer
_TYPED = 32  #: parts of a question, of which one may be what was typed
_READ = 200  #: characters of what is asked
_ENDS = 60  #: and of what is got


def without_remarks(answers: Sequence[Call], assumed: Assumed, answering: Answering | None = None) -> list[Call]:
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
        if not any(_is_beside(call, before, answering) for before in kept[-_BEFORE:]):
            kept.append(call)
    if answering is not None and answers:
        answering.settle(answers[-1])
    assumed[LEFT_OUT] += len(answers) - len(kept)
    return kept


def learn_from(calls: Sequence[Call], answering: Answering) -> None:
    """Show which of a trace's calls quote an exchange of it, and what they got."""
    answers = [call for call in calls if call.kind == "answer" and spoken_in(call.outputs)]
    answers.sort(key=lambda call: (call.start or 0.0, call.line))
    for at, call in enumerate(answers):
        for before in answers[max(at - _BEFORE, 0) : at]:
            question, answer = (text[-1:] for text in (spoken_in(before.inputs), spoken_in(before.outputs)[:1]))
            sent = spoken_in(call.inputs)[-1:]
            if are_others(call, before) and _takes_up(call, [*question, *answer]):
                answering.learn_beside(call, before)
            if sent and question and answer and _quotes_exchange(sent[0].text, question[0].text, answer[0].text):
                answering.learn(call, question[0].text, answer[0].text)
                break


def _is_beside(call: Call, before: Call, answering: Answering | None) -> bool:
    """Say whether a call of a trace is about another, and not what the user saw."""
    exchange = [*spoken_in(before.inputs)[-1:], *spoken_in(before.outputs)[:1]]
    is_other = are_others(call, before) or call.fields.get("model") != before.fields.get("model")
    if answering is not None and answering.tells_apart(call, before):
        if answering.converses(call):
            return False
        if answering.answers_nobody(call) and answering.converses(before) and _takes_up(call, exchange):
            return True
    if answering is not None and is_other and _takes_up(call, exchange) and answering.is_beside(call, before):
        return True
    if _is_verdict(call, before) or _is_title(call, before, answering) or _is_framed(call, before, answering):
        return True
    if answering is not None and _may_be_beside(call, before) and not answering.converses(call):
        answering.doubt(call, is_about=None)
    return is_about(call, exchange, is_other=is_other, before=before, answering=answering)


def _may_be_beside(call: Call, before: Call) -> bool:
    """Say whether two were asked the same under different instructions, and each got more than few words."""
    asked, before_asked = (spoken_in(each.inputs)[-1:] for each in (call, before))
    are_same = bool(asked and before_asked) and asked[0].text.strip() == before_asked[0].text.strip()
    got = (spoken_in(each.outputs)[0].text for each in (call, before))
    return are_same and are_others(call, before) and not any(map(are_few, got))


def _takes_up(call: Call, exchange: Sequence[Message]) -> bool:
    """Say whether a call is asked what another was, or quotes that, or its answer."""
    sent = "".join(message.text for message in spoken_in(call.inputs)[-1:]).strip()
    texts = [message.text.strip() for message in exchange]
    return any(text and text in sent for text in texts)


def polishes(call: Call, before: Call) -> bool:
    """Say whether a call words the answer of another anew: it sends that alone, under other instructions."""
    sent, got, answer = spoken_in(call.inputs), spoken_in(call.outputs)[:1], spoken_in(before.outputs)[:1]
    if [message.role for message in sent] != ["user"] or not got or not answer:
        return False
    words = answer[0].text.strip()
    is_about_as_long = 2 * len(got[0].text.strip()) >= len(words)  # a guard says less
    is_at_once = before.end is None or call.start is None or call.start - before.end < _AT_ONCE
    return is_at_once and is_about_as_long and words == sent[0].text.strip() and are_others(call, before)


def is_about(
    call: Call,
    exchange: Sequence[Message],
    *,
    is_other: bool = True,
    before: Call | None = None,
    answering: Answering | None = None,
) -> bool:
    """Say whether a call is about the exchange before it: it quotes question and answer at once.

    is_other: another model answers, or under other instructions, which may ask for a judgement, or for notes; before:
    the call that gave the answer; answering: what the log shows, without which only few words are taken for about it.
    """
    sent, got = spoken_in(call.inputs)[-1:], spoken_in(call.outputs)[:1]
    if not sent or not got or [message.role for message in exchange] != ["user", "assistant"]:
        return False
    question, answer = (message.text.strip() for message in exchange)
    if not answer or answer not in sent[0].text:
        return False
    is_usual = answering is not None and answering.is_usual(call)
    if _QUERY.match(answer) or not _quotes_exchange(sent[0].text, question, answer, is_usual=is_usual):
        return False  # a step on the way
    if not is_other and any(message.text.strip() == answer for message in spoken_in(call.inputs)[:-1]):
        return False  # its user quotes what was said before
    is_noted = is_other and (_is_asked(call, _NOTING, question, answer) or bool(_GRADED.search(got[0].text[-_ENDS:])))
    if is_noted or (are_few(got[0].text) and (answering is None or answering.may_title(call))):
        return True
    if answering is None or before is None or not asks_otherwise(call, before, answering):
        return False
    if answering.words_anew(call, question, answer):
        return False
    is_written, is_beside = (_is_asked(call, words, question, answer) for words in (_WRITING, _BESIDE))
    if is_written or not is_beside:
        answering.doubt(call, is_about=is_beside or not is_written)
    return is_beside or not is_written


def _quotes_exchange(text: str, question: str, answer: str, *, is_usual: bool = False) -> bool:
    """Say whether a text quotes an answer behind its question, or behind what that quotes of a user.

    is_usual: others like it do, so that few words are no chance.
    """
    question, answer = question.strip(), answer.strip()
    if not answer or answer not in text:
        return False
    questions = (question, *quoted_in(question)[:_TYPED])  # of a search, the one among its documents
    return any(
        _quotes(text, each, answer) or (is_usual and answer in text.partition(each)[2]) for each in questions if each
    )


def _is_asked(call: Call, words: re.Pattern[str], *quoted: str) -> bool:
    """Say whether what a call is asked, besides what it quotes, has one of some words in it."""
    asked = spoken_in(call.inputs)[-1].text
    for text in sorted(quoted, key=len, reverse=True):  # an answer may hold its question
        asked = asked.replace(text, "")
    return any(words.search(text) for text in (instructions_of(call), asked[:_READ], asked[-_READ:]))


def _quotes(text: str, question: str, answer: str) -> bool:
    """Say whether a text quotes an exchange; few words may be there by chance, and stand in lines of their own."""
    if len(question + answer) >= _EXCHANGED:
        return answer in text.partition(question)[2]
    return bool(re.search(rf"\b{re.escape(question)}\s*\n.{{0,24}}\b{re.escape(answer)}", text))


def _is_title(call: Call, before: Call, answering: Answering | None) -> bool:
    """Say whether a call titles or sorts a question that another answered: it gets a few words, or an object, for it.

    A router, or a planner, comes before the answer, which may be short, too, but not each time; and the answer alone
    may need what was said before.
    """
    (asked, got), (question, answer) = ((spoken_in(each.inputs), spoken_in(each.outputs)) for each in (call, before))
    if not (asked and got and question and answer) or not are_others(call, before) or len(asked) > len(question):
        return False
    if answering is not None and not answering.may_title(call):
        return False
    are_same = asked[-1].role == "user" and asked[-1].text.strip() in (question[-1].text, *quoted_in(question[-1].text))
    return are_same and are_few(got[0].text) and not are_few(answer[0].text)


def _is_framed(call: Call, before: Call, answering: Answering | None) -> bool:
    """Say whether a call alone puts words of a program around a question that another answered, or its answer.

    Under the same instructions, within a line or over several. Where the log knows such prompts, it tells whose answers
    come back; else the other must have been asked plainly, and this one at once, for few words or what nobody reads.
    """
    (sent, got), (asked, answers) = ((spoken_in(each.inputs), spoken_in(each.outputs)) for each in (call, before))
    if (
        [message.role for message in sent] != ["user"]
        or not got
        or not answers
        or not asked
        or asked[-1].role != "user"
    ):
        return False
    text, question, answer = (message.text.strip() for message in (sent[0], asked[-1], answers[0]))
    prompts = answering.prompts if answering is not None else None
    template = prompts.template_of(text) if prompts is not None else None
    if text in (question, answer) or (template is not None and (template.is_answered or template.is_search)):
        return False
    middle = template.question_in(text) if template is not None else ""
    if question not in text:
        question = _question_quoted(question, text, middle, prompts)
    is_question = bool(question) and (middle == question or (len(question) >= _QUOTED and stands_in(question, text)))
    is_answer = middle == answer or (len(answer) >= _EXCHANGED and stands_in(answer, text))
    if is_question == is_answer or (is_answer and rewords(call, question, answer)):
        return False  # what quotes both is looked at otherwise
    is_conversing = answering is not None and answering.converses(before)
    if template is not None and (template.is_answered_by_others or is_conversing):
        return True
    is_at_once = before.end is None or call.start is None or call.start - before.end < _AT_ONCE
    if template is None and not is_at_once:
        return False
    is_asked = any(_is_asked(call, words, question, answer) for words in (_NOTING, _BESIDE))
    is_written = _is_asked(call, _WRITING, question, answer)
    if is_question and are_others(call, before) and instructions_of(call) and not _is_used(answer, call):
        is_usual = template is not None and middle == question and not template.labels and not is_written
        if (is_asked or is_usual) and _gets_a_title(call, before, answering):
            return True
        if answering is not None and (is_asked or are_few(got[0].text)):
            answering.doubt(call, is_about=None)
    if is_written or are_few(answers[0].text):
        return is_asked and not are_others(call, before)
    if are_others(call, before):  # who was asked before may have been a router
        return is_asked and not instructions_of(call)
    return is_asked or are_few(got[0].text) or (is_question and template is not None and template.is_known)


def _question_quoted(prompt: str, text: str, middle: str, prompts: Prompts | None) -> str:
    """Return the question in a prompt with what was found for it, where a text has the question around it; "" without.

    middle: what differs in the text from others like it.
    """
    template = prompts.template_of(prompt) if prompts is not None else None
    question = template.question_in(prompt) if template is not None and template.is_search else ""
    if len(question) >= _QUOTED and stands_in(question, text):
        return question
    return middle if len(middle) >= _QUOTED and middle in quoted_in(prompt) else ""


def _is_used(answer: str, call: Call) -> bool:
    """Say whether a call sends an answer of another on, as who writes by a plan does: in its instructions, or else."""
    begun = answer[:_SENT_ON]
    return any(begun in message.text for message in call.inputs)


def _gets_a_title(call: Call, before: Call, answering: Answering | None) -> bool:
    """Say whether a call gets few words, and those like it do, where another got an answer at length, or like it do.

    Who was asked before may have been a router, which says little itself.
    """
    got, answer = (spoken_in(each.outputs)[0].text for each in (call, before))
    if not are_a_titles(got) or (answering is not None and not answering.may_title(call)):
        return False
    return not are_few(answer) or (answering is not None and answering.answers_at_length(before))


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
