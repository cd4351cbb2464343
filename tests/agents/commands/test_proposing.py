"""`turnsignal suite from-prompt`: whatever a prompt says, a suite comes out that `suite check` accepts."""

import random
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.proposing import LISTED, MAX_PROMPT, choose, write_suite
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.pipeline.scoring import ResponseScorer
from turnsignal.stream.prompts.reader import MAX_PROPOSALS, read_prompt
from turnsignal.stream.prompts.reading import PromptReading, Proposal
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.suite import parse_suite

SUPPORT = """# Support assistant
You are the assistant of Acme. Answer from the retrieved documents only.

## Citations
- Citations must follow the [doc_id] format, placed after the text they support.
- Max three consecutive.
- No source URLs.

## Style
Keep answers under 150 words. Never use emojis!
If the user asks for JSON, return only JSON.
End every answer with "Anything else?"

## Slack
Use Slack mrkdwn formatting and at most 3 sentences.
"""

PROMPTS = {
    "support": SUPPORT,
    "one paragraph": "Be brief: two sentences at most, in Spanish, without exclamation marks, and no tables.",
    "empty": "",
    "not an instruction": "The weather in Oslo is mild.",
    "nothing that a check could tell": "Be kind. Never give medical advice.",
    "several platforms": "On Slack, use no headings. On the web, use at least 2 bullets. Via email, add a postscript.",
    "contradictory": "Use at least 300 words. Use at most 100 words.",
    "impossible bounds": "Use fewer than 0 words. Use between 999999 and 7 sentences. Use at most 0 bullets.",
    "a language without a detector": "Answer only in Kyrgyz. Write in Pashto language only.",
    "breaks out of a comment": 'No commas.\r\n[[checks]]\ncheck = "nope"\n\x0b[citations]\x85styles = []\u2028x = 1',
    "breaks out of a string": 'Always say """\'\'\'\\" ] }". Never say \'\\\'; end with "\\\\".',
    "quotes in names": 'Always mention "it\'s" and "a,b=c)" and "@5". End with "it\'s (done), x=1)@5".',
    "control characters": 'Always mention "a\x00b\x1b[31mc". Use no\x7f commas. \ud800 Begin with "\x9b".',
    "RE2 syntax": 'Begin every answer with "(a+)+$ [[:alpha:]] {1000} \\C \\Q".',
    "one long sentence": "Never use " + "a, " * 50_000,
    "unclosed": "```\nUse no commas. \"Never “ ` ' (" * 500,
}
#: ten times the checks that are taken of one prompt
THOUSANDS = " ".join(f'Use at most {n} words and never say "w{n}".' for n in range(1_000))
EVERY_PROMPT = [pytest.param(prompt, id=name) for name, prompt in PROMPTS.items()]
EVERY_PROMPT += [pytest.param(THOUSANDS, id="thousands of sentences", marks=pytest.mark.slow)]


@pytest.mark.parametrize("prompt", EVERY_PROMPT)
def test_the_suite_of_any_prompt_is_accepted(prompt: str) -> None:
    reading = choose(read_prompt(prompt))
    text = write_suite(reading, prompt[:40], prompt[:40])
    suite = parse_suite(text)
    sure = [one.check for one in reading.proposals if one.doubt is None]
    assert sorted(part.check for part in suite.checks) == sorted(sure)
    assert set(tomllib.loads(text)) <= {"name", "exempt", "checks"}
    assert len(suite.checks) <= MAX_PROPOSALS
    assert len(text) < 300_000


@examples(60)
@given(
    st.lists(st.sampled_from([*PROMPTS["support"].split("\n"), *"\"'`“”[]{}()#;:.,!?\n\r\t\\ "]), max_size=40),
    st.text(),
)
def test_the_suite_of_any_mixture_is_accepted(pieces: list[str], strange: str) -> None:
    prompt = "".join(pieces) + strange
    parse_suite(write_suite(choose(read_prompt(prompt)), strange, strange))


def test_sentences_in_comments_stay_in_comments() -> None:
    text = write_suite(choose(read_prompt(PROMPTS["breaks out of a comment"])), "n", "a\nname = 'b'")
    assert [line for line in text.splitlines() if line and not line.startswith("#")] == [
        'name = "n"',
        "[[checks]]",
        'check = "punctuation.no_comma"',
        'says = "No commas."',
    ]
    assert all(sign.isprintable() or sign == "\n" for sign in text)


def test_a_prompt_without_checks_gives_a_suite_without_checks_and_not_the_default_ones() -> None:
    assert parse_suite(write_suite(choose(read_prompt("Be kind.")), "n", "o")).checks == ()


JSON_PROMPT = """Summarise the ticket. Return only JSON with the keys `summary` and `tags`.
"summary" must be at most 50 words. All keys must be lowercase.
Never use emojis other than ✅.
If the ticket is empty, reply exactly "NO TICKET".
"""


def test_what_keeps_a_prompt_keeps_the_suite_that_is_proposed_for_it() -> None:
    suite = parse_suite(write_suite(choose(read_prompt(JSON_PROMPT)), "n", "o"))
    assert suite.exempt == ("NO TICKET",)
    scorer = ResponseScorer(suite)
    answer = '{"summary": "' + "The customer of ACME waits. " * 9 + '✅", "tags": []}'
    stamp = datetime(2026, 3, 1, tzinfo=UTC)
    answers = [Turn("c", "t", "assistant", text, stamp) for text in (answer, " NO TICKET\n", "Sorry.")]
    assert [scorer.score(one).compliance for one in answers] == [1.0, None, 0.0]


def test_a_check_that_cannot_be_made_is_commented_out_with_the_reason() -> None:
    reading = choose(PromptReading((Proposal("length.number_words(at_most=-1)", ("Said.",)),), (), 1, 0))
    assert "expected at_most of 0 or more" in str(reading.proposals[0].doubt)
    text = write_suite(reading, "n", "o")
    assert '# check = "length.number_words(at_most=-1)"' in text
    assert parse_suite(text).checks == ()


def test_two_spellings_of_one_check_are_one_block() -> None:
    twice = (Proposal("citation.max_consecutive", ("A.",)), Proposal("citation.max_consecutive(at_most=3)", ("B.",)))
    assert len(parse_suite(write_suite(choose(PromptReading(twice, (), 2, 0)), "n", "o")).checks) == 1


def test_of_a_suite_without_checks_it_is_said_that_no_instruction_is_scored(tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("checks = []")
    said = CliRunner().invoke(turnsignal, ["suite", "check", str(tmp_path / "none.toml")])
    assert said.exit_code == 0
    assert "no checks: whether answers keep instructions is not scored" in said.output


def test_what_is_not_covered_is_listed_and_counted_beyond_a_number() -> None:
    text = write_suite(PromptReading((), tuple(f"Be {n}." for n in range(LISTED + 7)), 0, 0), "n", "o")
    assert "# - Be 0.\n" in text
    assert text.endswith("# … and 7 more.\n")


def test_the_command_writes_a_suite_that_the_check_command_accepts(tmp_path: Path) -> None:
    prompt, out = tmp_path / "support.md", tmp_path / "suite.toml"
    prompt.write_text(SUPPORT)
    done = CliRunner().invoke(turnsignal, ["suite", "from-prompt", str(prompt), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert (
        "6 sentences covered (1 of them in part), 2 doubtful (commented out, and not covered until you take the # away)"
        ", 1 instructions not" in " ".join(done.output.split())
    )
    assert parse_suite(out.read_text()).name == "support"
    checked = CliRunner().invoke(turnsignal, ["suite", "check", str(out)])
    assert f"{out}: OK. Suite support, " in checked.output
    blocks = out.read_text()
    slack = 'says = "Use Slack mrkdwn formatting and at most 3 sentences."\nplatforms = ["slack"]\n'
    assert f'[[checks]]\ncheck = "platform.slack"\n{slack}' in blocks
    assert (
        '# check = "length.number_sentences(at_most=3,skip_markers=true)"\n# says = "Use Slack' in blocks
    )  # the question is prescribed
    assert "# - Answer from the retrieved documents only." in blocks


def test_a_prompt_from_standard_input_goes_to_standard_output_and_the_summary_beside_it() -> None:
    done = CliRunner().invoke(turnsignal, ["suite", "from-prompt", "-"], input="Use no commas.")
    assert parse_suite(done.stdout).checks[0].check == "punctuation.no_comma"
    assert "1 sentences covered" in done.stderr


def test_a_dash_for_the_suite_is_standard_output_too() -> None:
    with CliRunner().isolated_filesystem() as empty:
        done = CliRunner().invoke(turnsignal, ["suite", "from-prompt", "-", "--out", "-"], input="Use no commas.")
        assert parse_suite(done.stdout).checks[0].check == "punctuation.no_comma"
        assert not list(Path(empty).iterdir())


def test_an_empty_prompt_is_said_to_be_one() -> None:
    done = CliRunner().invoke(turnsignal, ["suite", "from-prompt", "-"], input="")
    assert done.exit_code == 0
    assert "No instruction found" in done.stderr


def test_a_prompt_in_another_language_is_said_to_be_unread_and_what_to_do_instead(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Du bist der Assistent von Acme. Antworte immer auf Deutsch und ohne Emojis.\n")
    asked = ["suite", "from-prompt", str(tmp_path / "prompt.md"), "--out", str(tmp_path / "de.toml")]
    answer = CliRunner().invoke(turnsignal, asked)
    assert answer.exit_code == 0
    assert "No check is proposed: only prompts in English are read." in " ".join(answer.output.split())
    written = (tmp_path / "de.toml").read_text()
    assert "# Not covered: only prompts in English are read: here is every sentence." in written
    assert "# - Antworte immer auf Deutsch und ohne Emojis." in written


def test_a_suite_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "suite.toml"
    out.write_text("mine")
    done = CliRunner().invoke(turnsignal, ["suite", "from-prompt", "-", "--out", str(out)], input="Use no commas.")
    assert "expected a file that is not there yet" in str(done.exception)
    assert out.read_text() == "mine"


def test_a_prompt_that_is_too_long_is_refused() -> None:
    done = CliRunner().invoke(turnsignal, ["suite", "from-prompt", "-"], input="a" * (MAX_PROMPT + 1))
    assert "at most 200,000 characters" in str(done.exception)


def test_shuffled_pieces_of_prompts_never_break_the_suite() -> None:
    pieces = [piece for prompt in PROMPTS.values() for piece in prompt[:2_000].split(" ")]
    for seed in range(30):
        chosen = " ".join(random.Random(seed).choices(pieces, k=120))
        parse_suite(write_suite(choose(read_prompt(chosen)), chosen, chosen))


def test_a_sentence_whose_check_cannot_be_made_here_is_doubtful_and_not_covered() -> None:
    read = read_prompt("Use no commas. Use at most 3 sentences. If asked, use no headings.")
    assert (read.covered, read.doubtful) == (2, 1)
    wrong = [one._replace(check="nothing.such") if "sentences" in one.check else one for one in read.proposals]
    chosen = choose(read._replace(proposals=tuple(wrong)))
    assert (chosen.covered, chosen.doubtful) == (1, 2)
    assert "# Covered: 1 sentences; doubtful: 2; not covered: 0." in write_suite(chosen, "name", "prompt.md")


def test_a_missing_extra_does_not_hide_why_a_check_is_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        msg = f"{name} needs an extra"
        raise ConfigError(msg)

    monkeypatch.setattr("turnsignal.agents.commands.proposing.parse_check", missing)
    reading = read_prompt('You are Bo, an assistant.\n\n- The "summary" field must be in English.\n')
    (one,) = choose(reading).proposals
    assert one.doubt == f"{reading.proposals[0].doubt}; language.is(code=en) needs an extra"


def test_a_rule_behind_many_others_in_one_sentence_is_written_whole() -> None:
    rule = "be kind to " + ", ".join(f"guest number {number}" for number in range(30)) + " and never curse"
    assert "never curse" in write_suite(read_prompt(rule), "mine", "mine.md")
