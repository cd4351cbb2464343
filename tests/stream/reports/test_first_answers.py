"""First answers tell a release that refuses or fails in any words: they are short, or the same to everybody."""

import random

import pytest

from turnsignal.stream.reports.first_answers import FirstAnswers, first_answer, first_documents

REFUSAL = "Let me transfer you to an agent."


def answers(refused: int, given: int, platform: str = "web") -> FirstAnswers:
    """Answers of about 200 characters, each another, and refusals."""
    found = FirstAnswers()
    for number in range(given):
        found.add(first_answer(platform, f"{chr(0x4E00 + number)}, open the settings. " * 10))
    for _ in range(refused):
        found.add(first_answer(platform, REFUSAL))
    return found


def test_a_rising_share_of_short_answers_is_seen() -> None:
    change = answers(60, 140).short(answers(0, 200))
    assert change.value == pytest.approx(0.3)
    assert change.p < 1e-6


def on(**platforms: int) -> FirstAnswers:
    found = FirstAnswers()
    for name, n in platforms.items():
        found.merge(answers(0, n, "" if name == "untold" else name))
    return found


@pytest.mark.parametrize(
    ("before", "after", "is_renamed"),
    [
        ({"web": 120, "app": 80}, {"chat_web": 115, "chat_app": 85}, True),
        ({"web": 120, "app": 80}, {"untold": 200}, True),
        ({"untold": 200}, {"web": 120, "app": 80}, True),
        ({"web": 120, "app": 80}, {"chat_web": 180, "chat_app": 20}, False),  # other shares
        ({"web": 120, "app": 80}, {"chat_web": 120, "app": 80}, False),  # one is called as before
        ({"web": 120, "app": 80}, {"chat_web": 180, "chat_app": 17, "untold": 3}, False),  # others, and a few untold
        ({"web": 200}, {"whatsapp": 200}, False),  # they may all have moved
    ],
)
def test_platforms_that_are_named_otherwise_are_no_traffic_that_moved(
    before: dict[str, int], after: dict[str, int], *, is_renamed: bool
) -> None:
    was, became = on(**before), on(**after)
    assert bool(became.renamed_platforms(was)) is is_renamed
    assert bool(became.shifted(was)) is not is_renamed
    assert was.renamed_platforms(was) == was.shifted(was) == FirstAnswers().renamed_platforms(was) == ""


def test_a_text_that_many_get_is_named() -> None:
    same = answers(60, 140).same(answers(0, 200))
    assert same is not None
    change, text = same
    assert (change.value, text) == (pytest.approx(0.3), REFUSAL.lower())
    assert change.p < 1e-6


def test_what_was_as_common_before_is_no_news() -> None:
    same = answers(60, 140).same(answers(60, 140))
    assert same is not None
    assert same[0].value == 0.0
    assert answers(60, 140).short(answers(60, 140)).value == 0.0


def said(shares: dict[str, int], n: int = 400) -> FirstAnswers:
    """Answers of these texts, so many of a hundred, and others that all differ."""
    made = answers(0, n - sum(shares.values()) * n // 100)
    for text, share in shares.items():
        for _ in range(share * n // 100):
            made.add(first_answer("web", text))
    return made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"Hello! How can I help?": 8}, {"Hi there, what can I do for you?": 8}),
        ({"Hello!": 4, "Good day!": 4}, {"Hi there!": 4, "Welcome!": 4}),
        ({"Hello!": 30, "Done.": 10}, {"Hi there!": 30, "OK.": 10}),
        ({"Hello!": 10}, {"Hi there!": 4, "Welcome!": 5}),
    ],
)
def test_new_words_for_what_is_said_to_as_many_are_no_news(before: dict[str, int], after: dict[str, int]) -> None:
    same = said(after).same(said(before))
    assert same is not None
    assert same[0].value <= 0 or same[0].p > 0.05


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ({"Hello!": 8}, {"Hi there!": 8, REFUSAL: 30}, 0.3),
        ({"Hello!": 40}, {"Hello!": 40, REFUSAL: 20}, 0.2),
        ({"Hello!": 40}, {"Hi there!": 40, REFUSAL: 20}, 0.2),
        ({"Menu one": 33, "Menu two": 33, "Menu three": 34}, {REFUSAL: 100}, 0.66),
        ({}, {REFUSAL: 100}, 1.0),
    ],
)
def test_that_the_same_is_said_to_more_is_seen_beside_new_words_for_other_texts(
    before: dict[str, int], after: dict[str, int], value: float
) -> None:
    same = said(after).same(said(before))
    assert same is not None
    assert same[0].value == pytest.approx(value)
    assert same[0].p < 1e-6


def test_where_the_same_is_said_to_fewer_what_they_got_is_named() -> None:
    same = said({"Hello!": 5}).same(said({REFUSAL: 50}))
    assert same is not None
    assert (same[0].value, same[1]) == (pytest.approx(-0.45), REFUSAL.lower())


@pytest.mark.parametrize(("texts", "sizes"), [(100, (30, 1_000)), (500, (45, 1_500)), (1_000, (100, 1_500))])
def test_of_many_texts_one_that_a_small_release_has_twice_by_chance_is_no_news(
    texts: int, sizes: tuple[int, int]
) -> None:
    draw = random.Random(texts)
    given = [first_answer("web", chr(0x4E00 + number) * 40) for number in range(texts)]
    named = 0
    for _ in range(100):
        releases = FirstAnswers(), FirstAnswers()
        for release, size in zip(releases, sizes, strict=True):
            for answer in draw.choices(given, k=size):
                release.add(answer)
        same = releases[0].same(releases[1])
        named += same is not None and same[0].p <= 0.05
    assert named <= 5


def test_answers_that_all_differ_have_nothing_in_common() -> None:
    assert answers(0, 200).same(answers(0, 200)) is None


SPOKEN = {
    "en": "You can report the damage in the portal, and please turn off the water first [d1].",
    "de": "Sie melden den Schaden im Portal unter Ihrem Vertrag, und bitte drehen Sie zuerst das Wasser ab [d1].",
    "es": "Puede comunicar los daños en el portal, y por favor cierre primero el agua de su casa [d1].",
}
SPOKEN["quoted"] = f"{SPOKEN['de']} The letter says: {SPOKEN['en']}"
SPOKEN["code"] = "```\nyou are not the user that this is for, and there is no file\n```"


def spoken(users: dict[str, int], question: str = "Rohrbruch", **answers: int) -> FirstAnswers:
    """Make answers in these languages, to short questions that do not tell theirs; users: who can be told."""
    asked = [code for code, count in users.items() for _ in range(count)]
    given = [code for code, count in answers.items() for _ in range(count)]
    found = FirstAnswers()
    for at, code in enumerate(given):
        found.add(first_answer("web", SPOKEN[code], question), asked[at] if at < len(asked) else "")
    return found


@pytest.mark.parametrize(("before", "after", "value"), [("de", "en", -1.0), ("de", "es", -1.0), ("en", "de", 1.0)])
def test_answers_in_another_language_than_all_users_are_seen_without_their_questions(
    before: str, after: str, value: float
) -> None:
    compared = spoken({"de": 9}, **{after: 60}).in_one_language(spoken({"de": 12}, **{before: 90}), 30)
    assert compared is not None
    change, language = compared
    assert (change.value, language, change.p < 1e-6) == (value, "German", True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (spoken({"de": 12}, de=90), spoken({"en": 9}, en=60)),  # other users
        (spoken({"de": 12}, de=90), spoken({"de": 5, "en": 4}, de=20, en=40)),
        (spoken({"de": 6, "en": 6}, en=90), spoken({"de": 6, "en": 6}, de=30, en=30)),  # two languages in both
        (spoken({"de": 12}, de=90), spoken({}, en=60)),  # nobody knows who came
        (spoken({"de": 12}, de=90), spoken({"de": 9}, question="burst pipe", en=60)),  # they ask otherwise
        (spoken({"de": 12}, de=90), spoken({"de": 9}, quoted=60)),
        (spoken({"de": 12}, de=90), spoken({"de": 9}, code=60)),
        (spoken({"de": 12}, de=90), spoken({"de": 9}, de=40, en=20)),  # as a few quotations do
        (spoken({"de": 12}, de=90), spoken({"de": 9}, en=20)),  # too few
    ],
)
def test_other_users_two_languages_quotations_and_code_make_no_answers_be_in_another_language(
    before: FirstAnswers, after: FirstAnswers
) -> None:
    assert after.in_one_language(before, 30) is None


def test_citations_and_numbers_do_not_tell_texts_apart_and_only_a_beginning_is_kept() -> None:
    one, other = first_answer("web", "See page 12 [doc_4] [doc_5]."), first_answer("web", "See page 7 [3].")
    assert one.text == other.text
    assert first_answer(None, "x" * 5_000).text.endswith(" " + "x" * 80)


def test_parts_merge_to_the_whole() -> None:
    whole = answers(60, 140)
    part = answers(60, 0)
    part.merge(answers(0, 140))
    assert (part.texts, part.lengths, part.platforms) == (whole.texts, whole.lengths, whole.platforms)


def test_memory_is_bounded_and_what_is_common_is_kept() -> None:
    found = answers(200, 5_000)
    assert len(found.texts) <= 2_000
    same = found.same(answers(0, 100))
    assert same is not None
    assert same[1] == REFUSAL.lower()


def searches(alike: int, apart: int, each: int = 5, first: int = 0) -> FirstAnswers:
    """Conversations that got the same documents, and ones that got documents of their own."""
    found = FirstAnswers()
    for number in range(alike + apart):
        names = (f"general {at}" if number < alike else f"{first + number} {at}" for at in range(each))
        found.add(first_answer("web", "Like this.")._replace(documents=first_documents(names)))
    return found


def test_a_search_that_finds_the_same_whatever_is_asked_is_seen_and_its_end_too() -> None:
    change, share = searches(200, 0).same_documents(searches(0, 200))
    assert (share, change.value) == (1.0, pytest.approx(1.0))
    assert change.p < 1e-9
    half, share = searches(100, 100).same_documents(searches(0, 200, first=200))
    assert (share, half.value) == (pytest.approx(0.5), pytest.approx(0.5))
    mended, share = searches(0, 200).same_documents(searches(200, 0))
    assert (share, mended.value) == (pytest.approx(0.0, abs=0.01), pytest.approx(-1.0, abs=0.01))


def test_the_same_few_documents_in_another_order_or_number_are_still_the_same() -> None:
    shuffled = FirstAnswers()
    for number in range(100):
        names = [f"general {(number + at) % 5}" for at in range(5)]
        shuffled.add(first_answer("web", "Like this.")._replace(documents=first_documents(names)))
    assert shuffled.same_documents(searches(0, 100))[1] == 1.0
    assert searches(100, 0, each=1).same_documents(searches(0, 100))[1] == 1.0


def test_what_a_small_release_finds_by_chance_is_no_collapse() -> None:
    draw = random.Random(3)
    most = 0.0
    for _ in range(100):
        releases = FirstAnswers(), FirstAnswers()
        for release, size in zip(releases, (30, 1_000), strict=True):
            for _ in range(size):
                names = (f"{min(40, int(draw.expovariate(0.1)))}" for _ in range(5))
                release.add(first_answer("web", "Like this.")._replace(documents=first_documents(names)))
        most = max(most, abs(releases[0].same_documents(releases[1])[0].value))
    assert most < 0.2


def test_what_is_counted_of_documents_merges_is_bounded_and_takes_none_for_nothing() -> None:
    part = searches(60, 0)
    part.merge(searches(0, 40, first=60))
    whole = searches(60, 40, first=60)
    assert (part.searched, part.retrieved) == (whole.searched, whole.retrieved) == (100, 500)
    assert part.same_documents(searches(0, 9))[1] == whole.same_documents(searches(0, 9))[1] == pytest.approx(0.6)
    many = searches(500, 3_000)
    assert len(many.documents) <= 4_000
    assert many.same_documents(searches(0, 9))[1] == pytest.approx(500 / 3_500)
    many.add(first_answer("web", "Hello!"))
    assert many.searched == 3_500
    assert len(first_documents(f"{number}" for number in range(100))) == 20
    assert first_documents(["a", "a", "\ud800"]) == first_documents(["a", "\ud800"])


def retrieved(seed: int, prefix: str = "", of: int = 60) -> FirstAnswers:
    """Give 150 answers with three documents each, of which few are asked for often; prefix: of their ids."""
    rng, found = random.Random(seed), FirstAnswers()
    for _ in range(150):
        names = {f"{prefix}{min(of, int(rng.expovariate(4 / of)))}" for _ in range(3)}
        answer = first_answer("web", "Open the settings.")._replace(documents=first_documents(sorted(names)))
        found.add(answer)
    return found


def test_documents_that_all_have_other_ids_are_told_from_others_of_the_same() -> None:
    replaced = retrieved(1, "v2-").replaced(retrieved(2))
    assert replaced == (pytest.approx(1.0), True)
    assert [retrieved(seed).replaced(retrieved(seed + 50)) for seed in range(10)] == [None] * 10
    many = [retrieved(seed, of=2_000).replaced(retrieved(seed + 50, of=2_000)) for seed in range(10)]
    assert many == [None] * 10, "of many documents most come once"
    assert FirstAnswers().replaced(retrieved(1)) is None
    canary = FirstAnswers()
    for name, count in list(retrieved(3, "v2-").documents.items())[::3]:
        for _ in range(count):
            canary.add(first_answer("web", "So.")._replace(documents=(name,)))
    assert canary.replaced(retrieved(1)) == (pytest.approx(1.0), True), "fewer answers get rarer documents"


def test_a_search_that_finds_anything_or_the_same_few_has_no_documents_under_other_ids() -> None:
    usual, rng = retrieved(1), random.Random(1)
    anything, few = FirstAnswers(), FirstAnswers()
    for _ in range(150):
        names = [f"z{rng.randrange(5_000)}" for _ in range(3)]
        anything.add(first_answer("web", "So.")._replace(documents=first_documents(names)))
        few.add(first_answer("web", "So.")._replace(documents=first_documents(["z1", "z2", "z3"])))
    for found in (anything, few):
        assert found.replaced(usual) == (pytest.approx(1.0), False)
    assert few.same_documents(usual)[0].value > 0.5
