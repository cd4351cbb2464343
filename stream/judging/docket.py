"""The docket of one partition: exchanges in, verdicts out in any order, and no crash loses, doubles or overspends.

Pure: it asks nobody. Whoever runs it takes exchanges in, lets it name calls, commits what `prepare` gives in one
transaction, sends the named calls only then, and settles each with its verdict. After a kill a new docket over the
stored state goes on; exchanges come again from the committed position.

Order: the position is the lowest undecided offset, and the decided ones above it stand in the state, so one call that
hangs holds up nobody. Money: a call is named with its greatest price before it is sent; one that costs more all the
same, as its endpoint keeps to no max_output, is spent as it costs, and so much is reserved for the judge's next ones.
What was in flight at a kill counts as spent, since it may have been; an exchange that was in flight at two kills is
asked about while no other is, so that the third one is its own doing, after which it is not asked about again. A pacer
thins what is asked, so that the money lasts the day; the probability stands on the verdict.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence

from turnsignal.stream.judging.budget import MOST_MONEY, Budget, Overruns
from turnsignal.stream.judging.deliberation import Deliberation, is_measured
from turnsignal.stream.judging.docket_entries import (
    ATTEMPTS,
    SUSPECT,
    DocketResult,
    Question,
    QueuedExchange,
    ReservedCall,
)
from turnsignal.stream.judging.docket_state import STATE, VERSION, StoredDocket, decode_docket
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.forgotten import ForgottenConversations
from turnsignal.stream.judging.held_exchanges import MOST_HELD, HeldExchange, HeldExchanges
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.material import Material, NothingToJudge, collect_material
from turnsignal.stream.judging.pacing import BudgetPacer
from turnsignal.stream.judging.remembered import RememberedAnswers
from turnsignal.stream.judging.repeats import greatest_price
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.judging.sure_steps import SureSteps
from turnsignal.stream.judging.verdicts import inclusion, make_unjudged, make_verdict, readable, sampled_out
from turnsignal.stream.records.verdicts import Unjudged, Verdict

DAY = 86_400  #: seconds
PATIENCE = 0.1  #: share of max_age for which judges with nothing to do wait for others that hold up the partition


class Docket:
    """Decide what is asked about the exchanges of one partition.

    budget: of a day for this partition, in billionths, None for no limit; max_age: seconds after which an exchange that
    waits is not asked about; store: what an earlier docket committed; position: where to begin without a store;
    forgotten: conversations about which nothing is asked, told or kept; overruns: of the judges, shared by partitions.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        budget: int | None,
        max_age: float,
        store: Mapping[bytes, bytes] | None = None,
        position: int = 0,
        most_held: int = MOST_HELD,
        forgotten: ForgottenConversations | None = None,
        overruns: Overruns | None = None,
    ) -> None:
        self._judges = {judge.digest: judge for judge in judges}
        self._max_age = max_age
        self._budget = Budget(budget)
        self._pacer = BudgetPacer(budget)
        self._overruns = overruns or Overruns()
        self._held = HeldExchanges(self._judges, position, most_held)
        self._waiting: OrderedDict[Question, Material] = OrderedDict()
        self._sure = SureSteps()
        self._in_flight: dict[Question, ReservedCall] = {}
        self._lost: dict[Question, int] = {}  # in flight at so many kills
        self._answers = RememberedAnswers(store or {})
        self._forgotten = forgotten or ForgottenConversations()
        self._forgot = 0  # requests that were heeded
        self._starved: float | None = None  # since when some judges had nothing to do for want of room
        self._swept = 0.0  # when it was last looked whether any exchange has become too old
        self._verdicts: list[tuple[float, Verdict]] = []  # and when their exchanges were written
        self._calls: list[ReservedCall] = []
        self._restore(store or {})

    @property
    def position(self) -> int:
        """The lowest offset that is not decided: where reading begins after a restart."""
        return self._held.position

    @property
    def has_room(self) -> bool:
        """Whether more exchanges may be taken in."""
        return self.room > 0

    @property
    def is_idle(self) -> bool:
        """Whether every exchange that came is decided."""
        return self._held.is_idle

    @property
    def queued(self) -> int:
        """Exchanges that came and that not every judge has decided."""
        return self._held.queued

    @property
    def in_flight(self) -> int:
        """Calls that are named and not settled."""
        return len(self._in_flight)

    @property
    def room(self) -> int:
        """How many more exchanges may be taken in."""
        return self._held.room

    @property
    def oldest(self) -> float | None:
        """When the lowest undecided exchange was written, None where there is none."""
        return self._held.oldest

    def left(self, now: float) -> int | None:
        """Return what of the day's budget is neither spent nor held back, in billionths; None without a budget."""
        return self._budget.left(int(now // DAY))

    def lines_awaited(self) -> set[str]:
        """Return the lines in which calls wait to be named."""
        return {self._judges[digest].line for digest in {question.judge for question in self._waiting}}

    @property
    def suspects(self) -> set[str]:
        """The lines of exchanges that are to be asked about alone, as workers ended while they were in flight."""
        return {
            self._judges[question.judge].line
            for question, ends in self._lost.items()
            if ends >= SUSPECT and (question in self._waiting or question in self._in_flight)
        }

    def begin_at(self, position: int) -> None:
        """Begin at the first record that comes; call before anything is taken in.

        Behind the stored position, what lies between is gone. Before it, somebody has set it back: nothing counts as
        decided then, but what was spent and what is remembered stay.
        """
        first = self._held.begin_at(position)
        for question in [question for question in self._lost if question.offset < first]:
            del self._lost[question]

    def take(self, queued: Iterable[QueuedExchange]) -> None:
        """Take exchanges in, in their order; those that are decided already have no effect."""
        for record in queued:
            if record.offset < self._held.position:
                continue
            if self._forgotten.covers(record.exchange.conversation_id, record.written):
                self.pass_over(record.offset)
                continue
            held = self._held.hold(record, self._pacer.part)
            if held is None:
                continue
            for digest, judge in self._judges.items():
                if digest not in held.decided:
                    self._ask(Question(record.offset, digest), judge, record.exchange)
            self._held.close(record.offset)

    def pass_over(self, offset: int) -> None:
        """Count a record as decided that no judge can be asked about, or that nobody is to be asked about any more."""
        for question in [question for question in self._lost if question.offset == offset]:
            del self._lost[question]
        for question in [question for question in self._waiting if question.offset == offset]:
            del self._waiting[question]
        self._sure.drop(offset)
        self._held.decide_all(offset)

    def forget(self) -> list[ReservedCall]:
        """Heed requests to forget that came since: return calls that are to be ended; no verdict tells of them.

        They count as sent, and as paid for at their greatest price.
        """
        news = self._forgotten.since(self._forgot)
        self._forgot += len(news)
        requests = {request.conversation_id for request in news}
        if not requests:
            return []
        ended = []
        for offset, held, exchange in self._held.undecided():
            if not self._is_forgotten(exchange.conversation_id, held.written, requests):
                continue
            for question in [question for question in self._in_flight if question.offset == offset]:
                ended.append(call := self._in_flight.pop(question))
                self._budget.settle(call.most, call.most)
            self.pass_over(offset)
        self._verdicts = [
            (written, verdict)
            for written, verdict in self._verdicts
            if not self._is_forgotten(verdict.conversation_id, written, requests)
        ]
        self._answers.forget(requests)
        return ended

    def reserve_calls(
        self, now: float, capacity: Mapping[str, int], *, alone: bool = False, trials: Collection[str] = ()
    ) -> None:
        """Reserve calls, the oldest exchanges first; decide what is too old or has no money left.

        now: seconds since 1970; a clock that is set back gives no money anew; capacity: calls by line; alone: reserve
        one, of a suspect, as nothing is in flight; trials: lines that may be down, which the newest exchange tries, as
        those that have failed are among the oldest.
        """
        if self._budget.look_at(int(now // DAY)):
            self._answers.forget_old(now)
            self._sure.on_money()
        left, sweeps = dict(capacity), abs(now - self._swept) >= 1.0
        if sweeps:
            self._swept = now
        self._pacer.update(now, self._budget.spent, len(self._waiting) + len(self._in_flight))
        if not alone:
            self._give_way(now, trials)
        for question in self._in_turn(trials):
            held, judge = self._held[question.offset], self._judges[question.judge]
            assert held.exchange is not None, "what waits is held"
            if now - held.written > self._max_age:
                self._decide(question, _unjudged(held, judge, Unjudged.TIMEOUT, "it waited for longer than max_age"))
                continue
            if (self._lost.get(question, 0) >= SUSPECT) != alone:
                continue
            if left.get(judge.line, 0) <= 0:
                if not sweeps and not any(room > 0 for room in left.values()):
                    break  # how old the others are is asked once a second
                continue
            material = self._waiting[question]
            greatest = greatest_price(judge, held.exchange, material)
            most = self._budget.to_reserve(greatest, self._overruns.worst(question.judge, greatest))
            if self._budget.is_spent_for(question.judge, greatest, most):
                self._decide(question, _unjudged(held, judge, Unjudged.BUDGET, self._budget.why_full(most)))
            elif self._budget.reserve(most):
                attempt = self._lost.get(question, 0) + 1
                call = ReservedCall(question.offset, judge, held.exchange, material, attempt, most)
                del self._waiting[question]
                self._in_flight[question] = call
                self._calls.append(call)
                left[judge.line] -= 1
                left = {} if alone else left
            else:
                left = {}  # until a call in flight is settled
        self._decide_known()

    def settle(self, call: ReservedCall, verdict: Verdict, cost: int) -> None:
        """Take the verdict that came of a call, and what it cost in billionths; more than was reserved is spent, too.

        A verdict that its readers would refuse becomes an `error` here, before anything is changed.
        """
        question = Question(call.offset, call.judge.digest)
        if self._in_flight.get(question) is not call:
            return  # named by a docket before this one, which counts it as lost; or forgotten
        verdict = readable(verdict, call.exchange, call.judge)
        if verdict.unscored is None and not is_measured(call.judge, call.exchange):
            self._answers.remember(call.judge, call.material, verdict)
        verdict = self._sure.on_answer(question, verdict)
        del self._in_flight[question]
        cost = min(MOST_MONEY, max(0, cost))
        if cost > call.most or self._overruns.knows(question.judge):
            self._overruns.on_cost(question.judge, greatest_price(call.judge, call.exchange, call.material), cost)
        self._budget.settle(call.most, cost)
        self._pacer.on_decided(cost)
        self._decide(question, verdict)

    def take_back(self, calls: Iterable[ReservedCall]) -> None:
        """Have calls wait again that were named and not sent: nothing is spent for them."""
        for call in calls:
            question = Question(call.offset, call.judge.digest)
            if self._in_flight.get(question) is call:
                del self._in_flight[question]
                self._waiting[question] = call.material
                self._budget.settle(call.most, 0)

    def prepare(self, *, leaves: bool = False) -> DocketResult:
        """Return what has to be committed now; nothing in it is returned again.

        leaves: whether another worker may go on from there, for which what is in flight was not in flight at a kill.
        """
        stored = StoredDocket(
            VERSION,
            self._held.position,
            self._budget.day,
            self._budget.spent,
            list(self._judges),
            self._held.dump(),
            [(*question, call.attempt - leaves, call.most) for question, call in self._in_flight.items()]
            + [(*question, n, 0) for question, n in self._lost.items() if question not in self._in_flight],
            self._pacer.dump(),
            self._budget.others,
            self._overruns.dump(self._judges),
        )
        changes = self._answers.take_changes() | {STATE: stored.encode()}
        result = DocketResult([verdict for _, verdict in self._verdicts], changes, self._held.position, self._calls)
        self._verdicts, self._calls = [], []
        return result

    def _restore(self, store: Mapping[bytes, bytes]) -> None:
        if STATE not in store:
            return
        stored = decode_docket(store[STATE])
        self._held.restore(stored.position, stored.judges, stored.decided)
        self._budget = Budget(self._budget.limit, stored.spent, stored.day, stored.others)
        self._overruns.take(stored.overruns)
        self._pacer = BudgetPacer(self._budget.limit, stored.pace)
        for offset, digest, attempt, most in stored.named:
            self._budget.spend(most)
            if digest in self._judges and offset >= self._held.position:  # else nobody is asked about it any more
                self._lost[Question(offset, digest)] = attempt

    def _ask(self, question: Question, judge: Judge, exchange: ExchangeRecord) -> None:
        """Decide at once what needs no call; let the rest wait."""
        if exchange.stage != judge.chosen.rubric.stage:
            self._held.decide(question.offset, question.judge)  # another record of the exchange is judged
        elif (left_out := sampled_out(judge, exchange)) is not None:
            self._decide(question, left_out)
        elif not self._is_paid_for(question, judge, exchange):
            detail = (
                f"the day's budget pays for {self._held[question.offset].part:.1%} of what this judge is asked about"
            )
            self._decide(question, make_unjudged(exchange, judge, Unjudged.SAMPLED_OUT, detail))
        elif self._lost.get(question, 0) >= ATTEMPTS:
            detail = f"it was asked about at {ATTEMPTS} ends of a worker, and is not asked about again"
            self._decide(question, make_unjudged(exchange, judge, Unjudged.ERROR, detail))
        elif (decided := Deliberation(judge, exchange).judgement) is not None:
            self._sure.on_known(question, make_verdict(exchange, judge, decided))
        else:
            try:
                material = collect_material(exchange, judge.chosen.rubric, judge.part.max_input)
            except NothingToJudge as error:
                self._pacer.on_decided(0)
                self._decide(question, make_unjudged(exchange, judge, error.reason, error.detail))
                return
            known = None if is_measured(judge, exchange) else self._answers.find(judge, material)
            if known is None:
                self._sure.on_asked(question)
                self._waiting[question] = material
                return
            verdict = make_verdict(exchange, judge, known)
            verdict.cached, verdict.cut = True, [*material.cut]
            self._sure.on_known(question, verdict)

    def _is_paid_for(self, question: Question, judge: Judge, exchange: ExchangeRecord) -> bool:
        """Count a question, and say whether its conversation is in the part that the day's budget pays for."""
        self._pacer.on_eligible()
        part = self._held[question.offset].part
        return part >= 1 or is_sampled(exchange.conversation_id.encode(), inclusion(exchange, judge) * part)

    def _decide(self, question: Question, verdict: Verdict) -> None:
        verdict.inclusion *= self._held[question.offset].part
        self._waiting.pop(question, None)
        self._sure.on_decided(question, verdict)
        self._lost.pop(question, None)
        self._verdicts.append((self._held[question.offset].written, verdict))
        self._held.decide(question.offset, question.judge)
        self._held.close(question.offset)

    def _give_way(self, now: float, down: Collection[str]) -> None:
        """Decide the oldest exchanges without their judges, where those use up the room that judges elsewhere want.

        An endpoint that is down or slow holds up its own judges for max_age; those of other lines go on after a part.
        """
        if self._held.has_plenty_of_room:
            self._starved = None
        if self.room:
            return
        busy = self.lines_awaited() | {call.judge.line for call in self._in_flight.values()}
        if all(judge.line in busy for judge in self._judges.values()):
            return
        self._starved = now if self._starved is None else self._starved
        if abs(now - self._starved) < PATIENCE * self._max_age:
            return
        end = self._held.behind_oldest()
        for question in [question for question in self._waiting if question.offset < end]:  # and what waits for them
            judge = self._judges[question.judge]
            is_down = judge.line in down
            why = "is down" if is_down else "answers more slowly than exchanges come"
            name = "the endpoint" if len(judge.endpoints) == 1 else "one of the endpoints"
            detail = f"{name} {judge.line} {why}, and judges at other endpoints went on without it"
            reason = Unjudged.PROVIDER if is_down else Unjudged.TIMEOUT
            self._decide(question, _unjudged(self._held[question.offset], judge, reason, detail))

    def _decide_known(self) -> None:
        """Decide what needs no call, as soon as it is known what became of the question before it that does."""
        for question, verdict, lost in self._sure.ready(lambda each: each in self._waiting or each in self._in_flight):
            held, judge = self._held[question.offset], self._judges[question.judge]
            assert held.exchange is not None, "what waits is held"
            if lost is None:
                self._pacer.on_decided(0)
                self._decide(question, verdict)
            else:
                unjudged = _unjudged(held, judge, *lost)
                if judge.part.cascade is not None:
                    unjudged.decided_by = verdict.decided_by
                self._decide(question, unjudged)

    def _in_turn(self, trials: Collection[str]) -> list[Question]:
        """Return what waits, the oldest first, but for trials before it the newest."""
        waiting = list(self._waiting)
        if not trials:
            return waiting
        newest = [question for question in reversed(waiting) if self._judges[question.judge].line in trials]
        return [*dict.fromkeys([*newest, *waiting])]

    def _is_forgotten(self, conversation_id: str, written: float, requests: Collection[str]) -> bool:
        return conversation_id in requests and self._forgotten.covers(conversation_id, written)


def _unjudged(held: HeldExchange, judge: Judge, reason: Unjudged, detail: str) -> Verdict:
    assert held.exchange is not None, "what is decided now is still held"
    return make_unjudged(held.exchange, judge, reason, detail)
