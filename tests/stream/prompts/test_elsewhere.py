"""What a sentence elsewhere lets some answers do, whatever stands between, doubts the checks that they would fail."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are an assistant of a web shop.\n\n"
LIMIT, END, JSON = "Keep answers under 50 words.", 'End every answer with "Thank you."', "Always answer in valid JSON."
PLACES = [
    "## Style\n- Be kind.\n- {rule}\n\n## More\n- Know the catalogue.\n- {other}\n",
    "{other}\n\nBe kind. {rule}\n",
    "{rule} Be kind.\n\n- {other}\n",
]
LONGER = [
    "Longer answers are acceptable for tutorials.",
    "Only when the user asks for details may you give longer answers.",
    "You may go over for tutorials.",
    "Feel free to go over this when the user wants depth.",
    "Take as much space as you need for tutorials.",
    "Tutorials get more room.",
    "The limit is lifted for tutorials.",
    "In that case, length does not matter.",
    "Code does not count towards this.",
    "Premium users get detailed answers.",
    "Tutorials: 200-400 words.",
    "When asked for an itinerary, give a plan of about 300 words.",
]
NOT_LONGER = [
    "Longer answers are not allowed.",
    "Do not give longer answers even if asked.",
    "Refunds may take longer than a week.",
    "Users may write up to 300 words.",
    "The warranty covers up to 24 months.",
    "Never go over it.",
]
STOPS = [
    "If the user is in danger, give the hotline number and stop there.",
    "If the user is in danger, your whole reply is the hotline number.",
    "For spam, output the word REFUSED alone.",
    "If the user sends spam, respond with a single word: spam.",
    "In that case, do not add anything else.",
    "If nothing fits, output NONE.",
]
GOES_ON = [
    "Never stop there.",
    "If the parcel is lost, tell the user to stop at the depot.",
    "Answer with one thought.",
]
TALKS = [
    "If input is missing, ask the user for it in a normal sentence.",
    "Small talk is answered normally.",
    "If you cannot help, say so in plain English.",
    "If nothing fits, output NONE.",
]
NO_TALK = [
    "Prices are normally in euros.",
    "Write the summary field in normal sentences.",
    'Ask for a missing number in the field "question".',
]


def doubts(place: str, rule: str, other: str) -> list[bool]:
    """Whether each check that the rule asks for is doubtful."""
    reading = read_prompt(ROLE + place.format(rule=rule, other=other))
    asked = [one.doubt is not None for one in reading.proposals if rule in one.sentences]
    assert asked
    return asked


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("rule", "other"),
    [(LIMIT, other) for other in LONGER] + [(END, other) for other in STOPS] + [(JSON, other) for other in TALKS],
)
def test_what_lets_some_answers_off_doubts_what_they_would_fail(place: str, rule: str, other: str) -> None:
    assert doubts(place, rule, other) == [True]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("rule", "other"),
    [(LIMIT, other) for other in NOT_LONGER]
    + [(END, other) for other in GOES_ON]
    + [(JSON, other) for other in NO_TALK],
)
def test_what_lets_no_answer_off_doubts_nothing(place: str, rule: str, other: str) -> None:
    assert doubts(place, rule, other) == [False]


@pytest.mark.parametrize("other", [*STOPS[:3], "Tutorials: 200-400 words."])
def test_what_such_an_answer_keeps_stays_sure(other: str) -> None:
    assert doubts(PLACES[0], "Never use emojis.", other) == [False]


def test_a_word_for_another_is_no_exception() -> None:
    rule = "Keep every turn to one or two sentences."
    assert doubts(PLACES[0], rule, 'Spell out numbers: say "half past two" instead of "2:30".') == [False]


def test_what_is_always_so_is_asked_for() -> None:
    assert [one.doubt for one in read_prompt(f'{ROLE}The last line is always "The end."').proposals] == [None]


@pytest.mark.parametrize("hole", ["{history}", "{{ history }}", "<<HISTORY>>", "$history", "{% history %}"])
def test_a_hole_above_a_list_is_no_heading_of_it(hole: str) -> None:
    prompt = f"{ROLE}Conversation:\n{hole}\n\n- Never use emojis.\n- Answer in English.\n"
    assert [one.doubt for one in read_prompt(prompt).proposals] == [None, None]


@pytest.mark.parametrize("tag", ["item", "li", "point", "rule"])
def test_a_tag_that_holds_one_rule_is_no_part_of_the_answer(tag: str) -> None:
    prompt = f"{ROLE}<style>\n<{tag}>Keep answers under 50 words.</{tag}>\n<{tag}>Be kind.</{tag}>\n</style>\n"
    assert [one.doubt for one in read_prompt(prompt).proposals] == [None]
