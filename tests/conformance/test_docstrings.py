"""Docstrings: what they name is there."""

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache

from tests.conformance.sources import trees

#: "version: the …", "low, high: bounds", at the beginning of a paragraph or after a semicolon or full stop
NAMED = re.compile(r"(?:^|[;.] )([a-z_][a-z0-9_]*(?:, [a-z_][a-z0-9_]*)*): ")


#: What a docstring puts into backticks and is a name of Python, perhaps of a module, a class and one of its members.
QUOTED = re.compile(r"(?<!`)`([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?:\(\))?`(?!`)")
#: Endings of files, which are no members.
ENDINGS = {"csv", "gz", "html", "ipynb", "json", "jsonl", "md", "parquet", "toml", "txt", "yaml", "yml"}

#: Names of other libraries, standards and their records that docstrings quote.
FOREIGN = {
    "P_k",
    "_created",
    "messages_to_dict",
    "ndcg_cut",
    "observations_v2",
    "recall_k",
    "recip_rank",
    "search_result_index",
    "start_char_index",
    "success_k",
}


@cache
def classes() -> dict[str, tuple[str, ast.ClassDef]]:
    """Return every class by its name, which no other has (`test_words`), with its file."""
    return {
        node.name: (path, node)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


@cache
def members_of(name: str) -> set[str]:
    """Return the members of a class by its name."""
    return members(classes()[name][1], classes())


def members(node: ast.ClassDef, known: dict[str, tuple[str, ast.ClassDef]]) -> set[str]:
    """Return the fields, attributes, methods and parameters of a class and of its bases."""
    names: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in known and base.id != node.name:
            names |= members(known[base.id][1], known)
    return names


def described(docstring: str) -> Iterator[str]:
    """Yield the names that a docstring describes, its examples left out."""
    for paragraph in docstring.split(">>>")[0].split("\n\n"):
        for match in NAMED.finditer(" ".join(paragraph.split())):
            yield from match[1].split(", ")


def test_a_class_describes_no_field_that_it_does_not_have() -> None:
    known, wrong = classes(), []
    for path, node in known.values():
        fields = members(node, known)
        wrong += [
            f"{path}:{node.lineno}: {node.name} has no {field}"
            for field in described(ast.get_docstring(node) or "")
            if field not in fields
        ]
    assert wrong == []


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module with the lines of what they belong to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


@cache
def names_in(tree: ast.Module) -> set[str]:
    """Return the names that a module uses or defines, and the words of its other strings: keys, commands, settings."""
    documented = {"".join(text.split()) for _, text in docstrings(tree)}
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                names.add(name)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names |= {*name.split("."), other or name}
            case ast.ImportFrom(module=str(name)):
                names |= set(name.split("."))
            case ast.Constant(value=str(text)) if "".join(text.split()) not in documented:
                names |= set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
    return names


def resolves(name: str, here: set[str]) -> bool:
    """Say whether a name is there: `a_function`, `AClass.its_member`, `stream.a.module.Name`; words may be values."""
    first, *rest = name.split(".")
    if first in classes():
        return not rest or rest[0] in members_of(first)
    if first in ("stream", "agents"):
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            path = "/".join(parts[:length])
            tree = trees().get(f"{path}.py") or trees().get(f"{path}/__init__.py")
            if tree is not None:
                return length == len(parts) or parts[length] in names_in(tree)
    if rest:
        return not first[0].isupper() or rest[-1] in ENDINGS
    is_code = ("_" in name and not name[-1].isdigit()) or re.match("[A-Z][a-z]", name) is not None  # `doc_1` is an id
    return not is_code or name in here or name in everywhere() or hasattr(builtins, name) or name in FOREIGN


@cache
def everywhere() -> set[str]:
    """Return the functions and constants at the top of any module, and the names of modules and folders."""
    nodes = [node for tree in trees().values() for node in tree.body]
    assigned = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    assigned += [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    folders = {part for path in trees() for part in path.removesuffix(".py").split("/")}
    return functions | folders | {target.id for target in assigned if isinstance(target, ast.Name)}


def test_names_that_are_gone_are_told_from_those_that_are_there() -> None:
    gone = ("Went", "_show_front", "Unpacker.install", "stream.pipeline.batch_output.Unknown", "sum_everything")
    there = ("Quality", "Quality.add", "stream.records.wire.Record", "rules.toml", "parse_suite", "thumbs")
    assert [resolves(name, set()) for name in (*gone, *there)] == [False] * len(gone) + [True] * len(there)


def test_a_docstring_quotes_no_name_that_is_gone() -> None:
    wrong = []
    for path, tree in trees().items():
        here = names_in(tree)
        for line, text in docstrings(tree):
            wrong += [
                f"{path}:{line}: `{name}` is neither there nor a public name elsewhere"
                for name in QUOTED.findall(text.split(">>>")[0])
                if not resolves(name, here)
            ]
    assert wrong == []


#: A module's title: what stands before the colon of its first line, where that is a name and no sentence.
TITLE = re.compile(r"(?:(?:The|A|An) )?(\w[\w'-]*(?: \w[\w'-]*)?): ")
NOT_BY_NAME = {
    "agents/cli.py": "turnsignal",  # the command
    "stream/conversations/clock.py": "Stream time",  # Kafka's word for what this clock shows
}


@cache
def titles() -> dict[str, str]:
    """Return the titles of modules that have one of one or two words, by their paths; that of a folder is its own."""
    modules = {path: tree for path, tree in trees().items() if not path.endswith("/__init__.py")}
    first = {path: (ast.get_docstring(tree) or "").partition("\n")[0] for path, tree in modules.items()}
    return {path: match[1] for path, line in first.items() if (match := TITLE.match(line))}


def share_a_word(title: str, path: str) -> bool:
    """Say whether a word of a title and one of the path are forms of each other: their beginnings are the same."""
    words, names = ([part for part in re.split(r"[^a-z0-9]+", text.lower()) if part] for text in (title, path[:-3]))
    return any(word.startswith(name[:4]) or name.startswith(word) for word in words for name in names[1:])


def test_the_title_of_a_module_is_the_name_of_its_file_or_folder() -> None:
    """Files are renamed, and what stands in them stays."""
    stale = {path: title for path, title in titles().items() if not share_a_word(title, path)}
    assert stale == NOT_BY_NAME


def test_no_two_modules_of_a_folder_have_the_same_title() -> None:
    by_title: dict[tuple[str, str], list[str]] = {}
    for path, title in titles().items():
        by_title.setdefault((path.rpartition("/")[0], title), []).append(path)
    assert [paths for paths in by_title.values() if len(paths) > 1] == []
