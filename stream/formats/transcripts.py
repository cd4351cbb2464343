"""Transcripts: prompts that hold all that was said in one text, and end where the assistant is to speak.

    The following is a friendly conversation.        <|im_start|>user
    Human: How do I pay?                             How do I pay?<|im_end|>
    AI: By card.                                     <|im_start|>assistant
    Human: And abroad?                               By card.<|im_end|>
    AI:                                              …

Chains and servers of models write them. A user may paste one, too: they are read where half of a log's calls send one,
or several that begin with the same words. The names at the prompt's end and before its first question are those of who
speaks; others are what somebody said ("Model: X1"). Prompts of a search end with "Question: … Answer:", behind what was
found, and what was said where the names of who speaks stand there; where all ask the same, a program asks it of what
stands before ("Is this safe? Answer:"). Of those that nothing here takes apart, a doubt tells.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import islice

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import role_of, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.text.visible import one_line

READ = "prompts that hold all that was said in one text, taken apart by who speaks"
_FEWEST = 3  #: that begin with the same words
_BEGUN = 100  #: characters of these
_UNKNOWN = 4  #: times as many may have a last answer that no call of the log gave
_LONGEST = 20  #: and times as many may have a history at all
_MOST = 5_000  #: messages of one prompt
_TELLING = 24  #: characters by which an answer is looked for in prompts,
_WHOLE = 100  #: and of which so many are compared: articles begin like answers,
_LOOKED_AT = 1_000  #: in so many,
_HELD = 6_000  #: the last characters of each,
_COMPARED = 20  #: prompts of a search, whose questions are compared
_ONE_IN = 10  #: of which one in so many holds one
_SHOWN = 60  #: characters of an answer
_WITHIN = 8  #: marks behind one, at which what it begins may end
_TAIL = 60  #: characters at the end of a prompt, in which the assistant is named
_WORD = re.compile(r"(?<!\w)\S")
_MARK = re.compile(
    r"<\|(?:im_start|start_header_id)\|>[ \n]?(?P<named>\w{1,20})(?:<\|end_header_id\|>)?"
    r"|<start_of_turn>(?P<turn>\w{1,20})|<[|\uff5c](?P<role>(?i:system|user|assistant|chatbot))(?:_TOKEN)?[|\uff5c]>"
    r"|(?P<instruction>\[/?INST\])|(?P<instructions><</?SYS>>)"
)
_LABEL = re.compile(
    r"(?:^(?:### ?)?|(?<=[\s>])(?=(?:USER|ASSISTANT):))"  # in capitals within a line, too, as Vicuna's template has it
    r"(?P<label>[^\W\d_]{2,12}(?: [^\W\d_]{2,12})?) ?(?::(?=\s|$)|\uff1a)",
    re.MULTILINE,
)
_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|end|endoftext|begin_of_text|end_of_text|START_OF_TURN_TOKEN|END_OF_TURN_TOKEN)\|>"
    r"|<end_of_turn>|</?s>|<bos>|<[BE]OS_TOKEN>|<\uff5c(?:begin|end)\u2581of\u2581sentence\uff5c>"
)
_ANSWERS = frozenset(("answer", "response", "reply"))  #: last words of a label behind a question,
_ASKS = frozenset(("question", "query", "input"))  #: and of the label before that
_MEANT = {"[INST]": "user", "[/INST]": "assistant", "<<SYS>>": "system", "<</SYS>>": "user"}


class Transcripts:
    """Which prompts of a log are transcripts."""

    def __init__(self) -> None:
        self._calls = 0
        self._begun: Counter[str] = Counter()  # of transcripts, with what they begin
        self._before: list[tuple[str, bytes]] = []  # of those with a history: that, and a digest of its last answer
        self._given: set[bytes] = set()  # of what transcripts were answered
        self._asked: dict[str, tuple[set[bytes], set[bytes]]] = {}  # the first prompts of a search, and their questions
        self._read: dict[str, bool] | None = None

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `take_apart`."""
        if call.kind == "context" or not (spoken := spoken_in(call.inputs)):
            return
        self._calls += 1
        if len(spoken) > 1 and _searched_in(spoken[-1]):
            self._begun[_begun_by(spoken[-1].text)] += 1
        if (prompt := _prompt_of(spoken)) is not None:
            begun = _begun_by(prompt)
            self._begun[begun] += 1
            self._given.update(digested(answer)[1] for answer in spoken_in(call.outputs)[:1])
            messages = messages_in(prompt)
            before = [message for message in messages if message.role == "assistant"]
            self._before += [(begun, digested(answer)[1]) for answer in before[-1:]]
            prompts, questions = self._asked.setdefault(begun, (set(), set()))
            if len(prompts) < _COMPARED and _is_search(_labels_of(prompt)):
                prompts.add(digested(spoken[0])[1])
                questions.update(digested(question)[1] for question in messages[-1:])

    def take_apart(self, call: Call, assumed: Assumed) -> None:
        """Give a call the messages that its prompt holds, or the questions that the prompts of its history do."""
        if not self._begun:
            return
        if self._read is None:
            self._read = self._chosen()
            self._before = []
        spoken = spoken_in(call.inputs)
        for message in spoken if len(spoken) > 1 else ():
            if (question := _searched_in(message)) and _begun_by(message.text) in self._read:
                message.text = question
                assumed[READ] += message is spoken[-1]
        prompt = _prompt_of(spoken)
        if prompt is None or (is_own := self._read.get(_begun_by(prompt))) is None:
            return
        messages = messages_in(prompt, self._given)
        if not is_own:
            messages = messages[-1:] if _is_search(_labels_of(prompt)) else []
        if messages:
            _replace_prompt(call, spoken[0], messages)
            assumed[READ] += 1

    def _chosen(self) -> dict[str, bool]:
        """Return what transcripts begin with that are read, and whether the log's own: in documents stand others.

        A log's own begin with one question, or with what was answered in it.
        """
        for begun, (prompts, questions) in self._asked.items():
            if len(prompts) > 1 and len(questions) == 1:  # a program's, about what stands before it
                del self._begun[begun]
        self._asked = {}
        have, known = Counter[str](), Counter[str]()
        for begun, answer in self._before:
            have[begun] += 1
            known[begun] += answer in self._given
        times = self._begun.total()
        if 2 * times >= self._calls:
            return dict.fromkeys(self._begun, _are_own(times, have.total(), known.total()))
        often = {begun: n for begun, n in self._begun.items() if begun and n >= _FEWEST}
        return {begun: _are_own(n, have[begun], known[begun]) for begun, n in often.items()}


def _replace_prompt(call: Call, prompt: Message, messages: list[Message]) -> None:
    """Put messages where a prompt was that holds them, the last of which was asked then."""
    messages[-1].fields, messages[-1].time = prompt.fields, prompt.time
    at = call.inputs.index(prompt)
    call.inputs[at : at + 1] = messages
    for answer in spoken_in(call.outputs):
        answer.text = answer.text.strip()  # as it stands in later prompts


class HeldAnswers:
    """Prompts of one question that hold an answer of another call, as transcripts do which are not taken apart."""

    def __init__(self) -> None:
        self._prompts: list[tuple[int, str]] = []  # each with the number of its call
        self._begun: dict[str, dict[int, str]] = {}  # how an answer begins → the calls that gave such a one, and more

    def add(self, call: Call) -> None:
        """Take in a call, in any order; the first thousand of a log are looked at."""
        spoken, got = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
        if call.line > _LOOKED_AT or [message.role for message in spoken] != ["user"]:
            return
        self._prompts.append((call.line, "\n".join(message.text for message in call.inputs)[-_HELD:]))
        for answer in (message.text.strip() for message in got):
            if len(answer) >= _TELLING:
                self._begun.setdefault(answer[:_TELLING], {})[call.line] = answer[:_WHOLE]

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say that prompts hold what was answered before, where many do. quoted: with the first such answer."""
        holding = [begun for line, text in self._prompts if (begun := self._held_in(text, line))]
        if len(holding) < _FEWEST or _ONE_IN * len(holding) < len(self._prompts):
            return []
        shown = f" (“{one_line(holding[0], _SHOWN)}…”)" if quoted else ""
        doubt = (
            f"{len(holding):,} of {len(self._prompts):,} prompts hold an answer that another call got{shown}: where "
            "prompts hold what was said before in one text, earlier answers count as words of the user, and each call "
            "may be a conversation of its own; log the messages as a list, or map the field that holds what was typed "
            "(--propose); where they are calls of judges or of a memory, leave those out of the log"
        )
        return [doubt]

    def _held_in(self, text: str, line: int) -> str:
        """Return how the first answer of another call begins that stands in a text, "" where none does."""
        for match in _WORD.finditer(text):
            given = self._begun.get(text[match.start() : match.start() + _TELLING], {})
            if any(text.startswith(answer, match.start()) for number, answer in given.items() if number != line):
                return text[match.start() : match.start() + _TELLING]
        return ""


def _are_own(times: int, have: int, known: int) -> bool:
    """Say whether transcripts are of the log. have: a history; known: whose last answer a call of the log gave."""
    return have <= _UNKNOWN * known or times <= _LONGEST * (times - have)


def messages_in(prompt: str, given: Set[bytes] = frozenset()) -> list[Message]:
    """Return the messages of a transcript, what comes before the first as the system's; none where it is no transcript.

    given: digests of answers, which hold the names that stand in them.

    >>> [(each.role, each.text) for each in messages_in("Be kind.\\nHuman: How?\\nAI: So.\\nHuman: Why?\\nAI:")]
    [('system', 'Be kind.'), ('user', 'How?'), ('assistant', 'So.'), ('user', 'Why?')]
    """
    if not _ends_open(prompt):
        return []
    marks = list(islice(_marks_in(prompt), _MOST + 1))
    if not marks or len(marks) > _MOST:
        return []
    is_search = not _MARK.search(prompt) and _is_search(_labels_of(prompt))
    parts = [] if is_search else [("system", prompt[: marks[0][0].start()])]  # what was found is another each time
    at = 0
    while at < len(marks) - 1:
        role, end = marks[at][1], at + 1
        texts = [prompt[marks[at][0].end() : later.start()] for later, _ in marks[at + 1 : at + 1 + _WITHIN]]
        if role == "assistant" and given:
            end += next((more for more, text in enumerate(texts) if digested(_message(role, text))[1] in given), 0)
        parts.append((role, texts[end - at - 1]))
        at = end
    messages = [message for role, part in parts if (message := _message(role, part)).text]
    is_open = bool(messages) and messages[-1].role == "user" and not _ENDS.sub("", prompt[marks[-1][0].end() :]).strip()
    return messages if is_open and marks[-1][1] == "assistant" else []


def said_in(text: str) -> list[Message]:
    """Return the exchanges that a text ends with, by the names of who speaks, none where it ends otherwise.

    >>> [(each.role, each.text) for each in said_in("Chat History:\\nHuman: How?\\nAI: So.\\n")]
    [('user', 'How?'), ('assistant', 'So.')]
    """
    labels = [(match, role) for match in _labels_of(text) if (role := _speaker(match)) in ("user", "assistant")]
    first = next((at for at, (_, role) in enumerate(labels) if role == "user"), len(labels))
    ends = [*(match.start() for match, _ in labels[first + 1 :]), len(text)]
    starts = zip(labels[first:], ends, strict=False)  # none, before the end alone
    messages = [_message(str(role), text[match.end() : end]) for (match, role), end in starts]
    return messages if messages and messages[-1].role == "assistant" else []


def _message(role: str, part: str) -> Message:
    return Message(role, _ENDS.sub("", part).strip())


def _marks_in(prompt: str) -> Iterator[tuple[re.Match[str], str]]:
    """Give the marks of who speaks, each with the role."""
    if _MARK.search(prompt):
        yield from ((match, role) for match in _MARK.finditer(prompt) if (role := _speaker(match)) is not None)
        return
    labels = _labels_of(prompt)
    is_search = _is_search(labels)
    body = labels[:-2] if is_search else labels
    asked = next((match["label"] for match in body if _speaker(match) == "user"), "")
    names = {labels[-1]["label"]: "assistant", asked: "user"} if labels else {}  # who speaks in this prompt → role
    if is_search:
        names[next((match["label"] for match in body if _speaker(match) == "assistant"), "")] = "assistant"
    elif labels and _speaker(labels[0]) == "system" and labels[0]["label"] not in names:
        yield labels[0], "system"
    yield from ((match, names[match["label"]]) for match in body if match["label"] in names)
    if is_search:
        yield from zip(labels[-2:], ("user", "assistant"), strict=True)


@lru_cache(16)
def _labels_of(prompt: str) -> tuple[re.Match[str], ...]:
    """Return the labels of a prompt, none where they are too many; asked several times of the same prompt."""
    labels = tuple(islice(_LABEL.finditer(prompt), 2 * _MOST + 1))
    return labels if len(labels) <= 2 * _MOST else ()


def _is_search(labels: Sequence[re.Match[str]]) -> bool:
    """Say whether a prompt ends with a question, and where it is to be answered."""
    words = [match["label"].lower().rpartition(" ")[2] for match in labels[-2:]]
    return len(words) > 1 and words[0] in _ASKS and words[1] in _ANSWERS


def _prompt_of(spoken: Sequence[Message]) -> str | None:
    """Return the prompt of a call that may be a transcript."""
    is_one = len(spoken) == 1 and spoken[0].role == "user" and _ends_open(spoken[0].text)
    return spoken[0].text if is_one else None


def _searched_in(message: Message) -> str:
    """Return what a message of a longer history asks, where it is the prompt of a search; "" for any other."""
    text = message.text
    if message.role != "user" or not _ends_open(text) or not _is_search(_labels_of(text)):
        return ""
    return next((each.text for each in messages_in(text)[-1:]), "")


def _begun_by(prompt: str) -> str:
    """Return with what words transcripts like this begin: those before the first that speaks, or its mark."""
    if (mark := _MARK.search(prompt)) is not None:
        return prompt[: mark.end()][:_BEGUN]
    label = _LABEL.search(prompt)
    return prompt[: label.start()][:_BEGUN] if label is not None else ""


def _ends_open(prompt: str) -> bool:
    """Say whether a prompt ends where the assistant is named, who says nothing yet."""
    tail = _ENDS.sub("", prompt[-_TAIL:]).rstrip()
    marks, labels = list(_MARK.finditer(tail)), list(_LABEL.finditer(tail))
    if any(match.end() == len(tail) and _speaker(match) == "assistant" for match in (*marks, *labels)):
        return True
    is_last = bool(labels) and labels[-1].end() == len(tail)
    return is_last and labels[-1]["label"].lower().rpartition(" ")[2] in _ANSWERS and _is_search(_labels_of(prompt))


def _speaker(match: re.Match[str]) -> str | None:
    """Return the role that a mark names; None where it names nobody who speaks."""
    mark = next((group for group in match.groups() if group), "")
    return _MEANT.get(mark) or role_of(mark) or role_of(mark.rpartition(" ")[2])
