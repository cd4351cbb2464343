"""Scales: quantities that have no upper end, put between 0 and 1 by their logarithms, as means and intervals need it.

A mean there is a geometric mean, and a difference a ratio: twice as much is the same step everywhere.
"""

import math
from typing import NamedTuple


class LogScale(NamedTuple):
    """From the value that is 0 to the one that is 1.

    unit: of the values, digits: that are worth reading; counts: whether they are whole numbers.
    """

    least: float
    most: float
    unit: str
    digits: int
    counts: bool = False

    @property
    def span(self) -> float:
        """How many times e stands between both ends."""
        return math.log(self.most / self.least)

    def step(self, fraction: float) -> float:
        """Return what values are taken to differ by, on the scale, where all that are seen stand at this fraction.

        One more of what is counted: half as many would hide that each answer lost one of ten. Else a factor of two.
        """
        return math.log1p(1 / self.value(fraction) if self.counts else 1.0) / self.span

    def fraction(self, value: float) -> float:
        """Return how far along the scale a value stands, 0 to 1; at the end that it is beyond."""
        return math.log(min(self.most, max(self.least, value)) / self.least) / self.span

    def value(self, fraction: float) -> float:
        """Return the value at a fraction of the scale."""
        return round(self.least * math.exp(fraction * self.span), self.digits)

    def change(self, difference: float) -> float:
        """Return by how much a difference of fractions multiplies a value, less one."""
        return math.expm1(difference * self.span)


SECONDS = LogScale(0.05, 3600.0, "s", 3)  #: until an answer
QUESTIONS_ASKED = LogScale(1.0, 1000.0, "questions", 3, counts=True)  #: in a conversation that has any
#: to an answer that got any, and cited by one that cites any
DOCUMENTS_GIVEN = LogScale(1.0, 1000.0, "documents", 3, counts=True)
