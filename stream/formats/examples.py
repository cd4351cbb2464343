"""Examples that a prompt shows the model before the user's question: the same in each conversation, said in none.

    conversation 1   sends: "2 + 2?" "4" "How?"     gets: So.
    conversation 2   sends: "2 + 2?" "4" "Why?"     gets: Because.

An exchange is one where every call of a conversation begins with it, its first included, and so does half of the log,
or of the calls with the same instructions, and no call was asked it. What was said once was the answer to a call; a log
that lacks those calls may take what everybody is told first for an example, and that is counted. A user's greeting, and
what it gets, is none.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from turnsignal.stream.formats.asides import begun_by, exchange_of
from turnsignal.stream.formats.briefings import Briefings
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.repeats import Digested

LEFT_OUT = "examples that a prompt begins with in every conversation left out"
_FEWEST = 5  #: conversations that begin alike
_EXCHANGE = 2  #: messages
_MOST = 64  #: messages of examples
_GREETING = re.compile(
    r"\W*(?:hi|hiya|hello|hey|start|get started|hallo|moin|servus|guten (?:tag|morgen|abend)|good (?:day|morning|"
    r"afternoon|evening)|hola|buenos d[ií]as|buenas tardes|bonjour|bonsoir|salut|ciao|buongiorno|ol[aá]|bom dia)"
    r"(?: there| again| all| everyone)?\W*",
    re.IGNORECASE,
)


class Examples:
    """What stands before the questions of many conversations. openings, conversations: of each call."""

    def __init__(self, openings: Sequence[bytes], conversations: Sequence[str]) -> None:
        of: dict[str, tuple[bytes, bytes]] = {}  # conversation → its instructions and its first exchange
        for conversation, opening in zip(conversations, openings, strict=True):
            if not conversation:
                continue
            begun = begun_by(opening)[:2]
            before = of.setdefault(conversation, begun)
            if before[1] != begun[1]:
                of[conversation] = before[0], b""
        instructed = Counter(instructions for instructions, _ in of.values())
        alike = Counter((instructions, exchange) for instructions, exchange in of.values() if exchange)
        shown = {exchange for (under, exchange), times in alike.items() if _is_usual(times, instructed[under])}
        anywhere = Counter(exchange for _, exchange in alike.elements())
        shown |= {exchange for exchange, times in anywhere.items() if _is_usual(times, len(of))}
        shown.difference_update(map(exchange_of, openings))
        self._of = {conversation: exchange for conversation, (_, exchange) in of.items() if exchange in shown}
        self._common: dict[bytes, list[Digested]] = {}
        self._briefings = Briefings(openings, conversations)

    def __bool__(self) -> bool:
        return bool(self._of or self._briefings)

    def compare(self, conversation: str, call: Call) -> None:
        """Take what a call begins with; called for each call before the first `take_out`."""
        self._briefings.compare(conversation, call)
        if (exchange := self._of.get(conversation)) is not None:
            spoken = [digested(message) for message in spoken_in(call.inputs)[:-1][:_MOST]]
            pairs = zip(self._common.get(exchange, spoken), spoken, strict=False)
            self._common[exchange] = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]

    def take_out(self, conversation: str, call: Call, assumed: Assumed) -> None:
        """Leave the examples out of what a call sent."""
        spoken = spoken_in(call.inputs)
        if (exchange := self._of.get(conversation)) is not None:
            common = self._common[exchange]
            left = next((len(common) - at for at, (role, _) in enumerate(reversed(common)) if role == "assistant"), 0)
        else:
            left = self._briefings.count_in(conversation, spoken)
        if not left or (left == _EXCHANGE and _GREETING.fullmatch(spoken[0].text)):
            return  # that a program wrote for the user, or the user did
        assumed[LEFT_OUT] += left
        examples = {id(message) for message in spoken[:left]}
        call.inputs = [message for message in call.inputs if id(message) not in examples]


def _is_usual(times: int, of: int) -> bool:
    return times >= _FEWEST and 2 * times >= of
