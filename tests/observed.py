"""Observed: what a record of series says, scorer by scorer."""

from turnsignal.stream.records.observations import Observation, Observations


def by_scorer(observed: Observations) -> dict[str, list[Observation]]:
    """Return scorer → its observations, in the order of the rows."""
    observations: dict[str, list[Observation]] = {scorer: [] for scorer in observed.scorers}
    for row in observed.by_row():
        for scorer, observation in row:
            observations[scorer].append(observation)
    return observations
