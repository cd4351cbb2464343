"""Caution: how many records the next batch of a partition may have, after batches there failed.

A batch that ends a worker, or that the code cannot compute, is not tried for ever: the next one has a small part of its
records, down to one. A record that failed twice alone is set aside as a dead letter, and the work goes on.
"""

import msgspec

#: Of two thousand records two attempts leave one. An attempt may cost a restart of seconds, and a batch commits of a
#: few hundredths of one: this many batches instead of one cost less than one attempt more.
_SHRINK = 32
_LAST_TRIES = 2  #: times that a record may come to nothing alone


class Caution(msgspec.Struct, frozen=True, omit_defaults=True):
    """How carefully a partition goes on.

    size: records in the next batch at most; remaining: records until caution ends, because the trouble lay among them;
    inputs: the topics of the single record that failed, "" as long as there were several; failures: how often
    it did; why: the last error, "" where it ended the worker; ends: how many workers batches of here have ended.
    """

    size: int
    remaining: int
    inputs: str = ""
    failures: int = 0
    why: str = ""
    ends: int = 0

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
        return Caution(1, self.remaining, inputs, failures, why, self.ends)

    def ended(self, inputs: str) -> "Caution":
        """Return what holds after a batch from the same place has ended its worker; inputs: as in `failed`."""
        return msgspec.structs.replace(self.failed(inputs, self.why), ends=self.ends + 1)

    def narrowed(self) -> "Caution":
        """Return what holds where a smaller batch is called for and no record is to blame."""
        return self if self.size == 1 else Caution(max(1, self.size // _SHRINK), self.remaining, ends=self.ends)

    def within(self, records: int) -> "Caution":
        """Return the same for a batch that has only so many records: a part of it is a part of those."""
        return msgspec.structs.replace(self, size=min(self.size, records))

    def passed(self, records: int, *, set_aside: bool = False) -> "Caution | None":
        """Return what holds after so many records were committed: twice as many; None when the trouble is behind.

        set_aside: a record was, and the next one may be of its kind.
        """
        left, size = self.remaining - records, self.size if set_aside else self.size * 2
        return Caution(size, left, ends=self.ends) if size < left else None
