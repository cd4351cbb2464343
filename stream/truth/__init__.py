"""Truth: what an answer should have done, where that is known of its turn, against what it did."""
