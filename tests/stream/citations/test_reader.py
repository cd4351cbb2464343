import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.citations.reader import DEFAULT_STYLES, Citation, citation_reader
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.turns import Document
from turnsignal.stream.text.markup import code_spans

DOCUMENTS = [Document("doc_7"), Document("doc_9"), Document("doc_4"), Document("doc_1")]
read = citation_reader()


def cited(text, documents=DOCUMENTS, reader=read):
    return [citation.doc_id for citation in reader(text, documents).all]


def faults(text, documents=DOCUMENTS, reader=read):
    return [(fault.kind, fault.text) for fault in reader(text, documents).faults]


@pytest.mark.parametrize("marker", ["[1 & 2, p. 3]", "[10:22]", "[1-2]", "[doc_1 and]", "[doc 99]", "［9］"])
def test_a_bracket_that_comes_again_says_the_same_at_its_own_place(marker):
    once, many = read(marker + " so", DOCUMENTS), read((marker + " so. ") * 3, DOCUMENTS)
    for kind in ("all", "faults"):
        parts = [msgspec.structs.asdict(part) for part in getattr(once, kind)]
        step = len(marker) + 5
        moved = [
            {**part, "start": part["start"] + n, "end": part["end"] + n} for n in (0, step, 2 * step) for part in parts
        ]
        assert [msgspec.structs.asdict(part) for part in getattr(many, kind)] == moved


def test_a_retrieved_id_is_a_citation_with_its_span_and_rank():
    assert read("Open it [doc_9].", DOCUMENTS).all == [Citation("doc_9", 2, 8, 15, "doc_id")]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Open it [2].", ["doc_9"]),
        ("Open it [1, 3].", ["doc_7", "doc_4"]),
        ("Open it [1][2].", ["doc_7", "doc_9"]),
        ("Open it [2-4].", ["doc_9", "doc_4", "doc_1"]),
        ("Open it [2–3].", ["doc_9", "doc_4"]),
        ("Open it [1; doc_4].", ["doc_7", "doc_4"]),
        ("Open it [ 2 ].", ["doc_9"]),
        ("Open it [[2]].", ["doc_9"]),
        ("Open it [^3] now [^doc_1].", ["doc_4", "doc_1"]),
        ("Open it [^3^].", ["doc_4"]),
        ("Open it 【2†source】.", ["doc_9"]),
        ("Open it 【4:0†source】.", ["doc_7"]),
        ("Open it 【doc_4】.", ["doc_4"]),
        ("Open it [ID: doc_4].", ["doc_4"]),
        ("Open it [Source 2, Source 3].", ["doc_9", "doc_4"]),
        ("Open it [1 and 2].", ["doc_7", "doc_9"]),
        ("Open it [1 & 2].", ["doc_7", "doc_9"]),
        ("Open it [1, 2, and 3].", ["doc_7", "doc_9", "doc_4"]),
        ("Open it [doc_4 and doc_1].", ["doc_4", "doc_1"]),
        ("Open it [2]-[4].", ["doc_9", "doc_4", "doc_1"]),
        ("Open it [2]–[3] now.", ["doc_9", "doc_4"]),
        ("Open it [1, p. 12].", ["doc_7"]),
        ("Open it [1 p. 12; doc_4, pp. 3-4].", ["doc_7", "doc_4"]),
        ("Open it [1, § 5] or [2, section IV].", ["doc_7", "doc_9"]),
        ("開く［2］。", ["doc_9"]),
        ("開く［２、］［1, 3］。", ["doc_7", "doc_4"]),
        ("打开〔2〕。", ["doc_9"]),
        ("Open it [#2].", ["doc_9"]),
        ("Open it \\[1\\] or \\[2, 3\\] or \\[doc_1\\].", ["doc_7", "doc_9", "doc_4", "doc_1"]),
        ("Open it.<sup>1</sup> Close it<sup>2, 3</sup>.", ["doc_7", "doc_9", "doc_4"]),
    ],
)
def test_each_default_style_is_read(text, ids):
    assert cited(text) == ids
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("é [1] 漢[2]", ["[1]", "[2]"]),
        ("😀 [doc_9] é【2†source】", ["[doc_9]", "【2†source】"]),
        ("👩‍👩‍👧 [1, 2] and [^3]", ["[1, 2]", "[1, 2]", "[^3]"]),
        ("| [1] |\n> [2]\n    [3]\n**[4]**", ["[1]", "[2]", "[3]", "[4]"]),
        ("Say [1] [x] [2] (see [3]).", ["[1]", "[2]", "[3]"]),
    ],
)
def test_spans_count_characters_wherever_a_marker_stands(text, spans):
    assert [text[c.start : c.end] for c in read(text, DOCUMENTS).all] == spans


@pytest.mark.parametrize(
    ("text", "documents", "ids"),
    [
        ("So [2].", [Document("2"), Document("x")], ["2"]),
        ("So [1].", [Document("2"), Document("x")], ["2"]),
        ("So [2, 1].", [Document("x"), Document("1")], ["1", "1"]),
        ("So [^1].", [Document("x"), Document("1")], ["1"]),
        ("So 【1†source】.", [Document("x"), Document("1")], ["1"]),
        ("So [1-2].", [Document("x"), Document("1")], ["1", "1"]),
        ("So [ID: 1].", [Document("x"), Document("1")], ["1"]),
        ("So [Source 1].", [Document("x"), Document("1")], ["1"]),
        ("So [2019].", [Document("x"), Document("2019")], ["2019"]),
        ("So [Step 2: reset].", [Document("x"), Document("Step 2: reset")], ["Step 2: reset"]),
        ("So [a, b].", [Document("a, b"), Document("a")], ["a, b"]),
        ("So [x].", [Document("x")], ["x"]),
        ("So [sic].", [Document("sic")], ["sic"]),
    ],
)
def test_a_retrieved_id_goes_before_every_other_reading(text, documents, ids):
    assert cited(text, documents) == ids
    assert [f for f in faults(text, documents) if f[0] != "duplicate"] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("So [0].", [("dangling", "[0]", "numeric")]),
        ("So [5-6].", [("dangling", "[5-6]", "numeric")]),
        ("So [1-9].", [("dangling", "1-9", "numeric")]),
        ("So [doc_1 and more", [("malformed", "[doc_1", "doc_id")]),
        ("So [3. Next", [("malformed", "[3", "numeric")]),
        ("So [1,\n2].", [("malformed", "[1", "numeric")]),
        ("So (doc_1, doc_7).", [("malformed", "(doc_1, doc_7)", "doc_id")]),
        ("So 【2†source.", [("malformed", "【2†source.", "full_width")]),
    ],
)
def test_dangling_is_well_formed_and_malformed_is_not(text, found):
    assert [(f.kind, f.text, f.style) for f in read(text, DOCUMENTS).faults] == found


def test_step_item_markers_are_retrieved_ids_of_that_form():
    documents = [Document("kb_3-12"), Document("kb_3-14")]
    result = read("Reset it [kb_3-14] or wait [kb_9-1].", documents)
    assert [(c.doc_id, c.style) for c in result.all] == [("kb_3-14", "step_item")]
    assert [(f.kind, f.text, f.style) for f in result.faults] == [("dangling", "[kb_9-1]", "step_item")]


def test_labelled_number_is_an_id_where_ids_are_numbers():
    documents = [Document("17"), Document("20"), Document("66")]
    assert cited("Days off [ID: 20].", documents) == ["20"]
    assert faults("Days off [ID: 2].", documents) == [("dangling", "[ID: 2]")]


def test_id_comes_before_rank():
    documents = [Document("3"), Document("1"), Document("8")]
    assert cited("First [1], second [2].", documents) == ["1", "1"]


def test_given_rank_counts_and_default_is_the_place_in_the_list():
    documents = [Document("b", rank=2), Document("a", rank=1), Document("c")]
    assert read("So [1] and [c].", documents).cited_ranks == [1, 3]
    assert cited("So [1].", documents) == ["a"]


def test_duplicate_documents_keep_their_best_rank():
    documents = [Document("a"), Document("b"), Document("a")]
    result = read("So [3] and [a].", documents)
    assert (result.cited_ids, result.cited_ranks) == (["a"], [1])


def test_zero_based_numbers_count_from_zero():
    reader = citation_reader(["numeric"], zero_based=True)
    assert cited("So [0] and [0, 3].", reader=reader) == ["doc_7", "doc_7", "doc_1"]
    assert faults("So [4].", reader=reader) == [("dangling", "[4]")]


@pytest.mark.parametrize(
    "text",
    [
        "Run `x[1]` and `[doc_7]`.",
        "Code:\n```python\ny = [1]\n```\n",
        "Code:\n~~~\n[doc_7]\n~~~",
        "Open fence:\n```\n[1]\n",
        "See [the guide](https://example.org/a) and [1](https://example.org/b).",
        "See [[1]](https://example.org/b).",
        "![1](https://example.org/c.png)",
        "[1]: https://example.org/a\n [^1]: https://example.org/b",
        "- [x] done\n- [ ] open",
        "He said [sic] that [...] it [the router] failed.",
        "Since [2019], in [2019-2021], in [2019-21], in [2024-05], in [05-2024], on [2024-01-15], by [12/05/2023].",
        "On [12 March 2024], [May 3, 2024], [Jan 2024] at [12:30].",
        "See [p. 3], [Fig. 1], [Table 2], [note], [edit] and [citation needed]; [X] done; {1} doc_7.",
        "A ratio of [3.7] in [0, 1) or (0, 1].",
        "Take a[1], my_list[0], grid_x[0][1], words[2].name and words[1] = 3.",
        "An empty [] or [ ] or [\n] bracket (1) and (2019).",
        "LaTeX \\[1 + x\\] and 【注意】.",
        "Take argv[1], sys.argv[1], arr[2], myList[3], x1[2] or $_[1].",
        "Set x = [1, 2], y=[1] and scores[1] = 3.",
        'Send {"a": [1, 2], "b": [3]} or {ids: [1]} or "ids": [1, 2].',
        "Call foo([1, 2]) with [[1, 2], [3, 4]]; f(x) returns [1, 2].",
        "The array [1, 2, 3] and a list of numbers [2, 1].",
        "In the interval [1, 3], the range [1, 4], a [1, 2] range.",
        "So x in [1, 3], y ∈ [1, 4], scaled to [1, 4], between [0, 1].",
        "LaTeX \\sqrt[3]{x}, \\cite[1]{x}, $[1, 3]$, \\in [1, 3], a \\\\[2] b.",
        "Match [0-9], ^[1-3]$ and [1-3]{2} or [1-4]+.",
        "An area of 5 m<sup>2</sup>, 10<sup>3</sup>, the 1<sup>st</sup>, x<sup>2</sup>, sin<sup>2</sup>.",
        "国发〔2019〕5号 和 ［注］ and [#4521].",
    ],
)
def test_what_only_looks_like_a_marker_is_no_citation_and_no_fault(text):
    result = read(text, DOCUMENTS)
    assert (result.all, result.faults, result.markers) == ([], [], [])


def test_number_glued_to_a_word_is_a_citation():
    assert cited("blood tests[1] and imaging (CT)[2], vitamin C[3]") == ["doc_7", "doc_9", "doc_4"]
    assert cited("in the 1990s[1], the company's[2]") == ["doc_7", "doc_9"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("YouTube[1], macOS[2] and iPhone[3]", ["doc_7", "doc_9", "doc_4"]),
        (
            "Returns [1, 2]; higher values [1, 3]; a wide range [2, 4]",
            ["doc_7", "doc_9", "doc_7", "doc_4", "doc_9", "doc_1"],
        ),
        ("| a | b [1]|\n*text [1]*, 50%[2] (see [3])", ["doc_7", "doc_7", "doc_9", "doc_4"]),
        ('{"answer": "Open it [1].", "n": 1}', ["doc_7"]),
        ("as follows: [1, 2]", ["doc_7", "doc_9"]),
        ("[1] – [3] say so", ["doc_7", "doc_4"]),
        ("\\[1] is escaped", ["doc_7"]),
    ],
)
def test_what_looks_a_little_like_code_is_a_citation(text, ids):
    assert cited(text) == ids


@pytest.mark.parametrize(
    "text", ["So [1 and 9].", "So [1]-[9].", "So [1, 9, p. 3].", "So ［9］.", "So it<sup>9</sup>."]
)
def test_every_form_of_marker_may_dangle(text):
    assert {kind for kind, _ in faults(text)} == {"dangling"}


def test_a_range_of_markers_is_one_marker():
    result = read("So [1]-[3].", DOCUMENTS)
    assert (result.markers, [c.rank for c in result.all]) == ([(3, 10)], [1, 2, 3])


@pytest.mark.parametrize(
    "sources",
    [
        "\n\nSources: [1] FAQ [2] Manual",
        " Sources: [1] FAQ [2] Manual",
        "\n\n**Sources:**\n[1] FAQ\n[2] Manual\n",
        "\n\n## References\n\n- [1] FAQ: https://a.example\n- [2] Manual\n\nAsk me for more!",
        "\n\nReferences\n1. [doc_7] FAQ\n2. [doc_9] Manual",
        "\n\nSources: FAQ [1], Manual [2]",
        "\n\nSources:\n- FAQ [1]\n- Manual [2]",
        "\n\nQuellen: 【1†FAQ】【3†Manual】",
        "\n\nSources: [1], [3]",
        "\n\nSource: [3] Manual",
        "\n\n[1] FAQ\n[2] Manual",
        "\n\n---\n[1] FAQ",
        "\n[1] https://a.example/1",
        "\n\n[9]: FAQ",
    ],
)
def test_a_list_of_sources_at_the_end_defines_and_does_not_cite(sources):
    result = read(f"Open it [2].{sources}", DOCUMENTS)
    assert (result.cited_ids, result.faults, result.markers) == (["doc_9"], [], [(8, 11)])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Open it [2].\nSource: [3]", ["doc_9", "doc_4"]),
        ("Open it.\nSources: [1], [2]\n\nClose it.\nSources: [3]", ["doc_7", "doc_9", "doc_4"]),
        ("Open it (sources: [1], [3]).", ["doc_7", "doc_4"]),
        ("[1] Open it.\n[2] Close it.", ["doc_7", "doc_9"]),
        ("Do this:\n[1] Open it.\n[2] Close it.", ["doc_7", "doc_9"]),
        ("Open it [1].\n\n[1] says so too.", ["doc_7", "doc_7"]),
        ("Open it [1].\n\nSources say that it closes [2].", ["doc_7", "doc_9"]),
        ("Sources: none.\n\nOpen it [2].", ["doc_9"]),
        ("Open [1].\n\n## Sources\n[2] FAQ\n[3] Manual\n\nBut close it first [4].", ["doc_7", "doc_1"]),
        ("So [1].\n\n## Sources\nThe manual says so [2] and goes on.", ["doc_7", "doc_9"]),
        ("## Sources\nThe manual says so [1] and goes on.", ["doc_7"]),
    ],
)
def test_what_only_looks_like_a_list_of_sources_cites(text, ids):
    assert cited(text) == ids


def test_citation_after_code_is_still_read():
    assert cited("Run `ls` [1].\n```\n[2]\n```\nThen [3], not ` [4].") == ["doc_7", "doc_4", "doc_1"]


def test_link_to_a_retrieved_document_is_a_citation():
    documents = [Document("a", url="https://example.org/guide/"), Document("b", url="https://example.org/x_(y)")]
    result = read("See [guide](http://example.org/guide#top) and [1](<https://example.org/x_(y)> 'X').", documents)
    assert [(c.doc_id, c.start, c.end, c.style) for c in result.all] == [("a", 4, 41, "link"), ("b", 46, 82, "link")]
    assert cited("See [guide](https://example.org/guide).", documents, citation_reader(["numeric"])) == []


@pytest.mark.parametrize("text", ["[doc_99]", "[^9]", "[9]", "【9†source】", "[ID: doc_99]", "[Source 9]"])
def test_well_formed_marker_without_a_document_is_dangling(text):
    result = read(f"So {text}.", DOCUMENTS)
    assert [(f.kind, f.text) for f in result.faults] == [("dangling", text)]
    assert result.all == []
    assert result.markers == [(3, 3 + len(text))]


@pytest.mark.parametrize(
    ("marker", "fault"),
    [
        ("[1]", "[1]"),
        ("[doc_1", "[doc_1"),
        ("(doc_1)", "(doc_1)"),
        ("[doc 1]", "[doc 1]"),
        ("[Doc-1]", "[Doc-1]"),
        ("[^1]", "[^1]"),
        ("【1†source】", "【1†source】"),
        ("[ID: 1]", "[ID: 1]"),
        ("[doc_1, see there]", "[doc_1, see there]"),
    ],
)
@pytest.mark.parametrize("id_pattern", [None, r"doc_\d+"])
def test_marker_of_another_form_is_malformed_under_doc_id(marker, fault, id_pattern):
    reader = citation_reader(["doc_id"], id_pattern)
    result = reader(f"So {marker}.", DOCUMENTS)
    assert [(f.kind, f.text) for f in result.faults] == [("malformed", fault)]
    assert result.all == []
    assert result.markers == [(3, 3 + len(fault))]


def test_s0_golden_answer_has_two_malformed_markers():
    text = "To reset your password, go to Settings > Security [1]. Click the reset option [1]."
    result = citation_reader(["doc_id"], r"doc_\d+")(text, DOCUMENTS)
    assert [f.kind for f in result.faults] == ["malformed", "malformed"]
    assert [text[start:end] for start, end in result.markers] == ["[1]", "[1]"]


def test_id_pattern_tells_dangling_ids_without_any_retrieval():
    reader = citation_reader(["doc_id"], r"guide-[a-z]+")
    assert faults("So [guide-reset] and [sic].", [], reader) == [("dangling", "[guide-reset]")]


def test_sloppy_list_cites_and_is_malformed():
    assert cited("So [1, 2 3,].") == ["doc_7", "doc_9", "doc_4"]
    assert faults("So [1, 2 3,].") == [("malformed", "1, 2 3,")]


def test_list_with_one_unknown_item_names_that_item():
    assert cited("So [1, 9].") == ["doc_7"]
    assert faults("So [1, 9].") == [("dangling", "9")]


def test_reversed_or_endless_range_is_malformed():
    assert faults("So [3-1] and [1-900].") == [("malformed", "[3-1]"), ("malformed", "[1-900]")]


def test_same_document_twice_in_a_row_is_a_duplicate():
    assert faults("So [1][1].") == [("duplicate", "[1]")]
    assert faults("So [1], [doc_7].") == [("duplicate", "[doc_7]")]
    assert faults("So [1] and later [1].") == []


def test_markers_keep_the_order_of_the_text_over_all_styles():
    text = "A 【2†source】 b (doc_1) c [1] d [doc_9"
    result = read(text, DOCUMENTS)
    assert [text[start:end] for start, end in result.markers] == ["【2†source】", "(doc_1)", "[1]", "[doc_9"]
    assert result.cited_ids == ["doc_9", "doc_7"]


def test_unknown_style_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"must be some of doc_id, numeric.*got sideways"):
        citation_reader(["sideways"])


@pytest.mark.parametrize("pattern", ["(a", "(?=doc)", r"(a)\1"])
def test_pattern_that_re2_refuses_is_a_config_error(pattern):
    with pytest.raises(ConfigError, match="id_pattern"):
        citation_reader(["doc_id"], pattern)


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[]",
        "[1]",
        "[1-50] ",
        "[doc_9 ",
        "`",
        "` ``",
        "```\n",
        "~~~\n",
        "[a](",
        "(1",
        "【1†",
        "[1,",
        "[x1]",
        "a[1]",
        "_",
    ],
)
def test_hostile_text_of_full_length_is_read_within_bounds(piece):
    text = (piece * 200_000)[:199_990] + " [1]"
    result = read(text, DOCUMENTS)
    assert len(result.markers) <= 60_000
    assert len(result.all) <= 21_000


@examples(300)
@given(st.text(alphabet="[]()【】†^,-–:;. \n`~ab_1290docID\ud800é", max_size=60), st.booleans())
def test_any_text_is_read_and_spans_lie_in_order_inside_it(text, zero_based):
    reader = citation_reader(DEFAULT_STYLES, r"[a-z]+_\d+", zero_based)
    result = reader(text, DOCUMENTS)
    spans = result.markers
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert {(c.start, c.end) for c in result.all} | {(f.start, f.end) for f in result.faults} == set(spans)


def test_inline_code_closes_with_an_equal_run_in_its_paragraph():
    assert code_spans("a `b` c ``d ` e`` f") == [(2, 5), (8, 17)]
    assert code_spans("a `b\n\nc` d") == []
    assert code_spans("```\nx\n```\n`y`") == [(0, 9), (10, 13)]


def test_ranges_in_one_bracket_name_so_many_documents_and_no_more():
    documents = [Document(f"d{number}") for number in range(60)]
    few = read("[" + "1-50, " * 9 + "1-50]", documents)
    many = read("[" + "1-50, " * 300 + "1-50]", documents)
    assert (len(few.all), {fault.kind for fault in few.faults}) == (500, {"duplicate"})
    assert (len(many.all), {fault.kind for fault in many.faults}) == (500, {"duplicate", "malformed"})
