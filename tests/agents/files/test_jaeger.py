"""What Jaeger gives to download is read as the spans are that it was sent."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.otlp import spans_of

DATA = Path(__file__).parents[2] / "data" / "formats"


def turns_of(path: Path) -> list[dict[str, Any]]:
    with Imported([path], HowToRead()) as imported:
        assert not any(report.refused for report in imported.reports)
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    return [{**turn, "timestamp": turn["timestamp"][:23]} for turn in turns]  # Jaeger has no nanoseconds


def tags(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as Jaeger has them: what is neither text nor number is JSON in a text."""
    plain = {
        key: value if isinstance(value, str | int | float) else orjson.dumps(value).decode()
        for key, value in attributes.items()
    }
    kinds = {str: "string", int: "int64", float: "float64", bool: "bool"}
    return [{"key": key, "type": kinds[type(value)], "value": value} for key, value in plain.items()]


def as_jaeger(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Spans as Jaeger's page gives them to download."""
    traces: dict[str, dict[str, Any]] = {}
    for span in (span for record in records for span in spans_of(record)):
        trace = traces.setdefault(span.trace, {"traceID": span.trace, "spans": [], "processes": {}, "warnings": None})
        assert span.start is not None
        assert span.end is not None
        resource = {**span.resource}
        trace["processes"]["p1"] = {"serviceName": resource.pop("service.name"), "tags": tags(resource)}
        parent = {"refType": "CHILD_OF", "traceID": span.trace, "spanID": span.parent}
        trace["spans"].append(
            {
                "traceID": span.trace,
                "spanID": span.span,
                "operationName": span.title,
                "references": [parent] if span.parent else [],
                "startTime": round(span.start * 1e6),
                "duration": round(span.end * 1e6) - round(span.start * 1e6),
                "tags": tags(span.attributes),
                "logs": [{"timestamp": 0, "fields": tags({"event": name, **given})} for name, given in span.events],
                "processID": "p1",
            }
        )
    return {"data": list(traces.values()), "total": 0, "limit": 0, "offset": 0, "errors": None}


@pytest.mark.parametrize("indent", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    "name",
    ["otel.jsonl", "openllmetry.jsonl", "genuine/otel-new.jsonl", "genuine/openinference.jsonl",
     "genuine/openinference-langchain.jsonl", "genuine/langfuse-spans.jsonl"],
)  # fmt: skip
def test_a_download_of_jaeger_is_read_as_the_spans_are(name: str, indent: int, tmp_path: Path) -> None:
    records = [orjson.loads(line) for line in (DATA / name).read_bytes().splitlines()]
    path = tmp_path / "traces.json"
    path.write_bytes(orjson.dumps(as_jaeger(records), option=indent))
    assert turns_of(path) == turns_of(DATA / name)
