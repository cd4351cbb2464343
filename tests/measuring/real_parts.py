"""Real parts: what reports and comparisons say of the public sets, beside what others compute from the same labels.

    python -m tests.measuring.real_parts FOLDER [--seeds FOLDER]

Nothing is tuned here, so all of each set is read. Routing: predictions of a simple seeded model, trained on the half of
a set whose texts have an even hash, for the other half; beside the report stand scikit-learn's figures and the files of
the script of "Hierarchical Waterfall Evaluation", cut from the seed's text (--seeds). Articles and recall: ExpertQA
(what experts call complete evidence), MTRAG (gold passages, and a TF-IDF retriever over all of them), beside plain sums
and pytrec_eval. Pairs: CRAG-C, two writers of each topic and style, beside the set's own figures. Retrieval: CAsT 2021,
whose figures are pytrec_eval's. A set that is not there is named and left out.
"""

import argparse
import contextlib
import gzip
import io
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import orjson

from turnsignal.agents.replaying.comparing import compare_systems
from turnsignal.agents.replaying.reporting import report_traffic
from turnsignal.agents.replaying.result import ReplayResult, read_result
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.report.routing import format_analysis
from turnsignal.stream.reports.labelled import LabelledQueries
from turnsignal.stream.reports.routing import Routing, figures_as_json, s1_metrics
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.truth.stages import CUTOFF, ENOUGH

NOW = 1_900_000_000.0
ROUTING = ("nlupp_routing", "metatool_routing", "clinc_oos_routing", "mixintent_routing")
SCRIPT = "S1_hierarchical_waterfall.txt"
_ROUNDED = 1e-6  # figures of sets have six decimals
_EQUAL = 1e-12

Turn = dict[str, Any]


class Compared(NamedTuple):
    """One figure of ours beside theirs: n of what, and by how much they may differ."""

    of: str
    figure: str
    n: int
    ours: float
    theirs: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether both say the same."""
        return abs(self.ours - self.theirs) <= self.bound


def read_turns(folder: Path) -> list[Turn]:
    """Read the turns of a set."""
    with gzip.open(folder / "turns.jsonl.gz") as file:
        return [orjson.loads(line) for line in file]


def compare_routing(folder: Path, script: Path | None = None) -> Iterator[Compared]:
    """Route half of a set's queries by a model of the other half; compare our report with scikit-learn's and S1's."""
    from sklearn.metrics import classification_report
    from sklearn.preprocessing import MultiLabelBinarizer

    expected, predicted = predict(read_turns(folder))
    routing = Routing(_labelled(expected), _labelled(predicted))
    names = [query["id"] for query in sorted(expected, key=lambda query: query["id"])]
    known = {query["id"]: query["labels"] for query in expected}
    sent = {query["id"]: query["labels"] for query in predicted}
    every = sorted({*routing.classes, *(only["label"] for only in routing.predicted_only)})
    counted = (("as S1 counts", routing.classes, routing.of_classes), ("all labels", every, routing.of_all_labels))
    for what, classes, ours in counted:
        binarizer = MultiLabelBinarizer(classes=classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # labels that only predictions have
            columns = [binarizer.fit_transform([side[name] for name in names]) for side in (known, sent)]
        theirs = classification_report(*columns, target_names=classes, output_dict=True, zero_division=0)
        mine = figures_as_json(ours)
        assert mine.keys() == theirs.keys()
        furthest = max(abs(mine[of][figure] - theirs[of][figure]) for of in theirs for figure in theirs[of])
        yield Compared(folder.name, f"weighted F1, {what}", len(names), *_weighted(mine, theirs), _EQUAL)
        figures = f"largest difference of {4 * len(theirs)} figures, {what}"
        yield Compared(folder.name, figures, len(names), furthest, 0.0, _EQUAL)
    if script is not None:
        same = _same_files(routing, run_script(script, expected, predicted))
        yield Compared(folder.name, "files with the bytes of S1's script", len(names), same, 2, 0)


def _weighted(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[float, float]:
    return mine["weighted avg"]["f1-score"], theirs["weighted avg"]["f1-score"]


def _labelled(queries: Iterable[Turn]) -> LabelledQueries:
    made = LabelledQueries()
    for query in queries:
        made.add(query)
    return made


def predict(turns: list[Turn]) -> tuple[list[Turn], list[Turn]]:
    """Return labels and predictions of the queries with an odd hash, by a linear model of the others."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import MultiLabelBinarizer
    from sklearn.svm import LinearSVC

    halves: tuple[list[Turn], list[Turn]] = ([], [])
    for turn in turns:
        labels = [label.lower() for label in turn["labels"]["intents"]]
        odd = blake2b(turn["text"].encode(), digest_size=8).digest()[-1] % 2
        halves[odd].append({"id": turn["turn_id"], "query": turn["text"], "labels": labels})
    learnt, asked = halves
    words, binarizer = TfidfVectorizer(), MultiLabelBinarizer()
    model = OneVsRestClassifier(LinearSVC(random_state=0))
    model.fit(
        words.fit_transform(query["query"] for query in learnt),
        binarizer.fit_transform(query["labels"] for query in learnt),
    )
    answers = binarizer.inverse_transform(model.predict(words.transform(query["query"] for query in asked)))
    return asked, [{"id": query["id"], "labels": list(of)} for query, of in zip(asked, answers, strict=True)]


def run_script(text: Path, expected: list[Turn], predicted: list[Turn]) -> dict[str, bytes]:
    """Run the script of the article on labels and predictions; return its files by name."""
    code = text.read_text(encoding="utf-8")
    code = code[code.index("#!/usr/bin/env python3") : code.index('if __name__ == "__main__"')]
    names: dict[str, Any] = {}
    with TemporaryDirectory() as out, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore", UserWarning)
        exec(compile(code, text.name, "exec"), names)  # the oracle, a text that we were given
        names["analyze"](expected, predicted, [], out)
        return {path.name: path.read_bytes() for path in Path(out).iterdir()}


def _same_files(routing: Routing, theirs: Mapping[str, bytes]) -> int:
    """Count the files of which every byte is the script's, up to what we add."""
    metrics = s1_metrics(routing)
    text = format_analysis(metrics).encode()
    metrics.pop("predicted_only", None)
    same = json.dumps(metrics, indent=2).encode() == theirs["metrics.json"]
    return same + text.startswith(theirs["analysis_report.txt"])


def replayed(turns: Iterable[Turn], folder: Path, name: str, suite: Suite) -> ReplayResult:
    """Replay turns under a suite, without the labels of their set."""
    path = folder / f"{name}.jsonl"
    kept = ({key: value for key, value in turn.items() if key != "labels"} for turn in turns)
    path.write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in kept))
    replay_files([path], folder / name, suite, NOW, workers=1)
    return read_result(folder / name)


def reported(turns: Iterable[Turn], suite: Suite) -> dict[str, Any]:
    """Return the report of turns with truth."""
    with TemporaryDirectory() as folder:
        return report_traffic(replayed(turns, Path(folder), "turns", suite), [], suite).as_json()


def compare_articles(folder: Path) -> Iterator[Compared]:
    """ExpertQA: what an answer cites against the sources that experts call complete evidence of a claim."""
    turns, answers = read_turns(folder), []
    for turn in turns:
        labels = turn["labels"]
        claims = [claim for claim in labels.get("claims", ()) if claim["support"] == "Complete"]
        known = sorted({str(name) for claim in claims for name in claim["evidence_ids"] or ()})
        if known and turn["retrieved"]:
            turn["truth"] = {"doc_ids": known}
            answers.append(turn)
    made = reported(turns, Suite())["articles"]
    theirs = [_label_of(turn) for turn in answers]
    for label in ("right", "wrong", "no_citation", "several_citations"):
        counts = made["labels"].get(label, 0), theirs.count(label)
        yield Compared("expertqa", f"answers: {label}", len(answers), *counts, 0)
    first = [{document["doc_id"] for document in turn["retrieved"][:CUTOFF]} for turn in answers]
    came = [not given.isdisjoint(turn["truth"]["doc_ids"]) for turn, given in zip(answers, first, strict=True)]
    name = f"recall@{CUTOFF}"
    yield Compared("expertqa", name, len(answers), made[name]["value"], float(np.mean(came)), _ROUNDED)


def _label_of(turn: Turn) -> str:
    """Say what an answer cites by the set's own list of its citations."""
    names = {str(name) for name in turn["labels"]["cited_ids_in_text"]}
    cited = names & {document["doc_id"] for document in turn["retrieved"]}
    if len(cited) > 1:
        return "several_citations"
    if not cited:
        return "wrong" if names else "no_citation"
    return "wrong" if cited.isdisjoint(turn["truth"]["doc_ids"]) else "right"


def compare_recall(folder: Path) -> Iterator[Compared]:
    """MTRAG: what a TF-IDF retriever brings of the gold passages, for the question as it was asked."""
    import pytrec_eval

    turns = read_turns(folder)
    passages = {document["doc_id"]: document for turn in turns for document in turn["retrieved"]}
    retrieve, question = _retriever(passages), ""
    gold: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for turn in turns:
        if turn["role"] == "user":
            question = turn["text"]
        elif known := turn["labels"].get("gold_doc_ids"):
            names = retrieve(question)
            turn["truth"] = {"doc_ids": known}
            turn["retrieved"] = [{**passages[name], "rank": rank} for rank, name in enumerate(names, 1)]
            gold[turn["turn_id"]] = dict.fromkeys(known, 1)
            run[turn["turn_id"]] = {name: 1.0 / rank for rank, name in enumerate(names, 1)}
    names = {"R": "recall", "P": "P", "recall": "success"}
    wanted = {f"{name}_{CUTOFF}" for name in names.values()}
    theirs = list(pytrec_eval.RelevanceEvaluator(gold, wanted).evaluate(run).values())
    made = reported(turns, Suite())
    figures = {name: made["labelled"]["figures"][f"documents: {name}@{CUTOFF}"]["value"] for name in "RP"}
    figures["recall"] = made["articles"][f"recall@{CUTOFF}"]["value"]
    for name, ours in figures.items():
        mean = float(np.mean([each[f"{names[name]}_{CUTOFF}"] for each in theirs]))
        yield Compared("mtrag_followup", f"{name}@{CUTOFF} of gold passages", len(gold), ours, mean, _ROUNDED)
    none = made["articles"]["labels"].get("no_citation", 0)
    yield Compared("mtrag_followup", "answers: no_citation", len(gold), none, len(gold), 0)


def _retriever(passages: Mapping[str, Turn]) -> Callable[[str], list[str]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    names, words = sorted(passages), TfidfVectorizer()
    weights = words.fit_transform(passages[name].get("text") or "" for name in names)

    def retrieve(question: str) -> list[str]:
        cosines = (weights @ words.transform([question]).T).toarray()[:, 0]
        return [names[at] for at in np.argsort(-cosines, kind="stable")[:10]]

    return retrieve


def compare_pairs(folder: Path) -> Iterator[Compared]:
    """CRAG-C: answers by people and by a model to the same topic in the same style, as two systems."""
    sides: dict[str, list[Turn]] = {"human": [], "llm": []}
    figures: dict[str, dict[str, float]] = {"human": {}, "llm": {}}
    asked: Turn = {}
    for turn in read_turns(folder):
        if turn["role"] == "user":
            asked = turn
            continue
        labels = turn["labels"]
        case, kind = f"{asked['labels']['topic']}/{labels['style']}", labels["kind"]
        sides[kind] += [{**said, "metadata": {"case_id": case}} for said in (asked, turn)]
        if labels["cited_doc_ids"]:
            figures[kind][case] = labels["reference_metrics"]["ndcg_cut_5"]
    suite = parse_suite("[citations]\nzero_based = true\n")
    with TemporaryDirectory() as name:
        results = [replayed(turns, Path(name), kind, suite) for kind, turns in sides.items()]
        scores, pairs = compare_systems(*results)
    compared = scores.as_json("nDCG@5", suite.aggregates.least_change, suite.aggregates.minimum_n)
    figure = compared["figures"]["nDCG@5"]
    both = sorted(figures["human"].keys() & figures["llm"].keys())
    moved = [figures["llm"][case] - figures["human"][case] for case in both]
    cases = len({turn["metadata"]["case_id"] for turn in sides["llm"]})
    yield Compared("cragc_citations", "pairs of answers by case", cases, pairs.by_id, cases, 0)
    allowed = 1 / len(both)  # one answer, which cites [0.1], is read to cite one document less
    yield Compared(
        "cragc_citations", "nDCG@5, model less people", len(both), figure["value"], float(np.mean(moved)), allowed
    )


def compare_retrieval(folder: Path) -> Iterator[Compared]:
    """CAsT 2021: the documents of five runs against graded judgements."""
    turns, precision, failing = read_turns(folder), [], 0
    for turn in turns:
        labels = turn["labels"]
        known = [name for name, grade in labels.get("qrels", {}).items() if grade > 0]
        if "reference_metrics" in labels and known:
            turn["truth"] = {"doc_ids": known}
            # By score, and of equal scores by id, as trec_eval has it.
            turn["retrieved"].sort(key=lambda document: (document["score"], document["doc_id"]), reverse=True)
            turn["retrieved"] = [{**document, "rank": rank} for rank, document in enumerate(turn["retrieved"], 1)]
            precision.append(labels["reference_metrics"]["P_5"])
            top = sum(document["doc_id"] in known for document in turn["retrieved"][:CUTOFF])
            failing += top < ENOUGH * min(CUTOFF, len(known))
    made = reported(turns, Suite())
    figure = made["labelled"]["figures"][f"documents: P@{CUTOFF}"]["value"]
    yield Compared("cast_ikat", f"P@{CUTOFF}", len(precision), figure, float(np.mean(precision)), _ROUNDED)
    (stage,) = [stage for stage in made["waterfall"]["stages"] if stage["stage"] == "retrieval"]
    yield Compared("cast_ikat", "answers that fail at retrieval", len(precision), stage["failed"], failing, 0)


SETS: dict[str, Callable[[Path], Iterator[Compared]]] = {
    "expertqa": compare_articles,
    "mtrag_followup": compare_recall,
    "cragc_citations": compare_pairs,
    "cast_ikat": compare_retrieval,
}


def compare_all(data: Path, seeds: Path) -> Iterator[Compared]:
    """Compare all sets that are there; others are named on standard error."""
    script = seeds / SCRIPT
    if not script.is_file():
        print(f"no {script}: routing is not compared with the article's script", file=sys.stderr)
    for name in (*ROUTING, *SETS):
        if not (data / name).is_dir():
            print(f"no {data / name}: left out", file=sys.stderr)
        elif name in SETS:
            yield from SETS[name](data / name)
        else:
            yield from compare_routing(data / name, script if script.is_file() else None)


def main(arguments: list[str] | None = None) -> int:
    """Print what was compared; end with 1 where anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=Path, help="folder of the articles' texts [seeds beside the data]")
    given = parser.parse_args(arguments)
    differ = 0
    print("| set | figure | n | ours | theirs | |\n|---|---|---:|---:|---:|---|")
    for one in compare_all(given.data, given.seeds or given.data.parent / "seeds"):
        differ += not one.holds
        mark = ("same" if one.bound <= _ROUNDED else f"within {one.bound:g}") if one.holds else "**differs**"
        print(f"| {one.of} | {one.figure} | {one.n:,} | {one.ours:.6g} | {one.theirs:.6g} | {mark} |", flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
