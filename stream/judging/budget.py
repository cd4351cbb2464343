"""The budget: what may be spent, reserved for calls in flight at their greatest price, and given back when they end."""


class Budget:
    """Money in billionths of a currency. limit: None for no limit; spent, reserved: so far."""

    __slots__ = ("limit", "reserved", "spent")

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.spent = 0
        self.reserved = 0

    def reserve(self, most: int) -> bool:
        """Reserve the greatest price of a call; False where it does not fit and the call must not be made."""
        if self.limit is not None and self.spent + self.reserved + most > self.limit:
            return False
        self.reserved += most
        return True

    def settle(self, most: int, cost: int) -> None:
        """Put the real cost in the place of what was reserved for it."""
        self.reserved -= most
        self.spent += cost
