"""Docstrings: what they name is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: "version: the …", "low, high: bounds", at the beginning of a paragraph or after a semicolon or full stop
NAMED = re.compile(r"(?:^|[;.] )([a-z_][a-z0-9_]*(?:, [a-z_][a-z0-9_]*)*): ")


def classes() -> dict[str, tuple[str, ast.ClassDef]]:
    """Return every class by its name, which no other has (`test_words`), with its file."""
    return {
        node.name: (path.relative_to(ROOT).as_posix(), node)
        for package in ("stream", "agents")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


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
