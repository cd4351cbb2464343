"""Signed numbers: how much something moved, with a sign that is as wide as a digit."""


def signed(value: float, digits: int = 3) -> str:
    """Write a difference with its sign.

    >>> signed(-0.5789)
    '−0.579'
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def signed_percent(value: float) -> str:
    """Write a relative difference with its sign.

    >>> signed_percent(0.25)
    '+25%'
    """
    return f"{value:+.0%}".replace("-", "−")
