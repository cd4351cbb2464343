"""Simulate recordings and count what their comparisons claim: `make claims`, or a few draws of each in a test.

Four tables: releases that do not differ (dealt by conversation or by user, cut, beside traffic that moves), are broken,
or are mended; and how often 95 % intervals cover the truth.
Conversations are simulated and scored as in any replay; recordings are then drawn from them, but for those that are cut
somewhere, which are simulated, cut and replayed one by one.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import relevancy_name, scorer_names
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.replay import Indexer, Replay, Run
from turnsignal.stream.reports.aggregates import Aggregates
from turnsignal.stream.reports.answers import clusters
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.release_totals import ConversationScores
from turnsignal.stream.simulation import Regression, Traffic, simulate
from turnsignal.stream.statistics.directions import BETTER, CHANGED, WORSE
from turnsignal.stream.statistics.intervals import clustered_mean, rate
from turnsignal.stream.suite import parse_suite

WHOLE, CUT = parse_suite("[aggregates]\nwhole = true"), parse_suite("")
NOW = 2_000_000_000.0
TRAFFIC = Traffic(assistants=("support",), platforms=("web", "web", "slack"), documents=6, document_chars=(40, 80))
#: name → kind of the regression and share of the answers that it hits
BROKEN = {
    "errors to all": ("answers_errors", 1.0),
    "half empty": ("answers_empty", 0.5),
    "half refusals": ("refuses", 0.5),
    "invented citations": ("invents_citations", 1.0),
    "no citations": ("cites_nothing", 1.0),
    "users who leave": ("loses_users", 0.5),
    "twice as slow to answer": ("answers_slowly", 1.0),
}
#: what a release says in the place of half of its answers, and users thank it for that and leave
POLITE = {
    "errors that are thanked": "Internal error 500.",
    "refusals that are thanked": "I'm sorry, but I can't help with that.",
    "empty answers that are thanked": "",
}
#: what a release says in another language, a sentence for each citation
GERMAN = (
    "Öffnen Sie die Einstellungen und wählen Sie dort die Seite, die Sie brauchen",
    "Danach können Sie den Auftrag ändern, wenn er noch nicht verschickt wurde",
    "Das Geld wird innerhalb von fünf Tagen auf Ihre Karte zurückgezahlt",
)
#: language → what users ask, what they say to go on, to clarify and in thanks, and what they are answered
SPOKEN = {
    "Swedish": (
        ("Hur lämnar jag tillbaka en vara som jag har köpt?", "Var kan jag byta lösenordet till mitt konto?"),
        ("Och hur lång tid tar det?", "Vad kostar det?", "Kan jag göra det på telefon också?"),
        ("Nej, jag menade något annat", "Det var inte det jag frågade om", "Det fungerar inte"),
        ("Tack så mycket!",),
        ("Öppna inställningarna och välj den sida som du behöver", "Du får pengarna tillbaka inom fem dagar"),
    ),
    "Dutch": (
        ("Hoe stuur ik een artikel terug dat ik heb gekocht?", "Waar kan ik het wachtwoord van mijn account wijzigen?"),
        ("En hoe lang duurt het?", "Wat kost het?", "Kan ik dat ook telefonisch doen?"),
        ("Nee, ik bedoelde iets anders", "Dat vroeg ik niet", "Het werkt niet"),
        ("Bedankt!",),
        ("Open de instellingen en kies daar de pagina die u nodig hebt", "U krijgt het geld binnen vijf dagen terug"),
    ),
}
CLARIFIES = ("correction", "adjustment", "repeat", "misunderstanding", "frustration")
THANKS = ("ok, thanks", "thank you", "Thanks anyway.")
#: of the coverage table
LEVELS, SIZES = (0.5, 0.9, 0.99), (30, 100, 1000)
#: what a release got right that the one before it had wrong
MENDED = {"answers": "answers_worse", "retrieval": "retrieves_worse", "format": "breaks_format"}


Platforms = tuple[list[ConversationScores], list[ConversationScores]]  #: of web and of Slack, or of two languages


class Heard(NamedTuple):
    """What a comparison said: figures by verdict, and whether any interval left 0 out before adjustment."""

    worse: tuple[str, ...]
    better: tuple[str, ...]
    changed: tuple[str, ...]
    unadjusted: bool

    @property
    def anything(self) -> bool:
        return bool(self.worse or self.better or self.changed)


class _Kept(Quality):
    """Keeps the conversations instead of counting them."""

    def __init__(self) -> None:
        super().__init__(scorer_names(WHOLE), covered=(relevancy_name(WHOLE), FOLLOW_UP))
        self.kept: list[ConversationScores] = []

    def add(self, went: ConversationScores) -> None:
        self.kept.append(went)


def conversations(
    count: int, seed: int, kind: str | None = None, share: float = 1.0, platforms: tuple[str, ...] = TRAFFIC.platforms
) -> list[ConversationScores]:
    """Simulate and score conversations of one version."""
    worse = Regression(0, "v1", kind, share) if kind else None
    traffic = replace(TRAFFIC, conversations=count, seed=seed, regression=worse, platforms=platforms)
    return _score(record.value for record in simulate(traffic) if record.value)


def thanked(count: int, seed: int, failure: str, share: float = 0.5) -> list[ConversationScores]:
    """Simulate conversations in which a share of answers fails; the user says thanks for it, and leaves."""
    rng = np.random.default_rng(seed)
    left: set[str] = set()
    lines = []
    for record in simulate(replace(TRAFFIC, conversations=count, seed=seed)):
        turn = json.loads(record.value or b"{}")
        whose = turn.get("conversation_id")
        if whose is None or whose in left:
            continue
        if turn["role"] == "assistant" and rng.random() < share:
            left.add(whose)
            turn["text"] = failure
            polite = {**turn, "turn_id": "polite", "role": "user", "text": str(rng.choice(THANKS))}
            polite = {name: value for name, value in polite.items() if name not in ("version", "model", "retrieved")}
            lines += [json.dumps(turn).encode(), json.dumps(polite).encode()]
        else:
            lines.append(record.value or b"")
    return _score(lines)


def foreign(count: int, seed: int, share: float = 0.3) -> list[ConversationScores]:
    """Simulate conversations of which a share is answered in German, with the same citations and follow-ups."""
    rng = np.random.default_rng(seed)
    answered: dict[str, bool] = {}
    lines = []
    for record in simulate(replace(TRAFFIC, conversations=count, seed=seed)):
        turn = json.loads(record.value or b"{}")
        whose = turn.get("conversation_id")
        if whose is None:
            continue
        if turn["role"] == "assistant" and answered.setdefault(whose, rng.random() < share):
            markers = re.findall(r"\[doc_\d+\]", turn["text"])
            turn["text"] = " ".join(f"{GERMAN[at % len(GERMAN)]} {marker}." for at, marker in enumerate(markers)) or (
                GERMAN[0] + "."
            )
        lines.append(json.dumps(turn).encode())
    return _score(lines)


def cited_by_place(count: int, seed: int, *, dead: bool = False) -> list[ConversationScores]:
    """Simulate conversations whose answers cite as many documents as before, the first ones whatever they are.

    dead: always the same ones come.
    """
    lines = []
    for record in simulate(replace(TRAFFIC, conversations=count, seed=seed)):
        turn = json.loads(record.value or b"{}")
        if turn.get("role") == "assistant" and turn.get("retrieved"):
            if dead:
                turn["retrieved"] = [{"doc_id": f"doc_{at}"} for at in range(1, len(turn["retrieved"]) + 1)]
            named = [f"[{document['doc_id']}]" for document in turn["retrieved"]]
            markers = list(dict.fromkeys(re.findall(r"\[doc_\d+\]", turn["text"])))
            texts = dict(zip(markers, named, strict=False))
            parts = re.split(r"(\[doc_\d+\])", turn["text"])
            turn["text"] = "".join(texts.get(part, part) for part in parts)
        if turn:
            lines.append(json.dumps(turn).encode())
    return _score(lines)


def spoken(count: int, seed: int, language: str) -> list[ConversationScores]:
    """Simulate conversations that are held in another language: what is meant is the same."""
    asks, more, clarify, thanks, answers = SPOKEN[language]
    rng = np.random.default_rng(seed)
    lines = []
    for record in simulate(replace(TRAFFIC, conversations=count, seed=seed)):
        turn = json.loads(record.value or b"{}")
        if "conversation_id" not in turn:
            continue
        meant = record.truth["follow_up"]
        if turn["role"] == "assistant":
            markers = re.findall(r"\[doc_\d+\]", turn["text"])
            turn["text"] = " ".join(f"{answers[at % len(answers)]} {marker}." for at, marker in enumerate(markers)) or (
                answers[0] + "."
            )
        else:
            by = {None: asks, "thanks": thanks, "new_topic": asks} | dict.fromkeys(CLARIFIES, clarify)
            turn["text"] = str(rng.choice(by.get(meant, more)))
        lines.append(json.dumps(turn).encode())
    return _score(lines)


def unanswered(
    kept: list[ConversationScores], seed: int, share: float = 1.0, *, hard: bool = False
) -> list[ConversationScores]:
    """Take the answers from a share of conversations, of all of them or of those that had a clarification."""
    rng = np.random.default_rng(seed)
    nobody = ("support", None)
    lost = {"release": nobody, "outcome": "unanswered", "answers": 0, "parts": {}, "turns": 1}
    return [
        went._replace(**lost)
        if rng.random() < share and (not hard or went.outcome in ("abandoned", "clarified"))
        else went
        for went in kept
    ]


#: name → takes the answers from conversations of a release that is well
SILENT: dict[str, Callable[[list[ConversationScores], int], list[ConversationScores]]] = {
    "first messages unanswered in 30 %": lambda kept, seed: unanswered(kept, seed, 0.3),
    "the hard ones unanswered": lambda kept, seed: unanswered(kept, seed, hard=True),
    "all unanswered": unanswered,
}


def _score(values: Iterable[bytes]) -> list[ConversationScores]:
    aggregates = Aggregates(WHOLE)
    aggregates.quality = kept = _Kept()
    processor = PartitionProcessor(WHOLE, observer=aggregates)
    lines = sorted(Indexer(NOW).index(values))
    for start in range(0, len(lines), 512):
        batch = processor.process(lines[start : start + 512], 0.0)
        processor.accept(batch)
        aggregates.add(batch)
    processor.close_all()
    aggregates.finish()
    return kept.kept


def compare(before: Sequence[ConversationScores], after: Sequence[ConversationScores]) -> Heard:
    """Compare two releases made of these conversations."""
    quality = Aggregates(WHOLE).quality
    for number, group in enumerate((before, after)):
        release = ("support", f"v{number + 1}")
        for went in group:
            begun = number * 1e6 + went.opened % 1e6
            if not went.parts:  # nobody answered
                quality.add(went._replace(first=begun, opened=begun))
                continue
            (values,) = went.parts.values()
            times = {"first": float(number), "opened": begun}
            quality.add(went._replace(release=release, parts={release: values}, **times))
    quality.finish(WHOLE.aggregates.minimum_n)
    return heard(quality.comparisons(WHOLE.aggregates.minimum_n, *_declared())[0])


def heard(comparison: dict[str, Any]) -> Heard:
    deltas = comparison["deltas"]
    by = [
        tuple(name for name, delta in deltas.items() if delta["verdict"] == word) for word in (WORSE, BETTER, CHANGED)
    ]
    return Heard(*by, unadjusted=any(delta["low"] > 0 or delta["high"] < 0 for delta in deltas.values()))


def _declared() -> tuple[str, float]:
    return WHOLE.aggregates.primary, WHOLE.aggregates.least_change


def dealt(recordings: int, kept: list[ConversationScores], seed: int, before: int, after: int) -> Iterator[Heard]:
    """Deal conversations of one version to two releases, by chance."""
    rng = np.random.default_rng(seed)
    for _ in range(recordings):
        chosen = [kept[i] for i in rng.choice(len(kept), before + after, replace=False)]
        yield compare(chosen[:before], chosen[before:])


def dealt_to_users(recordings: int, kept: list[ConversationScores], seed: int, count: int = 400) -> Iterator[Heard]:
    """Deal users to two releases that are the same, with all of their conversations.

    Most have one, some have forty; some complain in most of theirs, and others hardly ever.
    """
    rng = np.random.default_rng(seed)
    unhappy = [went for went in kept if went.outcome in ("abandoned", "clarified")]
    happy = [went for went in kept if went.outcome not in ("abandoned", "clarified")]
    for _ in range(recordings):
        sides: tuple[list[ConversationScores], list[ConversationScores]] = ([], [])
        while sum(map(len, sides)) < count:
            mood, user, side = rng.beta(0.8, 1.2), int(rng.integers(1 << 40)), sides[rng.integers(2)]
            for _ in range(min(40, int(rng.pareto(1.1)) + 1)):
                some = unhappy if rng.random() < mood else happy
                side.append(some[rng.integers(len(some))]._replace(user=user))
        yield compare(*sides)


def cut_anywhere(recordings: int, seed: int, rate: float = 0.2) -> Iterator[Heard | None]:
    """Cut a recording of about 300 conversations out of a stream; within, a release that is the same takes over.

    The stream goes on before and after. None where too few conversations are left to compare.
    """
    rng = np.random.default_rng(seed)
    for number in range(recordings):
        start = TRAFFIC.start + 3600 * float(rng.integers(24))
        traffic = replace(TRAFFIC, conversations=430, seed=seed + number, rate=rate, day_night=False, start=start)
        records = [record for record in simulate(traffic) if record.value]
        begun = [record.truth["time"] for record in records if record.truth["turn_id"] == "t1"]
        share = rng.uniform(0.4, 0.6)
        begin, middle, end = (begun[0] + at * (begun[-1] - begun[0]) for at in (0.1, share, 0.95))
        lines = [
            record.value.replace(b'"version":"v1"', b'"version":"v2"')
            if record.truth["time"] > middle
            else record.value
            for record in records
            if begin <= record.truth["time"] <= end
        ]
        replay, whole = Replay(CUT), Run(CUT)
        for source in (replay.feed(sorted(Indexer(NOW).index(lines))), replay.finish()):
            for _ in source:
                pass
        for processor in sorted(replay.runs):
            whole.merge(replay.runs[processor])
        rows = whole.summary(CUT)["comparisons"]
        yield heard(rows[0]) if rows else None


def broken(
    recordings: int, pool: list[ConversationScores], worse: list[ConversationScores], seed: int, each: int = 150
) -> Iterator[Heard]:
    """Put a broken release behind one that is well, `each` conversations of both."""
    rng = np.random.default_rng(seed)
    for _ in range(recordings):
        before = [pool[i] for i in rng.choice(len(pool), each, replace=False)]
        after = [worse[i] for i in rng.choice(len(worse), each, replace=False)]
        yield compare(before, after)


def on_platforms(count: int, seed: int, kind: str | None = None) -> Platforms:
    """Simulate conversations on web, and on Slack, where half of the answers are worse; kind: of a broken release."""
    web, slack = (kind, "web"), (kind or "answers_worse", "slack")
    pools = [conversations(count, seed, hit, 1.0 if kind else 0.5, (platform,)) for hit, platform in (web, slack)]
    return pools[0], pools[1]


def moved(recordings: int, old: Platforms, new: Platforms, seed: int, each: int = 150) -> Iterator[Heard]:
    """Move traffic from one platform or language to another, 20 % of it before and 80 % after.

    old, new: conversations of both releases.
    """
    rng = np.random.default_rng(seed)
    for _ in range(recordings):
        before, after = (
            [
                group[i]
                for group, share in zip(pools, (1 - on_slack, on_slack), strict=True)
                for i in rng.choice(len(group), round(share * each), replace=False)
            ]
            for pools, on_slack in ((old, 0.2), (new, 0.8))
        )
        yield compare(before, after)


def covered(level: float, n: int, draws: int, seed: int) -> float:
    """Return how often the interval covers a rate.

    n: conversations of 1 + Poisson(3) turns that share their quality (intra-class correlation 0.2), as OBSERVABILITY
    4.1 assumes of real traffic.
    """
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(draws):
        turns = 1 + rng.poisson(3, n)
        good = rng.binomial(turns, rng.beta(4 * level, 4 * (1 - level), n))
        found = clustered_mean(clusters(turns.astype(float), good.astype(float)))
        hits += found.low <= level <= found.high
    return hits / draws


def covered_single(levels: Sequence[float], n: int) -> float:
    """Return how often the interval covers rates of n conversations of one turn, counted out, on average over levels.

    At one level it leaps: of 100 at 0.99, an interval covers from 97 on or from 98 on, so 0.982 or 0.921 of the time.
    """
    found = [rate(count, n).interval for count in range(n + 1)]
    total = 0.0
    for level in levels:
        likely = stats.binom.pmf(range(n + 1), n, level)
        total += sum(p for p, one in zip(likely, found, strict=True) if one.low <= level <= one.high)
    return total / len(levels)


def _print_same(name: str, found: Sequence[Heard | None]) -> None:
    told = [one for one in found if one is not None]
    claims, raw = sum(one.anything for one in told), sum(one.unadjusted for one in told)
    often = _most_often([(*one.worse, *one.better, *one.changed) for one in told])
    print(f"| {name} | {len(found)} | {claims / len(found):.1%} | {raw / len(found):.1%} | {often} |", flush=True)


def _print_changed(name: str, found: Sequence[Heard]) -> None:
    named, better = sum(bool(one.worse or one.changed) for one in found), sum(bool(one.better) for one in found)
    often = _most_often([one.worse for one in found])
    print(f"| {name} | {len(found)} | {named} | {better} | {often} |", flush=True)


def _most_often(named: Sequence[tuple[str, ...]]) -> str:
    counts = Counter(name for names in named for name in names)
    return ", ".join(name for name, _ in counts.most_common(3))


def _print_coverage(draws: int, seed: int) -> None:
    for level in LEVELS:
        cells = [f"{covered(level, n, draws, seed + n):.3f}" for n in SIZES]
        print(f"| clustered, {level} | {' | '.join(cells)} |", flush=True)
    for level in LEVELS:
        around = np.linspace(level - (1 - level) / 2, level + (1 - level) / 2, 51).tolist()
        cells = [f"{covered_single([level], n):.3f} ({covered_single(around, n):.3f})" for n in SIZES]
        print(f"| one turn each, {level} (mean of levels around it) | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the tables, with what is asked of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--recordings", type=int, default=510, help="that do not differ, three or more: over three kinds"
    )
    parser.add_argument("--broken", type=int, default=100, help="of each broken release")
    parser.add_argument("--draws", type=int, default=4000, help="per cell of the coverage table")
    parser.add_argument("--pool", type=int, default=3000, help="simulated conversations that recordings are drawn from")
    parser.add_argument("--seed", type=int, default=0, help="of all tables")
    args = parser.parse_args()
    if args.recordings < 3:
        parser.error(f"--recordings: expected three or more, one of each kind, got {args.recordings}")
    seed, share = 100_000 * args.seed, args.recordings // 3
    kept = conversations(args.pool, seed + 1)
    print(
        "| no difference (asked: any claim in at most 6 %) | recordings | any claim | any raw interval | most often |"
    )
    print("|---|---|---|---|---|")
    halves = list(dealt(share, kept, seed + 2, 150, 150))
    _print_same("300 conversations dealt by chance", halves)
    canary = list(dealt(share, kept, seed + 3, 1000, 30))
    _print_same("canary: 30 beside 1,000", canary)
    cut = list(cut_anywhere(args.recordings - 2 * share, seed + 4))
    _print_same("cut anywhere, a release within", cut)
    _print_same("all", [*halves, *canary, *cut])
    by_user = list(dealt_to_users(share, kept, seed + 10))
    _print_same("400 conversations, dealt by user", by_user)
    old, new = (on_platforms(args.pool // 2, seed + at) for at in (7, 8))
    _print_same("traffic moves from web to a Slack that is worse off", list(moved(share, old, new, seed + 9)))
    for language in SPOKEN:
        two = kept[: args.pool // 2], spoken(args.pool // 2, seed + 11, language)
        _print_same(f"users move from English to {language}", list(moved(share, two, two, seed + 12)))
    print("\n| broken release (asked: named in 95 of 100, better in at most 5) | recordings | named | better | worse |")
    print("|---|---|---|---|---|")
    for name, (kind, hit) in BROKEN.items():
        bad = conversations(args.pool // 2, seed + 5, kind, hit)
        _print_changed(name, list(broken(args.broken, kept, bad, seed + 6)))
    _print_changed(
        "answers in another language in 30 %",
        list(broken(args.broken, kept, foreign(args.pool // 2, seed + 5), seed + 6)),
    )
    for name, dead in {"the first documents cited, whatever they are": False, "the same documents found": True}.items():
        bad = cited_by_place(args.pool // 2, seed + 5, dead=dead)
        _print_changed(name, list(broken(args.broken, kept, bad, seed + 6)))
    for name, take in SILENT.items():
        _print_changed(name, list(broken(args.broken, kept, take(kept, seed + 5), seed + 6)))
    for name, failure in POLITE.items():
        _print_changed(name, list(broken(args.broken, kept, thanked(args.pool // 2, seed + 5, failure), seed + 6)))
    print("\n| mended release | recordings | any better | any worse | most often better |\n|---|---|---|---|---|")
    for name, kind in MENDED.items():
        found = list(broken(args.broken, conversations(args.pool // 2, seed + 5, kind), kept, seed + 6))
        better, worse = sum(bool(one.better) for one in found), sum(bool(one.worse) for one in found)
        print(
            f"| {name} | {len(found)} | {better} | {worse} | {_most_often([one.better for one in found])} |", flush=True
        )
    print("\n| coverage of 95 % (asked, clustered: 0.93 to 0.97) | n = 30 | n = 100 | n = 1,000 |\n|---|---|---|---|")
    _print_coverage(args.draws, seed)


if __name__ == "__main__":
    main()
