"""What a sentence asks of the keys and values of its JSON has no check, and is listed beside that for JSON."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    ("prompt", "what"),
    [
        ('Return a JSON object with the keys "mood" and "topics".', 'with the keys "mood" and "topics"'),
        ("Reply with JSON containing name and age.", "containing name and age"),
        ("Respond with a JSON array of strings.", "array of strings"),
        ("Output valid JSON that has an id for each item.", "that has an id for each item"),
        ("Output JSON only, keys in snake case.", "keys in snake case"),
    ],
)
def test_what_is_said_of_keys_and_values_is_listed(prompt: str, what: str) -> None:
    reading = read_prompt(prompt)
    assert [one.check for one in reading.proposals] == ["format.json"]
    assert reading.uncovered == (f"{prompt} (no check: {what})",)


@pytest.mark.parametrize("prompt", ["Output only valid JSON.", "Answer in JSON format.", "Always respond in JSON."])
def test_json_alone_has_its_check_and_nothing_beside(prompt: str) -> None:
    assert read_prompt(prompt).uncovered == ()
