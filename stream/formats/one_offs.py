"""One-offs: calls of a program's job in the log of a chat, each of which counts as a conversation of one question.

    "Extract the product and the mood as JSON." (system)  "I bought the router, and …"    gets: {"product": …}

Nobody goes on from what they get, which are objects, while users go on from what is answered under other instructions.
"""

from collections.abc import Sequence

from turnsignal.stream.formats.instructions import instructions_of, lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.formats.quotations import digest_of
from turnsignal.stream.text.visible import one_line

_HELD = 1_024  #: instructions that are counted
_FEWEST = 10  #: calls under them,
_OBJECTS = 0.9  #: of which so many get objects,
_GONE_ON = 0.02  #: and so many were gone on from, by chance; under others more,
_SHARE = 0.02  #: and how many they are of all, to be worth a word
_SHOWN = 60  #: characters of instructions


class OneOffs:
    """What is asked under each instructions of a log, and how much of it is gone on from."""

    def __init__(self) -> None:
        self._under: dict[bytes, _Calls] = {}
        self._conversations = 0

    def add(self, calls: Sequence[Call]) -> None:
        """Take in the calls of a conversation."""
        self._conversations += 1
        call = calls[0]
        instructions = instructions_of(call)
        key = digest_of(f"{lasting(instructions)}\0{call.fields.get('model')}")
        under = self._under.get(key)
        if under is None:
            if len(self._under) >= _HELD:
                return
            under = self._under[key] = _Calls(one_line(instructions or _asked(call), _SHOWN))
        under.times += 1
        under.gone_on += len(calls) > 1
        under.objects += len(calls) == 1 and _gets_object(call)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say which of them may be a program's. quoted: with the instructions."""
        if not any(each.gone_on > _GONE_ON * each.times for each in self._under.values()):
            return []
        jobs = [each for each in self._under.values() if each.is_a_job]
        times = sum(each.times for each in jobs)
        if times < _SHARE * self._conversations or not jobs:
            return []
        shown = f" such as “{max(jobs, key=lambda each: each.times).shown}”" if quoted else ""
        doubt = (
            f"{times:,} of {self._conversations:,} conversations are one question that gets JSON, and of which nobody "
            f"asks on, under instructions{shown}: where a program asks, and no user, leave these calls out of the log"
        )
        return [doubt]


class _Calls:
    """The conversations under the same instructions. objects: of one call, that gets one."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.times = self.gone_on = self.objects = 0

    @property
    def is_a_job(self) -> bool:
        """Whether a program may ask them."""
        is_alone = self.gone_on <= _GONE_ON * self.times
        return self.times >= _FEWEST and is_alone and self.objects >= _OBJECTS * self.times


def _asked(call: Call) -> str:
    return "".join(message.text for message in spoken_in(call.inputs)[-1:])


def _gets_object(call: Call) -> bool:
    return any(message.text.lstrip().startswith(("{", "[", "```json")) for message in spoken_in(call.outputs)[:1])
