"""Truth: what is known to be right of a turn, beside what the system did."""
