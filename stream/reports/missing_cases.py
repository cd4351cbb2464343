"""Missing cases: those that only one of two systems has a record of.

Such a case may be of another sample. It may as well be one where the system ran out of time, or broke, and wrote
nothing down: then what is left are the cases that it can do. Where each system lacks about as many cases of the other,
they were asked different lists; where the second one lacks far more, nobody can say that it is better.
"""

from typing import NamedTuple

from turnsignal.stream.statistics.exact import sign_test

_BY_CHANCE = 0.05


class MissingCases(NamedTuple):
    """Cases of one system of which the other has no record.

    cases: that the first has a record of; of_second: how many of them the second has none of; of_first: how many of
    the second's the first has none of.
    """

    cases: int = 0
    of_second: int = 0
    of_first: int = 0

    def lacking(self, least_change: float) -> str:
        """Say of how many cases the second system has no record, "" where that is no more than another sample.

        least_change: the share of cases from which on it is said.
        """
        more = self.of_second - self.of_first
        if more <= least_change * self.cases or sign_test(self.of_second, self.of_first) > _BY_CHANCE:
            return ""
        return f"{self.of_second:,} of {self.cases:,} cases have no record of the second system"


NONE_MISSING = MissingCases()
