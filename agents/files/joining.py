"""Joining: the calls of a log → conversations, by what the whole log shows of them.

Each call is looked at twice: when it is added, and when all have been; then what answers no user is left out, what a
program put around a question is taken off, and each answer finds its conversation.
"""

from array import array
from collections.abc import Iterator, Sequence, Set
from itertools import islice

from turnsignal.agents.files.heaps import Heaps
from turnsignal.stream.formats.afterwords import Afterwords
from turnsignal.stream.formats.asides import LEFT_OUT as ASIDES
from turnsignal.stream.formats.asides import LeftOut, asides_in, opening_of, sends_history
from turnsignal.stream.formats.asked_again import AskedAgain
from turnsignal.stream.formats.asked_together import AskedTogether, kinds_of
from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.bursts import Bursts
from turnsignal.stream.formats.came_twice import CameTwice
from turnsignal.stream.formats.chains import Chains
from turnsignal.stream.formats.errands import Errands, is_errand
from turnsignal.stream.formats.examples import Examples
from turnsignal.stream.formats.half_said import HalfSaid
from turnsignal.stream.formats.heads import Head, head_of
from turnsignal.stream.formats.instructions import ask
from turnsignal.stream.formats.linking import link
from turnsignal.stream.formats.nameless import Nameless
from turnsignal.stream.formats.one_offs import OneOffs
from turnsignal.stream.formats.polished import Drafts, PolishedAnswers, without_drafts
from turnsignal.stream.formats.prompts import Prompts
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.quotations import number_of
from turnsignal.stream.formats.remarks import learn_from
from turnsignal.stream.formats.request_ids import are_requests, unnamed
from turnsignal.stream.formats.resumed import resume
from turnsignal.stream.formats.rewritten import RewrittenQuestions
from turnsignal.stream.formats.rounds import Rounds
from turnsignal.stream.formats.sequence import TYPED
from turnsignal.stream.formats.shadows import shadows_in
from turnsignal.stream.formats.shared_ids import SharedIds
from turnsignal.stream.formats.structured import StructuredAnswers
from turnsignal.stream.formats.transcripts import HeldAnswers, Transcripts

_LEARNT_FROM = 500  #: traces, of which it is learnt who answers users


class CallJoiner:
    """The calls of a log on their way to conversations.

    answering: who answers users, None where all are kept; repeats: whether any call sends more than its question.
    """

    def __init__(self, assumed: Assumed, *, keeps_asides: bool) -> None:
        self._assumed = assumed
        self._keeps_asides = keeps_asides
        self._left_out = LeftOut()
        self._transcripts = Transcripts()
        self._structured = StructuredAnswers()
        self._held = HeldAnswers()
        self._errands = Errands()
        self._prompts = self._errands.answering.prompts = Prompts()
        self._afterwords = Afterwords()
        self._rounds = Rounds()
        self._rewritten = RewrittenQuestions()
        self._half_said = HalfSaid()
        self._polished = PolishedAnswers()
        self._bursts = Bursts()
        self._chains = Chains()
        self._again = AskedAgain()
        self._one_offs = OneOffs()
        self._nameless = Nameless()
        self._twice = CameTwice()
        self._together = AskedTogether()
        self._shared_ids = SharedIds()
        self.answering = None if keeps_asides else self._errands.answering
        self.repeats = False
        self._has_traces = False

    def add(self, call: Call) -> None:
        """Take in a call; called for each before `join`."""
        ask(call)
        self._twice.add(call)
        self._transcripts.add(call)
        if not is_errand(call):
            self._structured.add(call)
            self._prompts.add(call)
            self._afterwords.add(call)
        if not self._keeps_asides:
            self._errands.add(call)
            self._rounds.add(call)
            self._rewritten.add(call)
            self._half_said.add(call)
            self._polished.add(call)
            self._has_traces = self._has_traces or (call.trace is not None and call.kind == "answer")

    def join(self, traces: Heaps[Call], conversations: Heaps[Call]) -> int:
        """Put the answers of each trace into heaps by conversation, and return how many; the traces are gone then."""
        heads: list[Head] = []
        openings: list[bytes] = []
        asked = array("Q")  # of each answer, who was asked
        assumed, answering = self._assumed, self.answering
        self._prompts.conclude()
        self._afterwords.conclude()
        if self._has_traces and answering is not None:
            self._errands.conclude()
            for _, calls in islice(traces.groups(), _LEARNT_FROM):
                learn_from(calls, answering)
        drafts = self._polished.drafts()
        with Heaps(1, kind=Call) as answers, _together(traces, drafts) as traces:
            for _, calls in traces.groups():
                calls = self._twice.taken_out(calls, assumed)
                calls = without_drafts(calls, drafts, assumed) if drafts else calls
                calls = self._half_said.taken_out(calls, assumed)
                calls = self._errands.taken_out(self._rounds.taken_out(calls, assumed), assumed)
                for call in calls:
                    self._structured.take(call, assumed)
                joined = join_trace(calls, assumed, answering)
                if not joined:
                    self._chains.leave_out(calls)
                for answer in joined:
                    self._structured.cite(answer)
                    self._transcripts.take_apart(answer, assumed)
                    kinds = kinds_of(answer)
                    asked.append(number_of(kinds[0]))
                    framed = self._prompts.framed_in(answer)
                    self._prompts.take_apart(answer, assumed)
                    assumed[TYPED] += self._afterwords.take_off(answer, self._prompts)
                    sent = self._rewritten.put_back(answer, assumed)
                    heads.append(head_of(len(heads), answer, sent))
                    openings.append(opening_of(answer, framed))
                    self._shared_ids.add(answer, openings[-1])
                    if not self._keeps_asides:
                        self._bursts.add(answer)
                        self._together.add(heads[-1].number, answer, kinds, openings[-1])
                    answers.put("", answer)
            traces.close()

            def all_calls() -> Iterator[Call]:
                return (answer for _, answer in answers.all())

            asides = set() if self._keeps_asides else asides_in(openings, heads)
            if self._rewritten.was_used:
                asides |= {at for at, call in enumerate(all_calls()) if self._rewritten.is_rewriting(call)}
            asides |= (bursts := self._bursts.take_steps(asides))
            if are_requests(heads, openings, asides):
                heads[:] = unnamed(heads, all_calls(), assumed)
                asides |= set() if self._keeps_asides else asides_in(openings, heads)
            if not self._keeps_asides:
                asides |= self._together.take_beside(heads, openings, asides, assumed)
                asides |= shadows_in(openings, heads, asked, asides)
            self.repeats = any(sends_history(opening) for at, opening in enumerate(openings) if at not in asides)
            self._shared_ids.part(heads, openings, asides, all_calls)
            resume(heads, openings, asides, assumed, all_calls)
            assumed[ASIDES] += len(asides)
            self._follow(heads, asides)
            chosen = link(heads, assumed, asides)
            self._shared_ids.name(chosen, heads, openings, assumed)
            self._nameless.take(heads, chosen)
            heads.clear()
            examples = Examples(openings, chosen)
            openings.clear()
            for name, answer in zip(chosen, all_calls() if examples else (), strict=bool(examples)):
                examples.compare(name, answer)
            for at, (name, answer) in enumerate(zip(chosen, all_calls(), strict=True)):
                self._together.see(at, answer)
                self._nameless.see(at, answer)
                if name:
                    self._chains.settle(answer)
                    examples.take_out(name, answer, assumed)
                    self._held.add(answer)
                    conversations.put(name, answer)
                elif at not in bursts and not self._together.is_step(at):
                    self._left_out.add(answer)
        return len(chosen)

    def _follow(self, heads: list[Head], asides: Set[int]) -> None:
        """Have each answer that follows what was left out follow what that follows."""
        for at in asides:
            self._chains.pass_over(heads[at].response, heads[at].previous)
        for at, head in enumerate(heads) if self._chains else ():
            if head.previous is not None and (followed := self._chains.followed(head.previous)) != head.previous:
                heads[at] = head._replace(previous=followed)

    def add_conversation(self, calls: Sequence[Call]) -> None:
        """Take in the calls of a conversation, as they were joined."""
        self._again.add(calls)
        self._one_offs.add(calls)
        self._afterwords.add_conversation(calls)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say what was guessed, and how to read it otherwise. quoted: with words of the log."""
        made_out = (self._structured, self._left_out, self._together, self._bursts, self._rounds, self._errands)
        asked = (self._errands.answering, self._nameless, self._held, self._again, self._one_offs, self._shared_ids)
        looked = (*made_out, *asked, self._prompts, self._afterwords)
        return self._twice.doubts() + [doubt for each in looked for doubt in each.doubts(quoted=quoted)]


def _together(traces: Heaps[Call], drafts: Drafts) -> Heaps[Call]:
    """Return the calls of a log by trace, drafts beside those that word them anew."""
    if not drafts:
        return traces
    heaps = Heaps(kind=Call)
    for group, call in traces.all():
        first = drafts.get(call.line)
        heaps.put(group if first is None else f"draft\0{first}", call)
    traces.close()
    return heaps
