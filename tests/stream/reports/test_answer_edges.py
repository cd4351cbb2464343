"""A sentence that many answers came to begin or end with is seen, whatever stands between; others are chance."""

from turnsignal.stream.reports.answer_edges import AnswerEdges, edges, has_end

FOOTER = "Everything can be found in your account."


def answered(n: int, *, footer: float = 0.0) -> AnswerEdges:
    counted = AnswerEdges()
    for at in range(n):
        behind = f" {FOOTER}" if at < footer * n else ""
        counted.add(edges(f"Answer of its own kind {'abcdefghij'[at % 10] * (at + 1)}. It takes {at} days.{behind}"))
    return counted


def test_a_footer_that_came_is_seen_and_one_that_was_there_is_not() -> None:
    share, sentence = answered(60, footer=0.8).more_alike(answered(60))
    assert (round(share, 2), sentence) == (0.8, FOOTER.casefold())
    assert answered(60, footer=0.8).more_alike(answered(60, footer=0.8)) == (0.0, "")
    assert answered(60).more_alike(answered(60, footer=0.8))[1] != FOOTER.casefold(), "one that went hides nothing"


def test_a_few_answers_that_end_alike_are_no_footer() -> None:
    assert answered(60, footer=0.05).more_alike(answered(60))[1] != FOOTER.casefold()
    assert AnswerEdges().more_alike(answered(60)) == (0.0, "")


def test_texts_of_one_length_without_an_end_were_cut() -> None:
    def logged(n: int, most: int) -> AnswerEdges:
        counted = AnswerEdges()
        for at in range(n):
            text = f"It takes {'very ' * (at % 7)}long, some {at} days."[:most]
            counted.add(edges(text), len(text), is_whole=has_end(text))
        return counted

    assert logged(60, 30).more_cut(logged(60, 200)) > 0.5
    assert logged(60, 200).more_cut(logged(60, 30)) < -0.5
    assert logged(60, 200).more_cut(logged(60, 200)) == logged(60, 30).more_cut(AnswerEdges()) == 0.0
    whole = logged(30, 30)
    whole.merge(logged(30, 30))
    assert (whole.longest, whole.cut) == (30, 2 * logged(30, 30).cut)


def test_answers_without_a_text_were_not_cut() -> None:
    whole, empty = AnswerEdges(), AnswerEdges()
    for n in range(300):
        whole.add((), 100 + n)
        empty.add((), 0, is_whole=False)
    assert empty.more_cut(whole) == 0.0


def test_parts_are_counted_together() -> None:
    whole = answered(30, footer=1.0)
    whole.merge(answered(30))
    assert (whole.n, whole.more_alike(answered(60))[1]) == (60, FOOTER.casefold())


def test_an_answer_of_one_sentence_has_nothing_around_it() -> None:
    assert edges("It is 9 euros.") == edges("") == edges("\n ") == ()
    assert len(edges("Sure. It is 9 euros.")) == 2


def test_a_citation_behind_the_full_stop_is_no_sentence_that_answers_share() -> None:
    assert edges("It is 9 euros. [1]") == edges("[1]") == ()
    assert edges("Sure. It is 9 euros. [1] [2]") == edges("Sure. It is 8 euros.")
    cited = AnswerEdges()
    for at in range(60):
        cited.add(
            edges(f"Answer of its own {'abcdefghij'[at % 10] * (at + 1)}. It takes {'xyz'[at % 3] * at} days. [1]")
        )
    assert cited.more_alike(answered(60)) == (0.0, "")
