"""What one step of a conversation starts or ends with, or how long it is, holds of no other answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "prompt",
    [
        'Process:\n1. Greet the guest.\n2. Ask for the room.\n3. End with "Bye".',
        '1. Greet the guest.\n2. Ask for the room.\n3. Look it up.\n4. Thank them and end with "Bye".',
        'First, greet the guest. Then ask for the room. Then give the price and end with "Bye".',
        "1. Greet the guest.\n2. Ask for the room.\n3. Tell them the price. Keep it under 20 words.",
    ],
)
def test_a_step_of_a_conversation_binds_no_other(prompt: str) -> None:
    assert sure(f"You are a hotel's assistant.\n\n{prompt}") == []


@pytest.mark.parametrize(
    "prompt",
    [
        '1. Greet the guest.\n2. Ask for the room.\n3. End every reply with "Bye".',
        '1. Greet the guest by name.\n2. Answer from the handbook.\n3. Be kind.\n4. End with "Bye".',
        'First, give the answer. Then list the sources. Finally, end with "Bye".',
        "Process:\n1. Greet the guest.\n2. Ask for the room.\n3. Never use emojis.",
    ],
)
def test_a_rule_beside_steps_or_in_a_list_of_rules_binds_all_answers(prompt: str) -> None:
    assert len(sure(f"You are a hotel's assistant.\n\n{prompt}")) == 1


@pytest.mark.parametrize(
    "prompt",
    [
        'Start the conversation with "Welcome!". Collect name and reason, one at a time. Finish by saying "Bye!".',
        'Ask for the name, the date and the room.\n- Be kind.\n- End with "Bye!".',
        'Greet the guest, then ask for the dates. Close by saying "Bye!".',
        'Ask one question at a time.\n\nEnd with "Bye!".',
        'Wait for their answer before you go on. Always close with "Bye!".',
        'Once you have all details, book the room. End with "Bye!".',
    ],
)
def test_what_a_dialogue_is_finished_with_binds_no_answer_before(prompt: str) -> None:
    assert sure(f"You are a hotel's assistant.\n\n{prompt}") == []


@pytest.mark.parametrize(
    "prompt",
    [
        'Ask one question at a time. End every message with "Bye!".',
        'Start the answer with the price. Be kind. End with "Bye!".',
        "Ask one question at a time. Never use emojis.",
    ],
)
def test_what_every_answer_ends_with_binds_those_of_a_dialogue(prompt: str) -> None:
    assert len(sure(f"You are a hotel's assistant.\n\n{prompt}")) == 1
