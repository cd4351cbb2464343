import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.checks import compliance, parse_check
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.citations.reader import Citation, Citations, Fault, citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.records.turns import Document

NUMBERED = [Document(doc_id=f"doc_{number}") for number in range(1, 6)]
READ = citation_reader()


def answer(text: str, documents: list[Document] = NUMBERED) -> Response:
    return Response(text, documents, READ)


def result(name: str, text: str, documents: list[Document] = NUMBERED) -> Result:
    return parse_check(name).check(answer(text, documents)).result


def read_as(citations: Citations, text: str) -> Response:
    return Response(text, NUMBERED, lambda _text, _documents: citations)


def test_golden_case_of_s0_keeps_two_of_three_instructions() -> None:
    text = "To reset your password, go to Settings > Security [1]. Click the reset option [1]."
    read = citation_reader(("doc_id",), r"doc_\d+")
    response = Response(text, NUMBERED, read)
    findings = [parse_check(name).check(response) for name in ("citation.format", "citation.placement")]
    findings.append(parse_check("citation.max_consecutive(at_most=3)").check(response))
    assert [finding.result for finding in findings] == ["fail", "pass", "pass"]
    assert text[findings[0].start : findings[0].end] == "[1]"
    assert compliance([(finding, 1.0) for finding in findings]) == 2 / 3


def test_format_fails_at_a_marker_of_another_style_than_the_named_one() -> None:
    text = "Open the settings [doc_1] and save [2]."
    finding = parse_check("citation.format(style=doc_id)").check(answer(text))
    assert finding.result is Result.FAIL
    assert text[finding.start : finding.end] == "[2]"
    assert finding.explanation == "'[2]' is not a citation in the style doc_id"


def test_format_passes_when_every_marker_is_of_a_declared_style() -> None:
    assert result("citation.format", "Open the settings [doc_1] and save [2].") is Result.PASS


def test_format_reports_the_first_malformed_marker() -> None:
    faults = [Fault("malformed", "(doc_2)", 20, 27, "doc_id"), Fault("malformed", "[doc_1", 4, 10, "doc_id")]
    response = read_as(Citations([], faults, [(4, 10), (20, 27)]), "One [doc_1 and then (doc_2).")
    finding = parse_check("citation.format").check(response)
    assert finding == CheckResult(Result.FAIL, "'[doc_1' is not a well-formed citation", 4, 10)


def test_a_dangling_marker_is_well_formed() -> None:
    faults = [Fault("dangling", "[doc_9]", 4, 11, "doc_id")]
    response = read_as(Citations([], faults, [(4, 11)]), "One [doc_9].")
    assert parse_check("citation.format").check(response).result is Result.PASS
    assert parse_check("citation.required").check(response).result is Result.FAIL


def test_a_marker_that_names_nothing_retrieved_fails() -> None:
    text = "Open it [doc_2]. Close it [doc_9] or [7]."
    finding = parse_check("citation.resolves").check(answer(text))
    assert finding.explanation == "'[doc_9]' does not name any of the 5 retrieved documents"
    assert text[finding.start : finding.end] == "[doc_9]"
    assert result("citation.resolves", "Open it [doc_2] [3].") is Result.PASS
    assert result("citation.resolves", "Open it [1-9].") is Result.FAIL


def test_what_is_delivered_beside_the_text_has_to_be_retrieved_too() -> None:
    beside = {"citations": [{"doc_id": "doc_77"}]}
    response = Response("Open it.", NUMBERED, READ, metadata=beside)
    assert parse_check("citation.resolves").check(response).explanation == (
        "'doc_77' does not name any of the 5 retrieved documents"
    )


def test_without_citations_or_documents_there_is_nothing_to_resolve() -> None:
    assert result("citation.resolves", "Open it.") is Result.NOT_APPLICABLE
    assert result("citation.resolves", "Open it [1].", []) is Result.NOT_APPLICABLE
    assert (
        result("citation.resolves", "Open it (doc_2).") is Result.NOT_APPLICABLE
    )  # malformed, which is another check's


def test_checks_on_markers_do_not_apply_without_markers() -> None:
    for name in ("citation.format", "citation.placement", "citation.max_consecutive", "citation.no_source_urls"):
        assert result(name, "No source is named here.") is Result.NOT_APPLICABLE


def test_marker_follows_a_word_a_quote_a_bracket_or_decoration() -> None:
    for before in (
        "text",
        "text ",
        'he said "so" ',
        "he said ”so” ",
        "(see there) ",
        "**bold** ",
        "`code` ",
        "50% ",
        "C++ ",
    ):
        assert result("citation.placement", f"The {before}[1] goes on.") is Result.PASS, before


def test_marker_after_two_spaces_or_a_stop_or_an_opening_bracket_is_misplaced() -> None:
    for before in ("text  ", "text. ", "text, ", "text (", 'text "', "text - ", "text\t"):
        assert result("citation.placement", f"The {before}[1] goes on.") is Result.FAIL, before


def test_marker_that_opens_a_line_a_cell_or_an_item_is_misplaced() -> None:
    for before in ("", "\n", "Text.\n", "- ", "* ", "> ", "1. ", "# ", "**", "| a | ", "Text\n\n- "):
        assert result("citation.placement", f"{before}[1] goes on.") is Result.FAIL, before


def test_marker_alone_on_a_line_is_misplaced() -> None:
    assert result("citation.placement", "Text here.\n[1]\nMore text.") is Result.FAIL


def test_marker_after_a_marker_stands_as_the_first_does() -> None:
    assert result("citation.placement", "Open the settings [1][2], [3].") is Result.PASS
    assert result("citation.placement", "Open the settings.\n[1] [2]") is Result.FAIL


def test_marker_may_follow_a_stop_when_the_suite_says_so() -> None:
    assert result("citation.placement(after_stop=true)", "Open the settings. [1] Then save. [2]") is Result.PASS
    assert result("citation.placement(after_stop=true)", "Do this:\n1. [1] is open.") is Result.FAIL


def test_marker_between_a_short_form_and_the_stop_is_placed_well() -> None:
    assert result("citation.placement", "It is sold in the U.S. [1].") is Result.PASS


def test_four_citations_in_a_row_are_one_too_many() -> None:
    finding = parse_check("citation.max_consecutive").check(answer("So it is [1][2], [3] [4]. And so [5]."))
    assert finding == CheckResult(Result.FAIL, "4 citations in a row, at most 3 are allowed", 9, 24)


def test_words_between_citations_end_the_row() -> None:
    assert result("citation.max_consecutive", "One [1][2] two [3][4] three [5].") is Result.PASS


@given(st.lists(st.tuples(st.sampled_from(["", " ", ", ", "  ;", "a", " and ", "—"]), st.integers(1, 5)), max_size=14))
def test_a_row_is_too_long_wherever_it_begins(parts: list[tuple[str, int]]) -> None:
    text = "So" + "".join(f"{between}[doc_{number}]" for between, number in parts)
    rows, ends = [0], 2
    for start, end in READ(text, NUMBERED).markers:
        if text[ends:start].strip(" \t,;"):
            rows.append(0)
        rows[-1], ends = rows[-1] + 1, end
    long = [count for count in rows if count > 2]
    finding = parse_check("citation.max_consecutive(at_most=2)").check(answer(text))
    if long:
        assert finding.explanation == f"{long[0]} citations in a row, at most 2 are allowed"
    else:
        assert finding.result is (Result.PASS if parts else Result.NOT_APPLICABLE)


def test_items_of_a_list_marker_count_each() -> None:
    found = [Citation(f"doc_{number}", number, 6, 18, "numeric") for number in range(1, 5)]
    response = read_as(Citations(found, [], [(6, 18)]), "So it [1, 2, 3, 4].")
    assert parse_check("citation.max_consecutive").check(response).result is Result.FAIL
    assert parse_check("citation.max_consecutive(at_most=4)").check(response).result is Result.PASS


def test_an_address_beside_a_marker_is_a_source_url() -> None:
    text = "It is so [1], see https://docs.example/reset for more."
    finding = parse_check("citation.no_source_urls").check(answer(text))
    assert finding.result is Result.FAIL
    assert text[finding.start : finding.end] == "https://docs.example/reset"


def test_an_address_as_link_target_is_a_source_url() -> None:
    assert result("citation.no_source_urls", "It is so [1], see [the page](https://docs.example/a).") is Result.FAIL


def test_an_address_in_code_is_no_source_url() -> None:
    assert result("citation.no_source_urls", "Run `curl https://docs.example/a` first [1].") is Result.PASS
    assert result("citation.no_source_urls", "Run this [1]:\n```\ncurl https://a.example\n```\n") is Result.PASS


def test_without_markers_only_a_retrieved_address_is_a_source_url() -> None:
    documents = [Document(doc_id="a", url="https://docs.example/reset/")]
    assert result("citation.no_source_urls", "See https://docs.example/reset.", documents) is Result.FAIL
    assert result("citation.no_source_urls", "See https://other.example/", documents) is Result.NOT_APPLICABLE


def test_only_retrieved_addresses_count_when_the_suite_says_so() -> None:
    documents = [Document(doc_id="a", url="https://docs.example/reset")]
    name = "citation.no_source_urls(retrieved_only=true)"
    assert result(name, "Log in at https://login.example first [a].", documents) is Result.PASS
    assert result(name, "It is so [a] (https://docs.example/reset).", documents) is Result.FAIL


def test_citation_is_required_only_with_documents() -> None:
    assert result("citation.required", "Open the settings [doc_1].") is Result.PASS
    assert result("citation.required", "Open the settings.") is Result.FAIL
    assert result("citation.required", "Open the settings.", []) is Result.NOT_APPLICABLE


def beside(text: str, *items: dict[str, object]) -> Response:
    return Response(text, NUMBERED, READ, metadata={"citations": list(items)})


def judged(name: str, response: Response) -> tuple[Result, str | None]:
    finding = parse_check(name).check(response)
    return finding.result, finding.explanation


def test_a_citation_beside_the_text_is_a_citation_of_the_response() -> None:
    response = beside("Open Settings.", {"doc_id": "doc_2"})
    assert judged("citation.required", response) == (Result.PASS, None)
    assert judged("citation.format", response) == (Result.PASS, None)
    assert judged("citation.format(style=structured)", response) == (Result.PASS, None)
    assert judged("citation.no_source_urls", response) == (Result.PASS, None)
    assert judged("citation.max_consecutive", response) == (Result.NOT_APPLICABLE, None)


def test_where_markers_are_asked_for_a_citation_beside_the_text_is_of_another_style() -> None:
    said = "what is cited beside the text is not a citation in the style doc_id"
    assert judged("citation.format(style=doc_id)", beside("Open it.", {"doc_id": "doc_2"})) == (Result.FAIL, said)
    # the marker is the citation; what is delivered says the same again
    assert judged("citation.format(style=doc_id)", beside("Open it [doc_2].", {"doc_id": "doc_2"}))[0] is Result.PASS
    assert (
        judged("citation.format(style=structured)", beside("Open it [doc_2].", {"doc_id": "doc_2"}))[0] is Result.FAIL
    )


def test_what_is_delivered_and_names_nothing_retrieved_is_no_fault_of_format() -> None:
    response = beside("Open it [doc_2].", {"url": "https://elsewhere.example"})
    assert judged("citation.format(style=doc_id)", response)[0] is Result.PASS


def test_placement_judges_places_and_not_what_has_none() -> None:
    text = "Open Settings.\n\n\nWait."
    assert judged("citation.placement", beside(text, {"doc_id": "doc_2"}))[0] is Result.NOT_APPLICABLE
    for start, end in ((0, 14), (0, 17), (14, 14), (15, 15), (17, 22)):
        assert judged("citation.placement", beside(text, {"doc_id": "doc_2", "start": start, "end": end}))[0] == "pass"
    for start, end in ((0, 0), (16, 16), (17, 17)):
        assert judged("citation.placement", beside(text, {"doc_id": "doc_2", "start": start, "end": end})) == (
            Result.FAIL,
            "the place cited to 'doc_2' beside the text holds no text",
        )


def test_places_within_a_marker_do_not_lengthen_a_row() -> None:
    items = [{"doc_id": f"doc_{n}", "start": 8, "end": 9} for n in (2, 3, 4, 5)]
    assert judged("citation.max_consecutive(at_most=1)", beside("Open it [1].", *items))[0] is Result.PASS


def test_a_loose_check_sees_what_is_beside_the_text() -> None:
    assert judged("loose.citation.required", beside("Sure:\nOpen it.", {"doc_id": "doc_2"}))[0] is Result.PASS


IDS = {
    "numbers": ["1", "2", "3"],
    "others": ["kb-1", "kb-2", "kb-3"],
    "labelled": ["Source 1", "Source 2", "Source 3"],
    "steps": ["help_article-1", "help_article-2"],
}


@pytest.mark.parametrize(
    ("style", "ids", "text"),
    [
        ("numeric", "numbers", "It opened in 1932 [1]. It is 120 m long [2, 3]."),
        ("numeric", "numbers", "It opened in 1932 [1-3], or so they say [9]."),
        ("numeric", "others", "It opened in 1932 [1]. It is 120 m long [2][3]."),
        ("doc_id", "numbers", "It opened in 1932 [1]. It is 120 m long [9]."),
        ("doc_id", "steps", "It opened in 1932 [help_article-1]."),
        ("labelled", "numbers", "It opened in 1932 [Source 1]."),
        ("labelled", "numbers", "It opened in 1932 [Sources 1, 2]."),
        ("labelled", "others", "It opened in 1932 [Source 1]."),
        ("labelled", "labelled", "It opened in 1932 [Source 1]."),
    ],
)
def test_a_marker_has_the_style_that_it_is_written_in_whatever_the_ids_are(style: str, ids: str, text: str) -> None:
    documents = [Document(doc_id=doc_id) for doc_id in IDS[ids]]
    assert result(f"citation.format(style={style})", text, documents) is Result.PASS


@pytest.mark.parametrize(
    ("style", "ids", "text"),
    [
        ("numeric", "numbers", "It opened in 1932 [Source 1]."),
        ("numeric", "numbers", "It opened in 1932 [^1]."),
        ("numeric", "others", "It opened in 1932 [kb-1]."),
        ("doc_id", "others", "It opened in 1932 [1]."),
        ("labelled", "numbers", "It opened in 1932 [1]."),
        ("labelled", "others", "It opened in 1932 [kb-1]."),
        ("footnote", "numbers", "It opened in 1932 [1]."),
    ],
)
def test_a_marker_written_in_another_style_fails_whatever_the_ids_are(style: str, ids: str, text: str) -> None:
    documents = [Document(doc_id=doc_id) for doc_id in IDS[ids]]
    assert result(f"citation.format(style={style})", text, documents) is Result.FAIL


def test_markers_of_citations_are_no_words_between_spaces() -> None:
    limit = "length.number_words(at_most=4,by_spaces=true)"
    assert result(limit, "Restart the old router [doc_1] [doc_2].") is Result.PASS
    assert result(limit, "Restart the old router[doc_1] now.") is Result.FAIL
