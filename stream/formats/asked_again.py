"""Questions that were asked again: so often in one conversation without an id that it may be many, or nearly all."""

from collections.abc import Sequence

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.text.visible import one_line

_OFTEN = 10  #: times that a user has one question answered, at most
_NEARLY_ALL = 0.8  #: of the questions of a log, of which a user has hardly one answered anew,
_FEWEST = 10  #: where there are so many
_SHOWN = 60  #: characters of a question


class AskedAgain:
    """Conversations that nothing but their words holds together, and that ask one question again and again."""

    def __init__(self) -> None:
        self._conversations = self._times = 0
        self._questions = self._anew = 0
        self._shown_anew = ""
        self._shown = ""

    def add(self, calls: Sequence[Call]) -> None:
        """Take in the calls of a conversation."""
        self._count_anew(calls)
        if len(calls) < _OFTEN or any(call.conversation or call.fields.get("user_id") for call in calls):
            return
        asked: dict[tuple[int, bytes], list[str]] = {}
        for spoken in (spoken_in(call.inputs) for call in calls):
            if spoken:
                asked.setdefault((len(spoken), digested(spoken[-1])[1]), []).append(spoken[-1].text)
        often = max(asked.values(), key=len, default=[])
        if len(often) < _OFTEN:
            return
        self._conversations += 1
        self._times = max(self._times, len(often))
        self._shown = self._shown or one_line(often[0], _SHOWN)

    def _count_anew(self, calls: Sequence[Call]) -> None:
        """Count what was asked, and what of that got several answers after the same words."""
        answers: dict[tuple[int, bytes], set[bytes]] = {}
        for call in calls:
            spoken, got = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
            if not spoken or not got or spoken[-1].role != "user":
                continue
            given = answers.setdefault((len(spoken), digested(spoken[-1])[1]), set())
            given.add(digested(got[0])[1])
            if len(given) > 1:
                self._shown_anew = self._shown_anew or one_line(spoken[-1].text, _SHOWN)
        self._questions += len(answers)
        self._anew += sum(len(given) > 1 for given in answers.values())

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say what may be otherwise than it is taken. quoted: with a question of each."""
        return [*self._doubts_of_many(quoted=quoted), *self._doubts_of_drafts(quoted=quoted)]

    def _doubts_of_drafts(self, *, quoted: bool) -> list[str]:
        """Say that a program may have asked for what nobody saw, where nearly all questions have several answers."""
        if self._questions < _FEWEST or self._anew < _NEARLY_ALL * self._questions:
            return []
        shown = f", such as “{self._shown_anew}”" if quoted else ""
        doubt = (
            f"{self._anew:,} of {self._questions:,} questions have several answers{shown}, each taken for one that its "
            "user saw and had given anew: where a program asks for a draft first, or for several to choose from, leave "
            "out of the log what no user saw, or trace each request as a root span with its input and output"
        )
        return [doubt]

    def _doubts_of_many(self, *, quoted: bool) -> list[str]:
        """Say that these may be several users, and what tells them apart. quoted: with the first question."""
        if not self._conversations:
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._conversations:,} conversations hold a question that was asked up to {self._times:,} times after "
            f"the same words{shown}, and are each taken for one user who had it answered again: where they are several "
            "users, as of a menu, nothing in the log tells them apart; log a session_id, or the user, with each call"
        )
        return [doubt]
