"""Google's conversational agents (Dialogflow CX): rows of the BigQuery table that interactions are exported to."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.documents import once, read_document
from turnsignal.stream.formats.human_scores import vote_of
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.times import time_in
from turnsignal.stream.formats.values import bounded_id, first, items, mapping, short_name, short_names


class DialogflowCX:
    """{conversation_name, turn_position, request_time, request, response}, a question and its answer in a row."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise rows by the names of their columns."""
        is_row = any("conversation_name" in record and "turn_position" in record for record in sample)
        return "rows with a conversation_name and a turn_position" if is_row else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give what one row holds: what was asked, what was answered, and what the data stores found for it."""
        request, response = mapping(record.get("request")), mapping(record.get("response"))
        result = mapping(response.get("queryResult"))
        session = str(record.get("conversation_name") or "").rpartition("/")[2]
        asked, answered = _question(request, result), _answer(result)
        assumed["rows in which nobody says anything left out"] += not (asked or answered)
        signals = mapping(result.get("dataStoreConnectionSignals"))
        cited = [_document(mapping(item).get("searchSnippet")) for item in items(signals.get("citedSnippets"))]
        searched = [_document(item) for item in items(signals.get("searchSnippets"))]
        metadata = {"citations": list(_citations(signals, cited, answered))} if any(cited) else None
        vote = vote_of(mapping(record.get("bot_answer_feedback")).get("rating"))
        start = time_in(assumed, record, "request_time")
        agent = short_name(str(record.get("agent_id") or "").rpartition("/")[2])
        answer = Message("assistant", answered, metadata=metadata, fields={} if vote is None else {"vote": vote})
        yield Call(
            origin=f"dialogflow:{session}/{first(record, 'turn_position') or first(response, 'responseId') or ''}",
            conversation=bounded_id(session) if session else None,
            start=start,
            end=start,
            inputs=[Message("user", asked)] if asked else [],
            outputs=[answer] if answered else [],
            documents=once(document for document in (*searched, *cited) if document is not None),
            fields=short_names(assistant=agent, platform=mapping(request.get("queryParams")).get("channel")),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the session and the number of the turn in it."""
        return split_origin(turn_id, ("session", "turn_position"))


def _question(request: Record, result: Record) -> str:
    """Return what the user answered, by hand or by voice."""
    given = mapping(request.get("queryInput"))
    text = mapping(given.get("text")).get("text") or first(result, "text", "transcript")
    return text if isinstance(text, str) else ""


def _answer(result: Record) -> str:
    """Return the texts that were sent, in their order."""
    texts: list[str] = []
    for message in items(result.get("responseMessages")):
        parts = items(mapping(mapping(message).get("text")).get("text"))
        texts += [part for part in parts if isinstance(part, str) and part]
    return "\n".join(texts)


def _document(snippet: Any) -> dict[str, Any] | None:
    given = mapping(snippet)
    uri, title = first(given, "documentUri", "uri"), first(given, "documentTitle", "title")
    return read_document({"id": uri or title, "title": title, "url": uri, "text": given.get("text")}) if given else None


def _citations(signals: Record, cited: Sequence[dict[str, Any] | None], answered: str) -> Iterator[dict[str, Any]]:
    """Give what the answer cites, at the parts of it that name their sources where it has such parts."""
    parts, at = [mapping(part) for part in items(signals.get("answerParts"))], 0
    for part in parts:
        text = str(part.get("text") or "")
        start = answered.find(text, at) if text else -1
        at = start + len(text) if start >= 0 else at
        for index in items(part.get("supportingIndices")):
            document = cited[index] if type(index) is int and 0 <= index < len(cited) else None
            if document is not None:
                span = {"start_index": start, "end_index": at} if start >= 0 else {}
                yield {"doc_id": document["doc_id"], **span}
    for document in () if any(items(part.get("supportingIndices")) for part in parts) else cited:
        if document is not None:
            yield {"doc_id": document["doc_id"]}
