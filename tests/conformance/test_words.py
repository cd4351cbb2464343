"""Words: one name for one thing, in the words of the vocabulary."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.conformance.sources import trees

#: word that is no public name → what to use instead
INSTEAD = {
    "backend": "provider",
    "bucket": "window",
    "came": "actual",
    "chat": "conversation",
    "client": "provider",
    "complaint": "problem",
    "critic": "judge",
    "evaluator": "scorer",
    "found": "what it holds: match, spans, problems",
    "gathered": "partition batch",
    "grade": "verdict",
    "grader": "scorer",
    "heard": "what it holds: feedback, records, a time",
    "holding": "partition task",
    "inbox": "record buffer",
    "keeper": "processor",
    "look": "evaluate",
    "mark": "commit metadata",
    "one": "what it holds",
    "outbox": "batch output",
    "ownership": "task manager",
    "phase": "stage",
    "place": "index, offset, rank or insert",
    "places": "indices, offsets, ranks or bounded labels",
    "poke": "punctuate",
    "rating": "score",
    "reaction": "feedback",
    "rerun": "replay",
    "said": "what it holds: label, sentence, answer",
    "scorekeeper": "conversation processor",
    "shard": "partition processor",
    "slot": "kept turn",
    "spell": "format",
    "spelled": "format",
    "stale": "late",
    "standing": "score windows",
    "strikes": "quota",
    "tallies": "metric deltas",
    "tally": "metric deltas",
    "tell": "describe",
    "thread": "conversation",
    "told": "what it holds",
    "utterance": "turn",
    "validator": "check",
    "viewing": "topic reader",
    "wish": "options",
}


#: words that name nothing, in the singular and in the plural
VAGUE = {
    word + end for word in ("found", "heard", "reaction", "said", "shard", "slot", "told", "wish") for end in ("", "s")
}


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the public classes and functions, the parameters of the latter, and the fields of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            if not node.name.startswith("_") or node.name.endswith("__"):
                arguments = node.args
                yield from (
                    argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                )


def test_no_class_name_stands_twice() -> None:
    files = defaultdict(set)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files[node.name].add(path)
    twice = {name: sorted(paths) for name, paths in files.items() if len(paths) > 1}
    assert twice == {}


def test_no_public_name_is_a_word_that_the_vocabulary_replaces() -> None:
    wrong = [
        f"{path}: {name}: use {INSTEAD[name.casefold()]}"
        for path, tree in trees().items()
        for name in sorted(set(public_names(tree)))
        if name.casefold() in INSTEAD
    ]
    assert wrong == []


def test_a_local_name_says_what_it_holds() -> None:
    vague = [
        f"{path}:{node.lineno}: {name}: use the noun of what it holds"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        for name in [node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""]
        if name.lower() in VAGUE
    ]
    assert vague == []
