"""Where to work: which instructions are broken most, and which part of the system the diagnosis names, as sentences."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from turnsignal.stream.conversations.asked_labels import MOST
from turnsignal.stream.diagnosis import DIAGNOSES, Level, WorkOn
from turnsignal.stream.pipeline.truth_scoring import NONE_FAILS
from turnsignal.stream.records.scores import CITED, Unscored
from turnsignal.stream.reports.review import instructions
from turnsignal.stream.statistics.directions import FAILED
from turnsignal.stream.text.counts import count_of, listed, share_of
from turnsignal.stream.truth.stages import AnswerStage

_NAMED = 3  #: instructions that a sentence names
_RARELY = 0.01  #: an instruction that fails less often is not among the broken ones
_TOO_MUCH = 0.5  #: share of a release's exchanges of which it is not known where to work, from which no share is said
_MOVED = 0.1  #: difference between releases that is told of each part
_ENOUGH = 30  #: exchanges of a release whose own share counts there
_VERSIONS_NAMED = 4  #: beyond which a sentence does not go through them
_PARTS = {diagnosis.row: diagnosis.work_on for diagnosis in DIAGNOSES.values()}
_Part = TypeVar("_Part")


def unranked_releases(summary: Mapping[str, Any]) -> dict[tuple[str, str | None], str]:
    """Return the releases whose citations say nothing of what was retrieved, by assistant and version, and why."""
    return {
        (row["assistant"], row[release]): row[why].removeprefix("before, ")
        for row in summary.get("comparisons", ())
        for why, release in (("unranked", "after"), ("unranked_before", "before"))
        if row.get(why)
    }


def releases_without_documents(summary: Mapping[str, Any]) -> set[tuple[str, str | None]]:
    """Return the releases none of whose answers has a document: a log leaves them out, as no search finds nothing."""
    return {
        (row["assistant"], row["version"])
        for row in summary.get("scores", ())
        if row["scorer"] == CITED and not row["n"] and set(row["unscored"]) == {Unscored.NO_RETRIEVAL}
    }


def broken_instructions(summary: Mapping[str, Any]) -> str | None:
    """Name the instructions that are broken most, and in which release where that differs; None where none is."""
    rows = [row for row in summary["review"] if row["fails"] > 1 and row["rate"]["value"] >= _RARELY]
    if not rows:
        return None
    rows.sort(key=lambda row: (-row["rate"]["value"], row["check"]))
    named, says = [], instructions(summary)
    for row in rows[:_NAMED]:
        moved = _by_release(_kept_by_version(summary, row["check"]), part=False, least=_MOVED)
        counts = f"{row['fails']:,} of {row['applicable']:,}" + (f"; {moved}" if moved else "")
        named.append(f"{says[row['check']]} in {share_of(row['rate']['value'])} of answers ({counts})")
    return f"broken instructions: {listed(named, len(rows))}"


def _kept_by_version(summary: Mapping[str, Any], check: str) -> dict[str, Counter[bool]]:
    """Count the answers of each release that kept an instruction (True), and those that broke it."""
    kept: dict[str, Counter[bool]] = {}
    for row in summary["scores"]:
        if row["scorer"] == check and row["n"]:
            passed = round(row["n"] * row["mean"])
            kept.setdefault(row["version"] or "-", Counter()).update({True: passed, False: row["n"] - passed})
    return kept


def retrieval_fails_more(
    summary: Mapping[str, Any], before: str | None, after: str | None, assistants: Collection[str]
) -> bool:
    """Say whether labels of these assistants know that searches find less since a release.

    Citations cannot tell that from answers that cite the wrong ones of what is found.
    """
    by_version, _ = _failing_stages(summary, assistants)
    was, now = (by_version.get(version or "-", Counter[str]()) for version in (before, after))
    if min(was.total(), now.total()) < _ENOUGH:
        return False
    return now[AnswerStage.RETRIEVAL] / now.total() >= was[AnswerStage.RETRIEVAL] / was.total() + _MOVED


def _failing_stages(
    summary: Mapping[str, Any], assistants: Collection[str] = ()
) -> tuple[dict[str, Counter[str]], int]:
    """Count labelled answers by release and the stage at which they first fail, and those of which it is not known.

    assistants: whose answers count; all of them where none is named.
    """
    by_version: dict[str, Counter[str]] = {}
    bare, unlogged = releases_without_documents(summary), 0
    for row in summary.get("failing_stages", ()):
        if assistants and row.get("assistant") not in assistants:
            continue
        if row["stage"] == AnswerStage.RETRIEVAL and (row.get("assistant"), row["version"]) in bare:
            unlogged += row["n"]
            continue
        by_version.setdefault(row["version"] or "-", Counter())[row["stage"]] += row["n"]
    return by_version, unlogged


def where_labels_fail(summary: Mapping[str, Any]) -> str | None:
    """Say at which stage answers with labels first fail, and in which releases; None where none has labels."""
    by_version, unlogged = _failing_stages(summary)
    stages = sum(by_version.values(), Counter[str]())
    counted = count_of(unlogged, "labelled answer")
    unknown = f"of {counted} the stage is not known: no documents are logged with them" if unlogged else None
    if not stages:
        return unknown
    is_told = 1 < len(by_version) <= _VERSIONS_NAMED
    shares = [
        (share_of(n / stages.total()), f"at {stage}{_in_brackets(_shares(by_version, stage) if is_told else '')}")
        for stage, n in stages.most_common()
        if stage != NONE_FAILS
    ]
    fails = [f"{share}{'' if at else ' first fail'} {where}" for at, (share, where) in enumerate(shares)]
    sentence = f"of {count_of(stages.total(), 'labelled answer')}, {', '.join(fails) or 'none fails'}{_cut(summary)}"
    return "; ".join(filter(None, (sentence, unknown)))


def _cut(summary: Mapping[str, Any]) -> str:
    """Say how many questions had more labels than are remembered until an answer comes; empty where none had."""
    cut = summary.get("pairing", {}).get("labels_cut", 0)
    return f" ({count_of(cut, 'question')} with more than {MOST:,} characters of labels: some left out)" if cut else ""


def where_to_work(summary: Mapping[str, Any]) -> str | None:
    """Say which part of the system the diagnosis names most often, of which releases, and of how many it is silent."""
    by_version: dict[str, Counter[WorkOn]] = {}
    unranked = unranked_releases(summary)
    for row in summary["diagnosis"]:
        diagnosis = row["diagnosis"]
        if (row.get("assistant"), row["version"]) in unranked:
            diagnosis = f"{Level.UNKNOWN}/{diagnosis.partition('/')[2]}"
        by_version.setdefault(row["version"] or "-", Counter())[_part(diagnosis)] += row["n"]
    parts = sum(by_version.values(), Counter[WorkOn]())
    named = [part for part, _ in parts.most_common() if part not in (WorkOn.NONE, WorkOn.UNKNOWN)]
    unknown = _in_brackets(_by_release(by_version, WorkOn.UNKNOWN))
    failed = _failed(summary)
    if unranked:
        versions = sorted({version or "-" for _, version in unranked})
        failed = f"; citations of {listed(versions[:_NAMED], len(versions))} do not say what was retrieved{failed}"
    big = [of for of in by_version.values() if of.total() >= _ENOUGH]
    if any(of[WorkOn.UNKNOWN] >= _TOO_MUCH * of.total() for of in (parts, *big) if of):
        share = share_of(parts[WorkOn.UNKNOWN] / parts.total())
        return f"where to work is not known of {share} of {parts.total():,} exchanges{unknown}{failed}"
    if not named:
        return failed.removeprefix("; ") or None
    shares = [
        f"{part} in {share_of(parts[part] / parts.total())}{_in_brackets(_by_release(by_version, part, _MOVED))}"
        for part in named
    ]
    rest = f"; not known in {share_of(parts[WorkOn.UNKNOWN] / parts.total())}{unknown}" if parts[WorkOn.UNKNOWN] else ""
    return f"where to work, of {parts.total():,} exchanges: {', '.join(shares)}{rest}{failed}"


def _part(diagnosis: str) -> WorkOn:
    """Return where to work; that nothing calls for work is not known where retrieval was not scored."""
    part = _PARTS.get(diagnosis, WorkOn.UNKNOWN)
    return WorkOn.UNKNOWN if part is WorkOn.NONE and diagnosis.startswith(f"{Level.UNKNOWN}/") else part


def _by_release(by_version: Mapping[str, Counter[_Part]], part: _Part, least: float = 0) -> str:
    """Write a part's share in each release, where there are a few, and it differs by `least` among large ones."""
    enough = [of[part] / of.total() for of in by_version.values() if of.total() >= _ENOUGH] or [0.0]
    is_told = max(enough) - min(enough) >= least and 1 < len(by_version) <= _VERSIONS_NAMED
    return _shares(by_version, part) if is_told else ""


def _shares(by_version: Mapping[str, Counter[_Part]], part: _Part) -> str:
    return ", ".join(f"{name} {share_of(of[part] / of.total())}" for name, of in sorted(by_version.items()))


def _in_brackets(releases: str) -> str:
    return f" ({releases})" if releases else ""


def _failed(summary: Mapping[str, Any]) -> str:
    """Count answers that are empty, errors or refusals, of conversations that count for a release; "" where few are."""
    answers, failed = Counter[str](), Counter[str]()
    for row in summary["quality"]:
        if figure := row.get("figures", {}).get(FAILED):
            n = round(row["conversations"] * row.get("answers_per_conversation", 0) * figure.get("coverage", 1.0))
            answers[row["version"] or "-"] += n
            failed[row["version"] or "-"] += round(n * figure["value"])
    if not any(failed[name] >= _RARELY * n for name, n in answers.items() if failed[name]):
        return ""
    releases = [f"{name} {share_of(failed[name] / n)}" for name, n in sorted(answers.items()) if n]
    beside = f" ({', '.join(releases)})" if 1 < len(releases) <= _VERSIONS_NAMED else ""
    return f"; {failed.total():,} of {answers.total():,} answers failed{beside}"
