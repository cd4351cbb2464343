"""Leftovers: tags and tokens of models and variables of templates are seen, and what looks like them is not."""

import pytest

from turnsignal.stream.text.leftovers import has_leftovers


@pytest.mark.parametrize(
    "text",
    [
        "<think>The user wants a price.</think>\nIt is 9 euros.",
        "They want a price.\n</think>\nIt is 9 euros.",
        "It is 9 euros.<|im_end|>",
        "[INST] What does it cost? [/INST] It is 9 euros.",
        "It is 9 euros.</s>",
        '<tool_call>{"name": "price"}</tool_call>',
        "<answer>It is 9 euros.</answer>",
        "Hello {{ customer_name }}, it is 9 euros.",
        "Hello ${user.name}, it is 9 euros.",
        "{% if vip %}Welcome back!{% endif %}",
        "It is 9 euros.<｜end▁of▁sentence｜>",
        "Use `{{name}}` in the file. <|eot_id|>",
        '{"tool": "search", "args": {"query": "refund"}}',
        '```json\n{"name": "get_order", "arguments": {"id": 4}}\n```',
        '{"answer": "It is 9 euros.", "sources": ["doc_4"]}',
        '{"thought": "They want a price.",\n "confidence": 0.8,\n "final_answer": "It is 9 euros."}\n',
        "### System\nAnswer politely.\n### User\nWhat is it?\n### Assistant\nIt is 9 euros.",
        "It is 9 euros.\n\n### Human: And now?\n### Assistant: The same.",
        "## Instruction:\nSay the price.\n\n## Response:\nIt is 9 euros.",
    ],
)
def test_what_nobody_should_read_is_seen(text: str) -> None:
    assert has_leftovers(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is 9 euros.",
        "Write `{{name}}` where the name belongs, and `<think>` where it thinks.",
        "```jinja\n{% if vip %}{{ name }}{% endif %}\n```",
        "Run deploy <user> <answer> and see <https://example.org>.",
        "<b>It is</b> 9 <i>euros</i>, <s>10</s> before.",
        r"The mean is $\frac{{a}}{b}$, and $x^{{n}}$ grows.",
        "See [1] and [doc_4]; 3 < 4 > 2.",
        'The body is {"a": {"b": 1}}.',
        '{"name": "Ann", "email": "ann@a.test"}',
        'Send {"question": "why", "answer": "because"} to it.',
        '```json\n{"question": "why", "answer": "because"}\n```',
        '{"answer": 42}',
        "`{{a}}` " * 50,
        "### User\nWho signs in.\n### System requirements\n4 GB\n### Response\n`200`",
        "A prompt looks like this:\n```\n### User\nHi\n### Assistant\nHello\n```",
        "### Question\nWhat is it?\n### Answer\nIt is 9 euros.",
    ],
)
def test_what_an_answer_may_show_is_not_one(text: str) -> None:
    assert not has_leftovers(text)


@pytest.mark.parametrize(
    "text",
    [
        "#" * 100_000,
        "### User" + " " * 100_000 + "x",
        " " * 100_000 + '{"',
        "[" + " " * 100_000 + "{",
        '{"' + 'answer": "' * 10_000,
    ],
)
def test_a_text_of_hardly_anything_but_spaces_is_looked_through_once(text: str) -> None:
    assert not has_leftovers(text)
