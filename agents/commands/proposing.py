"""Proposing: a system prompt → a suite with the checks that it asks for, to be read before it is used.

Each check stands beside the sentence it came from; what is doubtful is commented out, and what no check covers is
listed, so that nobody believes that a prompt is watched where it is not.
"""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from turnsignal.stream.checks import parse_check
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.prompts.reading import PromptReading, Proposal
from turnsignal.stream.suite import MAX_SAYS
from turnsignal.stream.text.toml import write_toml
from turnsignal.stream.text.visible import one_line

MAX_PROMPT = 200_000  #: characters
LISTED = 500  #: sentences without a check that are listed; more are counted
_FOREIGN = "only prompts in English are read"
_WIDTH = 2_000  #: characters of a sentence in a comment, all that are read: a rule may stand at its end


def choose(reading: PromptReading) -> PromptReading:
    """Try every check: one that cannot be made here (an extra is missing, a bound is none) is doubtful, with why."""
    settled: dict[str, Proposal] = {}
    for one in reading.proposals:
        try:
            name = parse_check(one.check).name
        except ConfigError as error:
            settled[one.check] = one._replace(doubt="; ".join(filter(None, (one.doubt, one_line(str(error))))))
        else:
            settled.setdefault(name, one._replace(check=name))
    kept = {sentence for one in settled.values() if one.doubt is None for sentence in one.sentences}
    doubted = {one.sentences for one in settled.values() if one.doubt is not None} - {
        one.sentences for one in reading.proposals if one.doubt is not None
    }
    moved = len({sentence for sentences in doubted for sentence in sentences} - kept)
    proposals = tuple(settled.values())
    return reading._replace(proposals=proposals, covered=reading.covered - moved, doubtful=reading.doubtful + moved)


def write_suite(reading: PromptReading, name: str, origin: str) -> str:
    """Write a suite as commented TOML that `suite check` accepts, whatever the prompt says.

    name: the suite's; origin: what the prompt was read from.
    """
    sure = [one for one in reading.proposals if one.doubt is None]
    doubtful = [one for one in reading.proposals if one.doubt is not None]
    covered = f"{reading.covered} sentences{_in_part(reading)}"
    lines = [
        f"# Proposed by `turnsignal suite from-prompt` for the instructions in {one_line(origin, _WIDTH)}.",
        "# Read it before you use it: a prompt may mean more than its words. What is left out has its default.",
        f"# Covered: {covered}; doubtful: {reading.doubtful}; not covered: {len(reading.uncovered)}.",
        "",
        write_toml({"name": one_line(name)} if sure else {"name": one_line(name), "checks": []}).rstrip(),
    ]
    if reading.exempt:
        lines += ["", "# Prescribed: no check binds a response that is one of these word for word, {{…}} filled in."]
        lines += [f"# {one_line(one.sentence, _WIDTH)}" for one in reading.exempt]
        lines.append(write_toml({"exempt": [one.text for one in reading.exempt]}).rstrip())
    for one in sure:
        lines += ["", *_comments(one), *_block(one)]
    if doubtful:
        lines += ["", "# Doubtful. Take the # away from a block where it always holds."]
    for one in doubtful:
        lines += ["", f"# {one_line(f'{one.doubt}', _WIDTH)}", *_comments(one), *(f"# {line}" for line in _block(one))]
    if reading.uncovered:
        why = "no check was recognised in these" if reading.english else f"{_FOREIGN}: here is every sentence"
        lines += ["", f"# Not covered: {why}."]
        lines += [f"# - {one_line(sentence, _WIDTH)}" for sentence in reading.uncovered[:LISTED]]
        if len(reading.uncovered) > LISTED:
            lines.append(f"# … and {len(reading.uncovered) - LISTED} more.")
    return "\n".join(lines) + "\n"


def describe(reading: PromptReading) -> RenderableType:
    """Say on a terminal what was made of a prompt."""
    if not (reading.proposals or reading.uncovered or reading.exempt):
        return Text("No instruction found: is this a system prompt, in English?")
    if not reading.english:
        return Text(
            f"No check is proposed: {_FOREIGN}. Write its rules in English, or choose checks in what `turnsignal suite"
            " init FILE` writes: most of them look at answers in any language."
        )
    table = Table("check", "binds", "because the prompt says", title="Proposed checks")
    for one in reading.proposals:
        binds = Text("doubtful", style="yellow") if one.doubt is not None else Text(", ".join(one.platforms) or "all")
        sentence = (
            one_line(one.sentences[0], 80) if one.doubt is None else one_line(f"{one.doubt}: {one.sentences[0]}", 80)
        )
        table.add_row(Text(one_line(one.check, 80)), binds, Text(sentence))
    for exempt in reading.exempt:
        table.add_row(Text("(none)"), Text(one_line(exempt.text, 40)), Text(one_line(exempt.sentence, 80)))
    counted = Text(
        f"{reading.covered} sentences covered{_in_part(reading)}, {reading.doubtful} doubtful (commented out, and not"
        " covered until you take the # away),"
        f" {len(reading.uncovered)} instructions not covered (listed in the file)."
    )
    return Group(table, counted) if reading.proposals or reading.exempt else counted


def _in_part(reading: PromptReading) -> str:
    """Count the sentences of which one check is sure and another is doubtful, in brackets; "" where none is."""
    sure, doubtful = (
        {sentence for one in reading.proposals if (one.doubt is None) is known for sentence in one.sentences}
        for known in (True, False)
    )
    return f" ({len(sure & doubtful)} of them in part)" if sure & doubtful else ""


def _comments(one: Proposal) -> list[str]:
    """Write down the sentences that the block itself does not show whole."""
    lines = [one_line(sentence, _WIDTH) for sentence in one.sentences]
    return [f"# {line}" for line in lines if line != _says(one)]


def _says(one: Proposal) -> str:
    return one_line(one.sentences[0], MAX_SAYS)


def _block(one: Proposal) -> list[str]:
    part: dict[str, Any] = {"check": one.check, "says": _says(one)}
    if one.platforms:
        part["platforms"] = list(one.platforms)
    return write_toml({"checks": [part]}).strip().split("\n")
