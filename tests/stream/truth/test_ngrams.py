"""BLEU and chrF: 0 to 1, whatever stands in the texts, and sacrebleu's own values."""

import pytest
from sacrebleu import sentence_bleu, sentence_chrf

from turnsignal.stream.truth.ngrams import Overlap, compare_ngrams

PAIRS = [
    ("reset the password, please", "reset your password now, thanks"),
    ("密码可以重置", "您的密码可以在设置中重置"),
    ("Open **Settings**, then [Security](https://example.com).", "Open Settings and choose Security."),
]


@pytest.mark.parametrize(("reference", "answer"), PAIRS)
def test_values_are_those_of_the_library_as_shares(reference: str, answer: str) -> None:
    shared = compare_ngrams(reference, answer)
    assert shared.bleu == pytest.approx(sentence_bleu(answer, [reference]).score / 100)
    assert shared.chrf == pytest.approx(sentence_chrf(answer, [reference]).score / 100)
    assert 0 < shared.chrf < 1


def test_equal_texts_share_all_and_texts_without_words_nothing() -> None:
    assert compare_ngrams("two years", "two years") == Overlap(1.0, 1.0)
    for reference, answer in (("", "two years"), ("two years", ""), ("two years", " \ud800\n\x00")):
        assert compare_ngrams(reference, answer) == Overlap(0.0, 0.0)


def test_of_long_texts_the_first_letters_are_compared() -> None:
    assert compare_ngrams("word " * 1_000 + "end", "word " * 1_000 + "other end").bleu == pytest.approx(1.0)
