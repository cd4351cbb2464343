"""Rubrics are data: those that come with turnsignal are right, and an error in a user's names the key."""

from importlib.resources import files
from pathlib import Path

import pytest

from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.injections import INJECTIONS
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.rules import DEFAULT_PRECISION, DEFAULT_STRICT, FollowUp
from turnsignal.stream.judging import exchanges
from turnsignal.stream.judging.aggregation import Aggregation, aggregate, power_mean
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart
from turnsignal.stream.judging.material import NothingToJudge, collect_material, redact_exchange
from turnsignal.stream.judging.prompt import build_prompt, reply_schema, write_instructions
from turnsignal.stream.judging.rubric_files import BUILT_IN, ChosenRubric, choose_rubric, load_rubric, parse_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.turns import Document
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, decode_verdict
from turnsignal.stream.redaction import Redaction

OWN = """
name = "tone"
version = 1
title = "Whether the answer is friendly"
stage = "response"
needs = ["response"]
question = "Is the response friendly?"
[[labels]]
name = "friendly"
value = 1.0
says = "It is."
[[labels]]
name = "curt"
value = 0.0
says = "It is not."
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_rubric_that_comes_with_turnsignal_can_be_asked(name: str) -> None:
    rubric = choose_rubric(name).rubric
    assert (rubric.name, len(rubric.examples) > 0) == (name, True)
    material = collect_material(an_exchange(rubric.stage), rubric)
    for step in (None, *(step for form in rubric.forms.values() for step in form.steps)):
        prompt = build_prompt(rubric, step, material.parts)
        assert prompt.most_tokens > prompt.likely_tokens > 100
        fields = list(prompt.schema["properties"])
        if step is None and rubric.items is None:
            assert fields[-2:] == ["reasoning", "label"]
        if step is None and rubric.items is not None:
            inside = list(prompt.schema["properties"][rubric.items.name]["items"]["properties"])
            assert inside[-2:] == ["reasoning", "label"]


def test_no_rubric_file_is_without_a_name_in_the_list() -> None:
    folder = files(exchanges.__package__).joinpath("rubrics")
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.toml" for name in sorted(BUILT_IN)]


def test_the_follow_up_rubric_has_the_labels_and_values_of_the_rules() -> None:
    rubric = choose_rubric("follow_up").rubric
    assert set(rubric.label_names) == set(FollowUp)
    strict = {label: value for label, value in DEFAULT_STRICT.items() if label is not FollowUp.OTHER}
    precision = {label: value for label, value in DEFAULT_PRECISION.items() if label is not FollowUp.OTHER}
    assert rubric.values == strict
    assert rubric.also["precision"] == precision


def test_a_rubric_of_a_user_is_a_file_and_no_code() -> None:
    rubric = parse_rubric(OWN, "tone.toml")
    chosen = choose_rubric("tone", {"tone": rubric})
    assert (chosen.name, chosen.rubric.label_names) == ("tone", ("friendly", "curt"))
    assert "Is the response friendly?" in write_instructions(rubric)
    assert reply_schema(rubric)["properties"]["label"]["enum"] == ["friendly", "curt"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('stage = "response"', 'stage = "respons"', "got 'respons'; did you mean response?"),
        ('question = "', 'qestion = "', "unknown key qestion; did you mean question?"),
        ("value = 1.0", "value = 2.0", "labels.0.value: Input should be less than or equal to 1, got '2.0'"),
        ("value = 1.0", "value = 0.0", "expected labels of two values at least, got 0 for all of them"),
        ('name = "curt"', 'name = "friendly"', "expected labels of different names, got friendly, friendly"),
        ('needs = ["response"]', 'needs = ["follow_up"]', 'expected stage = "follow_up"'),
        (
            "needs",
            'items = { name = "claims", text = "label", says = "x" }\nneeds',
            "items.text: expected another name than",
        ),
        ("version = 1", "version = 0", "version: Input should be greater than or equal to 1, got '0'"),
        ("version = 1", "version = 202611261200", "version: Input should be less than or equal to 2147483648"),
        ('[[labels]]\nname = "f', '[labels]\nname = "f', "a file that does not parse"),
        ("It is not.", 'It is not."\n[also.strict]\nfine = 1.0 # "', "also.strict: expected labels of this rubric"),
    ],
)
def test_an_error_in_a_rubric_names_the_key_and_what_was_expected(old: str, new: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_rubric(OWN.replace(old, new, 1), "tone.toml")
    assert complaint in str(error.value)
    assert str(error.value).startswith("tone.toml: ")
    assert "\n" not in str(error.value)


def test_a_file_with_the_name_of_a_rubric_that_comes_with_turnsignal_needs_its_stage(tmp_path: Path) -> None:
    own = tmp_path / "follow_up.toml"
    own.write_text(OWN.replace('"tone"', '"follow_up"'), encoding="utf-8")
    with pytest.raises(ConfigError, match="stage: expected 'follow_up'"):
        load_rubric(str(own))


def test_a_version_may_be_a_date_and_its_verdicts_can_be_read() -> None:
    rubric = parse_rubric(OWN.replace("version = 1", "version = 20261126"), "tone.toml")
    judge = Judge(JudgePart(rubric="tone.toml", model="m"), ChosenRubric(rubric), "openai", "m", None)
    verdict = make_verdict(an_exchange(), judge, Judgement("curt", 0.0))
    assert decode_verdict(VERDICTS.dump_json(verdict)).judge.version == 20_261_126


def test_an_example_whose_reply_does_not_fit_its_rubric_is_refused() -> None:
    example = '[[examples]]\nmaterial = { response = "Hi!" }\nreply = { reasoning = "Kind.", label = "nice" }\n'
    with pytest.raises(ConfigError, match=r"examples\.1\.reply: label: expected one of friendly, curt, got 'nice'"):
        parse_rubric(OWN + example, "tone.toml")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("groundednes", "got 'groundednes'; did you mean groundedness?"),
        ("answer_relevancy(form=five)", "form: expected one of four; got 'five'"),
        ("follow_up(form=four)", "expected none, as it has no forms"),
        ("groundedness(temperature=1)", "got 'temperature'"),
        ("answer_relevancy(temperature=0)", "temperature: Input should be greater than or equal to 0.1"),
        ("answer_relevancy@5", "got 'answer_relevancy@5'"),
    ],
)
def test_a_rubric_that_there_is_none_of_is_named(name: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        choose_rubric(name)
    assert complaint in str(error.value)


def test_a_name_with_parameters_reads_back_and_has_a_digest_of_its_own() -> None:
    names = ("answer_relevancy", "answer_relevancy(form=four)", "answer_relevancy(penalty=count,temperature=0.1)")
    chosen = [choose_rubric(name) for name in names]
    assert tuple(each.name for each in chosen) == names
    assert len({each.digest for each in chosen}) == 3
    assert chosen[2].how == Aggregation(temperature=0.1, penalty="count")


@pytest.mark.parametrize(
    ("temperature", "none", "count", "fraction"),
    [(0.1, 0.0, 0.0, 0.0), (0.5, 0.75, 0.675, 0.5625), (1.0, 0.9768, 0.8791, 0.8459)],
)
def test_verdicts_of_one_one_one_nought_come_to_what_the_seed_says(
    temperature: float, none: float, count: float, fraction: float
) -> None:
    for penalty, expected in (("none", none), ("count", count), ("fraction", fraction)):
        how = Aggregation(temperature=temperature, penalty=penalty)  # type: ignore[arg-type]
        assert aggregate([1, 1, 1, 0], "power", how) == pytest.approx(expected, abs=5e-5)


def test_the_power_mean_stays_between_its_values_for_every_temperature() -> None:
    for tenth in range(10, 101):
        assert 0.3 - 1e-9 <= power_mean([0.3, 0.7, 1.0], tenth / 100) <= 1 + 1e-9
    assert power_mean([0.25, 1.0], 10.25 / 22.5) == pytest.approx(0.5)  # exponent 0: the geometric mean


@pytest.mark.parametrize(
    ("rubric", "changes", "reason"),
    [
        ("groundedness", {"documents": []}, Unjudged.NO_RETRIEVAL),
        ("groundedness", {"documents": [Document("kb/1")]}, Unjudged.NO_RETRIEVAL),
        ("factual_correctness", {"truth": None}, Unjudged.NO_JUDGMENTS),
        ("task_utility", {"response": " \n"}, Unjudged.NOT_APPLICABLE),
        ("task_utility", {"stage": "follow_up"}, Unjudged.NOT_APPLICABLE),
    ],
)
def test_an_exchange_without_what_a_rubric_needs_is_not_asked_about(
    rubric: str, changes: dict[str, object], reason: Unjudged
) -> None:
    with pytest.raises(NothingToJudge) as error:
        collect_material(an_exchange(**changes), choose_rubric(rubric).rubric)
    assert error.value.reason is reason


def test_ids_and_names_of_strangers_are_not_sent() -> None:
    exchange = an_exchange(version="v-secret", model="m-secret", conversation_id="conv-secret")
    for name in BUILT_IN:
        rubric = choose_rubric(name).rubric
        material = collect_material(an_exchange(rubric.stage, version="v-secret"), rubric)
        sent = build_prompt(rubric, None, material.parts).material
        assert "secret" not in sent
        assert "kb/" not in sent
    assert exchange.version == "v-secret"


def test_material_is_bounded_and_names_what_was_cut() -> None:
    long = an_exchange(documents=[Document(f"kb/{n}", text=f"{n} " * 20_000) for n in range(10)], prompt="é" * 50_000)
    material = collect_material(long, choose_rubric("groundedness").rubric, 30_000)
    sent = build_prompt(choose_rubric("groundedness").rubric, None, material.parts).material
    assert len(sent.encode()) <= 30_000
    assert material.cut == ["documents", "prompt"]
    # What a rubric does not show takes no room from what it does.
    material = collect_material(long, choose_rubric("task_utility").rubric, 110_000)
    assert material.cut == []
    assert material.parts["prompt"] == long.prompt


def test_redaction_goes_through_every_text_that_is_sent_and_counts() -> None:
    mail = "write to ann@example.org"
    counts: dict[str, int] = {}
    exchange = an_exchange(prompt=mail, response=mail, documents=[Document("d", title=mail, text=mail)])
    assert exchange.truth is not None
    assert exchange.before is not None
    exchange.truth.reference, exchange.truth.chunks, exchange.before.prompt = mail, [mail], mail
    clean = redact_exchange(exchange, Redaction(), counts)
    for name in BUILT_IN:
        rubric = choose_rubric(name).rubric
        if rubric.stage == "response":
            sent = build_prompt(rubric, None, collect_material(clean, rubric).parts).material
            assert "ann@" not in sent
    assert counts == {"email": 7}
    follow_up = redact_exchange(an_exchange("follow_up", follow_up=mail), Redaction(), counts)
    assert follow_up.follow_up == "write to [email]"


def test_a_prompts_digest_tells_what_is_sent_and_nothing_else() -> None:
    rubric = choose_rubric("task_utility").rubric

    def digest(**changes: str) -> str:
        return build_prompt(rubric, None, collect_material(an_exchange(**changes), rubric).parts).digest

    assert digest() == digest(conversation_id="another", row="another")
    assert len({digest(), digest(prompt="Why?"), digest(response="So.")}) == 3


def test_there_are_forty_attempts_at_injection() -> None:
    assert len(set(INJECTIONS)) == 40
