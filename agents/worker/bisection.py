"""Bisection: what is known of the batches of a partition that failed, until the record that is to blame is set aside.

A batch that ends a worker, or that the code cannot compute, is not tried for ever: the next one has a small part of its
records, down to one. A record that failed twice alone is set aside as a dead letter, and the work goes on. Elsewhere
that is to bisect a batch on error; here it shrinks faster than by halves, as an attempt may cost a restart.

Judges' positions stand before records that are taken in and not done with, which each take-over reads again. There the
offset of the batch that failed tells which records may be to blame; those before it passed already.

`BatchWork` asks and tells it at each step of a batch. What the next worker has to know goes along in the partition's
checkpoint: caution, starts, begun.
"""

import math
from dataclasses import dataclass

import msgspec

#: What `begun` says of a batch that is computed, and may still be too much to write. No topic has such a name, so
#: workers of the versions before this one make the next batch smaller, too, and set nothing aside.
COMPUTED = "(computed)"

#: Of two thousand records in a batch two attempts leave one, where it lies at their beginning. An attempt may cost a
#: restart of seconds, and a batch commits of a few hundredths of one: this many batches instead of one cost less than
#: one attempt more.
_SHRINK = 32
_LAST_TRIES = 2  #: times that a record may come to nothing alone

#: Records of a partition that are set aside in a row before it slows down: it is more likely then that the code is to
#: blame than that they are, and whoever can mend it needs the time.
_IN_A_ROW = 10
_LONGEST_PAUSE = 30.0  #: seconds between two of them, or two attempts to write what sets one aside
_LATELY = 60.0  #: seconds for which it is told that the broker has refused something


class Caution(msgspec.Struct, frozen=True, omit_defaults=True):
    """How carefully a partition goes on.

    size: records in the next batch at most; remaining: records until caution ends, because the trouble lay among them;
    inputs: the topics of the single record that failed, "" as long as there were several; failures: how often
    it did; why: the last error, "" where it ended the worker; ends: how many workers batches of here have ended; at:
    offset of the first record that may be to blame where records are read again, else −1.
    """

    size: int
    remaining: int
    inputs: str = ""
    failures: int = 0
    why: str = ""
    ends: int = 0
    at: int = -1

    @classmethod
    def first(cls, records: int) -> "Caution":
        """Begin to be careful about so many records."""
        return cls(max(1, records // _SHRINK), max(1, records))

    @property
    def exhausted(self) -> bool:
        """Whether the next record was tried often enough alone."""
        return self.failures >= _LAST_TRIES

    def failed(self, inputs: str, why: str = "") -> "Caution":
        """Return what holds after one more batch from the same place failed.

        inputs: the topics that its records came from: a single record of another input is another record; why: the
        error, "" when it ended the worker.
        """
        if self.size > 1:
            return self.narrowed()
        failures = self.failures + 1 if inputs == self.inputs else 1
        return Caution(1, self.remaining, inputs, failures, why, self.ends, self.at)

    def ended(self, inputs: str) -> "Caution":
        """Return what holds after a batch from the same place has ended its worker; inputs: as in `failed`."""
        return msgspec.structs.replace(self.failed(inputs, self.why), ends=self.ends + 1)

    def narrowed(self) -> "Caution":
        """Return what holds where a smaller batch is called for and no record is to blame."""
        if self.size == 1:
            return self
        return Caution(max(1, self.size // _SHRINK), self.remaining, ends=self.ends, at=self.at)

    def has_passed(self, first: int) -> bool:
        """Say whether the record at an offset comes before those that may be to blame, and is only read again."""
        return 0 <= first < self.at

    def within(self, records: int) -> "Caution":
        """Return the same for a batch that has only so many records: a part of it is a part of those."""
        return msgspec.structs.replace(self, size=min(self.size, records))

    def passed(self, records: int, *, set_aside: bool = False, moved: bool = True) -> "Caution | None":
        """Return what holds after so many records were committed: twice as many; None when the trouble is behind.

        set_aside: a record was, and the next one may be of its kind; moved: whether the position did. Where it stands,
        caution ends behind the last record, as it could not begin any nearer to it after one more end of a worker; and
        where it is known among which records the trouble lies, each part of them is as small as the first.
        """
        left, size = self.remaining - records, self.size if set_aside or self.at >= 0 else self.size * 2
        return Caution(size, left, ends=self.ends, at=self.at) if left > (size if moved else 0) else None


@dataclass(slots=True)
class Bisection:
    """What one partition knows of its batches that failed.

    caution: how carefully to go on, None as long as nothing failed; starts: take-overs since a batch was committed;
    begun: the inputs of a batch that was begun under caution, `COMPUTED` once only writing it is left, "" for none;
    begun_at: the offset of its first record where records are read again, else −1;
    aside: records set aside since one was worked through; rejected_dead_letters: attempts to set one aside that the
    broker rejected, in a row; last_rejection: when it last rejected what was written (monotonic clock), and its words.
    """

    caution: Caution | None = None
    starts: int = 0
    begun: str = ""
    begun_at: int = -1
    aside: int = 0
    rejected_dead_letters: int = 0
    last_rejection: tuple[float, str] | None = None

    def take_over(self, limit: int, *, waiting: int) -> None:
        """Take in that a worker takes the partition over, with all that the one before has left of it.

        limit: records among which the trouble may lie; waiting: about how many there are to read. Two take-overs at one
        place with records waiting and no batch between them are suspicious: from then on the beginning of each batch is
        committed before it is computed, so that the next worker knows which records ended this one.
        """
        if self.caution is None:
            self.caution = Caution.first(min(limit, waiting)) if self.starts and waiting else None
        elif self.begun == COMPUTED:
            self.caution = self.caution.narrowed()
        elif self.begun:
            self.caution = self._ended(self.caution)
        self.begun, self.begun_at = "", -1
        self.starts += waiting > 0

    def _ended(self, caution: Caution) -> Caution:
        if caution.has_passed(self.begun_at):  # another one is to blame, which did no harm before
            anew = Caution.first(caution.at - self.begun_at)
            return msgspec.structs.replace(anew, ends=caution.ends + 1, at=self.begun_at)
        if self.begun_at >= 0:
            caution = msgspec.structs.replace(caution, remaining=caution.size, at=self.begun_at)
        return caution.ended(self.begun)

    def batch_limit(self, limit: int, passed: int = 0) -> int:
        """Return how many records the next batch may have, of as many as `limit` without caution.

        passed: how many of those that wait come before those that may be to blame.
        """
        return limit if self.caution is None else min(limit, passed or self.caution.size)

    @property
    def suspected_from(self) -> int:
        """Offset of the first record that may be to blame where records are read again, else −1."""
        return -1 if self.caution is None else self.caution.at

    @property
    def ended_workers(self) -> bool:
        """Whether batches of here have ended workers, so that the next one may end this one."""
        return self.caution is not None and self.caution.ends > 0

    def exhausted(self, inputs: str, first: int = -1) -> bool:
        """Say whether the next record, of these inputs, was tried often enough alone, and is to be set aside."""
        caution = self.caution
        return caution is not None and caution.exhausted and inputs == caution.inputs and not caution.has_passed(first)

    def begin(self, inputs: str, records: int, first: int = -1) -> None:
        """Take in that a batch of so many records of these inputs begins; to be committed before it does.

        first: offset of its first record where records are read again.
        """
        if self.caution is not None and not self.caution.has_passed(first):
            self.caution = self.caution.within(records)
        self.begun, self.begun_at = inputs, first

    def end(self, *, computed: bool) -> None:
        """Take in that the batch which began has not ended the worker; where it failed, `failed` knows."""
        self.begun = COMPUTED if computed else ""

    def failed(self, inputs: str, records: int, why: str) -> None:
        """Take in that a batch of so many records of these inputs failed over an error."""
        caution = self.caution or Caution(records, records)
        self.caution = caution.failed(inputs, why)

    @property
    def why(self) -> str:
        """Why the record that is exhausted is set aside, in words."""
        error = "" if self.caution is None else self.caution.why
        return error or "it ended each worker that worked on it and on nothing else"

    def after(self, records: int, *, set_aside: bool, moved: bool = True) -> "Bisection":
        """Return what holds once so many records are committed, or one that was set aside.

        moved: whether the position did, too. Where it stands, the next worker begins where this one did.
        """
        caution = self.caution
        if caution is not None and records and not caution.has_passed(self.begun_at):
            caution = caution.passed(records, set_aside=set_aside, moved=moved)
        aside = self.aside + 1 if set_aside else 0
        return Bisection(caution, 0 if moved else self.starts, aside=aside, last_rejection=self.last_rejection)

    def leave(self) -> None:
        """Take in that the partition is given up in order: whoever takes it over has nothing to suspect."""
        self.starts = 0

    def pause_seconds(self) -> float:
        """Return for how many seconds it had better get no batch, as something is wrong with its last ones."""
        many = max(self.aside - _IN_A_ROW, self.rejected_dead_letters)
        return min(_LONGEST_PAUSE, 2.0 ** min(many, 10)) if many > 0 else 0.0

    def trouble(self, now: float) -> str:
        """Say in words what keeps the partition from going on as it should; "" for nothing. now: monotonic clock."""
        at, answer = self.last_rejection or (-math.inf, "")
        if self.rejected_dead_letters:
            return f"blocked, as what sets a record aside is refused: {answer}"
        if self.aside > _IN_A_ROW:
            return f"slow, as {self.aside} records in a row are set aside"
        return f"going on in smaller parts since the broker refused some: {answer}" if now - at < _LATELY else ""
