"""How many texts, records or orders a property is tried on."""

from hypothesis import settings


def examples(count: int) -> settings:
    """Try so many examples, however long one takes; in the profile of `make check` a tenth of them, five at least."""
    of_a_hundred = settings().max_examples
    return settings(max_examples=max(count * of_a_hundred // 100, 5), deadline=None)
