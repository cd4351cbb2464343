"""Azure's answers "on your data": what was found for them is theirs, by the places that they cite."""

from collections import Counter

from turnsignal.stream.formats import FORMATS


def test_what_azure_found_is_the_answers() -> None:
    found = [{"content": f"Text {number}.", "title": f"Page {number}", "chunk_id": "0"} for number in (7, 8)]
    message = {"role": "assistant", "content": "By card [doc2].", "context": {"citations": found, "intent": "[]"}}
    record = {
        "request": {"messages": [{"role": "user", "content": "How do I pay?"}], "data_sources": []},
        "response": {"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"message": message}]},
    }
    (call,) = FORMATS["openai"].read(record, Counter())
    assert [(each["doc_id"], each["title"], each["text"]) for each in call.outputs[0].documents] == [
        ("doc1", "Page 7", "Text 7."),
        ("doc2", "Page 8", "Text 8."),
    ]
