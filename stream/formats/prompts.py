"""Prompts: the same words of a program around what users typed, as a whole log shows them.

    Use the context to answer.        Use the context to answer.        A title for: How do I pay?
    Question: How do I pay?           Question: Where is it?
    Context: Cards. Bills.            Context: Parcels.                 A title for: Where is it?

What differs between prompts that begin alike is what somebody typed, and what was found for it, between labels or tags.
Where the question stands by itself nowhere else in the log, the prompt asks it for the user, and is taken apart. Where
it does, whoever asks that otherwise answers the user, and `remarks` and `asides` know by it what a call is about.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.asked_first import AskedFirst
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import questions_in, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import SHORT, digest_of
from turnsignal.stream.formats.templates import ASKS, FINDINGS, SAYS, SentPrompt, Template
from turnsignal.stream.text.visible import one_line

READ = "prompts with the same words around each question, of which the question was taken"
_LOOKED_AT = 20_000  #: calls of a log,
_GROUPS = 2_000  #: and first words of theirs,
_SAMPLES = 40  #: of each of which so many are compared,
_READ = 20_000  #: characters of each
_FEWEST = 3  #: prompts that begin alike, to be known,
_MANY = 5  #: and to be taken apart
_BEGUN = 6  #: characters that they begin with
_DEEP = 4  #: times that those of a group are told apart by their next word
_NEARLY_ALL = 0.9  #: of the first questions of a log
_KNOWN = 0.2  #: of the questions, that stand by themselves, too, where others ask them
_WORDS = 3  #: of a frame that is a program's, whatever stands in it,
_LENGTHY = 6  #: and of one that is told of
_ANSWERED = 50  #: answers, of which one may be in a history by chance
_TELLING = 16  #: characters of what is quoted
_QUESTIONS = 0.3  #: of last paragraphs that have a question's mark, where these are questions,
_TYPED = 500  #: and characters of such a one
_SHOWN = 60  #: characters of a prompt
_MARK = re.compile(r"[\n>\"“«`\]]\s*|:(?!\d) *|(?<!\w)' *")  #: behind which a question begins
_ENDING = re.compile(r"(?<!\s)(?:\s*[\n<\"”»`'\[(]|\s+(?=\w))")  #: what begins behind a question
_FIRST = re.compile(r"\W{0,20}\w{1,40}")
_STAMP = re.compile(
    r"\A[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z| ?UTC|[+-]\d\d:?\d\d)?[\])]?:? +(?=\S)"
)


class Prompts:
    """What stands around questions in a log; asked from the first `conclude` on."""

    def __init__(self) -> None:
        self._calls = 0
        self._asked_first = AskedFirst()
        self._groups: dict[str, dict[str, SentPrompt]] = {}  # first word → prompts
        self._plain: Counter[bytes] = Counter()  # what anybody asks, history or not
        self._earlier: set[bytes] = set()  # of histories
        self._returned: set[bytes] = set()  # answers that histories hold
        self._got: dict[bytes, bytes] = {}  # what is asked → the last answer to that
        self._first: Counter[str] = Counter()  # of the first questions, by their first word
        self._stamped = 0
        self._templates: dict[str, list[Template]] | None = None
        self._doubted: list[Template] = []
        self._doubted_times: Counter[int] = Counter()
        self._users = 0

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `conclude`."""
        if self._calls >= _LOOKED_AT or call.kind not in ("answer", "whole"):
            return
        spoken = spoken_in(call.inputs)
        if not spoken or spoken[-1].role != "user":
            return
        self._calls += 1
        self._returned.update(digested(each)[1][:SHORT] for each in spoken[-2:-1] if each.role == "assistant")
        for message in spoken:
            if message.role == "user":
                self._plain[asked := digest_of(message.text.strip())] += 1
                if message is not spoken[-1]:
                    self._earlier.add(asked)
        text = spoken[-1].text.strip()
        answer = next((digested(each)[1][:SHORT] for each in spoken_in(call.outputs)[:1]), b"")
        self._got[digest_of(text)] = answer
        first = _first_word(text)
        self._first[first] += 1
        self._stamped += _STAMP.match(text) is not None
        self._asked_first.add(text)
        if len(text) > _READ or (first not in self._groups and len(self._groups) >= _GROUPS):
            return
        group = self._groups.setdefault(first, {})
        if len(group) < _SAMPLES:
            group.setdefault(text, SentPrompt(text, answer))

    def conclude(self) -> None:
        """Find the frames of the log."""
        if self._templates is not None:
            return
        self._templates = {}
        self._asked_first.conclude()
        for first, group in self._groups.items():
            templates = list(_templates(list(group.values()), _DEEP)) if len(group) >= _FEWEST else []
            for each in templates:
                returned = sum(answer in self._returned for answer in each.answers)
                each.is_answered = returned * _ANSWERED > each.calls
                known = sum(self._plain[digest_of(question)] > 0 for question in each.questions)
                each.is_known = known > _KNOWN * each.calls
                if not each.is_known and not each.names & ASKS:
                    self._find_quoted(each, list(group))
                answers = [self._got.get(digest_of(question)) for question in each.questions]
                answers += [digested(Message("assistant", text))[1][:SHORT] for text in each.questions]
                each.is_answered_by_others = any(answer in self._returned for answer in answers)
            kept = [each for each in templates if each.is_known or each.is_marked]
            self._templates[first] = sorted(kept, key=lambda each: (not each.is_known, -len(each.before + each.after)))
        searched = {
            digest_of(question)
            for templates in self._templates.values()
            for each in templates
            if each.is_search and not each.is_known
            for question in each.questions
        }
        for first, templates in self._templates.items():
            is_most = self._first[first] >= _NEARLY_ALL * self._calls
            for each in templates:
                if each.is_known or each.calls < _MANY:
                    continue
                if each.names & SAYS:  # "Use this information to answer:"
                    each.takes_out = self._asks_last(each, list(self._groups[first]))
                    continue
                others = sum(digest_of(question) in searched for question in each.questions)
                is_plain = (
                    not each.labels and not each.is_long and each.words >= _WORDS and is_most and len(templates) == 1
                )
                each.takes_out = each.is_search or (is_plain and others <= _KNOWN * each.calls)
                each.takes_out = each.takes_out or self._asks_last(each, list(self._groups[first]))
                if not each.takes_out and is_most and each.words >= _LENGTHY and each.is_long:
                    self._doubted.append(each)
        self._groups, self._returned = {}, set()
        self._plain, self._got, self._earlier = Counter(), {}, set()

    def _find_quoted(self, template: Template, texts: Sequence[str]) -> None:
        """Find the label behind which prompts hold what others got, or ask: a judge's "hypothesis"."""
        given = set(self._got.values()) - {b""}
        known = Counter[str]()
        for parts in map(template.parts_in, filter(template.matches, texts)):
            for name, part in parts.items():
                is_given = digested(Message("assistant", part))[1][:SHORT] in given
                known[name] += len(part) >= _TELLING and (is_given or self._plain[digest_of(part)] > 0)
        for name, times in known.most_common(1):
            if times > _KNOWN * template.calls:
                template.quotes, template.is_known = name, True

    def _asks_last(self, template: Template, texts: Sequence[str]) -> bool:
        """Say whether prompts ask in their last paragraph, behind what was found: histories have it, or it shows.

        Nobody is asked that alone, else the prompt would be about it.
        """
        if template.labels or not (template.names | set(re.findall(r"\w+", template.before.lower()))) & FINDINGS:
            return False
        template.asks_last = True
        asked = [template.question_in(text) for text in texts if template.matches(text)]
        digests = [digest_of(question) for question in asked]
        repeated = sum(digest in self._earlier for digest in digests)
        alone = sum(digest in self._got for digest in digests)
        is_shown = sum("?" in question for question in asked) >= _QUESTIONS * len(asked)
        are_short = sum(0 < len(question) <= _TYPED for question in asked) >= _NEARLY_ALL * len(asked)
        is_last = are_short and (is_shown or repeated > _KNOWN * len(asked)) and alone <= _KNOWN * len(asked)
        template.asks_last = is_last
        return is_last

    def template_of(self, text: str) -> Template | None:
        """Return the frame of a text."""
        if self._templates is None:
            return None
        text = text.strip()
        return next((each for each in self._templates.get(_first_word(text), ()) if each.matches(text)), None)

    def framed_in(self, call: Call) -> str:
        """Return what differs in a prompt that a program asks alike, and others ask plainly; "" without."""
        spoken = spoken_in(call.inputs)
        template = self.template_of(spoken[-1].text) if spoken and spoken[-1].role == "user" else None
        if template is None or not template.is_known or template.is_answered:
            return ""
        if template.is_search and not template.is_answered_by_others:  # it may be what answers the user
            return ""
        return template.question_in(spoken[-1].text.strip())

    def take_apart(self, call: Call, assumed: Assumed) -> None:
        """Give a call the questions that its prompts were made of, the history's included."""
        if self._templates is None:
            return
        for message, is_last in questions_in(call.inputs):
            self._users += is_last
            if question := self._question_of(message, is_last=is_last):
                message.text = question
                assumed[READ] += is_last

    def _question_of(self, message: Message, *, is_last: bool) -> str:
        text = message.text.strip()
        if self._stamped >= max(_MANY, _NEARLY_ALL * self._calls) and (stamp := _STAMP.match(text)):
            return text[stamp.end() :].strip()
        template = self.template_of(text)
        if template is not None and template.takes_out:
            return template.question_in(text)
        if (asked := self._asked_first.question_in(text)) and not (template is not None and template.is_known):
            return asked
        if template is not None and template in self._doubted:
            self._doubted_times[self._doubted.index(template)] += is_last
        return ""

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say which prompts are taken for what users typed. quoted: with how the most frequent begins."""
        if not (times := self._doubted_times.total()) or not self._users:
            return []
        begun = self._doubted[self._doubted_times.most_common(1)[0][0]].before
        shown = f" (“{one_line(begun, _SHOWN)}…”)" if quoted else ""
        doubt = (
            f"{times:,} of {self._users:,} user messages begin with the same {len(begun.split()):,} words{shown} and "
            "hold several lines that differ: prompts of a program rather than what users typed? Figures of what users "
            "say are then those of the program; log what was typed, or map the field that holds it (--propose)"
        )
        return [doubt]


def _templates(samples: Sequence[SentPrompt], deep: int) -> Iterator[Template]:
    """Give the frames of prompts that begin with the same word."""
    texts = [each.text for each in samples]
    begun = _common(texts)
    marked, whole = _up_to_mark(begun), begun[: begun.rfind(" ") + 1]
    for before in dict.fromkeys((marked, whole)):
        rest = [text[len(before) :] for text in texts]
        after = _from_mark(_common([text[::-1] for text in rest])[::-1])
        if len(before) >= _BEGUN and all(text[: len(text) - len(after)].strip() for text in rest):
            yield Template(before, after, samples, is_marked=before == marked)
    if not deep or len(marked) >= _BEGUN:
        return
    groups: dict[str, list[SentPrompt]] = {}
    for each in samples:
        groups.setdefault(_first_word(each.text[len(whole) :]), []).append(each)
    for group in groups.values():
        if _FEWEST <= len(group) < len(samples):
            yield from _templates(group, deep - 1)


def _common(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    first, last = min(texts), max(texts)
    size = min(len(first), len(last))
    return first[: next((at for at in range(size) if first[at] != last[at]), size)]


def _up_to_mark(begun: str) -> str:
    """Return the beginning up to behind its last mark, where what differs may begin; empty without one."""
    ends = [match.end() for match in _MARK.finditer(begun)]
    return begun[: ends[-1]] if ends else ""


def _from_mark(ended: str) -> str:
    """Return the end from where it cannot be of what differs."""
    match = _ENDING.search(ended)
    return ended[match.start() :] if match is not None else ""


def _first_word(text: str) -> str:
    match = _FIRST.match(text)
    return match.group() if match is not None else ""
