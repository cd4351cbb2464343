"""Questions that were asked again: so often in one conversation without an id that it may be many, or nearly all."""

from collections.abc import Sequence

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.text.visible import one_line

_OFTEN = 10  #: times that a user has one question answered, at most
_NEARLY_ALL = 0.8  #: of the questions of a log, of which a user has hardly one answered anew,
_FEWEST = 10  #: where there are so many
_OTHERS = 0.1  #: of the questions, which another model answered, too, as few users have them answered anew,
_SOON = 60.0  #: seconds between both
_SHOWN = 60  #: characters of a question


class AskedAgain:
    """Conversations that nothing but their words holds together, and that ask one question again and again."""

    def __init__(self) -> None:
        self._conversations = self._times = 0
        self._questions = self._anew = self._others = 0
        self._shown_anew = self._shown_other = ""
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
        """Count what was asked, and what of that got several answers after the same words, and of several models.

        What a call sends behind its question was an answer to that, too.
        """
        answers: dict[tuple[int, bytes], set[bytes]] = {}
        models: dict[tuple[int, bytes], tuple[str | None, float | None]] = {}
        others: set[tuple[int, bytes]] = set()
        for call in calls:
            spoken, got = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
            size = max((at for at, message in enumerate(spoken, 1) if message.role == "user"), default=0)
            if not size or not got:
                continue
            question = size, digested(spoken[size - 1])[1]
            given = answers.setdefault(question, set())
            given.update(digested(each)[1] for each in (*spoken[size:], *got))
            if len(given) > 1:
                self._shown_anew = self._shown_anew or one_line(spoken[size - 1].text, _SHOWN)
            model, start = models.setdefault(question, (call.fields.get("model"), call.start))
            if model != call.fields.get("model") and (start is None or (call.start or start) - start <= _SOON):
                others.add(question)
                self._shown_other = self._shown_other or one_line(spoken[size - 1].text, _SHOWN)
        self._questions += len(answers)
        self._anew += sum(len(given) > 1 for given in answers.values())
        self._others += len(others)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say what may be otherwise than it is taken. quoted: with a question of each."""
        drafts = self._doubts_of_drafts(quoted=quoted) or self._doubts_of_others(quoted=quoted)
        return [*self._doubts_of_many(quoted=quoted), *drafts]

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

    def _doubts_of_others(self, *, quoted: bool) -> list[str]:
        """Say that users may have seen the answers of one model only, where another answers as well."""
        if self._others < _FEWEST or self._others < _OTHERS * self._questions:
            return []
        shown = f", such as “{self._shown_other}”" if quoted else ""
        doubt = (
            f"{self._others:,} of {self._questions:,} questions were answered by another model within a minute, "
            f"too{shown}: each answer is taken for one that its user saw; where a model answers in the shadow of "
            "another, or is compared with it, leave out of the log what no user saw"
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
