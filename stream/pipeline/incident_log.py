"""Incident log: the incidents of a partition, as records and as state beside the series."""

from collections.abc import Iterable
from typing import Any

from turnsignal.stream.detection.incidents import Incidents
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.errors import SchemaError, UnreadableStateError
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.records.regressions import OPENED, RAISED, SCHEMA, Incident, read_incident, schema_of
from turnsignal.stream.records.wire import REGRESSIONS, OutputRecord

KEPT = 200  #: incidents that are over and still shown
_PREFIX = b"incident:"  # begins a key of the state, before an incident's id; a series' key has a | in it


class IncidentLog:
    """What is open, and what has not been over for long."""

    def __init__(self, policy: AlertPolicy) -> None:
        self.incidents = Incidents(policy)
        self._over: dict[bytes, float] = {}  # key → when it was over

    @staticmethod
    def holds(key: bytes) -> bool:
        """Say whether a key of the state is an incident's."""
        return key.startswith(_PREFIX) and b"|" not in key

    @staticmethod
    def describe(value: bytes) -> dict[str, Any]:
        """Give an incident of the state, for people."""
        return dict(_read(value).as_json())

    def restore(self, key: bytes, value: bytes) -> None:
        """Take up an incident of the state. Raises SchemaError where a newer turnsignal wrote it, or none."""
        incident = _read(value)
        if incident.closed is None:
            self.incidents.restore(incident)
        else:
            self._over[key] = incident.closed

    def report(self, incidents: Iterable[Incident], result: BatchResult) -> None:
        """Write incidents that changed, count and remember them, and forget those that have been over for longest."""
        for incident in incidents:
            key, value = _PREFIX + incident.id.encode(), incident.encode()
            result.outputs.append(OutputRecord(REGRESSIONS, incident.assistant.encode(), value))
            result.changes[key] = value
            if incident.event in (OPENED, RAISED):
                result.deltas.incidents[incident.assistant, incident.tier] += 1
            if incident.closed is not None:
                self._over[key] = incident.closed
        while len(self._over) > KEPT:
            oldest = min(self._over, key=lambda known: (self._over[known], known))
            del self._over[oldest]
            result.changes[oldest] = None


def _read(value: bytes) -> Incident:
    try:
        return read_incident(value)
    except ValueError as error:
        if (schema := schema_of(value)) > SCHEMA:
            raise SchemaError.newer("incident", SCHEMA, schema) from None
        raise UnreadableStateError(str(error)) from None
