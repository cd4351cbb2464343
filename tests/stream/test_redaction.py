"""What identifies people is gone before anything is stored or written, and everything else is as it was."""

from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.conformance.growth import is_linear, steps
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.records.wire import EXCHANGES
from turnsignal.stream.redaction import MAX_LOOKS, MAX_STRINGS, OwnPattern, Redaction
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import T0, FakeRecord

ALL = Redaction()
QUEUED = parse_suite("[exchanges]\nshare = 1")
MAIL, PHONE = "bob@example.com", "+49 171 2345678"


def turn(**fields: Any) -> dict[str, Any]:
    plain = {"conversation_id": "c", "turn_id": "t", "role": "user", "text": "", "timestamp": "2025-06-15T15:06:40Z"}
    return plain | fields


def redacted(redaction: Redaction = ALL, **fields: Any) -> tuple[Turn, Counter[str]]:
    counts: Counter[str] = Counter()
    read = decode_turn(orjson.dumps(turn(**fields)))
    redaction.apply(read, counts)
    return read, counts


def play(suite: Suite, *turns: dict[str, Any]) -> tuple[BatchResult, PartitionProcessor]:
    processor = PartitionProcessor(suite)
    came = [
        FakeRecord(n, b"c", orjson.dumps(turn(turn_id=f"t{n}") | one), round(T0 * 1000)) for n, one in enumerate(turns)
    ]
    batch = processor.process(came, T0)
    processor.accept(batch)
    return batch, processor


DIALOGUE = (
    {"text": f"My address is {MAIL}, where is my order 4015123456?"},
    {
        "role": "assistant",
        "text": f"We wrote to {MAIL} [a], or call {PHONE} [2].",
        "retrieved": [
            {"doc_id": "a", "text": f"mail {MAIL}", "title": f"of {MAIL}", "url": f"https://x.example/?{MAIL}"},
            {"doc_id": "b"},
        ],
        "metadata": {"annotations": [{"type": "citation", "note": MAIL}]},
    },
    {"text": f"No, I meant {PHONE}, not {MAIL}."},
)


def test_nothing_that_is_written_or_kept_holds_what_was_found() -> None:
    batch, processor = play(QUEUED.redacted_by(ALL), *DIALOGUE)
    everything = b"".join([*(out.value or b"" for out in batch.outputs), *processor.store.values()])
    assert b"bob@" not in everything
    assert b"2345678" not in everything
    assert b"[email]" in everything
    assert b"4015123456" in everything
    assert batch.deltas.redactions == {"email": 6, "phone": 2}


def test_what_is_known_of_a_turn_is_redacted_but_for_names() -> None:
    known = {"reference": f"Write to {MAIL}.", "chunks": [f"Call {PHONE}.", "Or not."], "doc_ids": [MAIL]}
    read, counts = redacted(role="assistant", truth=known)
    assert read.truth is not None
    assert (read.truth.reference, read.truth.chunks) == ("Write to [email].", ["Call [phone].", "Or not."])
    assert read.truth.doc_ids == [MAIL]
    assert counts == {"email": 1, "phone": 1}


def test_citations_and_documents_are_the_same_as_without() -> None:
    def cited(suite: Suite) -> list[Any]:
        rows = [orjson.loads(out.value or b"") for out in play(suite, *DIALOGUE)[0].outputs if out.topic == "scores"]
        return [score for score in rows[0]["scores"] if score["scorer"].startswith(("nDCG", "citation", "wasted"))]

    assert cited(Suite()) == cited(Suite().redacted_by(ALL)) != []


def test_without_a_redaction_texts_are_as_they_came() -> None:
    batch, _ = play(QUEUED, *DIALOGUE)
    assert any(MAIL.encode() in (out.value or b"") for out in batch.outputs if out.topic == EXCHANGES)
    assert not batch.deltas.redactions


def test_a_redaction_is_part_of_the_fingerprint_and_none_is_not() -> None:
    plain = Suite()
    prints = {
        plain.fingerprint,
        plain.redacted_by(ALL).fingerprint,
        plain.redacted_by(Redaction(builtin=("email",))).fingerprint,
        plain.redacted_by(Redaction(patterns=(OwnPattern(kind="staff", regex=r"E-\d{6}"),))).fingerprint,
    }
    assert len(prints) == 4
    assert plain.redacted_by(None).fingerprint == plain.redacted_by(ALL).redacted_by(None).fingerprint
    assert plain.redacted_by(None).fingerprint == Suite().fingerprint


def test_a_marker_goes_on_naming_a_document_whose_id_looks_like_a_card_or_an_address() -> None:
    ids = ["4111111111111111", "bob@example.com/7"]
    text = f"As said [{ids[0]}], [{ids[1]}], [2]; mail ann@example.com, pay 4111 1111 1111 1111."
    read, counts = redacted(role="assistant", text=text, retrieved=[{"doc_id": one} for one in ids])
    assert read.text == f"As said [{ids[0]}], [{ids[1]}], [2]; mail [email], pay [card]."
    assert counts == {"email": 1, "card": 1}
    assert [document.doc_id for document in read.retrieved] == ids


@pytest.mark.parametrize("umlaut", ["", "ü"])
def test_places_delivered_beside_the_text_move_with_it(umlaut: str) -> None:
    text = f"{umlaut}Ask {MAIL} first. It is blue. Then {PHONE} says so. It is red."
    at = [text.index("It is blue"), text.index("It is red")]
    in_bytes = [len(text[:place].encode()) for place in at]
    metadata = {
        "citations": [
            {"doc_id": "a", "start": at[0], "end": at[0] + 10},
            {"doc_id": "b", "start": at[1], "end": 10**6},
        ],
        "annotations": [
            {
                "type": "url_citation",
                "url_citation": {"url": f"https://x.example/{MAIL}", "start_index": 0, "end_index": 9},
            }
        ],
        "citedChunks": [{"document_id": "a"}],
        "inlineCitations": [{"startIndex": in_bytes[1], "endIndex": in_bytes[1] + 9, "citedChunkIndices": [0]}],
    }
    read, _ = redacted(role="assistant", text=text, metadata=metadata)
    moved: Any = read.metadata
    assert read.text == f"{umlaut}Ask [email] first. It is blue. Then [phone] says so. It is red."
    assert read.text[moved["citations"][0]["start"] : moved["citations"][0]["end"]] == "It is blue"
    assert read.text[moved["citations"][1]["start"] :] == "It is red."
    inline = moved["inlineCitations"][0]
    assert read.text.encode()[inline["startIndex"] : inline["endIndex"]] == b"It is red"
    inner = moved["annotations"][0]["url_citation"]
    assert read.text[inner["start_index"] : inner["end_index"]] == f"{umlaut}Ask [email]"  # it ended within
    assert inner["url"] == "https://x.example/[email]"


def test_a_citation_delivered_by_its_url_or_title_still_finds_its_document() -> None:
    answer = {
        "role": "assistant",
        "text": "It is blue.",
        "retrieved": [{"doc_id": "a"}, {"doc_id": "b", "title": f"Letter of {MAIL}"}],
        "metadata": {"citations": [{"title": f"Letter of {MAIL}", "start": 0, "end": 5}]},
    }
    rows = [
        orjson.loads(play(suite, {"text": "hi"}, answer)[0].outputs[0].value or b"")["scores"]
        for suite in (Suite(), Suite().redacted_by(ALL))
    ]
    assert rows[0] == rows[1]


def test_an_own_pattern_replaces_its_group_and_comes_before_the_built_in_ones() -> None:
    own = (
        OwnPattern(kind="staff", regex=r"\bE-(\d{6})"),
        OwnPattern(kind="our_mail", regex=r"[a-z]{1,30}@us\.example"),
    )
    read, counts = redacted(Redaction(patterns=own), text=f"E-123456 ann@us.example {MAIL}")
    assert read.text == "E-[staff] [our_mail] [email]"
    assert counts == {"staff": 1, "our_mail": 1, "email": 1}


def test_what_overlaps_is_replaced_once_and_whole() -> None:
    own = (OwnPattern(kind="domain", regex=r"example\.com now"),)
    read, counts = redacted(Redaction(patterns=own), text=f"write {MAIL} now, please")
    assert (read.text, counts) == ("write [domain], please", {"domain": 1})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"patterns": [{"kind": "a", "regex": r"(?<=x)y"}]}, "RE2 reads"),
        ({"patterns": [{"kind": "a", "regex": r"x.*y|x"}]}, r"bounded repetition such as \{1,64\}.*got \*"),
        ({"patterns": [{"kind": "a", "regex": r"\Qa[\E(?:.*Z)?"}]}, r"no \\Q; got \\Q"),
        ({"patterns": [{"kind": "a", "regex": r"[]]x*"}]}, r"got \*"),
        ({"patterns": [{"kind": "a", "regex": r"[[:alpha:]]y+"}]}, r"got \+"),
        ({"patterns": [{"kind": "a", "regex": r"x{3,}"}]}, r"got \{"),
        ({"patterns": [{"kind": "a", "regex": r"x{0,3}"}]}, "at least one character"),
        ({"patterns": [{"kind": "a1", "regex": r"x"}]}, "pattern"),
        ({"patterns": [{"kind": "email", "regex": r"x"}]}, "each kind once"),
        ({"builtin": []}, "one at least"),
        ({"builtin": ["e-mail"]}, "'email'"),
        ({"pattern": []}, "Extra inputs"),
    ],
)
def test_a_redaction_that_cannot_work_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Redaction.model_validate_json(orjson.dumps(given))


@pytest.mark.parametrize("regex", [r"a[*+]{1,3}b", r"\*\+x", r"x{2,3}[^+]", r"[]*]", r"[^]+]x", r"[[:alpha:]*]{1,3}"])
def test_signs_that_repeat_nothing_are_no_repetition(regex: str) -> None:
    OwnPattern(kind="a", regex=regex)


PIECES = st.sampled_from([MAIL, PHONE, "4111 1111 1111 1111", "[1]", "é", "\ud800", " ", ".", "@", "1", "a", "\n"])


@given(st.lists(PIECES, max_size=30))
def test_every_part_that_was_replaced_is_told_and_the_rest_is_as_it_was(pieces: list[str]) -> None:
    before = "".join(pieces)
    counts: Counter[str] = Counter()
    text, moves = ALL.redact(before, counts)
    assert MAIL not in text
    assert len(moves) == counts.total()
    data, now, at, shift = before.encode("utf-8", "replace"), text.encode("utf-8", "replace"), 0, 0
    for start, end, length in [*moves, (len(data), len(data), 0)]:
        assert data[at:start] == now[at + shift : start + shift]
        shift += length - (end - start)
        at = end


#: What begins or ends what is found, so that it is whole only where two texts are read as one.
PARTS = st.sampled_from(
    [
        *(
            MAIL,
            PHONE,
            "4111 1111 1111 1111",
            "DE89 3704 0044 0532 0130 00",
            "sk-abcdefghij0123456789",
            "tel: 555 123 4567",
        ),
        *(
            "4111 1111",
            "DE89 3704 0044",
            "tel:",
            "password: ",
            "bearer ",
            "git",
            "bob@",
            "@example.com",
            "https://a:b1",
            "0171",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "cookie: a=b1",
            "order no ",
            "\0",
            "\n",
            "\r",
            " ",
            ".",
            "/",
            "-",
            "1",
            "é",
            "x",
        ),
    ]
)
TEXTS = st.lists(st.lists(PARTS, max_size=4).map("".join), min_size=1, max_size=7)
OWN = Redaction.model_validate({"patterns": [{"kind": "edge", "regex": "^x|1$|(?s)/.{1,4}\\-"}]})


@pytest.mark.parametrize("redaction", [ALL, OWN], ids=["built in", "own"])
@given(texts=TEXTS, noted=TEXTS)
def test_texts_of_a_turn_are_redacted_as_each_by_itself(
    redaction: Redaction, texts: list[str], noted: list[str]
) -> None:
    said, *rest = texts
    documents = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(rest)]
    read, counts = redacted(redaction, text=said, retrieved=documents, metadata={"citations": noted})
    alone: Counter[str] = Counter()
    assert [read.text, *(document.text for document in read.retrieved)] == [
        redaction.redact(text, alone).text for text in texts
    ]
    assert counts == alone
    kept: Any = read.metadata
    assert kept["citations"] == [redaction.redact(text, Counter()).text for text in noted]


def test_an_address_at_other_places_of_every_document_id_makes_a_turn_no_square() -> None:
    def work(size: int) -> int:
        ids = [{"doc_id": "!" * (n % 250) + "a@b.cc" + "?" * (n // 250)} for n in range(size)]
        read = decode_turn(orjson.dumps(turn(retrieved=[*ids[1:], {"doc_id": "z", "text": "a@b.cc " * size}])))
        return steps(lambda: ALL.apply(read, Counter()))

    assert is_linear(work)


@pytest.mark.slow
def test_strings_of_metadata_are_looked_at_once_each_and_so_many_at_most() -> None:
    def work(strings: list[str]) -> int:
        read = decode_turn(orjson.dumps(turn(metadata={"citations": strings})))
        return steps(lambda: ALL.apply(read, Counter()))

    assert work(["1"] * 5_000) < 10 * 5_000
    first, more = work([str(n) for n in range(MAX_STRINGS)]), work([str(n) for n in range(2 * MAX_STRINGS)])
    assert more - first < 10 * MAX_STRINGS


def test_beyond_the_strings_that_are_looked_at_metadata_is_emptied_and_the_first_citations_stay() -> None:
    given = [{"doc_id": f"d{n}", "note": [f"x{n}", {"by": MAIL}]} for n in range(MAX_STRINGS)]
    read, _ = redacted(text="It is blue.", metadata={"citations": given})
    moved: Any = read.metadata
    assert [one["doc_id"] for one in moved["citations"]] == [f"d{n}" for n in range(MAX_STRINGS)]
    assert MAIL not in str(moved)
    assert moved["citations"][-1]["note"][0] == ""


def test_beyond_the_looks_at_document_ids_what_is_found_is_replaced_and_the_text_comes_first() -> None:
    ids = ["!" * n + MAIL for n in range(400)]
    much = f"{MAIL} " * (MAX_LOOKS // len(ids) + 10)
    read, _ = redacted(
        role="assistant",
        text=f"It is blue [{ids[7]}].",
        retrieved=[*({"doc_id": one} for one in ids), {"doc_id": "z", "text": much}],
        metadata={"citations": [{"doc_id": ids[9], "start": 0, "end": 5}]},
    )
    moved: Any = read.metadata
    assert read.text == f"It is blue [{ids[7]}]."
    assert moved["citations"][0]["doc_id"] == ids[9]
    assert (read.retrieved[-1].text or "").endswith("[email] " * 10)
    assert [document.doc_id for document in read.retrieved][:400] == ids
