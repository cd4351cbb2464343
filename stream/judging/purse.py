"""The purse: what may be spent, held back for calls in flight at their greatest price, and given back when they end."""


class Purse:
    """Money in billionths of a currency. limit: None for no limit; spent, held: so far."""

    __slots__ = ("held", "limit", "spent")

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.spent = 0
        self.held = 0

    def hold(self, most: int) -> bool:
        """Hold the greatest price of a call back; False where it does not fit and the call must not be made."""
        if self.limit is not None and self.spent + self.held + most > self.limit:
            return False
        self.held += most
        return True

    def settle(self, most: int, cost: int) -> None:
        """Put the real cost in the place of what was held back for it."""
        self.held -= most
        self.spent += cost
