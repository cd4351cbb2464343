import pytest

from turnsignal.stream.records.turns import Document
from turnsignal.stream.truth.documents import match_documents, plain_address

PAGE = "https://example.com/help/refunds"


@pytest.mark.parametrize(
    "address",
    [
        "HTTPS://www.Example.com:443/help/refunds/",
        "http://example.com:80/help/refunds?utm_source=mail&gclid=1#top",
        "www.example.com/help/refunds",
    ],
)
def test_what_says_nothing_about_a_page_does_not_make_it_another(address: str) -> None:
    assert plain_address(address) == plain_address(PAGE)
    matched = match_documents([PAGE], (), [Document("d1"), Document("d2", url=address)])
    assert matched.labels == {"d2": PAGE}
    assert matched.moved == 0


@pytest.mark.parametrize(
    "address", [f"{PAGE}?page=2", "https://example.com:8443/help/refunds", "https://a.org/refunds"]
)
def test_another_page_is_another(address: str) -> None:
    assert not match_documents([PAGE], (), [Document(address)]).labels


def test_a_page_that_moved_is_known_by_its_text() -> None:
    moved = Document("https://example.com/2026/refund-policy", text="News. Refunds take five working days, always.")
    other = Document("https://example.com/2026/jobs", text="We look for people who work.")
    matched = match_documents([PAGE], ["refunds take five working days"], [other, moved])
    assert matched.labels == {moved.doc_id: PAGE}
    assert matched.moved == 1


def test_ids_that_are_no_addresses_do_not_move() -> None:
    copy = Document("d2", text="refunds take five working days")
    assert not match_documents(["d1"], ["refunds take five working days"], [copy]).labels


@pytest.mark.parametrize(
    "address", ["https://[::1", "http://a:99999999/", "https://", "https://é.example/ü?" + "a=1&" * 500]
)
def test_addresses_that_cannot_be_read_are_compared_as_they_are(address: str) -> None:
    assert match_documents([address], (), [Document("d1", url=address)]).labels == {"d1": address}
